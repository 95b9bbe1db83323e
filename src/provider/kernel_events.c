/* List of kernel tracepoints, from three tracefs files: available_events ("system:name" lines),
 * set_event (the enabled ones) and user_events_status ("name # Used by ftrace perf"). The format
 * file of a user event shows whether it is an EventHeader event. */
#include <tracetta/event.h>
#include <tracetta/tracepoints.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "encodings/event_header/event_header.h"
#include "provider/tracefs.h"

#define SYSTEM_PLAIN "user_events"
#define SYSTEM_MULTI "user_events_multi"
#define TRACEFS_FILE_MAX (64u << 20)

struct ttr_kernel_events {
    struct arena texts;
    ttr_kernel_event *list;
    size_t n, capacity;
    bool has_user_events;
};

/* Reads a tracefs file, at most TRACEFS_FILE_MAX bytes, and appends a zero byte. Returns 0 or an
 * errno. */
static int read_tracefs_file(const char *tracefs, const char *name, struct buffer *to)
{
    char path[TRACEFS_PATH_MAX + 512];
    buffer_clear(to);
    (void)snprintf(path, sizeof path, "%s/%s", tracefs, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t n = 1;
    int sys = 0;
    while (n > 0 && to->n < TRACEFS_FILE_MAX) {
        uint8_t *room = buffer_room(to, 65536);
        n = room ? read(fd, room, 65536) : -1;
        sys = !room ? ENOMEM : n < 0 ? errno : 0;
        if (n > 0)
            buffer_commit(to, (size_t)n);
    }
    (void)close(fd);
    buffer_add_byte(to, 0);
    return to->failed ? ENOMEM : sys;
}

/* Returns the line at offset *at as a C string and advances *at. Returns NULL at the end. */
static char *next_text_line(const struct buffer *text, size_t *at)
{
    char *line = (char *)text->bytes + *at;
    if (*at + 1 >= text->n)
        return NULL;
    size_t n = strcspn(line, "\n");
    *at += n + (line[n] == '\n');
    line[n] = '\0';
    return line;
}

static ttr_kernel_event *find_kernel_event(const ttr_kernel_events *events, size_t from,
                                           const char *system, const char *name)
{
    for (size_t i = 0; i < events->n; i++) {
        ttr_kernel_event *event = &events->list[(from + i) % events->n];
        if (strcmp(event->name, name) == 0 && strcmp(event->system, system) == 0)
            return event;
    }
    return NULL;
}

static bool append_event_line(ttr_kernel_events *events, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return true;
    *colon = '\0';
    ttr_kernel_event event = {.size = sizeof event, .provider = "", .group = ""};
    bool is_same = events->n && strcmp(events->list[events->n - 1].system, line) == 0;
    event.system = is_same ? events->list[events->n - 1].system
                           : arena_copy(&events->texts, line, strlen(line));
    event.name = arena_copy(&events->texts, colon + 1, strlen(colon + 1));
    event.is_user_event = event.system && (strcmp(event.system, SYSTEM_PLAIN) == 0 ||
                                           strcmp(event.system, SYSTEM_MULTI) == 0);
    if (!event.system || !event.name ||
        !alloc_reserve(events->texts.alloc, (void **)&events->list, &events->capacity,
                       events->n + 1, sizeof *events->list))
        return false;
    events->list[events->n++] = event;
    return true;
}

/* Marks the events that set_event lists as enabled. Both lists have the same order, so each search
 * starts at the previous match. */
static void mark_enabled(ttr_kernel_events *events, const struct buffer *text)
{
    size_t at = 0, from = 0;
    for (char *line; (line = next_text_line(text, &at));) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        ttr_kernel_event *event =
            events->n ? find_kernel_event(events, from, line, colon + 1) : NULL;
        if (event) {
            event->is_enabled = true;
            from = (size_t)(event - events->list);
        }
    }
}

/* Marks the events that user_events_status lists as used: "name # Used by ftrace perf". An empty
 * line ends the list. */
static void mark_consumers(ttr_kernel_events *events, const struct buffer *text)
{
    size_t at = 0;
    for (char *line; (line = next_text_line(text, &at)) && line[0];) {
        char *used = strstr(line, "# Used by");
        line[strcspn(line, " #")] = '\0';
        if (!used || used == line)
            continue;
        for (size_t i = 0; i < events->n; i++)
            if (events->list[i].is_user_event && strcmp(events->list[i].name, line) == 0)
                events->list[i].users = (strstr(used, " ftrace") ? TTR_USED_BY_FTRACE : 0u) |
                                        (strstr(used, " perf") ? TTR_USED_BY_PERF : 0u) |
                                        (strstr(used, " other") ? TTR_USED_BY_OTHERS : 0u);
    }
}

/* Marks an EventHeader event, recognized by its first field after the common ones
 * (eventheader_flags), and splits its name. Returns false only if memory is exhausted. */
static bool detect_event_header(ttr_kernel_events *events, ttr_kernel_event *event,
                                const char *tracefs, struct buffer *text)
{
    char file[512];
    struct event_header_name parts;
    (void)snprintf(file, sizeof file, "events/%.64s/%.400s/format", event->system, event->name);
    if (read_tracefs_file(tracefs, file, text) != 0)
        return !text->failed;
    const char *own_fields = strstr((const char *)text->bytes, "\n\n");
    const char *first = own_fields ? strstr(own_fields, "\tfield:") : NULL;
    size_t n = first ? strcspn(first, ";") : 0;
    static const char flags[] = " eventheader_flags";
    if (n < sizeof flags || strncmp(first + n - (sizeof flags - 1), flags, sizeof flags - 1) != 0 ||
        !event_header_parse_name((ttr_text){event->name, strlen(event->name)}, &parts))
        return true;
    event->is_event_header = true;
    event->level = parts.level;
    event->keyword = parts.keyword;
    event->provider = arena_copy(&events->texts, parts.provider.p, parts.provider.n);
    event->group = arena_copy(&events->texts, parts.group.p, parts.group.n);
    return event->provider && event->group;
}

/* Reads the list of events. Returns 0 or an errno. */
static int read_event_list(ttr_kernel_events *events, const char *tracefs, struct buffer *text)
{
    size_t at = 0;
    int sys = read_tracefs_file(tracefs, "available_events", text);
    if (sys)
        return sys;
    for (char *line; (line = next_text_line(text, &at));)
        if (!append_event_line(events, line))
            return ENOMEM;
    if (read_tracefs_file(tracefs, "set_event", text) == 0)
        mark_enabled(events, text);
    sys = read_tracefs_file(tracefs, "user_events_status", text);
    events->has_user_events = sys != ENOENT;
    if (sys == 0)
        mark_consumers(events, text);
    for (size_t i = 0; i < events->n; i++)
        if (events->list[i].is_user_event &&
            !detect_event_header(events, &events->list[i], tracefs, text))
            return ENOMEM;
    return text->failed ? ENOMEM : 0;
}

ttr_kernel_events *ttr_kernel_events_list(const char *tracefs, ttr_error *error)
{
    char path[TRACEFS_PATH_MAX];
    struct buffer text;
    if (tracefs_find(tracefs, path, error) != TTR_OK)
        return NULL;
    ttr_kernel_events *events = alloc_zero(alloc_default(), 1, sizeof *events);
    if (!events) {
        (void)fail_memory(error);
        return NULL;
    }
    arena_init(&events->texts, alloc_default());
    buffer_init(&text, alloc_default());
    int sys = read_event_list(events, path, &text);
    buffer_free(&text);
    if (!sys)
        return events;
    ttr_kernel_events_free(events);
    if (sys == ENOMEM)
        (void)fail_memory(error);
    else
        (void)fail_sys(error, sys, NO_OFFSET, "cannot read %.128s/available_events%s", path,
                       sys == EACCES ? "; run as root" : "");
    return NULL;
}

bool ttr_kernel_events_at(const ttr_kernel_events *events, size_t i, ttr_kernel_event *event)
{
    if (i >= events->n)
        return false;
    size_t size = event->size < sizeof *event ? event->size : sizeof *event;
    memcpy(event, &events->list[i], size);
    event->size = size;
    return true;
}

bool ttr_kernel_events_has_user_events(const ttr_kernel_events *events)
{
    return events->has_user_events;
}

void ttr_kernel_events_free(ttr_kernel_events *events)
{
    if (!events)
        return;
    alloc_free(alloc_default(), events->list, events->capacity, sizeof *events->list);
    arena_free(&events->texts);
    alloc_free(alloc_default(), events, 1, sizeof *events);
}

/* --- Registering and deleting --- */

/* Registers a user event through dynamic_events. Kernels without persistent registration (EINVAL)
 * keep only events registered this way. */
static int register_by_dynamic_events(const char *tracefs, const char *command)
{
    char line[1024];
    ttr_error error;
    int n = snprintf(line, sizeof line, "u:%s\n", command);
    if (n < 0 || (size_t)n >= sizeof line)
        return EINVAL;
    int fd = tracefs_open(tracefs, "dynamic_events", &error);
    if (fd < 0)
        return error.sys ? error.sys : ENOENT;
    int sys = write(fd, line, (size_t)n) == n ? 0 : errno;
    (void)close(fd);
    return sys == EEXIST ? 0 : sys;
}

static ttr_status fail_register(int sys, const char *name, ttr_error *error)
{
    int n = (int)strcspn(name, " ");
    if (sys == EADDRINUSE)
        return fail_sys(
            error, sys, NO_OFFSET,
            "%.*s is already registered with other fields; \"tracetta events delete\" removes it",
            n, name);
    if (sys == EPERM || sys == EACCES)
        return fail_sys(
            error, sys, NO_OFFSET,
            "%.*s cannot be registered permanently: this needs CAP_PERFMON; run as root", n, name);
    if (sys == EINVAL)
        return fail_sys(error, sys, NO_OFFSET,
                        "%.*s cannot be registered: the kernel rejects its name or fields", n,
                        name);
    return fail_sys(error, sys, NO_OFFSET, "%.*s cannot be registered", n, name);
}

ttr_status ttr_kernel_events_register(const char *tracefs, const char *name, ttr_error *error)
{
    struct event_header_name parts;
    char path[TRACEFS_PATH_MAX], command[1024];
    uint32_t enabled = 0, index = 0;
    bool has_fields = strchr(name, ' ') != NULL;
    if (!has_fields && !event_header_parse_name((ttr_text){name, strlen(name)}, &parts))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.128s\" is not the name of an EventHeader tracepoint: expected "
                    "Provider_L4K1f with level and keyword in lower-case hexadecimal; other user "
                    "events need their fields after the name",
                    name);
    int n = snprintf(command, sizeof command, "%s%s", name, has_fields ? "" : TRACEFS_EVENT_HEADER);
    if (n < 0 || (size_t)n >= sizeof command || strcspn(name, " ") > 255)
        return fail(
            error, TTR_E_MISUSE, NO_OFFSET,
            "\"%.32s...\" is too long: a name has at most 255 bytes, a name with fields 1,023",
            name);
    ttr_status status = tracefs_find(tracefs, path, error);
    if (status != TTR_OK)
        return status;
    ttr_error of_open = {.status = TTR_E_IO};
    int fd = tracefs_open(path, "user_events_data", &of_open);
    if (fd < 0) {
        if (error)
            *error = of_open;
        return of_open.status;
    }
    struct tracefs_registration registration = {command, &enabled, 0, TRACEFS_REG_PERSIST};
    int sys = tracefs_register(fd, &registration, &index);
    if (sys == EINVAL)
        sys = register_by_dynamic_events(path, command);
    else if (sys == 0)
        (void)tracefs_unregister(fd, &enabled, 0);
    (void)close(fd);
    return sys ? fail_register(sys, name, error) : TTR_OK;
}

ttr_status ttr_kernel_events_delete(const char *tracefs, const char *name, ttr_error *error)
{
    char path[TRACEFS_PATH_MAX];
    ttr_status status = tracefs_find(tracefs, path, error);
    if (status != TTR_OK)
        return status;
    ttr_error of_open = {.status = TTR_E_IO};
    int fd = tracefs_open(path, "user_events_data", &of_open);
    if (fd < 0) {
        if (error)
            *error = of_open;
        return of_open.status;
    }
    int sys = tracefs_delete(fd, name);
    (void)close(fd);
    if (sys == ENOENT)
        return fail_sys(error, sys, NO_OFFSET, "there is no user event %.128s", name);
    if (sys == EBUSY)
        return fail_sys(error, sys, NO_OFFSET, "%.128s is in use by a program or a recording",
                        name);
    return sys ? fail_sys(error, sys, NO_OFFSET, "cannot delete %.128s", name) : TTR_OK;
}
