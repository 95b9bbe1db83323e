/* Activities. An activity id of .NET that encodes a path:
 *
 *   bytes 0..11   nibbles, the high one of a byte first
 *                 0        end of the path
 *                 1..10    a component with that number
 *                 11       overflow: the next component is printed with "$"
 *                 12..15   a component of 1..4 bytes, from the next byte on, little-endian;
 *                          if this nibble is the high one, the low nibble is the number's top
 *   bytes 12..15  the sum of the three words before and 0x599D99AD; newer runtimes XOR the pid */
#include "model/activity.h"

#include <string.h>

#include "base/endian.h"
#include "base/hash.h"
#include "base/number.h"
#include "model/context.h"

enum { PATH_BYTES = 12, NIBBLE_LAST_NUMBER = 10, NIBBLE_OVERFLOW = 11, NIBBLE_BYTES = 12 };

static bool text_ends_with(ttr_text name, const char *end)
{
    size_t n = strlen(end);
    return name.n >= n && memcmp(name.p + name.n - n, end, n) == 0;
}

uint8_t activity_opcode_of_name(ttr_text name)
{
    return text_ends_with(name, "Start")  ? ACTIVITY_START
           : text_ends_with(name, "Stop") ? ACTIVITY_STOP
                                          : 0;
}

/* Returns an event name without its version suffix: "ContentionStart_V1" -> "ContentionStart". */
static ttr_text remove_version_suffix(ttr_text name)
{
    size_t n = name.n;
    while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    bool has_version = n < name.n && n > 2 && name.p[n - 1] == 'V' && name.p[n - 2] == '_';
    return has_version ? (ttr_text){name.p, n - 2} : name;
}

/* Names of start and stop events that lack the usual "Start" or "Stop" suffix, each with the `task`
 * that names the span. */
static const struct {
    const char *name, *task;
} irregular_tasks[] = {{"MethodJittingStarted", "MethodJit"},
                       {"MethodLoadVerbose", "MethodJit"},
                       {"ThreadPoolEnqueue", "ThreadPoolQueue"},
                       {"ThreadPoolDequeue", "ThreadPoolQueue"},
                       {"ThreadPoolIOEnqueue", "ThreadPoolIOQueue"},
                       {"ThreadPoolIODequeue", "ThreadPoolIOQueue"},
                       {"IOThreadCreate", "IOThread"},
                       {"IOThreadTerminate", "IOThread"},
                       {"IOThreadRetire", "IOThreadRetirement"},
                       {"IOThreadUnretire", "IOThreadRetirement"}};

/* Returns the name that start and stop events share: the event name without "Start", "Stop",
 * "Begin" or "End". Returns the complete name if it is only such a word. */
static ttr_text split_task_name(ttr_text name)
{
    for (size_t i = 0; i < sizeof irregular_tasks / sizeof *irregular_tasks; i++)
        if (strlen(irregular_tasks[i].name) == name.n &&
            memcmp(irregular_tasks[i].name, name.p, name.n) == 0)
            return (ttr_text){irregular_tasks[i].task, strlen(irregular_tasks[i].task)};
    static const char *const ends[] = {"Start", "Stop", "Begin", "End"};
    ttr_text task = remove_version_suffix(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        if (!text_ends_with(task, ends[i]))
            continue;
        task.n -= n;
        task.n -= task.n > 0 && task.p[task.n - 1] == '/';
        return task.n ? task : name;
    }
    return name;
}

ttr_id activity_task_of_name(ttr *t, ttr_id name)
{
    ttr_text text = ttr_text_get(t, name), task = split_task_name(text);
    return task.n == text.n ? name : ttr_text_add(t, task.p, task.n);
}

/* Returns the link of a span without an activity id: a hash of its thread and task. The hash is
 * over texts and tids, since ids of the context differ between two reads of a trace. */
static uint64_t hash_thread_and_task(const ttr *t, ttr_id thread, ttr_id task)
{
    ttr_thread known = {0};
    ttr_text text = ttr_text_get(t, task);
    (void)ttr_thread_get(t, thread, &known);
    return hash_pair(known.tid, hash_bytes(text.p, text.n));
}

void activity_make_span(const ttr *t, ttr_event *event, ttr_id task)
{
    if (event->kind != TTR_KIND_INSTANT ||
        (event->opcode != ACTIVITY_START && event->opcode != ACTIVITY_STOP))
        return;
    const uint8_t *id = event->activity;
    event->kind = event->opcode == ACTIVITY_START ? TTR_KIND_ASYNC_BEGIN : TTR_KIND_ASYNC_END;
    event->link = id ? hash_pair(load_u64le(id), load_u64le(id + 8))
                     : hash_thread_and_task(t, event->thread, task);
}

ttr_id activity_span_name(const ttr *t, const ttr_event *event)
{
    if (!activity_is_start_or_stop(event))
        return event->name;
    ttr_text text = ttr_text_get(t, event->name), task = split_task_name(text);
    ttr_id id = task.n == text.n ? 0 : ttr_text_find(t, task.p, task.n);
    return id ? id : event->name;
}

static unsigned get_nibble(const uint8_t *id, unsigned at)
{
    return at & 1 ? id[at / 2] & 15u : id[at / 2] >> 4;
}

/* Decodes a path component of several bytes; *at is the index of its first nibble. Returns false if
 * the component extends past the 12 bytes of the path. */
static bool decode_component(const uint8_t *id, unsigned *at, uint64_t *number)
{
    unsigned bytes = get_nibble(id, *at) - NIBBLE_BYTES + 1, begin = *at / 2 + 1;
    if (begin + bytes > PATH_BYTES)
        return false;
    *number = *at & 1 ? 0 : id[*at / 2] & 15u;
    for (unsigned i = bytes; i > 0; i--)
        *number = *number << 8 | id[begin + i - 1];
    *at = 2 * (begin + bytes);
    return true;
}

/* Formats the path that an activity id encodes into `to`. Returns its length, or 0 if the id
 * encodes no path. */
static size_t format_path(char *to, const uint8_t *id)
{
    size_t n = 0;
    to[n++] = '/';
    for (unsigned at = 0; at < 2 * PATH_BYTES && get_nibble(id, at) != 0;) {
        uint64_t number = get_nibble(id, at);
        bool is_overflow = number == NIBBLE_OVERFLOW;
        at += is_overflow;
        if (is_overflow && (at == 2 * PATH_BYTES || get_nibble(id, at) < NIBBLE_BYTES))
            return 0;
        if (!is_overflow && number <= NIBBLE_LAST_NUMBER)
            at++;
        else if (!decode_component(id, &at, &number))
            break;
        to[n++] = is_overflow ? '$' : '/';
        n += number_format_u64(to + n, number);
    }
    to[n++] = '/';
    return n > 2 ? n : 0;
}

static bool is_activity_path(const uint8_t *id, uint64_t pid)
{
    uint32_t sum = load_u32le(id) + load_u32le(id + 4) + load_u32le(id + 8) + 0x599D99ADu,
             stored = load_u32le(id + PATH_BYTES);
    return stored == sum || (pid && stored == (sum ^ (uint32_t)pid));
}

size_t activity_format_id(char *to, const uint8_t *id, uint64_t pid)
{
    size_t n = is_activity_path(id, pid) ? format_path(to, id) : 0;
    for (size_t i = 0; n == 0 && i < 16; i++) {
        to[2 * i] = "0123456789abcdef"[id[i] >> 4];
        to[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
    }
    return n ? n : 32;
}

size_t activity_parent_length(ttr_text path)
{
    if (path.n < 4 || path.p[0] != '/')
        return 0;
    size_t n = path.n - 1;
    while (n > 1 && path.p[n - 1] != '/' && path.p[n - 1] != '$')
        n--;
    return n > 2 && path.p[n - 1] == '/' ? n
                                         /* The components before an overflow ('$') are unknown. */
                                         : 0;
}
