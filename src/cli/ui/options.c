/* Options: the table for all commands, and the parser.
 *
 * The parser accepts long options with "=" or with the value as the next word, bundled letters, and
 * options anywhere between operands. It does not accept abbreviated long options: a script with one
 * would break when a similar option is added. */
#include "cli/ui/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/formats.h>
#include <tracetta/profile.h>

#include "cli/commands/command.h"
#include "cli/commands/table_output.h"
#include "cli/ui/messages.h"

#define AT(member) offsetof(struct settings, member)

enum {
    EVERY = 0x7ffffff,
    DOTNET = VERB_RECORD_DOTNET,
    PERF = VERB_RECORD_PERF,
    RECORDS = DOTNET | PERF | VERB_RECORD,
    LIVE = VERB_PS | VERB_DUMP | RECORDS | VERB_COUNTERS | VERB_EVENTS | VERB_LISTEN | VERB_SEND |
           VERB_SESSION,
    PROFILES = VERB_FLAME | VERB_REPORT,
    READS = EVERY & ~(VERB_FORMATS | LIVE),
    MANY = VERB_CAT | VERB_CONVERT | VERB_MERGE | VERB_STAT | VERB_TREE | VERB_QUERY | VERB_VIEW |
           VERB_DIFF | VERB_ASSERT | PROFILES,
    COPIES = VERB_CONVERT | VERB_MERGE | VERB_RECOVER,
    REPORTS = VERB_INFO | VERB_STAT | VERB_TREE | VERB_CHECK | VERB_FORMATS | VERB_PS | VERB_DUMP |
              VERB_REPORT | VERB_EVENTS | VERB_LISTEN | VERB_SESSION | COPIES,
    TIMED = VERB_INFO | VERB_STAT | VERB_TREE | VERB_CHECK | VERB_REPORT | VERB_CONVERT |
            VERB_MERGE | VERB_CAT,
    LOCATES = VERB_CAT | VERB_CONVERT | VERB_MERGE,
    INTERPRETS = VERB_INFO | MANY,
    WRITES = VERB_CAT | COPIES | RECORDS | VERB_COUNTERS | VERB_FLAME | VERB_LISTEN | VERB_REPORT
};

static const struct option_row table[] = {
    {"json", 'j', OPTION_FLAG, GROUP_VERB, AT(json), REPORTS & ~COPIES, NULL, NULL,
     "print JSON; its key \"schema\" names the version"},
    {"json", 'j', OPTION_FLAG, GROUP_VERB, AT(json), COPIES, NULL, NULL,
     "print a report as JSON to stdout: output, events, losses, damage"},
    {"json-times", 0, OPTION_TEXT, GROUP_VERB, AT(json_times), TIMED, "HOW", "number|string",
     "write times in JSON as numbers (default), or as strings that jq and JavaScript keep exact"},
    {"classes", 0, OPTION_FLAG, GROUP_VERB, AT(classes), VERB_INFO, NULL, NULL,
     "show the event classes that the trace describes, with their fields"},
    {"metadata", 0, OPTION_TEXT, GROUP_VERB, AT(metadata), VERB_INFO, "LANGUAGE",
     "ctf2|ctf1.8|ctf1.1",
     "print only the description of the events, in this language. To read other metadata than the "
     "trace's own, use --option=ctf.metadata=FILE"},
    {"tracefs", 0, OPTION_TEXT, GROUP_VERB, AT(tracefs), VERB_EVENTS, "FOLDER", "@file",
     "use the tracefs that is mounted here; by default it is searched"},
    {"output", 'o', OPTION_TEXT, GROUP_VERB, AT(output), WRITES, "FILE", "@file",
     "write to this file, or to this folder if a trace is a folder; \"-\" is standard output"},
    {"output", 'o', OPTION_TEXT, GROUP_VERB, AT(output), VERB_QUERY, "FILE", "@file",
     "write parquet, arrow or sqlite to this file; \"-\" is standard output (default)"},
    {"overwrite", 'f', OPTION_FLAG, GROUP_VERB, AT(overwrite), VERB_QUERY, NULL, NULL,
     "replace an existing file"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_CONVERT, "FORMAT", "@outputs",
     "write this format; by default the suffix of the output decides"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_LISTEN, "FORMAT", "@writers",
     "write one trace of this format; by default the suffix of the output decides"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_RECORD, "FORMAT", "@writers",
     "convert the events to this format at the end; by default the suffix of the output decides"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_MERGE, "FORMAT", "@writers",
     "write this format; by default the suffix of the output decides"},
    {"to", 't', OPTION_TEXT, GROUP_VERB, AT(to), VERB_FLAME, "FORMAT",
     "folded|speedscope|pprof|svg|firefox",
     "write this format; by default the suffix of the output decides: .folded or .txt, "
     ".speedscope.json, .pb.gz, .svg, .json"},
    {"threads", 0, OPTION_FLAG, GROUP_VERB, AT(by_thread), VERB_FLAME, NULL, NULL,
     "keep threads apart in folded and svg too"},
    {"merge", 0, OPTION_FLAG, GROUP_VERB, AT(merged), VERB_FLAME, NULL, NULL,
     "put all threads together in speedscope, pprof and firefox too"},
    {"states", 0, OPTION_FLAG, GROUP_VERB, AT(states), VERB_FLAME, NULL, NULL,
     "add a frame for the state of the thread if the trace records it (CPU_TIME, "
     "UNMANAGED_CODE_TIME); speedscope always has it"},
    {"state", 0, OPTION_TEXT, GROUP_VERB, AT(state), PROFILES, "STATE", "managed",
     "use only samples that .NET took in managed code"},
    {"of", 0, OPTION_TEXT, GROUP_VERB, AT(profile_of), PROFILES, "WHAT", NULL,
     "use \"samples\" or \"spans\" (by default samples, or spans if the trace has no samples), or "
     "the stacks of events with this name (a glob); those of context switches show the time off "
     "the CPU"},
    {"weight", 0, OPTION_TEXT, GROUP_VERB, AT(weight), PROFILES, "FIELD", NULL,
     "with --of=EVENT: a numeric field of the event is its weight; by default each event counts 1"},
    {"inclusive", 0, OPTION_FLAG, GROUP_VERB, AT(inclusive), VERB_REPORT, NULL, NULL,
     "topn: order by the time in a function and all that it calls"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(format), VERB_QUERY, "FORMAT",
     "table|csv|tsv|json|jsonl|markdown|parquet|arrow|sqlite",
     "print the result in this format, or write a file of this format"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(format), VERB_DIFF, "FORMAT", "table|markdown|json",
     "print the comparison in this format"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(format), VERB_ASSERT, "FORMAT", "text|json|junit",
     "print the results in this format; junit is the XML that CI servers read"},
    {"key", 0, OPTION_TEXT, GROUP_VERB, AT(key), VERB_DIFF, "EXPRESSION", NULL,
     "compare by this expression in SQL over the columns of slice, instead of by name"},
    {"threshold", 0, OPTION_TEXT, GROUP_VERB, AT(threshold), VERB_DIFF, "PERCENT", NULL,
     "exit with 1 if the column of --sort-by of a name differs by more; p50 and p99 only if it is "
     "not by chance (p < 0.01)"},
    {"explain", 0, OPTION_FLAG, GROUP_VERB, AT(explain), VERB_DIFF | VERB_ASSERT, NULL, NULL,
     "print the statements in SQL instead of running them"},
    {"file", 0, OPTION_TEXT, GROUP_VERB, AT(script), VERB_QUERY, "FILE", "@file",
     "run the statements of this file; \"-\" is standard input"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(format), VERB_CAT, "FORMAT", "text|jsonl|csv",
     "print text (default), JSON Lines or CSV"},
    {"overwrite", 'f', OPTION_FLAG, GROUP_VERB, AT(overwrite), WRITES, NULL, NULL,
     "replace an existing file"},
    {"style", 0, OPTION_TEXT, GROUP_VERB, AT(style), VERB_CAT, "STYLE",
     "tracetta|babeltrace2|perf|trace-cmd|microsoft",
     "print the lines of babeltrace2, perf script or trace-cmd report, or the JSON of "
     "Microsoft's perf-decode"},
    {"names", 0, OPTION_WORDS, GROUP_BABELTRACE2, AT(shown_names), VERB_CAT, "LIST", NULL,
     "print the names of these: payload, context, scope, header; all, none"},
    {"fields", 0, OPTION_WORDS, GROUP_BABELTRACE2, AT(shown_fields), VERB_CAT, "LIST", NULL,
     "print these before the name: trace, trace:hostname, trace:domain, trace:procname, "
     "trace:vpid, loglevel, emf; all, none"},
    {"clock-seconds", 0, OPTION_FLAG, GROUP_BABELTRACE2, AT(clock_seconds), VERB_CAT, NULL, NULL,
     "print times as seconds since the epoch"},
    {"clock-cycles", 0, OPTION_FLAG, GROUP_BABELTRACE2, AT(clock_cycles), VERB_CAT, NULL, NULL,
     "print times as cycles of their clock"},
    {"clock-date", 0, OPTION_FLAG, GROUP_BABELTRACE2, AT(clock_date), VERB_CAT, NULL, NULL,
     "print times with their date"},
    {"clock-gmt", 0, OPTION_FLAG, GROUP_BABELTRACE2, AT(clock_gmt), VERB_CAT, NULL, NULL,
     "print times in UTC instead of the local zone"},
    {"clock-force-correlate", 0, OPTION_FLAG, GROUP_BABELTRACE2, AT(clock_correlate), VERB_CAT,
     NULL, NULL, "accepted for scripts: clocks without a known origin always share one zero here"},
    {"no-delta", 0, OPTION_FLAG, GROUP_BABELTRACE2, AT(no_delta), VERB_CAT, NULL, NULL,
     "do not print the time since the previous event"},
    {"begin", 0, OPTION_TEXT, GROUP_BABELTRACE2, AT(begin), VERB_CAT, "TIME", NULL,
     "select events from this time on: \"13:09:35.5\", \"2026-11-21 13:09:35\", or seconds"},
    {"timerange", 0, OPTION_TEXT, GROUP_BABELTRACE2, AT(timerange), VERB_CAT, "BEGIN,END", NULL,
     "select events from BEGIN to END, both included"},
    {"retry-duration", 0, OPTION_COUNT, GROUP_BABELTRACE2, AT(retry_us), VERB_CAT, "US", NULL,
     "live traces: wait so many microseconds before asking for more data"},
    {"pair", 0, OPTION_WORDS, GROUP_INPUT, AT(pairs), INTERPRETS, "START,END[,FIELD]", NULL,
     "make spans of the events with these names, which may have a \"*\" for the same text; spans "
     "nest on their thread, or the values of fields identify them (may be repeated)"},
    {"rules", 0, OPTION_FLAG, GROUP_VERB, AT(rules), VERB_FORMATS, NULL, NULL,
     "list the rules by which well-known events are interpreted, instead of the formats"},
    {"raw", 0, OPTION_FLAG, GROUP_INPUT, AT(raw), INTERPRETS, NULL, NULL,
     "show events as the trace has them; by default well-known events become spans, context "
     "switches "
     "and counters (\"formats --rules\" lists the rules)"},
    {"debug-info", 0, OPTION_FLAG, GROUP_VERB, AT(debug_info), LOCATES, NULL, NULL,
     "add binary, function and line to LTTng-UST events that have the contexts ip and vpid"},
    {"debug-info-dir", 0, OPTION_TEXT, GROUP_VERB, AT(debug_info_dir), LOCATES, "DIR", "@file",
     "like --debug-info, with debug information below DIR instead of /usr/lib/debug"},
    {"debug-info-full-path", 0, OPTION_FLAG, GROUP_VERB, AT(debug_info_full_path), LOCATES, NULL,
     NULL, "like --debug-info, with full paths of binaries and sources"},
    {"debug-info-target-prefix", 0, OPTION_TEXT, GROUP_VERB, AT(debug_info_prefix), LOCATES, "DIR",
     "@file", "like --debug-info, with the binaries of the target below DIR"},
    {"debuginfod", 0, OPTION_MAYBE, GROUP_VERB, AT(debuginfod), LOCATES, "URLS", NULL,
     "like --debug-info, and fetch missing debug information by build id from these servers, "
     "separated by blanks (default: DEBUGINFOD_URLS). Nothing is fetched without this option"},
    {"debuginfod", 0, OPTION_MAYBE, GROUP_VERB, AT(profile_debuginfod), PROFILES, "URLS", NULL,
     "fetch missing names of functions by build id from these debuginfod servers, separated by "
     "blanks (default: DEBUGINFOD_URLS). Nothing is fetched without this option"},
    {"limit", 'n', OPTION_COUNT, GROUP_VERB, AT(limit), VERB_CAT, "N", NULL,
     "stop after N printed events (\"20k\", \"1M\")"},
    {"limit", 'n', OPTION_COUNT, GROUP_VERB, AT(limit),
     VERB_STAT | VERB_TREE | VERB_REPORT | VERB_DIFF, "N", NULL, "print at most N rows"},
    {"sort", 0, OPTION_FLAG, GROUP_VERB, AT(sort), VERB_CAT | VERB_CONVERT, NULL, NULL,
     "order events by time, in bounded memory. Files are read twice"},
    {"explain", 0, OPTION_FLAG, GROUP_VERB, AT(explain), VERB_CONVERT | VERB_MERGE, NULL, NULL,
     "list what the target format cannot hold, before and after"},
    {"dry-run", 0, OPTION_FLAG, GROUP_VERB, AT(dry_run), VERB_CONVERT | VERB_MERGE, NULL, NULL,
     "convert without writing anything, and report"},
    {"align", 0, OPTION_TEXT, GROUP_VERB, AT(align), VERB_MERGE, "HOW", "clock|begin|none",
     "place inputs by their clocks (default), let them begin together, or use raw times without a "
     "warning"},
    {"live", 0, OPTION_FLAG, GROUP_VERB, AT(live), VERB_STAT, NULL, NULL,
     "print counts and rates while events arrive"},
    {"sort-by", 0, OPTION_TEXT, GROUP_VERB, AT(sort_by), VERB_STAT, "COLUMN",
     "total|self|count|bytes|rate|min|p50|p90|p99|max|name",
     "order rows by a column (default total)"},
    {"sort-by", 0, OPTION_TEXT, GROUP_VERB, AT(sort_by), VERB_DIFF, "COLUMN",
     "total|self|count|p50|p99|name", "order rows by the difference of a column (default total)"},
    {"aggregate", 'a', OPTION_FLAG, GROUP_VERB, AT(aggregate), VERB_TREE, NULL, NULL,
     "put spans with the same path of names together"},
    {"slowest", 0, OPTION_COUNT, GROUP_VERB, AT(slowest), VERB_TREE, "N", NULL,
     "print the N longest spans of all threads, with the spans around them, instead of a tree"},
    {"tail", 0, OPTION_COUNT, GROUP_VERB, AT(tail), VERB_CAT, "N", NULL,
     "print the last N events; files are read twice"},
    {"depth", 0, OPTION_COUNT, GROUP_VERB, AT(depth), VERB_TREE, "N", NULL,
     "print at most N levels"},
    {"min", 0, OPTION_DURATION, GROUP_VERB, AT(min_duration), VERB_TREE, "DURATION", NULL,
     "leave out spans shorter than this, with the spans inside them"},
    {"no-sidecar", 0, OPTION_FLAG, GROUP_VERB, AT(no_sidecar), VERB_RECOVER, NULL, NULL,
     "do not write the list of damaged bytes to FILE.damage.json"},
    {"environment", 'e', OPTION_FLAG, GROUP_VERB, AT(environment), VERB_PS, NULL, NULL,
     "show the environment of each process, as its runtime has it"},
    {"event", 'e', OPTION_WORDS, GROUP_VERB, AT(events), PERF, "LIST", NULL,
     "record these: tracepoints as SYSTEM:NAME, with globs (\"sched:*\"); user_events without "
     "their system (\"Provider_L5K*\"); counters such as cpu-clock (default), page-faults, "
     "context-switches, cycles"},
    {"all-cpus", 'a', OPTION_FLAG, GROUP_VERB, AT(system_wide), PERF, NULL, NULL,
     "record everything that runs on any processor"},
    {"pid", 'p', OPTION_COUNT, GROUP_VERB, AT(pid), PERF, "PID", NULL,
     "record a process, its threads and the processes it starts"},
    {"stacks", 'g', OPTION_FLAG, GROUP_VERB, AT(call_stacks), PERF, NULL, NULL,
     "record the stack of each event"},
    {"frequency", 'F', OPTION_COUNT, GROUP_VERB, AT(frequency), PERF, "N", NULL,
     "take N samples per second of cpu-clock, cycles and the like (default 1000)"},
    {"user", 0, OPTION_FLAG, GROUP_VERB, AT(user_only), PERF, NULL, NULL,
     "leave out events inside the kernel"},
    {"snapshot", 0, OPTION_FLAG, GROUP_VERB, AT(snapshot), PERF, NULL, NULL,
     "keep only the latest events, and write them at each SIGUSR2 and at the end"},
    {"mode", 0, OPTION_TEXT, GROUP_VERB, AT(ring_mode), VERB_RECORD, "MODE",
     "streaming|circular|oneshot",
     "when a ring is full, drop and count events (streaming, the default), replace the oldest "
     "(circular), or end the recording of its thread (oneshot)"},
    {"buffer", 0, OPTION_SIZE, GROUP_VERB, AT(ring_size), VERB_RECORD, "SIZE", NULL,
     "set the size of the ring of each thread (default 512KiB)"},
    {"category", 0, OPTION_WORDS, GROUP_VERB, AT(categories), VERB_RECORD | VERB_SESSION, "LIST",
     NULL, "record these categories: globs with levels 1 to 5, \"net.*,-net.debug,disk:3\""},
    {"min", 0, OPTION_DURATION, GROUP_VERB, AT(min_duration), VERB_RECORD, "TIME", NULL,
     "leave out zones that are shorter"},
    {"trigger", 0, OPTION_TEXT, GROUP_VERB, AT(trigger), VERB_RECORD, "NAME", NULL,
     "in circular mode, write the rings when a program calls ttr_trace_trigger(NAME) (default: any "
     "name)"},
    {"attach", 0, OPTION_WORDS, GROUP_VERB, AT(attach), VERB_RECORD, "PID", NULL,
     "record a running process instead of a command, from its next event on"},
    {"rotate", 0, OPTION_WORDS, GROUP_VERB, AT(rotate), VERB_RECORD, "LIMIT", NULL,
     "start another file, complete in itself, at a size (100MiB) or age (10min); 100MiB:5 keeps "
     "the "
     "last five files"},
    {"live", 0, OPTION_MAYBE, GROUP_VERB, AT(live_output), VERB_RECORD, "ADDRESS", NULL,
     "also print the events as they come, or send them to \"tracetta listen\" at ADDRESS"},
    {"fail-on-loss", 0, OPTION_FLAG, GROUP_VERB, AT(fail_on_loss), VERB_RECORD, NULL, NULL,
     "exit with status 1 if events were lost"},
    {"zstd", 0, OPTION_FLAG, GROUP_VERB, AT(zstd), PERF | VERB_RECORD, NULL, NULL,
     "compress the records of the file"},
    {"max-size", 0, OPTION_SIZE, GROUP_VERB, AT(max_size), PERF, "SIZE", NULL,
     "stop when the file has this size (\"64MiB\")"},
    {"profile", 0, OPTION_WORDS, GROUP_VERB, AT(profiles), DOTNET, "LIST", "@profiles",
     "record the events of these profiles"},
    {"providers", 0, OPTION_WORDS, GROUP_VERB, AT(sources), DOTNET, "LIST", NULL,
     "record these providers: NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]],...; keywords in hexadecimal "
     "(default: all); level 0 to 5, or logalways, critical, error, warning, informational "
     "(default), verbose; arguments as Key=Value;Key=\"Value, Value\""},
    {"clrevents", 0, OPTION_TEXT, GROUP_VERB, AT(clr_events), DOTNET, "LIST", NULL,
     "record events of the runtime by keyword: gc+jit+exception"},
    {"clreventlevel", 0, OPTION_TEXT, GROUP_VERB, AT(clr_level), DOTNET, "LEVEL", NULL,
     "set the level of --clrevents, as for --providers"},
    {"duration", 0, OPTION_TEXT, GROUP_VERB, AT(duration), RECORDS | VERB_COUNTERS, "TIME", NULL,
     "stop after this time: 30s, 5min, or dd:hh:mm:ss"},
    {"duration", 0, OPTION_TEXT, GROUP_VERB, AT(duration), VERB_LISTEN, "TIME", NULL,
     "stop after this time: 30s, 5min, or dd:hh:mm:ss"},
    {"rotate-size", 0, OPTION_SIZE, GROUP_VERB, AT(rotate_size), VERB_LISTEN, "SIZE", NULL,
     "start another file before a file exceeds this size (\"100MiB\")"},
    {"rotate-time", 0, OPTION_TEXT, GROUP_VERB, AT(rotate_time), VERB_LISTEN, "TIME", NULL,
     "start another file when a file is this old (\"10min\")"},
    {"queue-size", 0, OPTION_SIZE, GROUP_VERB, AT(queue_size), VERB_LISTEN, "SIZE", NULL,
     "hold at most this much per sender while the output is slow (default 4MiB)"},
    {"when-full", 0, OPTION_TEXT, GROUP_VERB, AT(when_full), VERB_LISTEN, "HOW", "auto|drop|wait",
     "when the queue of a sender is full, drop its oldest packets or stop reading (default: UDP "
     "drops, connections wait)"},
    {"max-packet", 0, OPTION_SIZE, GROUP_VERB, AT(max_packet), VERB_LISTEN, "SIZE", NULL,
     "skip larger packets (default 1MiB)"},
    {"max-sources", 0, OPTION_COUNT, GROUP_VERB, AT(max_sources), VERB_LISTEN, "N", NULL,
     "refuse senders beyond this number (default 64)"},
    {"idle", 0, OPTION_TEXT, GROUP_VERB, AT(idle), VERB_LISTEN, "TIME", NULL,
     "end a sender after this silence (default 1min)"},
    {"rate", 0, OPTION_COUNT, GROUP_VERB, AT(rate), VERB_SEND, "N", NULL,
     "send at most N events per second (\"20k\")"},
    {"port", 0, OPTION_COUNT, GROUP_VERB, AT(view_port), VERB_VIEW, "PORT", NULL,
     "serve the page at this port of 127.0.0.1 (default: any that is free)"},
    {"no-open", 0, OPTION_FLAG, GROUP_VERB, AT(no_open), VERB_VIEW, NULL, NULL,
     "print the address only; do not open it in a browser"},
    {"once", 0, OPTION_FLAG, GROUP_VERB, AT(once), VERB_VIEW, NULL, NULL,
     "stop when the last page has been closed"},
    {"html", 0, OPTION_FLAG, GROUP_VERB, AT(html), VERB_REPORT, NULL, NULL,
     "write the timeline with reduced data, and tables, as one HTML file (-o FILE)"},
    {"realtime", 0, OPTION_FLAG, GROUP_VERB, AT(realtime), VERB_SEND, NULL, NULL,
     "send each event at its distance in time from the first one"},
    {"datagram-size", 0, OPTION_SIZE, GROUP_VERB, AT(datagram_size), VERB_SEND, "SIZE", NULL,
     "put packets of up to this size into one datagram (default 1400)"},
    {"stopping-event-provider-name", 0, OPTION_TEXT, GROUP_VERB, AT(stop_provider), DOTNET, "NAME",
     NULL, "stop at the first event of this provider"},
    {"stopping-event-event-name", 0, OPTION_TEXT, GROUP_VERB, AT(stop_event), DOTNET, "NAME", NULL,
     "stop only at an event of this name, as \"tracetta cat\" shows it"},
    {"stopping-event-payload-filter", 0, OPTION_TEXT, GROUP_VERB, AT(stop_payload), DOTNET, "LIST",
     NULL, "stop only at an event with these fields: FIELD:VALUE,FIELD:VALUE"},
    {"rundown", 0, OPTION_TEXT, GROUP_VERB, AT(rundown), DOTNET, "KEYWORDS", NULL,
     "choose the rundown at the end, in hexadecimal; false: no rundown, so stacks have no names"},
    {"buffersize", 0, OPTION_COUNT, GROUP_VERB, AT(buffer_mb), DOTNET, "MB", NULL,
     "set the size of the buffer in the process (default 256)"},
    {"buffersize", 0, OPTION_COUNT, GROUP_VERB, AT(buffer_mb), PERF, "MB", NULL,
     "set the size of the buffer of each processor (default 1)"},
    {"buffering-mode", 0, OPTION_TEXT, GROUP_VERB, AT(buffering), DOTNET, "MODE", "drop|block",
     "when the buffer is full, lose events (default) or let the program wait (.NET 11 and later)"},
    {"no-stacks", 0, OPTION_FLAG, GROUP_VERB, AT(no_stacks), DOTNET, NULL, NULL,
     "record events without stacks (.NET 8 and later)"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(record_format), DOTNET, "FORMAT", "nettrace|netperf",
     "write this format (default nettrace)"},
    {"counters", 0, OPTION_TEXT, GROUP_VERB, AT(counters), VERB_COUNTERS, "LIST", NULL,
     "show these: PROVIDER or PROVIDER[NAME,NAME], separated by commas. A provider is an "
     "EventSource or a meter (default System.Runtime)"},
    {"refresh-interval", 0, OPTION_COUNT, GROUP_VERB, AT(refresh), VERB_COUNTERS, "SECONDS", NULL,
     "set the time between two values (default 1)"},
    {"format", 0, OPTION_TEXT, GROUP_VERB, AT(counter_format), VERB_COUNTERS, "FORMAT",
     "table|csv|json", "print a table (default), CSV or JSON, as dotnet-counters does"},
    {"diagnostic-port", 0, OPTION_TEXT, GROUP_VERB, AT(port), DOTNET | VERB_COUNTERS,
     "PATH[,connect]", NULL,
     "listen on a socket at PATH and use the first runtime that connects to it (started with "
     "DOTNET_DiagnosticPorts=PATH). With connect: PATH is a socket of the runtime"},
    {"no-resume", 0, OPTION_FLAG, GROUP_VERB, AT(no_resume), DOTNET | VERB_COUNTERS, NULL, NULL,
     "do not resume a runtime that waits at its start"},

    {"name", 0, OPTION_WORDS, GROUP_FILTER, AT(names), MANY, "GLOB", NULL,
     "select events by name (\"net*\")"},
    {"not-name", 0, OPTION_WORDS, GROUP_FILTER, AT(not_names), MANY, "GLOB", NULL,
     "leave out events by name"},
    {"category", 0, OPTION_WORDS, GROUP_FILTER, AT(categories), MANY, "GLOB", NULL,
     "select events by category"},
    {"provider", 0, OPTION_WORDS, GROUP_FILTER, AT(providers), MANY, "GLOB", NULL,
     "select events by provider"},
    {"thread", 0, OPTION_WORDS, GROUP_FILTER, AT(threads), MANY, "TID|GLOB", NULL,
     "select events by thread, by number or name"},
    {"process", 0, OPTION_WORDS, GROUP_FILTER, AT(processes), MANY, "PID|GLOB", NULL,
     "select events by process, by number or name"},
    {"tid", 0, OPTION_WORDS, GROUP_FILTER, AT(threads), MANY, "TID|GLOB", NULL, "same as --thread"},
    {"pid", 0, OPTION_WORDS, GROUP_FILTER, AT(processes), MANY, "PID|GLOB", NULL,
     "same as --process"},
    {"cpu", 0, OPTION_WORDS, GROUP_FILTER, AT(cpus), MANY, "LIST", NULL,
     "select events by processor (\"0,4-7\")"},
    {"kind", 0, OPTION_WORDS, GROUP_FILTER, AT(kinds), MANY, "LIST", "@kinds",
     "select events by kind (\"span,counter\"); \"async\" means all of async_*"},
    {"level", 0, OPTION_TEXT, GROUP_FILTER, AT(level), MANY, "LEVEL",
     "trace|debug|info|warning|error|fatal",
     "select events of this severity or worse, and events without a severity"},
    {"where", 0, OPTION_TEXT, GROUP_FILTER, AT(where), MANY & ~VERB_QUERY, "CONDITION", NULL,
     "select events by a condition in SQL over name, kind, ts, dur, category, provider, level, "
     "cpu, "
     "tid, pid, thread_name, process_name, source, offset, and the fields of the event: "
     "\"name GLOB 'sched*' AND next_prio > 20\", \"dur > 2ms\". stat, tree and flame join begin "
     "and "
     "end before"},
    {"start", 0, OPTION_MOMENT, GROUP_FILTER, AT(start), MANY, "TIME", NULL,
     "select events from this time on. \"+2s\": after the first event (with --sort, the earliest). "
     "\"-1s\": before the last event. \"12:30\": UTC, on the day of the first event. Also "
     "nanoseconds, \"1.5s\", or \"2026-11-21T01:32:51\""},
    {"end", 0, OPTION_MOMENT, GROUP_FILTER, AT(end), MANY & ~VERB_CAT, "TIME", NULL,
     "select events before this time"},
    {"end", 0, OPTION_TIME, GROUP_FILTER, AT(end), VERB_CAT, "TIME", NULL,
     "select events before this time; --style=babeltrace2 includes the time itself"},
    {"stream-intersection", 0, OPTION_FLAG, GROUP_FILTER, AT(stream_intersection), MANY, NULL, NULL,
     "select the time in which all streams of a CTF trace are active"},
    {"invert", 0, OPTION_FLAG, GROUP_FILTER, AT(invert), MANY, NULL, NULL,
     "select the events that do not match"},

    {"from", 0, OPTION_TEXT, GROUP_INPUT, AT(from), READS, "FORMAT", "@readers",
     "read this format; by default the content decides"},
    {"offset", 0, OPTION_WORDS, GROUP_INPUT, AT(offsets), MANY, "FILE=DURATION", NULL,
     "add this to every time of one input"},
    {"clock-offset", 0, OPTION_SECONDS, GROUP_INPUT, AT(clock_offset), MANY, "SECONDS", NULL,
     "add this to every time of all inputs; a unit is possible (\"-3ms\")"},
    {"clock-offset-ns", 0, OPTION_NANOSECONDS, GROUP_INPUT, AT(clock_offset_ns), MANY, "NS", NULL,
     "add nanoseconds to every time of all inputs; adds to --clock-offset"},
    {"option", 0, OPTION_WORDS, GROUP_INPUT, AT(format_options), READS, "[FORMAT.]KEY=VALUE", NULL,
     "set an option of a format; \"tracetta formats\" lists them"},
    {"metadata", 0, OPTION_TEXT, GROUP_INPUT, AT(metadata_file), READS & ~VERB_INFO, "FILE",
     "@file",
     "CTF: read this metadata instead of the trace's own, which may be damaged or missing. It "
     "replaces the metadata of every trace that is read"},
    {"strict", 0, OPTION_FLAG, GROUP_INPUT, AT(strict), READS & ~(VERB_CHECK | VERB_RECOVER), NULL,
     NULL, "stop with status 1 at the first damage, or if the target format cannot hold something"},
    {"strict", 0, OPTION_FLAG, GROUP_INPUT, AT(strict), VERB_CHECK, NULL, NULL,
     "end with status 1 also if records break a rule or events are missing"},
    {"jobs", 0, OPTION_COUNT, GROUP_INPUT, AT(jobs), VERB_CAT | VERB_CONVERT, "N", NULL,
     "write lines of a CTF trace on N processors (default 1, at most 65). The output is the same; "
     "memory grows with N"},
    {"max-record", 0, OPTION_SIZE, GROUP_INPUT, AT(max_record), READS, "SIZE", NULL,
     "skip larger records of FXT, packets of Heph and events of CTF (\"64MiB\", at least 64KiB)"},
    {"max-temporary", 0, OPTION_SIZE, GROUP_INPUT, AT(max_temporary), READS, "SIZE", NULL,
     "limit the temporary file of sorting (default: nine tenths of the free space in TMPDIR)"},
    {"follow-links", 0, OPTION_FLAG, GROUP_INPUT, AT(follow_links), READS, NULL, NULL,
     "read files that links in the folder of a trace name outside of it"},
    {"no-mmap", 0, OPTION_FLAG, GROUP_INPUT, AT(no_mmap), READS, NULL, NULL,
     "do not map files into memory: for files that may shrink"},

    {"quiet", 'q', OPTION_FLAG, GROUP_GENERAL, AT(quiet), EVERY, NULL, NULL, "print errors only"},
    {"verbose", 'v', OPTION_FLAG, GROUP_GENERAL, AT(verbose), EVERY, NULL, NULL,
     "print more, also about errors"},
    {"color", 0, OPTION_TEXT, GROUP_GENERAL, AT(color), EVERY, "WHEN", "auto|always|never",
     "use colours"},
    {"no-pager", 0, OPTION_FLAG, GROUP_GENERAL, AT(no_pager), EVERY, NULL, NULL,
     "do not send long output through $PAGER"},
    {"progress", 0, OPTION_TEXT, GROUP_GENERAL, AT(progress), READS | RECORDS, "HOW",
     "auto|json|none", "show progress on a terminal, as JSON lines on stderr, or not at all"},
    {"help", 'h', OPTION_FLAG, GROUP_GENERAL, AT(help), EVERY, NULL, NULL, "print this help"},
};

const struct option_row *option_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const char *option_group_title(unsigned group)
{
    static const char *const titles[GROUP_COUNT] = {"Options", "Which events", "Input", "General",
                                                    "With --style=babeltrace2"};
    return titles[group];
}

/* State of parsing a command line. */
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

/* Returns the name of the i-th option; "" if another command has it; or NULL. */
static const char *option_name_at(const void *ctx, size_t i)
{
    const struct parse *parse = ctx;
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

/* Lists the names of the formats with an ability, for messages. */
static void list_formats(uint32_t ability, char *to, size_t size)
{
    ttr_format_info info;
    size_t n = 0;
    to[0] = '\0';
    for (size_t i = 0; ttr_format_get(i, &info) && n < size; i++)
        if (info.abilities & ability)
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", info.name);
}

/* Returns true if a value looks like a time: the user probably means --start or --end. */
static bool looks_like_time(const char *value)
{
    struct moment moment;
    return strchr("+-0123456789", *value) && units_parse_moment(value, &moment);
}

static bool is_profile_format(const char *name)
{
    ttr_profile_format format;
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++)
        if (strcmp(format.name, name) == 0)
            return true;
    return false;
}

/* Reports that a value of --from or --to is not a format. Returns false. */
static bool refuse_format(const struct parse *parse, const struct option_row *row,
                          const char *value)
{
    char names[240];
    const bool is_read = strcmp(row->choices, "@readers") == 0;
    if (*value && looks_like_time(value)) {
        (void)report_misuse(parse->verb_name,
                            "--%s cannot be \"%s\": it expects a format; use --%s=%s for a time",
                            row->name, value, is_read ? "start" : "end", value);
        return false;
    }
    if (!is_read && is_profile_format(value)) {
        (void)report_misuse(
            parse->verb_name,
            "--to cannot be \"%s\": it is a profile; use \"tracetta flame --to=%s\"", value, value);
        return false;
    }
    list_formats(is_read ? TTR_FORMAT_READS : TTR_FORMAT_WRITES, names, sizeof names);
    (void)report_misuse(parse->verb_name, "no format \"%s\" can be %s: expected one of %s%s", value,
                        is_read ? "read" : "written", names,
                        strcmp(row->choices, "@outputs") == 0
                            ? ", or a profile: folded, speedscope, pprof, svg, firefox"
                            : "");
    return false;
}

static bool check_choice(const struct parse *parse, const struct option_row *row, const char *value)
{
    if (!row->choices || strcmp(row->choices, "@file") == 0)
        return true;
    if (row->choices[0] != '@') {
        if (is_listed(row->choices, value))
            return true;
        if (strcmp(row->name, "to") == 0 && *value && looks_like_time(value))
            return refuse_format(parse, row, value);
        (void)report_misuse(parse->verb_name, "--%s cannot be \"%s\": expected one of %s",
                            row->name, value, row->choices);
        return false;
    }
    if (strcmp(row->choices, "@outputs") == 0 &&
        (is_profile_format(value) || find_table_format(value, NULL)))
        return true;
    const bool is_read = strcmp(row->choices, "@readers") == 0;
    return is_format(value, is_read ? TTR_FORMAT_READS : TTR_FORMAT_WRITES) ||
           refuse_format(parse, row, value);
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
    const bool is_read = units_parse_size(value, bytes);
    errno = is_read ? EINVAL : errno;
    return is_read && *bytes > 0;
}

/* Stores an option's value in the settings. Returns false with errno (see units.h) if it cannot be
 * parsed. */
static bool store_option_value(struct settings *settings, const struct option_row *row,
                               const char *value)
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

static bool set_option(const struct parse *parse, const struct option_row *row, const char *value)
{
    static const char *const expected[] = {
        [OPTION_COUNT] = "a number from 1 to 18446744073709551615, like 100, 20k or 1M",
        [OPTION_SIZE] = "a size like 64MiB",
        [OPTION_DURATION] = "a duration like 250us",
        [OPTION_NANOSECONDS] = "whole nanoseconds like -500, or a duration like 1.5us",
        [OPTION_MOMENT] = "a time like +2s, -1s, 12:30, 12.5s or 2026-11-21T01:32:51",
        [OPTION_SECONDS] = "seconds like 3 or -0.5, or a duration like 250us"};
    if (!value[0] && row->choices &&
        (strcmp(row->choices, "@file") == 0 || strcmp(row->choices, "@profiles") == 0)) {
        (void)report_misuse(parse->verb_name, "--%s cannot be empty: expected %s", row->name,
                            row->value);
        return false;
    }
    if (row->type == OPTION_TEXT && !check_choice(parse, row, value))
        return false;
    if (store_option_value(parse->settings, row, value))
        return true;
    if (row->type == OPTION_WORDS)
        (void)report_misuse(parse->verb_name, "out of memory");
    else if (errno == ERANGE)
        (void)report_misuse(parse->verb_name, "--%s=%s is too large%s", row->name, value,
                            row->type == OPTION_COUNT || row->type == OPTION_SIZE
                                ? ": at most 18446744073709551615"
                                : ": at most 9223372036854775807 ns, 292 years");
    else
        (void)report_misuse(parse->verb_name, "--%s cannot be \"%s\": expected %s", row->name,
                            value, expected[row->type]);
    return false;
}

/* Returns the value of an option: the text after "=" or after the letter, or the next word. Returns
 * NULL if it is missing. */
static const char *find_value(struct parse *parse, const struct option_row *row,
                              const char *attached)
{
    if (attached)
        return attached;
    if (parse->at + 1 < parse->n)
        return parse->argv[++parse->at];
    (void)report_misuse(parse->verb_name, "--%s needs a value: %s", row->name, row->value);
    return NULL;
}

/* Options that users of other tools try, and what to use instead. */
static const struct {
    uint32_t verbs;
    const char *name, *use;
} substitutes[] = {
    {VERB_CAT, "json", "--format=jsonl"},
    {VERB_CAT, "to", "--end=TIME, --format=FORMAT, or \"tracetta convert --to=FORMAT\""},
    {VERB_STAT | VERB_TREE | VERB_REPORT | VERB_INFO | VERB_CHECK, "format", "--json"},
    {VERB_STAT | VERB_TREE | VERB_REPORT | VERB_INFO | VERB_CHECK, "to", "--json, or --end=TIME"},
    {VERB_CONVERT | VERB_MERGE | VERB_FLAME, "format", "--to=FORMAT"},
    {VERB_CONVERT, "limit", "--end=TIME"},
    {DOTNET, "pid", "\"tracetta record dotnet PID\", or \"record perf\" for the kernel"},
    {DOTNET | PERF, "dotnet", "\"tracetta record dotnet\""},
    {DOTNET | PERF, "perf", "\"tracetta record perf\""},
    {VERB_QUERY, "where", "WHERE in the statement"},
    {MANY, "since", "--start=TIME"},
    {MANY, "until", "--end=TIME"},
    {VERB_DIFF | VERB_ASSERT, "json", "--format=json"},
    {MANY & ~VERB_CAT, "begin", "--start=TIME"},
    {MANY & ~VERB_CAT, "timerange", "--start=TIME and --end=TIME"},
};

/* Reports an unknown option, and suggests a similar one or the command that has it. Returns
 * false. */
static bool refuse_unknown(const struct parse *parse, const char *name)
{
    const struct option_row *row;
    const char *near = print_nearest_word(name, option_name_at, parse);
    for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++)
        if (substitutes[i].verbs & parse->verb && strcmp(substitutes[i].name, name) == 0) {
            (void)report_misuse(parse->verb_name, "unknown option --%s: use %s", name,
                                substitutes[i].use);
            return false;
        }
    for (size_t i = 0; !near && (row = option_at(i)); i++)
        for (size_t k = 0; get_command(k) && strcmp(row->name, name) == 0; k++)
            if (get_command(k)->verb & row->verbs) {
                (void)report_misuse(parse->verb_name,
                                    "unknown option --%s: it is an option of \"tracetta %s\"", name,
                                    get_command(k)->name);
                return false;
            }
    (void)report_misuse(parse->verb_name, "unknown option --%s%s%s%s", name,
                        near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
    return false;
}

static bool parse_long(struct parse *parse, const char *word)
{
    size_t name_n = strcspn(word, "=");
    const struct option_row *row = find_option(parse->verb, word, name_n, 0);
    const char *attached = word[name_n] == '=' ? word + name_n + 1 : NULL;
    if (!row) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)name_n, word);
        return refuse_unknown(parse, name);
    }
    if (row->type == OPTION_FLAG && attached) {
        (void)report_misuse(parse->verb_name, "--%s takes no value", row->name);
        return false;
    }
    if (!option_wants_value(row) && !attached)
        attached = "";
    const char *value = find_value(parse, row, attached);
    return value && set_option(parse, row, value);
}

static bool parse_letters(struct parse *parse, const char *letters)
{
    for (; *letters; letters++) {
        const struct option_row *row = find_option(parse->verb, NULL, 0, *letters);
        if (!row) {
            row = find_option(EVERY, NULL, 0, *letters);
            (void)report_misuse(parse->verb_name, "unknown option -%c%s%s%s", *letters,
                                row ? ": this command has no --" : "", row ? row->name : "", "");
            return false;
        }
        if (row->type != OPTION_FLAG) {
            const char *value = find_value(parse, row, letters[1] ? letters + 1 : NULL);
            return value && set_option(parse, row, value);
        }
        if (!set_option(parse, row, ""))
            return false;
    }
    return true;
}

static const char *name_of_verb(uint32_t verb)
{
    for (size_t i = 0; get_command(i); i++)
        if (get_command(i)->verb == verb)
            return get_command(i)->name;
    return NULL;
}

/* Records the position of "--", after which all words are operands. Returns true. */
static bool mark_dashes(const struct parse *parse)
{
    parse->settings->has_separator = true;
    parse->settings->before_separator = (size_t)parse->operands;
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

/* Returns true if any command has an option with this name or letter that needs a value (or, with
 * wants_value false, that needs none). */
static bool has_option(const char *name, size_t name_n, char letter, bool wants_value)
{
    const struct option_row *row;
    for (size_t i = 0; (row = option_at(i)); i++) {
        bool is_it = name ? strlen(row->name) == name_n && memcmp(row->name, name, name_n) == 0
                          : row->letter == letter;
        if (is_it && option_wants_value(row) == wants_value)
            return true;
    }
    return false;
}

size_t option_words(const char *word, const char *next)
{
    if (word[0] != '-' || word[1] == '\0')
        return 1; /* not an option */
    const char *name = word[1] == '-' ? word + 2 : NULL;
    const size_t name_n = name ? strcspn(name, "=") : 0;
    const char letter = name ? '\0' : word[strlen(word) - 1];
    if (!next || (name && name[name_n] == '=') || !has_option(name, name_n, letter, true))
        return 1;
    /* a letter that is a flag in one command and has a value in another */
    return has_option(name, name_n, letter, false) && find_command(next) ? 1 : 2;
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
