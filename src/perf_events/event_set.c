/* Event selection: resolves names and globs to tracepoint ids and counters.
 *
 * "SYSTEM:NAME" is a tracepoint; both parts may be globs. A word without colon is tried as a
 * counter (cpu-clock), then as a user event in any user_events system ("Provider_L5K*"), then as a
 * tracepoint name in any system. Unknown names fail with up to 3 similar names. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"
#include "perf_events/event_set.h"
#include "perf_events/counters.h"

#define WORD_SIZE 256u
#define SUGGESTION_SIZE (TTR_EDIT_DISTANCE_MAX + 1)
#define SUGGESTIONS_MAX 3u /* maximum number of suggestions */
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

/* --- Adding events --- */

static bool has_event(const struct ttr_perf_events *set, const ttr_perf_event *event)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->list[i].type == event->type && set->list[i].config == event->config)
            return true;
    return false;
}

static bool add_unique_event(struct ttr_perf_events *set, const ttr_perf_event *event)
{
    ttr_perf_event copy = *event;
    if (has_event(set, event))
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

/* State of the search for the events that one word names. */
struct search {
    struct ttr_perf_events *set;
    struct buffer text;
    size_t found;
    bool is_out_of_memory;
    int reason;         /* errno of the last file that could not be read; 0 if none */
    bool is_incomplete; /* a directory listing failed, so matches may be missing */
};

/* Implements tracing_files_visit: reads the id of a tracepoint and adds it to the set. */
static bool add_found_tracepoint(void *ctx, const char *system, const char *name)
{
    struct search *search = ctx;
    char path[2 * WORD_SIZE + 64];
    uint64_t id;
    (void)snprintf(path, sizeof path, "events/%s/%s/id", system, name);
    if (!tracing_files_read(&search->set->tracefs, path, &search->text)) {
        search->reason = errno;
        return true;
    }
    const char *text = (const char *)search->text.bytes;
    if (!number_parse_u64(text, strspn(text, "0123456789"), &id))
        return true;
    search->found++;
    search->is_out_of_memory = !add_unique_event(
        search->set, &(ttr_perf_event){.system = system, .name = name, .type = 2, .config = id});
    return !search->is_out_of_memory;
}

static void search_tracepoints(struct search *search, const char *systems, const char *names)
{
    if (search->set->has_tracefs &&
        !tracing_files_visit_systems(&search->set->tracefs, systems, names, add_found_tracepoint,
                                     search)) {
        search->reason = errno;
        search->is_incomplete = search->reason != ENOENT;
    }
}

static bool has_counter_name(const struct counter *counter, const char *word)
{
    return strcmp(counter->name, word) == 0 ||
           (counter->alias && strcmp(counter->alias, word) == 0);
}

static void search_counters(struct search *search, const char *word)
{
    const struct counter *counter;
    for (size_t i = 0; (counter = get_perf_counter(i)); i++)
        if (has_counter_name(counter, word)) {
            search->found++;
            search->is_out_of_memory =
                !add_unique_event(search->set, &(ttr_perf_event){.system = "",
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

/* --- Suggestions for unknown names --- */

struct suggestion {
    unsigned distance;
    char name[SUGGESTION_SIZE];
};

struct suggestion_list {
    const char *word;
    bool has_colon;
    struct suggestion list[SUGGESTIONS_MAX]; /* names in order of edit distance; a distance of 0
                                              * marks a free slot */
};

static void rate_suggested_word(struct suggestion_list *suggestion_list, const char *name)
{
    unsigned distance = ttr_edit_distance(suggestion_list->word, name);
    size_t at = SUGGESTIONS_MAX;
    if (distance > 2 + strlen(suggestion_list->word) / 6)
        return;
    while (at > 0 && (!suggestion_list->list[at - 1].distance ||
                      suggestion_list->list[at - 1].distance > distance))
        at--;
    if (at == SUGGESTIONS_MAX)
        return;
    memmove(&suggestion_list->list[at + 1], &suggestion_list->list[at],
            (SUGGESTIONS_MAX - 1 - at) * sizeof *suggestion_list->list);
    suggestion_list->list[at].distance = distance ? distance : 1;
    (void)snprintf(suggestion_list->list[at].name, SUGGESTION_SIZE, "%.*s",
                   (int)(SUGGESTION_SIZE - 1), name);
}

/* Implements tracing_files_visit: considers a tracepoint as a suggestion. */
static bool rate_tracepoint(void *ctx, const char *system, const char *name)
{
    struct suggestion_list *suggestion_list = ctx;
    char full_name[2 * WORD_SIZE];
    (void)snprintf(full_name, sizeof full_name, "%s:%s", system, name);
    rate_suggested_word(suggestion_list, suggestion_list->has_colon ? full_name : name);
    return true;
}

/* Formats the suggestions as the end of an error text. Writes "" if no name is similar. */
static void format_suggestions(const struct ttr_perf_events *set, const char *word, char *to,
                               size_t size)
{
    struct suggestion_list suggestion_list = {.word = word, .has_colon = strchr(word, ':') != NULL};
    const struct counter *counter;
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; (counter = get_perf_counter(i)); i++)
        rate_suggested_word(&suggestion_list, counter->name);
    if (set->has_tracefs)
        (void)tracing_files_visit_systems(&set->tracefs, "*", "*", rate_tracepoint,
                                          &suggestion_list);
    for (size_t i = 0; i < SUGGESTIONS_MAX && suggestion_list.list[i].distance && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%s",
                              i ? ", " : "; similar: ", suggestion_list.list[i].name);
}

static ttr_status fail_unknown(const struct ttr_perf_events *set, const char *word,
                               ttr_error *error)
{
    char suggestions[SUGGESTIONS_MAX * (SUGGESTION_SIZE + 2) + 16];
    int reason = set->tracefs_reason;
    format_suggestions(set, word, suggestions, sizeof suggestions);
    if (set->has_tracefs)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "the kernel has no event \"%s\"%s", word,
                    suggestions);
    return fail_sys(
        error, reason, NO_OFFSET, "event \"%s\" is unknown without tracefs%s; %s", word,
        suggestions,
        reason == EACCES || reason == EPERM ? "tracefs is only readable by root; to admit a group: "
                                              "mount -o remount,gid=GROUP /sys/kernel/tracing"
        : reason == ENOENT
            ? "tracefs is not mounted; as root: mount -t tracefs none /sys/kernel/tracing"
            : "tracefs cannot be read");
}

/* --- Lists of words --- */

static ttr_status resolve_and_add_word(struct ttr_perf_events *set, char *word, ttr_error *error)
{
    struct search search = {.set = set};
    buffer_init(&search.text, alloc_default());
    search_word(&search, word);
    buffer_free(&search.text);
    if (search.is_out_of_memory)
        return fail_memory(error);
    if (search.found && !search.is_incomplete)
        return TTR_OK;
    if (search.reason == EACCES || search.reason == EPERM)
        return fail_sys(error, search.reason, NO_OFFSET,
                        "cannot look up tracepoint \"%s\" in %s; run as root", word,
                        set->tracefs.root);
    if (search.is_incomplete)
        return fail_sys(error, search.reason, NO_OFFSET, "cannot list all tracepoints in %s/events",
                        set->tracefs.root);
    return fail_unknown(set, word, error);
}

ttr_status ttr_perf_events_add(ttr_perf_events *set, const char *text, ttr_error *error)
{
    ttr_status status = TTR_OK;
    while (status == TTR_OK && *text) {
        char word[WORD_SIZE];
        size_t n = strcspn(text, ",");
        if (n >= sizeof word)
            return fail(error, TTR_E_MISUSE, NO_OFFSET, "event name \"%.40s...\" is too long",
                        text);
        memcpy(word, text, n);
        word[n] = '\0';
        text += n + (text[n] == ',');
        if (n)
            status = resolve_and_add_word(set, word, error);
    }
    return status;
}
