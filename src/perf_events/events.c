/* Which events to record: names and globs become tracepoints with their numbers, or counters.
 *
 * "SYSTEM:NAME" is a tracepoint, with globs in both parts.  Without a colon: a counter (cpu-clock);
 * else a user event, whose system goes without saying
 * ("Provider_L5K*"); else a tracepoint of whatever system that has the name. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "perf_events/chosen.h"
#include "perf_events/counters.h"

#define WORD_ROOM 256u
#define NAME_ROOM (TTR_EDITS_WORD + 1)
#define NEAREST 3u /* so many names are offered */
#define USER_SYSTEMS "user_events*"

ttr_perf_events *ttr_perf_events_new(const char *tracefs)
{
    struct ttr_perf_events *set = alloc_zero(alloc_default(), 1, sizeof *set);
    if (!set)
        return NULL;
    arena_init(&set->texts, alloc_default());
    set->has_tracefs = tracing_files_find(&set->tracefs, tracefs);
    set->tracefs_reason = set->has_tracefs ? 0 : errno;
    return set;
}

void ttr_perf_events_free(ttr_perf_events *set)
{
    if (!set)
        return;
    arena_free(&set->texts);
    alloc_free(alloc_default(), set->list, set->capacity, sizeof *set->list);
    alloc_free(alloc_default(), set, 1, sizeof *set);
}

bool ttr_perf_events_at(const ttr_perf_events *set, size_t i, ttr_perf_event *event)
{
    if (i < set->n)
        *event = set->list[i];
    return i < set->n;
}

/* --- Adding one --- */

static bool is_there(const struct ttr_perf_events *set, const ttr_perf_event *event)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->list[i].type == event->type && set->list[i].config == event->config)
            return true;
    return false;
}

static bool add(struct ttr_perf_events *set, const ttr_perf_event *event)
{
    ttr_perf_event copy = *event;
    if (is_there(set, event))
        return true;
    copy.system = arena_copy(&set->texts, event->system, strlen(event->system));
    copy.name = arena_copy(&set->texts, event->name, strlen(event->name));
    if (!copy.system || !copy.name ||
        !alloc_reserve(alloc_default(), (void **)&set->list, &set->capacity, set->n + 1,
                       sizeof *set->list))
        return false;
    set->list[set->n++] = copy;
    return true;
}

/* What a pattern found. */
struct search {
    struct ttr_perf_events *set;
    struct buffer text;
    size_t found;
    bool is_out_of_memory;
    int reason;  /* errno of what could not be read, 0 = none */
    bool is_cut; /* that was a folder, in which there may be more */
};

/* A tracing_files_visit. */
static bool add_tracepoint(void *own, const char *system, const char *name)
{
    struct search *search = own;
    char path[2 * WORD_ROOM + 64];
    uint64_t id;
    (void)snprintf(path, sizeof path, "events/%s/%s/id", system, name);
    if (!tracing_files_read(&search->set->tracefs, path, &search->text)) {
        search->reason = errno;
        return true;
    }
    const char *text = (const char *)search->text.bytes;
    if (!number_get_u64(text, strspn(text, "0123456789"), &id))
        return true;
    search->found++;
    search->is_out_of_memory = !add(
        search->set, &(ttr_perf_event){.system = system, .name = name, .type = 2, .config = id});
    return !search->is_out_of_memory;
}

static void search_tracepoints(struct search *search, const char *systems, const char *names)
{
    if (search->set->has_tracefs &&
        !tracing_files_each(&search->set->tracefs, systems, names, add_tracepoint, search)) {
        search->reason = errno;
        search->is_cut = search->reason != ENOENT;
    }
}

static bool is_counter(const struct counter *counter, const char *word)
{
    return strcmp(counter->name, word) == 0 ||
           (counter->other && strcmp(counter->other, word) == 0);
}

static void search_counters(struct search *search, const char *word)
{
    const struct counter *counter;
    for (size_t i = 0; (counter = counter_at(i)); i++)
        if (is_counter(counter, word)) {
            search->found++;
            search->is_out_of_memory =
                !add(search->set, &(ttr_perf_event){.system = "",
                                                    .name = counter->name,
                                                    .type = counter->type,
                                                    .config = counter->config,
                                                    .is_clock = counter->is_clock});
        }
}

static void search_word(struct search *search, char *word)
{
    char *colon = strchr(word, ':');
    if (colon) {
        *colon = '\0';
        search_tracepoints(search, word, colon + 1);
        *colon = ':';
        return;
    }
    search_counters(search, word);
    if (!search->found)
        search_tracepoints(search, USER_SYSTEMS, word);
    if (!search->found)
        search_tracepoints(search, "*", word);
}

/* --- Names that are near to one that is none --- */

struct near_name {
    unsigned edits;
    char name[NAME_ROOM];
};

struct nearest {
    const char *word;
    bool has_colon;
    struct near_name list[NEAREST]; /* the nearest first; edits 0 = none */
};

static void consider(struct nearest *nearest, const char *name)
{
    unsigned edits = ttr_edits(nearest->word, name);
    size_t at = NEAREST;
    if (edits > 2 + strlen(nearest->word) / 6)
        return;
    while (at > 0 && (!nearest->list[at - 1].edits || nearest->list[at - 1].edits > edits))
        at--;
    if (at == NEAREST)
        return;
    memmove(&nearest->list[at + 1], &nearest->list[at], (NEAREST - 1 - at) * sizeof *nearest->list);
    nearest->list[at].edits = edits ? edits : 1;
    (void)snprintf(nearest->list[at].name, NAME_ROOM, "%.*s", (int)(NAME_ROOM - 1), name);
}

/* A tracing_files_visit. */
static bool consider_tracepoint(void *own, const char *system, const char *name)
{
    struct nearest *nearest = own;
    char whole[2 * WORD_ROOM];
    (void)snprintf(whole, sizeof whole, "%s:%s", system, name);
    consider(nearest, nearest->has_colon ? whole : name);
    return true;
}

/* Names that are near, as the end of a sentence. */
static void offer(const struct ttr_perf_events *set, const char *word, char *to, size_t size)
{
    struct nearest nearest = {.word = word, .has_colon = strchr(word, ':') != NULL};
    const struct counter *counter;
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; (counter = counter_at(i)); i++)
        consider(&nearest, counter->name);
    if (set->has_tracefs)
        (void)tracing_files_each(&set->tracefs, "*", "*", consider_tracepoint, &nearest);
    for (size_t i = 0; i < NEAREST && nearest.list[i].edits && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%s",
                              i ? ", " : "; near to it: ", nearest.list[i].name);
}

static ttr_status fail_unknown(const struct ttr_perf_events *set, const char *word,
                               ttr_error *error)
{
    char offers[NEAREST * (NAME_ROOM + 2) + 16];
    int reason = set->tracefs_reason;
    offer(set, word, offers, sizeof offers);
    if (set->has_tracefs)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "the kernel has no event \"%s\"%s", word,
                    offers);
    return fail_sys(
        error, reason, NO_OFFSET, "no event \"%s\" is known without tracefs%s; %s", word, offers,
        reason == EACCES || reason == EPERM
            ? "that is root's to look into, or of a group that root lets in (mount -o "
              "remount,gid=GROUP /sys/kernel/tracing)"
        : reason == ENOENT ? "it is not mounted (mount -t tracefs none /sys/kernel/tracing)"
                           : "it cannot be looked into");
}

/* --- Lists --- */

static ttr_status add_word(struct ttr_perf_events *set, char *word, ttr_error *error)
{
    struct search search = {.set = set};
    buffer_init(&search.text, alloc_default());
    search_word(&search, word);
    buffer_free(&search.text);
    if (search.is_out_of_memory)
        return fail_memory(error);
    if (search.found && !search.is_cut)
        return TTR_OK;
    if (search.reason == EACCES || search.reason == EPERM)
        return fail_sys(error, search.reason, NO_OFFSET,
                        "tracepoint \"%s\" cannot be looked up in %s; root can", word,
                        set->tracefs.root);
    if (search.is_cut)
        return fail_sys(error, search.reason, NO_OFFSET,
                        "the tracepoints in %s/events cannot be listed to their end",
                        set->tracefs.root);
    return fail_unknown(set, word, error);
}

ttr_status ttr_perf_events_add(ttr_perf_events *set, const char *text, ttr_error *error)
{
    ttr_status status = TTR_OK;
    while (status == TTR_OK && *text) {
        char word[WORD_ROOM];
        size_t n = strcspn(text, ",");
        if (n >= sizeof word)
            return fail(error, TTR_E_MISUSE, NO_OFFSET,
                        "\"%.40s...\" is too long for the name of an event", text);
        memcpy(word, text, n);
        word[n] = '\0';
        text += n + (text[n] == ',');
        if (n)
            status = add_word(set, word, error);
    }
    return status;
}
