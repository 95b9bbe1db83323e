/* The verbs: what each is called, what it is for, and who runs it. */
#include <string.h>

#include "cli/commands/command.h"

static const char *const info_examples[] = {"tracetta trace.fxt",
                                            "what is in a trace",
                                            "tracetta info --json *.fxt | jq '.inputs[].events'",
                                            "the same for programs",
                                            "tracetta info --classes trace",
                                            "the fields of every class of events",
                                            "tracetta info --metadata=ctf2 trace",
                                            "the description of a CTF trace as CTF 2 metadata",
                                            NULL};

static const char *const cat_examples[] = {
    "tracetta cat trace.fxt",
    "one line an event, through the pager",
    "tracetta cat --format=jsonl --kind=counter trace.fxt | jq .fields",
    "counters as JSON Lines",
    "tracetta cat --start=+2s --end=+2.5s --thread='worker*' trace.fxt",
    "half a second of some threads",
    "tracetta cat one.fxt two.trace",
    "two traces on one time line",
    "tracetta cat --debug-info lttng-traces/",
    "with function and line of LTTng's user space events",
    "tracetta cat net://relay/host/HOST/SESSION",
    "a live session of LTTng, as it is recorded",
    NULL};

static const char *const convert_examples[] = {
    "tracetta convert trace.fxt -o trace.pftrace",
    "for ui.perfetto.dev",
    "tracetta convert trace.fxt -o trace.json",
    "Chrome JSON, also for speedscope",
    "tracetta convert --to=ctf --option=ctf.version=2 lttng-traces/ -o ctf2/",
    "CTF 1.8 as CTF 2; \"tracetta formats\" lists options",
    "tracetta convert --to=heph --explain --dry-run trace.fxt",
    "what Heph could not hold",
    "tracetta convert --start=+1min --end=+2min trace.fxt -o minute.fxt",
    "cut a minute out",
    NULL};

static const char *const merge_examples[] = {
    "tracetta merge server.fxt client.fxt -o both.fxt",
    "by their clocks",
    "tracetta merge --align=begin a.trace b.trace -o both.pftrace",
    "begins together",
    "tracetta merge --offset=client.fxt=-3ms server.fxt client.fxt -o both.fxt",
    "after moving one input",
    NULL};

static const char *const stat_examples[] = {"tracetta stat trace.fxt", "which spans take the time",
                                            "tracetta stat --sort-by=p99 --limit=10 trace.fxt",
                                            "the ten with the longest tail", NULL};

static const char *const tree_examples[] = {
    "tracetta tree --aggregate trace.fxt", "which calls make up the time of which",
    "tracetta tree --min=1ms --thread=main trace.fxt", "long spans of one thread", NULL};

static const char *const flame_examples[] = {
    "tracetta flame app.nettrace -o app.svg",
    "a flame graph for the browser",
    "tracetta flame app.nettrace -o app.speedscope.json",
    "as dotnet-trace converts: a profile per thread",
    "tracetta flame --thread=main --start=+2s trace.fxt -o main.folded",
    "a part of a trace, as folded stacks",
    NULL};

static const char *const report_examples[] = {
    "tracetta report topn app.nettrace",
    "the five functions that take most of the time themselves",
    "tracetta report topn -n 20 --inclusive app.nettrace",
    "twenty, with what they call",
    "tracetta report gc --json app.nettrace | jq .longest_pause_ns",
    "the longest pause of the garbage collector",
    NULL};

static const char *const check_examples[] = {"tracetta check trace.fxt && echo fine",
                                             "is it whole?", "tracetta check --json *.trace",
                                             "damage as byte ranges", NULL};

static const char *const recover_examples[] = {
    "tracetta recover broken.fxt -o good.fxt", "keep what can be read",
    "tracetta recover session -o good", "the same of all traces of a folder", NULL};

static const char *const formats_examples[] = {
    "tracetta formats", "what can be read and written, with which options", "tracetta formats ctf",
    "the options of one format", NULL};

static const char *const dump_examples[] = {
    "tracetta dump 1234", "what the process says of itself, and its environment",
    "tracetta dump --json app | jq -r '.processes[0].environment.PATH'", "one variable", NULL};
static const char *const ps_examples[] = {"tracetta ps",
                                          "which .NET processes there are",
                                          "tracetta ps --environment 1234",
                                          "what one of them is, with its environment",
                                          "tracetta ps --json | jq '.processes[].runtime'",
                                          "the same for programs",
                                          NULL};

static const char *const record_examples[] = {
    "tracetta record --dotnet 1234 -o trace.nettrace",
    "events and stacks of a process until Ctrl-C",
    "tracetta record --dotnet --duration=30s --profile=gc-verbose app",
    "half a minute of garbage collections of the process named app",
    "tracetta record --dotnet --providers=My-Source:0xFF:verbose 1234",
    "everything that one source of events has",
    "tracetta record --dotnet -o start.nettrace -- dotnet app.dll",
    "a program from its first instruction to its end",
    "tracetta record --perf -g -o app.data -- ./app",
    "where a program spends its time, with stacks, as a perf.data",
    "tracetta record --perf -e 'sched:*,Shop_L5K*' -a --duration=5s",
    "tracepoints and user_events of the whole machine",
    "tracetta record --perf --snapshot -e 'sched:*' -a",
    "what happened last, at each SIGUSR2 and at the end",
    NULL};

static const char *const counters_examples[] = {
    "tracetta counters 1234",
    "the counters of the runtime, every second",
    "tracetta counters --counters='System.Runtime[cpu-usage,gc-heap-size],My-Meter' app",
    "some of them, and all of a meter of the program's own",
    "tracetta counters --format=csv --refresh-interval=5 --duration=1min -o out.csv app",
    "a minute of them for a table",
    NULL};

static const char *const events_examples[] = {
    "tracetta events list",
    "all tracepoints of this kernel",
    "tracetta events list --json 'user_events*' | jq '.events[].provider'",
    "which EventHeader providers there are",
    "tracetta events register Example_Shop_L4K2 Example_Shop_L5K0",
    "have tracepoints to record before the program runs",
    "tracetta events delete Example_Shop_L4K2",
    "and away with one",
    NULL};

static const struct command commands[] = {
    {"info", VERB_INFO, "FILE...", 1, SIZE_MAX, "say what is in a trace",
     "Prints format, clocks, time span, numbers of events by kind, threads, losses and damage; of "
     "a trace that describes its events also their "
     "classes with how many there are of each, and what it says of itself. Several traces in one "
     "folder get a section each; --verbose also "
     "lists their streams. \"tracetta FILE\" is short for this.",

     info_examples, run_info},
    {"cat", VERB_CAT, "FILE...", 1, SIZE_MAX, "print events, one line each",
     "Prints events as text, JSON Lines or CSV, in the order of the file, or by time with --sort. "
     "Several files are merged by time.",
     cat_examples, run_cat},
    {"convert", VERB_CONVERT, "FILE... -o OUTPUT", 1, SIZE_MAX, "write a trace in another format",
     "Without --to the suffix of the output names the format. Several inputs are merged by time. A "
     "copy to the same format keeps "
     "every byte of what it takes. What the target cannot hold is counted and reported, never "
     "dropped silently.",
     convert_examples, run_convert},
    {"merge", VERB_MERGE, "FILE FILE... -o OUTPUT", 1, SIZE_MAX, "put traces on one time line",
     "Places all inputs on one time line, says how, and writes them as one trace: by default in "
     "the format of the first.",
     merge_examples, run_merge},
    {"stat", VERB_STAT, "FILE...", 1, SIZE_MAX, "count and measure events by name",
     "Prints for each provider and name: count, rate, bytes, and for spans total and own time, "
     "least, median, 90 %, 99 % and greatest "
     "duration.",
     stat_examples, run_stat},
    {"tree", VERB_TREE, "FILE...", 1, SIZE_MAX, "show spans as trees",
     "Nests spans of each thread by time and prints them with their duration and own time. Memory "
     "grows with the spans.",
     tree_examples, run_tree},
    {"flame", VERB_FLAME, "FILE... -o OUTPUT", 1, SIZE_MAX,
     "write where the time goes as a profile",
     "Collects the stacks of samples, or the spans that nest where a trace has no samples, and "
     "writes them for flame graph tools, speedscope, pprof "
     "or the Firefox profiler, or as a flame graph that any browser shows. A sample of the .NET "
     "runtime weighs the time to the next of its thread, others "
     "one each. Memory grows with different stacks, not with samples.",
     flame_examples, run_flame},
    {"report", VERB_REPORT, "REPORT FILE...", 2, SIZE_MAX, "answer a common question by a table",
     "topn: the functions that take most of the time, from samples, or from spans where a trace "
     "has none; as dotnet-trace reports them.\n\n"
     "Of .NET's runtime: gc: its collections and the pauses they made. exceptions: what was "
     "thrown, by type. counters: EventCounters with mean, least, "
     "greatest and last value. threads: time in managed code and elsewhere, by samples.",
     report_examples, run_report},
    {"check", VERB_CHECK, "FILE...", 1, SIZE_MAX, "look for damage",
     "Reads everything and reports byte ranges that cannot be decoded, records that break a rule, "
     "and events that the trace says are "
     "missing. Each kind of finding has a code, of which docs/notes.md in the sources says what it "
     "means and what helps. Ends with 0 for whole files, "
     "1 for damaged ones, 3 where nothing can be used.",
     check_examples, run_check},
    {"recover", VERB_RECOVER, "FILE -o OUTPUT", 1, 1, "copy what is good of a damaged trace",
     "Writes a trace of the same format with every record that can be decoded, byte for byte, and "
     "checks it. The input is never "
     "touched. Skipped byte ranges are listed in OUTPUT.damage.json. Of a folder of several traces "
     "each goes to the same place below OUTPUT. Ends with 0 when "
     "nothing was damaged, 1 after a repair.",
     recover_examples, run_recover},
    {"formats", VERB_FORMATS, "[FORMAT...]", 0, SIZE_MAX, "list formats and their options",
     "Lists what can be read and written, or only these formats.", formats_examples, run_formats},
    {"ps", VERB_PS, "[PID|NAME...]", 0, SIZE_MAX, "list .NET processes",
     "Lists processes whose .NET runtime (3.0 and later) can be asked for events: in containers "
     "too, as far as permissions go. A runtime of .NET 5 "
     "or later tells its version itself; of older ones the path of their library does. Sockets "
     "that ended processes left behind are counted, and "
     "listed with --verbose.",
     ps_examples, run_ps},
    {"dump", VERB_DUMP, "PID|NAME...", 1, SIZE_MAX, "show what a .NET process says of itself",
     "Prints what the runtime of a .NET process (5 and later) says of it: program, command line, "
     "versions, system, and all variables of its environment. A "
     "process whose environment cannot be read ends it with 3.",
     dump_examples, run_dump},
    {"record", VERB_RECORD,
     "--dotnet PID|NAME -o FILE | --dotnet -o FILE -- COMMAND ARGUMENTS... | --perf -a | --perf -p "
     "PID | --perf -- COMMAND ARGUMENTS...",
     0, SIZE_MAX, "record a live process",
     "Takes events of a .NET process over the diagnostic socket of its runtime, as a nettrace "
     "file; nothing of .NET needs to be installed. Ctrl-C, "
     "Enter or --duration stops: the runtime then writes what is left and the names of the methods "
     "on the stacks, and the file is complete. A second "
     "Ctrl-C stops at once. The file is complete up to its last whole block also when the process "
     "is killed or the disk is full.\n\n"
     "With -- and a command, the program is started, recorded from its first instruction, and "
     "ended with SIGTERM when the recording stops before it. "
     "Without --profile, --providers and --clrevents the profiles dotnet-common and "
     "dotnet-sampled-thread-time are recorded. Other profiles: "
     "gc-verbose, gc-collect, database, cpu-sampling.\n\n"
     "With --perf events of the kernel are recorded into a perf.data (by default of that name), "
     "which perf opens too: tracepoints, user_events and samples, of "
     "one process, of a command, or of all processors; perf is not needed. The recording stops "
     "with the command or process, Ctrl-C, Enter, --duration or "
     "--max-size. Events that a full buffer lost are counted in the file and told. To standard "
     "output goes the form of perf.data for pipes.",
     record_examples, run_record},
    {"counters", VERB_COUNTERS, "PID|NAME | -- COMMAND ARGUMENTS... | --diagnostic-port=PATH", 0,
     SIZE_MAX, "watch counters of a live process",
     "Shows EventCounters and meters of a .NET process as they change: on a terminal as a table "
     "that renews itself, else as a table each time, as CSV or "
     "as JSON. Without --counters those of System.Runtime. Ends with Ctrl-C, after --duration, or "
     "with the process.\n\n"
     "With -- and a command, the program is started, watched from its first instruction, and ended "
     "with SIGTERM when the watching stops before it; its output "
     "goes to stderr.",
     counters_examples, run_counters},
    {"events", VERB_EVENTS, "list [PATTERN...] | register NAME... | delete NAME...", 1, SIZE_MAX,
     "list and register the kernel's tracepoints",
     "list: the tracepoints of the running kernel; of user events also who records them, and of "
     "those that are EventHeader's provider, level, keyword and "
     "group. A pattern meets system, name, or both as SYSTEM:NAME. Ends with 1 where none is "
     "met.\n\n"
     "register: makes user events that stay until they are deleted, so that they can be recorded "
     "before the programs that write them run: EventHeader names, "
     "Provider_L4K1f, or a name with fields of its own in one word, 'name u32 number'. delete: "
     "takes away those that nobody uses. Both need CAP_PERFMON and a "
     "kernel with user_events (Linux 6.4 and later built with CONFIG_USER_EVENTS).",
     events_examples, run_events},
};

const struct command *command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? &commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_at(i); i++)
        if (strcmp(command_at(i)->name, name) == 0)
            return command_at(i);
    return NULL;
}
