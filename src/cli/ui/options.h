/* Options: one table for all verbs, and what parsing it leaves behind.
 *
 * Ownership: texts are borrowed from argv; lists are freed by settings_free.  Thread rule: plain
 * data. */
#ifndef TRACETTA_CLI_UI_OPTIONS_H
#define TRACETTA_CLI_UI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/ui/units.h"

/* A list of texts with NULL at its end; `list` is NULL while empty. */
struct words {
    const char **list;
    size_t n;
};

/* Everything any option may set; 0, NULL and false where not given. */
struct settings {
    const char *counters, *counter_format, *stop_provider, *stop_event, *stop_payload;
    uint64_t refresh;
    const char *record_format, *clr_events, *clr_level, *rundown, *buffering, *duration, *port;
    struct words profiles, sources; /* of events, to record */
    uint64_t buffer_mb;
    bool dotnet, environment, no_stacks, no_resume;
    struct words events; /* of the kernel, to record */
    uint64_t pid, frequency, max_size;
    bool perf, system_wide, call_stacks, user_only, snapshot, zstd;
    bool has_dashes;      /* there was a "--" */
    size_t before_dashes; /* operands before it */
    const char *from, *to, *format, *output, *color, *progress, *sort_by, *align, *level;
    const char *metadata;      /* the language to print it in */
    const char *metadata_file; /* to read in place of a trace's own */
    const char *tracefs;
    const char *style;
    struct words shown_names, shown_fields; /* lists that are one */
    const char *profile_of;
    bool by_thread, merged, states, inclusive;
    const char *debug_info_dir, *debug_info_prefix;
    const char *debuginfod, *profile_debuginfod; /* servers; "" = those of the environment */
    const char *begin, *timerange;
    struct words format_options, offsets;
    struct words names, not_names, categories, providers, threads, processes, cpus, kinds;
    struct moment start, end;
    uint64_t max_record, limit, depth, jobs, retry_us;
    int64_t min_duration;
    bool help, quiet, verbose, no_pager, json;
    bool debug_info, debug_info_full_path;
    bool clock_seconds, clock_cycles, clock_date, clock_gmt, clock_correlate, no_delta;
    int64_t clock_offset, clock_offset_ns;
    bool stream_intersection;
    bool classes, strict, no_mmap, invert, sort, overwrite, explain, dry_run, aggregate, no_sidecar;
};

enum option_type {
    OPTION_FLAG,        /* bool */
    OPTION_TEXT,        /* const char *; one of `choices` where they are a list */
    OPTION_WORDS,       /* struct words, may be given often */
    OPTION_COUNT,       /* uint64_t */
    OPTION_SIZE,        /* uint64_t: "10MiB" */
    OPTION_DURATION,    /* int64_t ns: "250us" */
    OPTION_NANOSECONDS, /* int64_t ns: "250", "250us", not "0.5" */
    OPTION_MOMENT,      /* struct moment */
    OPTION_TIME,    /* the same with its text, which a style may read otherwise (time_range.h) */
    OPTION_SECONDS, /* int64_t ns: a duration, where a number without a unit is seconds */
    OPTION_MAYBE    /* const char *; a text behind "=", "" without */
};

/* Headings under which help lists options. */
enum option_group { GROUP_VERB, GROUP_FILTER, GROUP_INPUT, GROUP_GENERAL, GROUP_COUNT };

struct option_row {
    const char *name;    /* without "--" */
    char letter;         /* 0 = none */
    uint8_t type;        /* enum option_type */
    uint8_t group;       /* enum option_group */
    uint16_t at;         /* offset in struct settings */
    uint32_t verbs;      /* bits of enum verb */
    const char *value;   /* "FORMAT"; NULL for a flag */
    const char *choices; /* "auto|always|never", "@readers", "@writers", "@kinds", "@profiles",
                            "@file", or NULL */
    const char *text;    /* one or two lines of help */
};

/* Whether an option is nothing without a value. */
static inline bool option_wants_value(const struct option_row *row)
{
    return row->value && row->type != OPTION_MAYBE;
}

/* The i-th option of all, or NULL past the end. */
const struct option_row *option_at(size_t i);

/* The heading of a group of options. */
const char *option_group_title(unsigned group);

/* Parses argv[0 .. n) for a verb: fills the settings and moves operands to its front.  Gives how
 * many operands there are, or -1 after telling the user what is wrong.  Options and operands may be
 * mixed; "--" ends the options. */
int options_parse(uint32_t verb, char **argv, int n, struct settings *settings);

/* Appends to a list; false when memory is out. */
bool words_add(struct words *words, const char *value);

void settings_free(struct settings *settings);

#endif
