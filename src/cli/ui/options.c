/* Options: the table, and its parser (long options with "=" or a word behind, bundled letters,
 * operands anywhere).
 *
 * Left out on purpose: shortened long options; a script that uses them breaks when an option is
 * added. */
#include "cli/ui/options.h"

#include <stdlib.h>
#include <string.h>

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "cli/ui/messages.h"

#define AT(member) offsetof(struct settings, member)

enum {
    EVERY = 0xffff,
    LIVE = VERB_PS | VERB_DUMP | VERB_RECORD | VERB_COUNTERS | VERB_EVENTS,
    PROFILES = VERB_FLAME | VERB_REPORT,
    READS = EVERY & ~(VERB_FORMATS | LIVE),
    MANY = VERB_CAT | VERB_CONVERT | VERB_MERGE | VERB_STAT | VERB_TREE | PROFILES,
    REPORTS = VERB_INFO | VERB_STAT | VERB_TREE | VERB_CHECK | VERB_FORMATS | VERB_PS | VERB_DUMP |
              VERB_REPORT | VERB_EVENTS,
    LOCATES = VERB_CAT | VERB_CONVERT | VERB_MERGE,
    WRITES = VERB_CAT | VERB_CONVERT | VERB_MERGE | VERB_RECOVER | VERB_RECORD | VERB_COUNTERS |
             VERB_FLAME
};

static const struct option_row table[] = {
    {"json", 'j', OPTION_FLAG, GROUP_VERB, AT(json), REPORTS, NULL, NULL,
     "print JSON; its \"schema\" key names the version"},
    {"classes", 0, OPTION_FLAG, GROUP_VERB, AT(classes), VERB_INFO, NULL, NULL,
     "show the classes of events that the trace describes, with their fields"},
    {"metadata", 0, OPTION_TEXT, GROUP_VERB, AT(metadata), VERB_INFO, "LANGUAGE",
     "ctf2|ctf1.8|ctf1.1",
     "print what the trace says of its events in this language, and nothing else (metadata to read "
     "instead of the trace's own: --option=ctf.metadata=FILE)"},
    {"tracefs", 0, OPTION_TEXT, GROUP_VERB, AT(tracefs), VERB_EVENTS, "FOLDER", "@file",
     "where tracefs is mounted; by default it is found"},
    {"output", 'o', OPTION_TEXT, GROUP_VERB, AT(output), WRITES, "FILE", "@file",
     "write to FILE, or to a folder of that name where traces are folders; \"-\" is standard "
     "output"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_CONVERT | VERB_MERGE, "FORMAT", "@writers",
     "write this format; by default the suffix of the output tells"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_FLAME, "FORMAT",
     "folded|speedscope|pprof|svg|firefox",
     "write this format; by default the suffix of the output tells: .folded or .txt, "
     ".speedscope.json, .pb.gz, .svg, .json"},
    {"threads", 0, OPTION_FLAG, GROUP_VERB, AT(by_thread), VERB_FLAME, NULL, NULL,
     "keep threads apart also where the format has one picture of all (folded, svg)"},
    {"merge", 0, OPTION_FLAG, GROUP_VERB, AT(merged), VERB_FLAME, NULL, NULL,
     "put all threads together also where the format keeps them apart"},
    {"states", 0, OPTION_FLAG, GROUP_VERB, AT(states), VERB_FLAME, NULL, NULL,
     "add a frame for what the thread was doing where the trace tells (CPU_TIME, "
     "UNMANAGED_CODE_TIME); speedscope has it always"},
    {"of", 0, OPTION_TEXT, GROUP_VERB, AT(profile_of), PROFILES, "WHAT", "samples|spans",
     "take samples or spans; by default samples, and spans where there are none"},
    {"inclusive", 0, OPTION_FLAG, GROUP_VERB, AT(inclusive), VERB_REPORT, NULL, NULL,
     "topn: order by the time in a function and all it calls, instead of its own"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(format), VERB_CAT, "FORMAT", "text|jsonl|csv",
     "print text (default), JSON Lines or CSV"},
    {"overwrite", 'f', OPTION_FLAG, GROUP_VERB, AT(overwrite), WRITES, NULL, NULL,
     "replace an existing file"},
    {"style", 0, OPTION_TEXT, GROUP_VERB, AT(style), VERB_CAT, "STYLE",
     "tracetta|babeltrace2|perf|trace-cmd|microsoft",
     "print lines as babeltrace2 does, to the byte, the eight options that follow being as there; "
     "as perf script or trace-cmd report do; or JSON "
     "objects as Microsoft's perf-decode does"},
    {"names", 0, OPTION_WORDS, GROUP_VERB, AT(shown_names), VERB_CAT, "LIST", NULL,
     "which names to print: of payload, context, scope, header; all, none"},
    {"fields", 0, OPTION_WORDS, GROUP_VERB, AT(shown_fields), VERB_CAT, "LIST", NULL,
     "what to print before the name: of trace, trace:hostname, trace:domain, trace:procname, "
     "trace:vpid, loglevel, emf; all, none"},
    {"clock-seconds", 0, OPTION_FLAG, GROUP_VERB, AT(clock_seconds), VERB_CAT, NULL, NULL,
     "times as seconds since the epoch"},
    {"clock-cycles", 0, OPTION_FLAG, GROUP_VERB, AT(clock_cycles), VERB_CAT, NULL, NULL,
     "times as cycles of their clock"},
    {"clock-date", 0, OPTION_FLAG, GROUP_VERB, AT(clock_date), VERB_CAT, NULL, NULL,
     "times with their date"},
    {"clock-gmt", 0, OPTION_FLAG, GROUP_VERB, AT(clock_gmt), VERB_CAT, NULL, NULL,
     "times in UTC instead of the local zone"},
    {"clock-force-correlate", 0, OPTION_FLAG, GROUP_VERB, AT(clock_correlate), VERB_CAT, NULL, NULL,
     "clocks that do not know the time of day share one zero, as they do here anyway"},
    {"no-delta", 0, OPTION_FLAG, GROUP_VERB, AT(no_delta), VERB_CAT, NULL, NULL,
     "no time since the event before"},
    {"debug-info", 0, OPTION_FLAG, GROUP_VERB, AT(debug_info), LOCATES, NULL, NULL,
     "say of events of LTTng-UST with the contexts ip and vpid in which binary, function and line "
     "they were"},
    {"debug-info-dir", 0, OPTION_TEXT, GROUP_VERB, AT(debug_info_dir), LOCATES, "DIR", "@file",
     "the same, with debug information below DIR instead of /usr/lib/debug"},
    {"debug-info-full-path", 0, OPTION_FLAG, GROUP_VERB, AT(debug_info_full_path), LOCATES, NULL,
     NULL, "the same, with whole paths of binaries and sources"},
    {"debug-info-target-prefix", 0, OPTION_TEXT, GROUP_VERB, AT(debug_info_prefix), LOCATES, "DIR",
     "@file", "the same, with binaries that are below DIR here"},
    {"debuginfod", 0, OPTION_MAYBE, GROUP_VERB, AT(debuginfod), LOCATES, "URLS", NULL,
     "the same, and debug information that is not here is fetched from these servers (separated by "
     "blanks; without them those of DEBUGINFOD_URLS), "
     "by build id; nothing is ever fetched without this option"},
    {"debuginfod", 0, OPTION_MAYBE, GROUP_VERB, AT(profile_debuginfod), PROFILES, "URLS", NULL,
     "names of functions that are not here are fetched from these debuginfod servers (separated by "
     "blanks; without them those of DEBUGINFOD_URLS), "
     "by build id; nothing is ever fetched without this option"},
    {"retry-duration", 0, OPTION_COUNT, GROUP_VERB, AT(retry_us), VERB_CAT, "US", NULL,
     "live traces: microseconds before what was not there is asked for again"},
    {"limit", 'n', OPTION_COUNT, GROUP_VERB, AT(limit), VERB_CAT, "N", NULL, "stop after N events"},
    {"limit", 'n', OPTION_COUNT, GROUP_VERB, AT(limit), VERB_STAT | VERB_TREE | VERB_REPORT, "N",
     NULL, "print at most N rows"},
    {"sort", 0, OPTION_FLAG, GROUP_VERB, AT(sort), VERB_CAT | VERB_CONVERT, NULL, NULL,
     "order events by time; memory stays bounded. Files are read once more before, to know what is "
     "out of order"},
    {"explain", 0, OPTION_FLAG, GROUP_VERB, AT(explain), VERB_CONVERT | VERB_MERGE, NULL, NULL,
     "say what the target format cannot hold, before and after"},
    {"dry-run", 0, OPTION_FLAG, GROUP_VERB, AT(dry_run), VERB_CONVERT | VERB_MERGE, NULL, NULL,
     "convert without writing anything, and report"},
    {"align", 0, OPTION_TEXT, GROUP_VERB, AT(align), VERB_MERGE, "HOW", "clock|begin|none",
     "place inputs by their clocks (default), with their begins together, or by raw times without "
     "a warning"},
    {"sort-by", 0, OPTION_TEXT, GROUP_VERB, AT(sort_by), VERB_STAT, "COLUMN",
     "total|self|count|bytes|rate|min|p50|p90|p99|max|name",
     "order rows by a column (default total)"},
    {"aggregate", 'a', OPTION_FLAG, GROUP_VERB, AT(aggregate), VERB_TREE, NULL, NULL,
     "put spans with the same path of names together"},
    {"depth", 0, OPTION_COUNT, GROUP_VERB, AT(depth), VERB_TREE, "N", NULL,
     "print at most N levels"},
    {"min", 0, OPTION_DURATION, GROUP_VERB, AT(min_duration), VERB_TREE, "DURATION", NULL,
     "leave out spans shorter than this, with what is in them"},
    {"no-sidecar", 0, OPTION_FLAG, GROUP_VERB, AT(no_sidecar), VERB_RECOVER, NULL, NULL,
     "do not write the list of damaged bytes to FILE.damage.json"},
    {"environment", 'e', OPTION_FLAG, GROUP_VERB, AT(environment), VERB_PS, NULL, NULL,
     "show the environment of each process, as its runtime has it"},
    {"dotnet", 0, OPTION_FLAG, GROUP_VERB, AT(dotnet), VERB_RECORD, NULL, NULL,
     "record a .NET process"},
    {"perf", 0, OPTION_FLAG, GROUP_VERB, AT(perf), VERB_RECORD, NULL, NULL,
     "record events of the kernel, as a perf.data"},
    {"event", 'e', OPTION_WORDS, GROUP_VERB, AT(events), VERB_RECORD, "LIST", NULL,
     "--perf: record these: tracepoints as SYSTEM:NAME, with globs (\"sched:*\"); user_events "
     "without their system (\"Provider_L5K*\"); counters such as cpu-clock "
     "(default), page-faults, context-switches, cycles"},
    {"all-cpus", 'a', OPTION_FLAG, GROUP_VERB, AT(system_wide), VERB_RECORD, NULL, NULL,
     "--perf: whatever runs on any processor"},
    {"pid", 'p', OPTION_COUNT, GROUP_VERB, AT(pid), VERB_RECORD, "PID", NULL,
     "--perf: a process, its threads and what they start"},
    {"stacks", 'g', OPTION_FLAG, GROUP_VERB, AT(call_stacks), VERB_RECORD, NULL, NULL,
     "--perf: each event with the stack it happened on"},
    {"frequency", 'F', OPTION_COUNT, GROUP_VERB, AT(frequency), VERB_RECORD, "N", NULL,
     "--perf: samples a second of cpu-clock, cycles and the like (default 1000)"},
    {"user", 0, OPTION_FLAG, GROUP_VERB, AT(user_only), VERB_RECORD, NULL, NULL,
     "--perf: leave out what happens within the kernel"},
    {"snapshot", 0, OPTION_FLAG, GROUP_VERB, AT(snapshot), VERB_RECORD, NULL, NULL,
     "--perf: keep only what happened last, until SIGUSR2 or the end writes it to the file"},
    {"zstd", 0, OPTION_FLAG, GROUP_VERB, AT(zstd), VERB_RECORD, NULL, NULL,
     "--perf: compress the file's records"},
    {"max-size", 0, OPTION_SIZE, GROUP_VERB, AT(max_size), VERB_RECORD, "SIZE", NULL,
     "--perf: stop when the file has this size (\"64MiB\")"},
    {"profile", 0, OPTION_WORDS, GROUP_VERB, AT(profiles), VERB_RECORD, "LIST", "@profiles",
     "record the events of these profiles"},
    {"providers", 0, OPTION_WORDS, GROUP_VERB, AT(sources), VERB_RECORD, "LIST", NULL,
     "record these sources: NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]],...; keywords in hexadecimal "
     "(default: all), level 0 to 5 or "
     "logalways, critical, error, warning, informational (default), verbose; arguments as "
     "Key=Value;Key=\"Value, Value\""},
    {"clrevents", 0, OPTION_TEXT, GROUP_VERB, AT(clr_events), VERB_RECORD, "LIST", NULL,
     "record events of the runtime by keyword: gc+jit+exception"},
    {"clreventlevel", 0, OPTION_TEXT, GROUP_VERB, AT(clr_level), VERB_RECORD, "LEVEL", NULL,
     "of --clrevents, as for --providers"},
    {"duration", 0, OPTION_TEXT, GROUP_VERB, AT(duration), VERB_RECORD | VERB_COUNTERS, "TIME",
     NULL, "stop after this time: 30s, 5min, or dd:hh:mm:ss"},
    {"stopping-event-provider-name", 0, OPTION_TEXT, GROUP_VERB, AT(stop_provider), VERB_RECORD,
     "NAME", NULL, "stop at the first event of this provider"},
    {"stopping-event-event-name", 0, OPTION_TEXT, GROUP_VERB, AT(stop_event), VERB_RECORD, "NAME",
     NULL, "with this name, as \"tracetta cat\" shows it"},
    {"stopping-event-payload-filter", 0, OPTION_TEXT, GROUP_VERB, AT(stop_payload), VERB_RECORD,
     "LIST", NULL, "and these fields: FIELD:VALUE,FIELD:VALUE"},
    {"rundown", 0, OPTION_TEXT, GROUP_VERB, AT(rundown), VERB_RECORD, "KEYWORDS", NULL,
     "what the runtime tells at the end, in hexadecimal; false: nothing, and stacks stay without "
     "names"},
    {"buffersize", 0, OPTION_COUNT, GROUP_VERB, AT(buffer_mb), VERB_RECORD, "MB", NULL,
     "size of the buffer in the process (default 256), or with --perf of that of each processor "
     "(default 1)"},
    {"buffering-mode", 0, OPTION_TEXT, GROUP_VERB, AT(buffering), VERB_RECORD, "MODE", "drop|block",
     "when that is full, lose events (default) or let the program wait (.NET 11 and later)"},
    {"no-stacks", 0, OPTION_FLAG, GROUP_VERB, AT(no_stacks), VERB_RECORD, NULL, NULL,
     "events without stacks (.NET 8 and later)"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(record_format), VERB_RECORD, "FORMAT",
     "nettrace|netperf", "format of the file (default nettrace)"},
    {"counters", 0, OPTION_TEXT, GROUP_VERB, AT(counters), VERB_COUNTERS, "LIST", NULL,
     "show these: PROVIDER or PROVIDER[NAME,NAME], several with commas; an EventSource or a meter "
     "(default System.Runtime)"},
    {"refresh-interval", 0, OPTION_COUNT, GROUP_VERB, AT(refresh), VERB_COUNTERS, "SECONDS", NULL,
     "time between two values (default 1)"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(counter_format), VERB_COUNTERS, "FORMAT",
     "table|csv|json", "print a table (default), CSV or JSON, as dotnet-counters does"},
    {"diagnostic-port", 0, OPTION_TEXT, GROUP_VERB, AT(port), VERB_RECORD | VERB_COUNTERS,
     "PATH[,connect]", NULL,
     "make a socket at PATH and record the first runtime that connects to it (started with "
     "DOTNET_DiagnosticPorts=PATH); connect: PATH is a socket "
     "of the runtime"},
    {"no-resume", 0, OPTION_FLAG, GROUP_VERB, AT(no_resume), VERB_RECORD | VERB_COUNTERS, NULL,
     NULL, "leave a runtime waiting that waits at its start"},

    {"name", 0, OPTION_WORDS, GROUP_FILTER, AT(names), MANY, "GLOB", NULL,
     "only events with such a name (\"net*\")"},
    {"not-name", 0, OPTION_WORDS, GROUP_FILTER, AT(not_names), MANY, "GLOB", NULL,
     "no events with such a name"},
    {"category", 0, OPTION_WORDS, GROUP_FILTER, AT(categories), MANY, "GLOB", NULL,
     "only events of such a category"},
    {"provider", 0, OPTION_WORDS, GROUP_FILTER, AT(providers), MANY, "GLOB", NULL,
     "only events of such a provider"},
    {"thread", 0, OPTION_WORDS, GROUP_FILTER, AT(threads), MANY, "TID|GLOB", NULL,
     "only events of a thread, by number or name"},
    {"process", 0, OPTION_WORDS, GROUP_FILTER, AT(processes), MANY, "PID|GLOB", NULL,
     "only events of a process, by number or name"},
    {"tid", 0, OPTION_WORDS, GROUP_FILTER, AT(threads), MANY, "TID|GLOB", NULL,
     "the same as --thread"},
    {"pid", 0, OPTION_WORDS, GROUP_FILTER, AT(processes), MANY, "PID|GLOB", NULL,
     "the same as --process"},
    {"cpu", 0, OPTION_WORDS, GROUP_FILTER, AT(cpus), MANY, "LIST", NULL,
     "only events on these processors (\"0,4-7\")"},
    {"kind", 0, OPTION_WORDS, GROUP_FILTER, AT(kinds), MANY, "LIST", "@kinds",
     "only events of these kinds (\"span,counter\"; \"async\" means all of async_*)"},
    {"level", 0, OPTION_TEXT, GROUP_FILTER, AT(level), MANY, "LEVEL",
     "trace|debug|info|warning|error|fatal",
     "only events of this severity or worse, and those without any"},
    {"start", 0, OPTION_MOMENT, GROUP_FILTER, AT(start), MANY, "TIME", NULL,
     "only events from this time on: \"+2s\" after the first event (with --sort the earliest), "
     "nanoseconds, \"1.5s\", or \"2026-11-21T01:32:51\""},
    {"end", 0, OPTION_MOMENT, GROUP_FILTER, AT(end), MANY & ~VERB_CAT, "TIME", NULL,
     "only events before this time"},
    {"end", 0, OPTION_TIME, GROUP_FILTER, AT(end), VERB_CAT, "TIME", NULL,
     "only events before this time; with --style=babeltrace2 up to it and including it"},
    {"from", 0, OPTION_MOMENT, GROUP_FILTER, AT(start), MANY, "TIME", NULL, "the same as --start"},
    {"to", 0, OPTION_MOMENT, GROUP_FILTER, AT(end), MANY & ~VERB_CAT, "TIME", NULL,
     "the same as --end"},
    {"to", 0, OPTION_TIME, GROUP_FILTER, AT(end), VERB_CAT, "TIME", NULL, "the same as --end"},
    {"begin", 0, OPTION_TEXT, GROUP_FILTER, AT(begin), VERB_CAT, "TIME", NULL,
     "with --style=babeltrace2: only events from this time on: \"13:09:35.5\", \"2026-11-21 "
     "13:09:35\", or seconds"},
    {"timerange", 0, OPTION_TEXT, GROUP_FILTER, AT(timerange), VERB_CAT, "BEGIN,END", NULL,
     "both in one, with --style=babeltrace2"},
    {"stream-intersection", 0, OPTION_FLAG, GROUP_FILTER, AT(stream_intersection), MANY, NULL, NULL,
     "of each CTF trace only the time in which all its streams are active"},
    {"invert", 0, OPTION_FLAG, GROUP_FILTER, AT(invert), MANY, NULL, NULL,
     "take what the filter would leave out"},

    {"from", 0, OPTION_TEXT, GROUP_INPUT, AT(from), READS, "FORMAT", "@readers",
     "read as this format; by default the content tells"},
    {"offset", 0, OPTION_WORDS, GROUP_INPUT, AT(offsets), MANY, "FILE=DURATION", NULL,
     "add this to every time of an input"},
    {"clock-offset", 0, OPTION_SECONDS, GROUP_INPUT, AT(clock_offset), MANY, "SECONDS", NULL,
     "add this to every time of all inputs; also with a unit (\"-3ms\")"},
    {"clock-offset-ns", 0, OPTION_NANOSECONDS, GROUP_INPUT, AT(clock_offset_ns), MANY, "NS", NULL,
     "the same in nanoseconds; both add up"},
    {"option", 0, OPTION_WORDS, GROUP_INPUT, AT(format_options), READS, "[FORMAT.]KEY=VALUE", NULL,
     "set an option of a format; \"tracetta formats\" lists them"},
    {"metadata", 0, OPTION_TEXT, GROUP_INPUT, AT(metadata_file), READS & ~VERB_INFO, "FILE",
     "@file",
     "CTF: read this metadata instead of the trace's own, which may be damaged or missing; where "
     "several traces are read, in place of those of each"},
    {"strict", 0, OPTION_FLAG, GROUP_INPUT, AT(strict), READS & ~(VERB_CHECK | VERB_RECOVER), NULL,
     NULL,
     "stop with status 1 at the first damage, and where a target format cannot hold something"},
    {"strict", 0, OPTION_FLAG, GROUP_INPUT, AT(strict), VERB_CHECK, NULL, NULL,
     "end with status 1 also for records that break a rule and for missing events"},
    {"jobs", 0, OPTION_COUNT, GROUP_INPUT, AT(jobs), VERB_CAT | VERB_CONVERT, "N", NULL,
     "write lines of a CTF trace on N processors, with the memory of N readers (default 1, at most "
     "65); what is written is the same"},
    {"max-record", 0, OPTION_SIZE, GROUP_INPUT, AT(max_record), READS, "SIZE", NULL,
     "pass over larger records of FXT, packets of Heph and events of CTF (\"64MiB\", at least "
     "64KiB)"},
    {"no-mmap", 0, OPTION_FLAG, GROUP_INPUT, AT(no_mmap), READS, NULL, NULL,
     "never map files, for files that may shrink"},

    {"quiet", 'q', OPTION_FLAG, GROUP_GENERAL, AT(quiet), EVERY, NULL, NULL,
     "say nothing but errors"},
    {"verbose", 'v', OPTION_FLAG, GROUP_GENERAL, AT(verbose), EVERY, NULL, NULL,
     "say more, also of errors"},
    {"color", 0, OPTION_TEXT, GROUP_GENERAL, AT(color), EVERY, "WHEN", "auto|always|never",
     "use colours"},
    {"no-pager", 0, OPTION_FLAG, GROUP_GENERAL, AT(no_pager), EVERY, NULL, NULL,
     "do not send long output through $PAGER"},
    {"progress", 0, OPTION_TEXT, GROUP_GENERAL, AT(progress), READS | VERB_RECORD, "HOW",
     "auto|json|none", "show progress on a terminal, as JSON lines on stderr, or not at all"},
    {"help", 'h', OPTION_FLAG, GROUP_GENERAL, AT(help), EVERY, NULL, NULL, "print this help"},
};

const struct option_row *option_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const char *option_group_title(unsigned group)
{
    static const char *const titles[GROUP_COUNT] = {"Options", "Which events", "Input", "General"};
    return titles[group];
}

/* What parsing works on. */
struct parse {
    uint32_t verb;
    char **argv;
    int n, at, operands;
    struct settings *settings;
    const char *verb_name;
};

static const struct option_row *find_option(uint32_t verb, const char *name, size_t name_n,
                                            char letter)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_at(i)); i++) {
        bool is_it = name ? strlen(row->name) == name_n && memcmp(row->name, name, name_n) == 0
                          : row->letter == letter;
        if (is_it && row->verbs & verb)
            return row;
    }
    return NULL;
}

static bool takes_time(const struct option_row *row)
{
    return row->type == OPTION_MOMENT || row->type == OPTION_TIME;
}

/* --from and --to are times and formats, which the value tells apart: no name of a format begins as
 * times do. */
static const struct option_row *option_of_value(uint32_t verb, const struct option_row *row,
                                                const char *value)
{
    const bool is_time = *value && strchr("+-0123456789", *value);
    const struct option_row *other;
    if (takes_time(row) == is_time)
        return row;
    for (size_t i = 0; (other = option_at(i)); i++)
        if (strcmp(other->name, row->name) == 0 && other->verbs & verb &&
            takes_time(other) == is_time)
            return other;
    return row;
}

/* "", which is near to nothing, for options of other verbs. */
static const char *option_name_at(const void *own, size_t i)
{
    const struct parse *parse = own;
    const struct option_row *row = option_at(i);
    if (!row)
        return NULL;
    return row->verbs & parse->verb ? row->name : "";
}

static bool is_listed(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = choices; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == n && memcmp(at, value, n) == 0)
            return true;
    return false;
}

static bool is_format(const char *name, uint32_t ability)
{
    ttr_format_info info;
    for (size_t i = 0; ttr_format_get(i, &info); i++)
        if (info.abilities & ability && strcmp(info.name, name) == 0)
            return true;
    return false;
}

/* Names of formats with an ability, for messages. */
static void list_formats(uint32_t ability, char *to, size_t size)
{
    ttr_format_info info;
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; ttr_format_get(i, &info) && n < size; i++)
        if (info.abilities & ability)
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", info.name);
}

static bool check_choice(const struct parse *parse, const struct option_row *row, const char *value)
{
    char names[160];
    uint32_t ability = 0;
    if (!row->choices || strcmp(row->choices, "@file") == 0)
        return true;
    if (row->choices[0] != '@') {
        if (is_listed(row->choices, value))
            return true;
        (void)talk_misuse(parse->verb_name, "--%s cannot be \"%s\": there are %s", row->name, value,
                          row->choices);
        return false;
    }
    ability = strcmp(row->choices, "@readers") == 0 ? TTR_FORMAT_READS : TTR_FORMAT_WRITES;
    if (is_format(value, ability))
        return true;
    list_formats(ability, names, sizeof names);
    (void)talk_misuse(parse->verb_name, "no format \"%s\" can be %s: there are %s", value,
                      ability == TTR_FORMAT_READS ? "read" : "written", names);
    return false;
}

bool words_add(struct words *words, const char *value)
{
    const char **list = realloc(words->list, (words->n + 2) * sizeof *list);
    if (!list)
        return false;
    list[words->n++] = value;
    list[words->n] = NULL;
    words->list = list;
    return true;
}

static bool parse_size(const char *value, uint64_t *bytes)
{
    return units_parse_size(value, bytes) && *bytes > 0;
}

/* Stores a value of any type; false when it does not read as one. */
static bool store(struct settings *settings, const struct option_row *row, const char *value)
{
    void *to = (char *)settings + row->at;
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)to = true;
        return true;
    case OPTION_TEXT:
    case OPTION_MAYBE:
        *(const char **)to = value;
        return true;
    case OPTION_WORDS:
        return words_add(to, value);
    case OPTION_COUNT:
        return units_parse_count(value, to);
    case OPTION_SIZE:
        return parse_size(value, to);
    case OPTION_DURATION:
        return units_parse_duration(value, to);
    case OPTION_NANOSECONDS:
        return units_parse_nanoseconds(value, to);
    case OPTION_SECONDS:
        return units_parse_seconds(value, to);
    case OPTION_TIME:
        *(struct moment *)to = (struct moment){.kind = MOMENT_NONE};
        if (!units_parse_moment(value, to))
            ((struct moment *)to)->kind = MOMENT_UNREAD;
        ((struct moment *)to)->text = value;
        ((struct moment *)to)->option = row->name;
        return true;
    default:
        if (!units_parse_moment(value, to))
            return false;
        ((struct moment *)to)->option = row->name;
        return true;
    }
}

static bool set_option(const struct parse *parse, const struct option_row *named, const char *value)
{
    const struct option_row *const row = option_of_value(parse->verb, named, value);
    static const char *const wanted[] = {
        [OPTION_WORDS] = "more memory than there is",
        [OPTION_COUNT] = "a number from 1 to 18446744073709551615, like 100",
        [OPTION_SIZE] = "a size like 64MiB",
        [OPTION_DURATION] = "a duration like 250us",
        [OPTION_NANOSECONDS] = "whole nanoseconds like -500, or a duration like 1.5us",
        [OPTION_MOMENT] = "a time like +2s, 12.5s or 2026-11-21T01:32:51",
        [OPTION_SECONDS] = "seconds like 3 or -0.5, or a duration like 250us"};
    if (!value[0] && row->choices &&
        (strcmp(row->choices, "@file") == 0 || strcmp(row->choices, "@profiles") == 0)) {
        (void)talk_misuse(parse->verb_name, "--%s cannot be empty: it wants %s", row->name,
                          row->value);
        return false;
    }
    if (row->type == OPTION_TEXT && !check_choice(parse, row, value))
        return false;
    if (store(parse->settings, row, value))
        return true;
    (void)talk_misuse(parse->verb_name, "--%s cannot be \"%s\": it wants %s", row->name, value,
                      wanted[row->type]);
    return false;
}

/* The value of an option that needs one: behind "=", behind its letter, or the next word. */
static const char *take_value(struct parse *parse, const struct option_row *row,
                              const char *attached)
{
    if (attached)
        return attached;
    if (parse->at + 1 < parse->n)
        return parse->argv[++parse->at];
    (void)talk_misuse(parse->verb_name, "--%s needs a value: %s", row->name, row->value);
    return NULL;
}

static bool parse_long(struct parse *parse, const char *word)
{
    size_t name_n = strcspn(word, "=");
    const struct option_row *row = find_option(parse->verb, word, name_n, 0);
    const char *attached = word[name_n] == '=' ? word + name_n + 1 : NULL;
    if (!row) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)name_n, word);
        const char *near = talk_nearest(name, option_name_at, parse);
        (void)talk_misuse(parse->verb_name, "unknown option --%.*s%s%s%s", (int)name_n, word,
                          near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
        return false;
    }
    if (row->type == OPTION_FLAG && attached) {
        (void)talk_misuse(parse->verb_name, "--%s takes no value", row->name);
        return false;
    }
    if (!option_wants_value(row) && !attached)
        attached = "";
    const char *value = take_value(parse, row, attached);
    return value && set_option(parse, row, value);
}

static bool parse_letters(struct parse *parse, const char *letters)
{
    for (; *letters; letters++) {
        const struct option_row *row = find_option(parse->verb, NULL, 0, *letters);
        if (!row) {
            (void)talk_misuse(parse->verb_name, "unknown option -%c", *letters);
            return false;
        }
        if (row->type != OPTION_FLAG) {
            const char *value = take_value(parse, row, letters[1] ? letters + 1 : NULL);
            return value && set_option(parse, row, value);
        }
        if (!set_option(parse, row, ""))
            return false;
    }
    return true;
}

static const char *name_of_verb(uint32_t verb)
{
    for (size_t i = 0; command_at(i); i++)
        if (command_at(i)->verb == verb)
            return command_at(i)->name;
    return NULL;
}

/* Nothing that follows is an option. */
static bool mark_dashes(const struct parse *parse)
{
    parse->settings->has_dashes = true;
    parse->settings->before_dashes = (size_t)parse->operands;
    return true;
}

int options_parse(uint32_t verb, char **argv, int n, struct settings *settings)
{
    struct parse parse = {
        .verb = verb, .argv = argv, .n = n, .settings = settings, .verb_name = name_of_verb(verb)};
    bool options_ended = false;
    for (; parse.at < n; parse.at++) {
        char *word = argv[parse.at];
        bool is_fine = true;
        if (options_ended || word[0] != '-' || word[1] == '\0')
            argv[parse.operands++] = word;
        else if (strcmp(word, "--") == 0)
            options_ended = mark_dashes(&parse);
        else if (word[1] == '-')
            is_fine = parse_long(&parse, word + 2);
        else
            is_fine = parse_letters(&parse, word + 1);
        if (!is_fine)
            return -1;
    }
    return parse.operands;
}

void settings_free(struct settings *settings)
{
    for (const struct option_row *row = table; row < table + sizeof table / sizeof *table; row++) {
        if (row->type != OPTION_WORDS)
            continue;
        struct words *words = (struct words *)(void *)((char *)settings + row->at);
        free(words->list);
        *words = (struct words){0};
    }
}
