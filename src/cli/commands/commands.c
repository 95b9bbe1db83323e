/* The table of commands: names, operands, help texts and functions. */
#include <string.h>

#include "cli/commands/command.h"

static const char *const info_examples[] = {"tracetta trace.fxt",
                                            "show format, clocks, events, losses and damage",
                                            "tracetta info --json *.fxt | jq '.inputs[].events'",
                                            "print the same as JSON",
                                            "tracetta info --classes trace",
                                            "show the fields of every event class",
                                            "tracetta info --metadata=ctf2 trace",
                                            "print the metadata of a CTF trace as CTF 2",
                                            NULL};

static const char *const cat_examples[] = {
    "tracetta cat trace.fxt",
    "print one line per event, through the pager",
    "tracetta cat -n 20 --name='net*' trace.fxt",
    "print the first 20 events with such a name",
    "tracetta cat --start=-1s trace.fxt",
    "print the last second",
    "tracetta cat --start=12:30 --end=12:31 --thread='worker*' trace.fxt",
    "print a minute of some threads",
    "tracetta cat --format=jsonl --kind=counter trace.fxt | jq .fields",
    "print counters as JSON Lines",
    "tracetta cat one.fxt two.trace",
    "print two traces on one time line",
    "tracetta cat --debug-info lttng-traces/",
    "add function and line to LTTng-UST events",
    "tracetta cat net://relay/host/HOST/SESSION",
    "follow a live LTTng session",
    NULL};

static const char *const convert_examples[] = {
    "tracetta convert trace.fxt -o trace.pftrace",
    "write a trace for ui.perfetto.dev",
    "tracetta convert trace.fxt -o trace.json",
    "write Chrome JSON",
    "tracetta convert --to=speedscope app.nettrace -o app.speedscope.json",
    "write a profile, as \"tracetta flame\" does",
    "tracetta convert --to=ctf --option=ctf.version=2 lttng-traces/ -o ctf2/",
    "write CTF 1.8 as CTF 2; \"tracetta formats\" lists options",
    "tracetta convert --to=heph --explain --dry-run trace.fxt",
    "list what Heph cannot hold",
    "tracetta convert --start=+1min --end=+2min trace.fxt -o minute.fxt",
    "cut out a minute",
    NULL};

static const char *const merge_examples[] = {
    "tracetta merge server.fxt client.fxt -o both.fxt",
    "place both by their clocks",
    "tracetta merge --align=begin a.trace b.trace -o both.pftrace",
    "let both begin together",
    "tracetta merge --offset=client.fxt=-3ms server.fxt client.fxt -o both.fxt",
    "move one input",
    NULL};

static const char *const stat_examples[] = {"tracetta stat trace.fxt",
                                            "show the spans with the greatest total time",
                                            "tracetta stat --sort-by=p99 --limit=10 trace.fxt",
                                            "show the ten spans with the longest tail",
                                            "tracetta stat --histogram='request*' trace.fxt",
                                            "show when requests start, and how long they last",
                                            NULL};

static const char *const tree_examples[] = {"tracetta tree --aggregate trace.fxt",
                                            "show the time of each call path",
                                            "tracetta tree --min=1ms --thread=main trace.fxt",
                                            "show the long spans of one thread",
                                            "tracetta tree --slowest 5 trace.fxt",
                                            "show the five longest spans and where they are",
                                            NULL};

static const char *const flame_examples[] = {
    "tracetta flame app.nettrace -o app.svg",
    "write a flame graph for the browser",
    "tracetta flame app.nettrace -o app.speedscope.json",
    "write a profile per thread, as dotnet-trace does",
    "tracetta flame --thread=main --start=+2s trace.fxt -o main.folded",
    "write a part of a trace as folded stacks",
    NULL};

static const char *const report_examples[] = {
    "tracetta report topn app.nettrace",
    "show the five functions with the most time of their own",
    "tracetta report topn -n 20 --inclusive app.nettrace",
    "show twenty, ordered by time with callees",
    "tracetta report gc --json app.nettrace | jq .longest_pause_ns",
    "print the longest pause of the garbage collector",
    NULL};

static const char *const check_examples[] = {
    "tracetta check trace.fxt && echo complete", "test whether a trace is undamaged",
    "tracetta check --json *.trace", "list damage as byte ranges", NULL};

static const char *const recover_examples[] = {
    "tracetta recover broken.fxt -o good.fxt", "keep all readable records",
    "tracetta recover session -o good", "repair all traces of a folder", NULL};

static const char *const formats_examples[] = {"tracetta formats",
                                               "list all formats with their options",
                                               "tracetta formats ctf", "list one format", NULL};

static const char *const dump_examples[] = {
    "tracetta dump 1234", "show a process with its environment",
    "tracetta dump --json app | jq -r '.processes[0].environment.PATH'",
    "print one variable of its environment", NULL};

static const char *const ps_examples[] = {"tracetta ps",
                                          "list .NET processes",
                                          "tracetta ps --environment 1234",
                                          "show one of them with its environment",
                                          "tracetta ps --json | jq '.processes[].runtime'",
                                          "print the versions of their runtimes",
                                          NULL};

static const char *const record_dotnet_examples[] = {
    "tracetta record dotnet 1234 -o trace.nettrace",
    "record events and stacks of a process until Ctrl-C",
    "tracetta record dotnet --duration=30s --profile=gc-verbose app",
    "record half a minute of garbage collections of the process app",
    "tracetta record dotnet --providers=My-Source:0xFF:verbose 1234",
    "record all events of one provider",
    "tracetta record dotnet -o start.nettrace -- dotnet app.dll",
    "record a program from its first instruction to its end",
    NULL};

static const char *const query_examples[] = {
    "tracetta query trace.fxt",
    "list tables and columns",
    "tracetta query trace.fxt \"SELECT name, dur FROM slice ORDER BY dur DESC LIMIT 5\"",
    "show the five longest spans",
    "tracetta query lttng-traces/ \"SELECT next_comm, count(*) FROM sched_switch GROUP BY 1\"",
    "count the events of one class by one of their fields",
    "tracetta query --format=csv --file=report.sql app.nettrace > report.csv",
    "run a script",
    "tracetta query trace.fxt -o slow.parquet \"SELECT * FROM slice WHERE dur > 1000000\"",
    "write the rows for DuckDB, pandas or Spark",
    NULL};

static const char *const diff_examples[] = {
    "tracetta diff old.fxt new.fxt",
    "show what takes more or less time, and which counters differ",
    "tracetta diff --threshold=10% --sort-by=p50 old.fxt new.fxt",
    "exit with 1 if the median of a span changed by more than 10 %",
    "tracetta diff --key=\"category\" --format=markdown old.fxt new.fxt",
    "compare by category, as a table for a pull request",
    "tracetta diff --format=svg -o change.svg old.fxt new.fxt",
    "draw a flame graph in which red took more time, and blue less",
    NULL};

static const char *const assert_examples[] = {
    "tracetta assert trace.fxt 'p99(frame) < 16ms' 'count(error*) = 0'",
    "exit with 1 unless both hold",
    "tracetta assert trace.fxt \"SELECT ts, count FROM loss\"",
    "exit with 1 if events were lost, and list where",
    "tracetta assert --format=junit trace.fxt 'max(gc) < 50ms' > assert.xml",
    "write a report for a CI server",
    NULL};

static const char *const record_examples[] = {
    "tracetta record -o app.fxt -- ./app",
    "record the trace points of a program and its children",
    "tracetta record --category='net.*,-net.debug' --min=10us -- ./app",
    "record some categories, and no zones below 10 us",
    "tracetta record -o app.pftrace -- ./app",
    "write a trace for ui.perfetto.dev",
    "tracetta record --mode=circular --buffer=4MiB -- ./server",
    "keep the latest events; write them at SIGUSR2 and at the end",
    NULL};

static const char *const record_perf_examples[] = {
    "tracetta record perf -g -o app.data -- ./app",
    "record where a program spends its time, with stacks",
    "tracetta record perf -e 'sched:*,Shop_L5K*' -a --duration=5s",
    "record tracepoints and user_events of all processors",
    "tracetta record perf --snapshot -e 'sched:*' -a",
    "keep the latest events, and write them at SIGUSR2 and at the end",
    NULL};

static const char *const counters_examples[] = {
    "tracetta counters 1234",
    "show the counters of the runtime, every second",
    "tracetta counters --counters='System.Runtime[cpu-usage,gc-heap-size],My-Meter' app",
    "show some of them, and all of one meter of the program",
    "tracetta counters --format=csv --refresh-interval=5 --duration=1min -o out.csv app",
    "write a minute of them as CSV",
    NULL};

static const char *const events_examples[] = {
    "tracetta events list",
    "list all tracepoints of this kernel",
    "tracetta events list --json 'user_events*' | jq '.events[].provider'",
    "list EventHeader providers",
    "tracetta events register Example_Shop_L4K2 Example_Shop_L5K0",
    "register tracepoints before the program runs, to record them",
    "tracetta events delete Example_Shop_L4K2",
    "delete one of them",
    NULL};

static const char *const session_examples[] = {
    "tracetta session list",
    "list the recordings that are running",
    "tracetta session categories --category='net.*:3'",
    "record other categories from now on",
    "tracetta session snapshot 4711",
    "write the rings of the recording that process 4711 runs",
    "tracetta session mode --mode=streaming",
    "write all events from now on",
    NULL};

static const char *const listen_examples[] = {
    "tracetta listen udp:127.0.0.1:7000 -o traces/",
    "write a file per sender",
    "tracetta listen udp::7000 -o - | tracetta cat -",
    "print the events of all senders after Ctrl-C",
    "tracetta listen tcp:0.0.0.0:7000 unix:/run/traces -o traces/ --rotate-size=100MiB",
    "accept connections from any host; start another file at 100 MiB",
    NULL};

static const char *const view_examples[] = {"tracetta view trace.fxt",
                                            "open a timeline in the browser",
                                            "tracetta view --port=9000 --no-open lttng-traces/",
                                            "serve it at a fixed port, for ssh -L",
                                            "tracetta view a.nettrace b.perf.data",
                                            "show two traces on one clock",
                                            "tracetta view --compare old.fxt new.fxt",
                                            "show two runs one above the other",
                                            NULL};
static const char *const send_examples[] = {"tracetta send app.trace udp:127.0.0.1:7000",
                                            "send a Heph trace in datagrams of 1,400 bytes",
                                            "tracetta send --realtime app.trace tcp:127.0.0.1:7000",
                                            "send it as slowly as it was recorded",
                                            "gen-trace | tracetta send - unix:/run/traces",
                                            "pass on the output of a program",
                                            NULL};

static const struct command commands[] = {
    {"info", VERB_INFO, "FILE...", 1, SIZE_MAX, NULL, "show what is in a trace",
     "Prints format, clocks, time span, numbers of events by kind, threads, losses and damage. "
     "If a trace describes its events, their classes and the attributes of the trace follow. Each "
     "trace of a folder has a section; "
     "--verbose also lists the streams. \"tracetta FILE\" is short for this command.",
     info_examples, run_info},
    {"cat", VERB_CAT, "FILE...", 1, SIZE_MAX, NULL, "print events, one line each",
     "Prints events as text, JSON Lines or CSV, in the order of the file, or by time with --sort. "
     "Several files are merged by time. If a filter selects no event, the exit status is 1. "
     "Options of --style=babeltrace2 are in a section of their own at the end.",
     cat_examples, run_cat},
    {"convert", VERB_CONVERT, "FILE... -o OUTPUT", 1, SIZE_MAX, NULL,
     "write a trace in another format",
     "Writes the format of --to, or the format that the suffix of the output names. Several inputs "
     "are merged by time. A copy to the same format keeps every byte of the selected records. What "
     "the target cannot hold is counted and reported. If a filter selects no event, the output is "
     "valid and empty, and the exit status is 1.\n\n"
     "Profiles (speedscope, folded, pprof, firefox, svg) are written as by \"tracetta flame\", "
     "which has more options for them.\n\n"
     "parquet and arrow write a folder with a file per table of \"tracetta query\", and sqlite a "
     "database with these tables.",
     convert_examples, run_convert},
    {"merge", VERB_MERGE, "FILE FILE... -o OUTPUT", 1, SIZE_MAX, NULL,
     "put traces on one time line",
     "Places all inputs on one time line, reports the offset of each, and writes them as one "
     "trace. The default format is that of the first input.",
     merge_examples, run_merge},
    {"stat", VERB_STAT, "FILE...", 1, SIZE_MAX, NULL, "count and measure events by name",
     "Prints for each provider and name: the number of events, and for spans their total and own "
     "time, and quantiles of their duration. If 120 columns are available, or with --verbose, also "
     "rate, bytes, minimum and the 90 % quantile. JSON always has all of them.\n\n"
     "With --live it prints numbers and rates while events arrive from a pipe, or from an address "
     "such as udp:HOST:PORT, on which it listens.",
     stat_examples, run_stat},
    {"tree", VERB_TREE, "FILE...", 1, SIZE_MAX, NULL, "show spans as trees",
     "Nests the spans of each thread by time and prints them with their duration and own time. "
     "Memory grows with the number of spans.",
     tree_examples, run_tree},
    {"flame", VERB_FLAME, "FILE... -o OUTPUT", 1, SIZE_MAX, NULL, "write a profile or flame graph",
     "Collects the stacks of samples, or nested spans if a trace has no samples. Writes them for "
     "flame graph tools, speedscope, pprof or the Firefox profiler, or as an SVG flame graph. A "
     "sample of the .NET runtime weighs the time to the next sample of its "
     "thread; any other sample weighs one. Memory grows with different stacks, not with samples.",
     flame_examples, run_flame},
    {"report", VERB_REPORT, "REPORT FILE... | --html FILE... -o OUTPUT", 1, SIZE_MAX,
     "a report and a file: topn, gc, exceptions, counters or threads",
     "answer a common question by a table",
     "topn: functions with the most time, by samples, or by spans if a trace has no samples. The "
     "other reports are about the .NET runtime.\n\n"
     "gc: collections and the pauses they made. exceptions: thrown exceptions by type. counters: "
     "EventCounters with mean, minimum, maximum and last value. threads: time in managed code and "
     "elsewhere, by samples.\n\n"
     "--html writes the timeline of the command view as one file, usually below 5 MB, with reduced "
     "data and tables, which opens without a network.",
     report_examples, run_report},
    {"query", VERB_QUERY, "[NAME=]FILE... [SQL]", 0, SIZE_MAX, NULL, "answer questions in SQL",
     "Reads traces into tables and runs an SQL statement over them; the last operand is the "
     "statement if it is not a file. Without a statement the tables are listed with their rows and "
     "columns, with --verbose also what each column means. Tables have the names of Perfetto's "
     "trace processor: slice, thread, process, track, counter, sched, thread_state, flow, args; "
     "also event, class, field, log, loss, source. "
     "The name of an event is a table of these events with a column per field; other characters "
     "than letters and digits become \"_\".\n\n"
     "The language is SQLite's, with window functions and JSON, and with percentile(x, p), "
     "median(x) and histogram(x). arg('key') is an argument of a slice or event; span_join and "
     "interval_intersect! join intervals as in Perfetto. Times are in ns. Statements can only "
     "read.\n\n"
     "Inputs with names, \"a=OLD b=NEW\", are schemas: a.slice, b.slice.\n\n"
     "--interactive opens a shell, with history and completion if libedit is installed. "
     "--serve=SOCKET keeps the traces in memory, for statements of \"tracetta query "
     "--socket=SOCKET SQL\" of the same user.\n\n"
     "Tables of large traces are saved in $XDG_CACHE_HOME/tracetta or ~/.cache/tracetta, so that "
     "the next question does not read the trace. They are deleted when they exceed 1 GiB, or the "
     "size in TRACETTA_CACHE_SIZE.",
     query_examples, run_query},
    {"diff", VERB_DIFF, "OLD NEW", 2, 2, "two traces, the old one first", "compare two traces",
     "Compares spans and instants by name: count, total and own time, median and 99 % quantile of "
     "the duration, before and after. If both traces have at least eight durations of a name, p is "
     "the probability that they differ by chance (rank sum test of Mann and Whitney). Counters, "
     "losses and processes follow. JSON has all rows and tables have 30, those with the greatest "
     "difference first.",
     diff_examples, run_diff},
    {"assert", VERB_ASSERT, "FILE... ASSERTION...", 1, SIZE_MAX, "a trace and assertions",
     "check assertions about traces",
     "An assertion is FUNCTION(NAME) OPERATOR NUMBER: functions are count, total, self, min, max, "
     "avg, median and p0 to p100 of the durations of complete spans; NAME is a glob, quoted if it "
     "has other characters than letters, digits and _.:*?-; operators are <, <=, >, >=, = and !=. "
     "A duration of a name that does not occur violates each assertion.\n\n"
     "Or an assertion is a statement in SQL, as for \"tracetta query\", that must return no rows; "
     "its rows are the violations. The exit status is 1 if an assertion does not hold.",
     assert_examples, run_assert},
    {"view", VERB_VIEW, "FILE...", 1, SIZE_MAX, NULL, "show a timeline in the browser",
     "Serves a page on the loopback interface and prints its address: processors, processes, "
     "threads, spans and counters, with zoom, search, and tables that are SQL statements. The "
     "address has a secret that only this user sees. Several traces are shown on one clock. Ctrl-C "
     "stops the server.\n\n"
     "To see a trace of another machine: run the command there with --port=PORT, connect with "
     "\"ssh -L PORT:127.0.0.1:PORT HOST\", and open the address here.",
     view_examples, run_view},
    {"check", VERB_CHECK, "FILE...", 1, SIZE_MAX, NULL, "look for damage",
     "Reads everything. Reports byte ranges that cannot be decoded, records that break a rule, and "
     "events that the trace declares missing. Each finding has a code, which \"tracetta help "
     "CODE\" explains. The exit status is 0 for undamaged files, 1 for damaged ones, "
     "and 3 if nothing can be used.",
     check_examples, run_check},
    {"recover", VERB_RECOVER, "FILE -o OUTPUT", 1, 1, NULL,
     "copy the readable part of a damaged trace",
     "Writes a trace of the same format with every record that can be decoded, byte for byte, and "
     "checks it. The input is never changed. OUTPUT.damage.json lists the skipped byte ranges. "
     "Each trace of a folder is written to the same path below OUTPUT. The exit status is 0 if "
     "nothing was damaged, and 1 after a repair.",
     recover_examples, run_recover},
    {"formats", VERB_FORMATS, "[FORMAT...]", 0, SIZE_MAX, NULL, "list formats and their options",
     "Lists the formats that can be read and written, or only those named.", formats_examples,
     run_formats},
    {"record", VERB_RECORD, "-- COMMAND ARGUMENTS... | --attach=PID", 0, SIZE_MAX, NULL,
     "record the trace points of a program",
     "Runs a program that is linked with libtracetta-trace, and writes the events of its trace "
     "points (tracetta/trace.h) to an FXT file, trace.fxt by default, or converts them to another "
     "format at the end. Processes that it starts by "
     "fork and exec are recorded too. If a process is killed, all events that it had written are "
     "in "
     "the file, and the zones that were open begin there. Signals are passed on to the program. "
     "With --attach, running processes are recorded until Ctrl-C, --duration or their end; the "
     "duration starts when all of them have connected, at the latest after 5 s: a process connects "
     "at its next event. A program that record started is ended by SIGTERM after --duration.\n\n"
     "The recording lasts until the program and all processes that it started and that have trace "
     "points have ended; Ctrl-C, --max-size and \"tracetta session stop\" end it earlier.\n\n"
     "The exit status is the program's own, 125 if recording failed, and 128 plus the signal that "
     "ended the program. If the disk is full, or the file is deleted, the recording ends with the "
     "last "
     "complete piece, and the program goes on.",
     record_examples, run_record},
    {"record dotnet", VERB_RECORD_DOTNET,
     "PID|NAME -o FILE | -o FILE -- COMMAND ARGUMENTS... | --diagnostic-port=PATH", 0, SIZE_MAX,
     NULL, "record events of a live .NET process",
     "Records events of a .NET process through the diagnostic socket of its runtime, as a nettrace "
     "file. No .NET tool needs to be installed. Ctrl-C, Enter or --duration stops the recording. "
     "Then the runtime writes its remaining events and the names of the methods on the stacks. A "
     "second Ctrl-C stops at once. The file is complete up to its last block also if the process "
     "is killed or the disk is full.\n\n"
     "With -- and a command, the program is started and recorded from its first instruction. It is "
     "ended with SIGTERM if the recording stops first. Without --profile, --providers and "
     "--clrevents, the profiles dotnet-common and dotnet-sampled-thread-time are recorded. Other "
     "profiles: gc-verbose, gc-collect, database, cpu-sampling.",
     record_dotnet_examples, run_record_dotnet},
    {"record perf", VERB_RECORD_PERF, "-a | -p PID | -- COMMAND ARGUMENTS...", 0, SIZE_MAX, NULL,
     "record events of the kernel",
     "Records tracepoints, user_events and samples of one process, of a command, or of all "
     "processors. Writes a perf.data (the default name), which perf opens too; perf is not needed. "
     "The recording stops with the command or process, Ctrl-C, Enter, --duration or --max-size. "
     "Events that a full buffer lost are counted in the file and reported. On standard output the "
     "file has the form that perf uses in pipes.",
     record_perf_examples, run_record_perf},
    {"session", VERB_SESSION, "list|categories|mode|snapshot|stats|stop [PID]", 1, 2,
     "one of list, categories, mode, snapshot, stats, stop", "control running recordings",
     "Controls the recordings of \"tracetta record\" that this user runs. PID is the process of a "
     "recording; without it there must be only one.\n\n"
     "list: prints the recordings; if nothing is recorded, the exit status is 1.\n\n"
     "categories: prints the categories of the recorded programs with their levels; --category "
     "changes them first.\n\n"
     "mode: prints how full rings behave; --mode changes that first, so that a flight recorder can "
     "write everything from now on.\n\n"
     "snapshot: writes all events that are in rings now.\n\n"
     "stats: prints counts, also for each program.\n\n"
     "stop: ends a recording and completes its output; the recorded programs go on.",
     session_examples, run_session},
    {"ps", VERB_PS, "[PID|NAME...]", 0, SIZE_MAX, NULL, "list processes that can be recorded",
     "Lists programs with trace points (libtracetta-trace), and processes with a .NET runtime (3.0 "
     "and later), also in containers, as far as permissions allow. A runtime of .NET 5 or later "
     "reports its version; "
     "for older ones the path of their library shows it. Sockets of processes that have ended are "
     "counted, and listed with --verbose.",
     ps_examples, run_ps},
    {"dump", VERB_DUMP, "PID|NAME...", 1, SIZE_MAX,
     "a process, by number or name; \"tracetta ps\" lists them",
     "show a .NET process and its environment",
     "Prints the program, command line, versions, system and environment that the runtime of a "
     ".NET process (5 and later) reports. If an environment cannot be read, "
     "the exit status is 3.",
     dump_examples, run_dump},
    {"counters", VERB_COUNTERS, "PID|NAME | -- COMMAND ARGUMENTS... | --diagnostic-port=PATH", 0,
     SIZE_MAX, NULL, "watch counters of a live .NET process",
     "Shows EventCounters and meters of a .NET process as they change. On a terminal the table is "
     "updated in place; otherwise each update is printed as a table, as CSV or as JSON. The "
     "default is System.Runtime. Stops with Ctrl-C, after --duration, or with the process.\n\n"
     "With -- and a command, the program is started and watched from its first instruction. It is "
     "ended with SIGTERM if the watching stops first. Its output is written to stderr.",
     counters_examples, run_counters},
    {"events", VERB_EVENTS, "list [PATTERN...] | register NAME... | delete NAME...", 1, SIZE_MAX,
     "one of list, register, delete", "list and register the kernel's tracepoints",
     "list: prints the tracepoints of the running kernel. User events are listed with their "
     "current recorders, and those of EventHeader with provider, level, keyword and group. A "
     "pattern matches the system, the name, or both as SYSTEM:NAME. The exit status is 1 if "
     "nothing matches.\n\n"
     "register: creates user events that exist until they are deleted. They can be recorded before "
     "the programs that write them run. A name is that of EventHeader, "
     "Provider_L4K1f, or a name with fields in one word, 'name u32 number'.\n\n"
     "delete: removes user "
     "events that are not in use. Registering and deleting need CAP_PERFMON and a kernel with "
     "user_events (Linux 6.4 "
     "and later, built with CONFIG_USER_EVENTS).",
     events_examples, run_events},
    {"listen", VERB_LISTEN, "ADDRESS... -o OUTPUT", 1, SIZE_MAX,
     "an address: udp:HOST:PORT, tcp:HOST:PORT or unix:PATH", "receive traces over a network",
     "Receives traces until Ctrl-C or --duration. Without HOST it listens on the loopback "
     "interface; port 0 selects a free port. Packets of Heph and CTF are received by UDP, TCP and "
     "Unix sockets. Traces of all other formats are received by TCP and Unix sockets, one per "
     "connection. Any program that writes these formats can send: CTF packets may come by UDP as a "
     "tracer makes them, with their metadata in datagrams or from --metadata.\n\n"
     "A folder gets a file per sender (CTF: a folder), with the packets as they came. A sender "
     "that restarts with "
     "another epoch gets another file. \"-\", or a file with the suffix of a format, gets one "
     "merged trace. Heph is merged as it comes; for other formats the traces are captured in a "
     "folder "
     "next to the output and converted at the end.\n\n"
     "Three losses are reported: events that are missing by their counters, datagrams that the "
     "kernel dropped, and packets that a full queue dropped. Nothing is encrypted: across hosts "
     "use ssh -L, stunnel or WireGuard.",
     listen_examples, run_listen},
    {"send", VERB_SEND, "TRACE ADDRESS", 2, 2,
     "a file (\"-\" is standard input) or the folder of a CTF trace, and an address: "
     "udp:HOST:PORT, tcp:HOST:PORT or unix:PATH",
     "send a trace over a network",
     "Sends a trace to \"tracetta listen\" or any other receiver. Heph files and CTF folders are "
     "sent by UDP, TCP and Unix sockets. All other formats need TCP or Unix sockets, since their "
     "tables do not survive loss. "
     "By UDP the epoch or the metadata are repeated every second, and packets above 65,507 bytes "
     "are not sent: the exit status is then 4. If a connection is lost, it is "
     "made again for 30 seconds, and the last 4 MiB of packets are repeated; \"tracetta "
     "listen\" discards those that it has.",
     send_examples, run_send},
};

const struct command *get_command(size_t i)
{
    return i < sizeof commands / sizeof *commands ? &commands[i] : NULL;
}

struct command_word command_word(const struct command *command)
{
    struct command_word word = {{0}};
    for (size_t i = 0; command->name[i] && i + 1 < sizeof word.s; i++)
        word.s[i] = (char)(command->name[i] == ' ' ? '-' : command->name[i]);
    return word;
}

const struct command *find_command(const char *name)
{
    for (size_t i = 0; get_command(i); i++)
        if (strcmp(get_command(i)->name, name) == 0 ||
            strcmp(command_word(get_command(i)).s, name) == 0)
            return get_command(i);
    return NULL;
}

bool command_is_group(const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; get_command(i); i++)
        if (strncmp(get_command(i)->name, word, n) == 0 && get_command(i)->name[n] == ' ')
            return true;
    return false;
}

const struct command *find_command_pair(const char *first, const char *second)
{
    const size_t n = strlen(first);
    for (size_t i = 0; get_command(i); i++)
        if (strncmp(get_command(i)->name, first, n) == 0 && get_command(i)->name[n] == ' ' &&
            strcmp(get_command(i)->name + n + 1, second) == 0)
            return get_command(i);
    return NULL;
}
