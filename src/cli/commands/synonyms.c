/* The table of synonyms: commands of Unix, babeltrace2, perf, trace-cmd, LTTng and the .NET tools.
 *
 * A synonym is not executed: the user sees the command to use instead, with an example. */
#include "cli/commands/synonyms.h"

#include <string.h>

#define CAT "tracetta cat trace.fxt"
#define SELECT "tracetta cat --name='net*' trace.fxt"
#define CUT "tracetta convert --start=+1s --end=+2s trace.fxt -o part.fxt"
#define KEEP "tracetta convert --name='net*' trace.fxt -o part.fxt"
#define CONVERT "tracetta convert trace.fxt -o trace.pftrace"
#define MERGE "tracetta merge a.fxt b.fxt -o both.fxt"
#define CHECK "tracetta check trace.fxt"
#define RECOVER "tracetta recover broken.fxt -o good.fxt"
#define INFO "tracetta info trace.fxt"
#define STAT "tracetta stat trace.fxt"
#define TREE "tracetta tree --aggregate trace.fxt"
#define FLAME "tracetta flame app.nettrace -o app.svg"
#define TOP "tracetta report topn app.nettrace"
#define PERF "tracetta record perf -g -o app.data -- ./app"
#define DOTNET "tracetta record dotnet PID -o trace.nettrace"

static const struct synonym synonyms[] = {
    {"print", "cat", CAT},
    {"show", "cat", CAT},
    {"less", "cat", CAT},
    {"more", "cat", CAT},
    {"text", "cat", CAT},
    {"read", "cat", CAT},
    {"decode", "cat", CAT},
    {"hexdump", "cat", CAT},
    {"head", "cat", "tracetta cat -n 10 trace.fxt"},
    {"tail", "cat", "tracetta cat --start=-1s trace.fxt"},
    {"follow", "cat", "tracetta cat net://relay/host/HOST/SESSION"},
    {"watch", "cat", "tracetta cat net://relay/host/HOST/SESSION"},
    {"live", "cat", "tracetta cat net://relay/host/HOST/SESSION"},
    {"grep", "cat", SELECT},
    {"search", "cat", SELECT},
    {"find", "cat", SELECT},
    {"select", "cat", SELECT},
    {"query", "cat", SELECT},
    {"script", "cat", "tracetta cat --style=perf perf.data"},
    {"babeltrace", "cat", "tracetta cat --style=babeltrace2 lttng-traces/"},
    {"babeltrace2", "cat", "tracetta cat --style=babeltrace2 lttng-traces/"},
    {"json", "cat", "tracetta cat --format=jsonl trace.fxt"},
    {"jsonl", "cat", "tracetta cat --format=jsonl trace.fxt"},
    {"csv", "cat", "tracetta cat --format=csv trace.fxt"},
    {"filter", "convert", KEEP},
    {"trim", "convert", CUT},
    {"cut", "convert", CUT},
    {"slice", "convert", CUT},
    {"crop", "convert", CUT},
    {"split", "convert", CUT},
    {"export", "convert", CONVERT},
    {"import", "convert", CONVERT},
    {"write", "convert", CONVERT},
    {"save", "convert", CONVERT},
    {"translate", "convert", CONVERT},
    {"transform", "convert", CONVERT},
    {"copy", "convert", CONVERT},
    {"cp", "convert", CONVERT},
    {"sort", "convert", "tracetta convert --sort trace.fxt -o sorted.fxt"},
    {"join", "merge", MERGE},
    {"concat", "merge", MERGE},
    {"combine", "merge", MERGE},
    {"align", "merge", "tracetta merge --align=begin a.fxt b.fxt -o both.fxt"},
    {"repair", "recover", RECOVER},
    {"fix", "recover", RECOVER},
    {"rescue", "recover", RECOVER},
    {"salvage", "recover", RECOVER},
    {"restore", "recover", RECOVER},
    {"validate", "check", CHECK},
    {"verify", "check", CHECK},
    {"test", "check", CHECK},
    {"fsck", "check", CHECK},
    {"lint", "check", CHECK},
    {"ls", "info", INFO},
    {"list", "info",
     "tracetta info trace.fxt; \"tracetta ps\" and \"tracetta events list\" list "
     "processes and tracepoints"},
    {"describe", "info", INFO},
    {"inspect", "info", INFO},
    {"summary", "info", INFO},
    {"metadata", "info", "tracetta info --metadata=ctf2 trace"},
    {"schema", "info", "tracetta info --classes trace"},
    {"file", "info", INFO},
    {"identify", "info", INFO},
    {"count", "stat", STAT},
    {"wc", "stat", STAT},
    {"hist", "stat", STAT},
    {"histogram", "stat", STAT},
    {"latency", "stat", "tracetta stat --sort-by=p99 trace.fxt"},
    {"statistics", "stat", STAT},
    {"spans", "tree", TREE},
    {"calls", "tree", TREE},
    {"callgraph", "tree", TREE},
    {"top", "report topn", TOP},
    {"topn", "report topn", TOP},
    {"hot", "report topn", TOP},
    {"gc", "report gc", "tracetta report gc app.nettrace"},
    {"exceptions", "report exceptions", "tracetta report exceptions app.nettrace"},
    {"analyze", "report", "tracetta report topn app.nettrace"},
    {"analyse", "report", "tracetta report topn app.nettrace"},
    {"profile", "flame", FLAME},
    {"flamegraph", "flame", FLAME},
    {"speedscope", "flame", "tracetta flame app.nettrace -o app.speedscope.json"},
    {"folded", "flame", "tracetta flame app.nettrace -o app.folded"},
    {"pprof", "flame", "tracetta flame app.nettrace -o app.pb.gz"},
    {"trace", "record perf", PERF},
    {"perf", "record perf", PERF},
    {"sample", "record perf", PERF},
    {"dotnet", "record dotnet", DOTNET},
    {"collect", "record dotnet", DOTNET},
    {"start", "record", PERF},
    {"attach", "record", DOTNET},
    {"processes", "ps", "tracetta ps"},
    {"monitor", "counters", "tracetta counters PID"},
    {"tracepoints", "events", "tracetta events list"},
    {"codecs", "formats", "tracetta formats"},
    {"version", "--version", "tracetta --version"},
    {"man", "help", "tracetta help cat"},
};

const struct synonym *find_synonym(const char *word)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i].word, word) == 0)
            return &synonyms[i];
    return NULL;
}
