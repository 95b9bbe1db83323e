/* Options: one table for all commands, and the settings that the parser fills in. Ownership: texts
 * are borrowed from argv; settings_free frees the lists. */
#ifndef TRACETTA_CLI_UI_OPTIONS_H
#define TRACETTA_CLI_UI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/ui/units.h"

/* A list of texts with NULL at its end. `list` is NULL if the list is empty. */
struct words {
    const char **list;
    size_t n;
};

/* The values of all options of all commands. An option that was not given is 0, NULL or false. */
struct settings {
    const char *counters, *counter_format, *stop_provider, *stop_event, *stop_payload;
    uint64_t refresh;
    const char *record_format, *clr_events, *clr_level, *rundown, *buffering, *duration, *port;
    struct words profiles, sources; /* .NET profiles and providers to record */
    uint64_t buffer_mb;
    bool environment, no_stacks, no_resume;
    struct words events; /* kernel events to record */
    uint64_t pid, frequency, max_size;
    uint64_t rotate_size, queue_size, max_packet; /* limits of a receiver in bytes */
    uint64_t max_sessions;                        /* limit of restarts of a sender per minute */
    uint64_t max_sources;                         /* limit of a receiver: number of sources */
    const char *rotate_time, *idle, *when_full;
    uint64_t rate, datagram_size; /* sender: events per second, and bytes of a datagram */
    bool realtime;
    bool live;
    uint64_t view_port;
    bool once, no_open, html, compare;
    const char *script;      /* file with SQL statements */
    const char *ring_mode;   /* streaming, circular or oneshot */
    const char *trigger;     /* name of the trigger that writes a snapshot; NULL = any */
    uint64_t ring_size;      /* bytes per thread */
    struct words attach;     /* running processes to record */
    struct words rotate;     /* limits of each file of a recording */
    const char *live_output; /* address to which events are sent live; "" = events are printed */
    bool fail_on_loss;
    bool system_wide, call_stacks, user_only, snapshot, zstd;
    bool has_separator;      /* "--" was given */
    size_t before_separator; /* number of operands before "--" */
    const char *from, *to, *format, *output, *color, *progress, *sort_by, *align, *level;
    const char *metadata;      /* language in which to print the metadata */
    const char *metadata_file; /* file that replaces the trace's metadata */
    const char *tracefs;
    const char *style;
    const char *json_times;                 /* "number" or "string" */
    struct words shown_names, shown_fields; /* each list is comma-separated */
    const char *profile_of, *weight, *state;
    bool by_thread, merged, states, inclusive;
    const char *debug_info_dir, *debug_info_prefix;
    const char *debuginfod, *profile_debuginfod; /* server URLs; "" = those in DEBUGINFOD_URLS */
    const char *begin, *timerange;
    struct words format_options, offsets, pairs;
    struct words names, not_names, categories, providers, threads, processes, cpus, kinds;
    const char *where; /* condition on events in SQL */
    const char *key, *threshold;
    uint64_t slowest, tail;
    struct moment start, end;
    uint64_t max_record, max_temporary, limit, depth, jobs, retry_us;
    int64_t min_duration;
    bool help, quiet, verbose, no_pager, json;
    bool debug_info, debug_info_full_path, raw, rules;
    bool clock_seconds, clock_cycles, clock_date, clock_gmt, clock_correlate, no_delta;
    int64_t clock_offset, clock_offset_ns;
    bool stream_intersection;
    bool classes, strict, no_mmap, follow_links, invert, sort, overwrite, explain, dry_run,
        aggregate, no_sidecar;
    uint64_t memory_max;             /* bytes of the tables of a store */
    const char *histogram;           /* glob of names */
    const char *serve, *socket_path; /* sockets of a server of query, and of a client */
    int64_t every;                   /* ns between the answers of query; 0 = one answer */
    int64_t window;                  /* ns that query reads its inputs; 0 = to their end */
    int64_t timeout;                 /* time limit of statements in ns; 0 = no limit */
    bool interactive;                /* query opens a shell */
    bool no_cache;                   /* stores are neither loaded nor saved */
};

enum option_type {
    OPTION_FLAG,        /* bool */
    OPTION_TEXT,        /* const char *; one of `choices` if they are a list */
    OPTION_WORDS,       /* struct words; may be repeated */
    OPTION_COUNT,       /* uint64_t */
    OPTION_SIZE,        /* uint64_t: "10MiB" */
    OPTION_DURATION,    /* int64_t ns: "250us" */
    OPTION_PERIOD,      /* as OPTION_DURATION, but not 0 */
    OPTION_NANOSECONDS, /* int64_t ns: "250", "250us", not "0.5" */
    OPTION_MOMENT,      /* struct moment */
    OPTION_TIME,        /* struct moment with its text, which a style may parse differently */
    OPTION_SECONDS,     /* int64_t ns; a number without a unit counts seconds */
    OPTION_MAYBE        /* const char *; the text after "=", or "" */
};

/* Headings of the options in the help, in this order. */
enum option_group {
    GROUP_VERB,
    GROUP_FILTER,
    GROUP_INPUT,
    GROUP_GENERAL,
    GROUP_BABELTRACE2, /* options that need --style=babeltrace2 */
    GROUP_COUNT
};

struct option_row {
    const char *name;    /* name of the option, without "--" */
    char letter;         /* 0 = none */
    uint8_t type;        /* enum option_type */
    uint8_t group;       /* enum option_group */
    uint16_t at;         /* offset in struct settings */
    uint32_t verbs;      /* bits of enum verb */
    const char *value;   /* name of the value in the help, such as "FORMAT"; NULL for a flag */
    const char *choices; /* "auto|always|never", "@readers", "@writers", "@outputs", "@kinds",
                            "@profiles", "@file", or NULL */
    const char *text;    /* one or two lines of help */
};

/* Returns true if an option has a value that cannot be omitted. */
static inline bool option_wants_value(const struct option_row *row)
{
    return row->value && row->type != OPTION_MAYBE;
}

/* All options (options_table.c). */
extern const struct option_row option_table[];
extern const size_t option_table_n;

/* Returns the i-th option, or NULL after the last. */
const struct option_row *option_at(size_t i);

/* Returns the heading of a group of options. */
const char *option_group_title(unsigned group);

/* Parses argv[0 .. n) for a command: fills in the settings and moves the operands to the start of
 * argv. Options may be between operands; "--" ends them. Returns the number of operands, or -1
 * after reporting an error. */
int options_parse(uint32_t verb, char **argv, int n, struct settings *settings);

/* Returns how many words an option before the command consists of: 2 if `next` is its value, else
 * 1. */
size_t option_words(const char *word, const char *next);

/* Appends to a list.  Returns false if memory is exhausted. */
bool words_add(struct words *words, const char *value);

void settings_free(struct settings *settings);

#endif
