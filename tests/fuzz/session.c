/* Fuzzes the command's sessions with .NET runtimes: recording, counters, queries. Whatever bytes a
 * runtime sends, and whenever it stops to answer, the command must end, close all it opened, use
 * memory in proportion to the input and send one command per connection. The written trace must be
 * readable, unless the command reported that it is not.
 *
 * [0] enum job | [1] time until the user stops the job, in 100 ms | [2] low half: bytes per system
 * call at most, 0 = no limit; high half: options | a script (session_world.h). If the script starts
 * with the magic number of a trace, it is the stream of a recording. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/collect.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "cli/commands/command.h"
#include "dotnet/framing.h"
#include "support/json_check.h"
#include "fuzz/session_world.h"

enum job {
    RECORD,
    RECORD_LISTEN,
    COUNTERS,
    COUNTERS_LISTEN,
    RECORD_WATCH,
    ASK,
    ASK_LISTEN,
    SESSION,
    JOBS
};
enum { WORDS = 16, PATH_ROOM = 64, BATCHES_MAX = 100000 };

/* A named file in memory. */
struct output {
    int fd;
    char path[PATH_ROOM];
};

static void open_output(struct output *output)
{
    output->fd = memfd_create("output", 0);
    if (output->fd < 0)
        fuzz_stop("no file in memory");
    (void)snprintf(output->path, sizeof output->path, "/proc/self/fd/%d", output->fd);
}

static void read_output(const struct output *output, struct buffer *to)
{
    ssize_t n;
    do {
        uint8_t *room = buffer_room(to, 1 << 16);
        n = room ? pread(output->fd, room, 1 << 16, (off_t)to->n) : 0;
        buffer_commit(to, n > 0 ? (size_t)n : 0);
    } while (n > 0);
}

/* Runs a verb as main() does. */
static int run(const char *verb, const char *const *words)
{
    const struct command *command = find_command(verb);
    struct call call = {.command = command};
    char *argv[WORDS];
    int n = 0, outcome = OUTCOME_MISUSE;
    for (; words[n]; n++)
        argv[n] = (char *)(uintptr_t)words[n];
    FILE *talk = stderr, *nothing = fopen("/dev/null", "w");
    stderr = nothing ? nothing : stderr;
    int operands = options_parse(command->verb, argv, n, &call.set);
    call.path = argv;
    call.paths_n = operands > 0 ? (size_t)operands : 0;
    if (operands >= 0)
        outcome = command->run(&call);
    settings_free(&call.set);
    stderr = talk;
    if (nothing)
        (void)fclose(nothing);
    return outcome;
}

/* --- Recordings --- */

/* Returns true if the trace has no damage except that its end is cut. Other damage comes from the
 * runtime's bytes. */
static bool is_cut(const struct buffer *trace)
{
    const ttr_read_options options = {.size = sizeof options, .from = "nettrace"};
    ttr_report report = {.size = sizeof report};
    ttr_batch batch;
    bool is_cut = false;
    unsigned batches = 0;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_memory(t, trace->bytes, trace->n, "output", &options, NULL);
    while (reader && ttr_read(reader, &batch, NULL) == TTR_OK)
        if (++batches > BATCHES_MAX)
            fuzz_stop("the file has no end");
    for (size_t i = 0; reader && ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            is_cut = is_cut || (report.damage_regions == 1 &&
                                strcmp(report.notes[k].code, "nettrace.cut") == 0);
    ttr_close(reader);
    ttr_free(t);
    return is_cut;
}

/* A successful recording ends with the end marker of the stream. A failed one is empty or was
 * closed after its last complete block. */
static void check_recording(const struct buffer *trace, int outcome)
{
    struct framing framing;
    framing_init(&framing);
    framing_scan(&framing, trace->bytes, trace->n);
    if (outcome == OUTCOME_FINE && framing.state != FRAMING_OVER)
        fuzz_stop("a recording went well that has no end");
    if (outcome == OUTCOME_NO && framing.complete_end > 0 && framing.state != FRAMING_OVER)
        fuzz_stop("a recording that was cut was not closed");
    if (framing.state == FRAMING_OVER && framing.at == framing.complete_end && is_cut(trace))
        fuzz_stop("a closed recording reads as if it were cut");
}

static void record(enum job job, uint8_t options)
{
    struct output output;
    struct buffer trace;
    const char *words[WORDS] = {"--providers",
                                "A:ff:5,B",
                                "--overwrite",
                                "-o",
                                output.path,
                                "--diagnostic-port",
                                job == RECORD_LISTEN ? "/nowhere/port" : "/nowhere/port,connect"};
    size_t n = 7;
    open_output(&output);
    buffer_init(&trace, alloc_default());
    if (options & 1)
        words[n++] = "--duration=2s";
    if (options & 2)
        words[n++] = "--buffering-mode=block";
    if (options & 4)
        words[n++] = "--no-resume";
    if (options & 8)
        words[n++] = "--progress=json";
    if (job == RECORD_WATCH)
        words[n++] = "--stopping-event-provider-name=Provider";
    int outcome = run("record dotnet", words);
    read_output(&output, &trace);
    check_recording(&trace, outcome);
    buffer_free(&trace);
    (void)close(output.fd);
}

/* --- Counters --- */

static void count(enum job job, uint8_t options)
{
    struct output output;
    struct buffer text;
    const bool is_json = options & 1;
    const char *words[WORDS] = {"--overwrite",
                                "-o",
                                output.path,
                                "--diagnostic-port",
                                job == COUNTERS_LISTEN ? "/nowhere/port" : "/nowhere/port,connect",
                                is_json       ? "--format=json"
                                : options & 2 ? "--format=csv"
                                              : "--format=table"};
    size_t n = 6;
    open_output(&output);
    buffer_init(&text, alloc_default());
    if (options & 4)
        words[n++] = "--duration=2s";
    if (options & 8)
        words[n++] = "--counters=A[x,y],B";
    int outcome = run("counters", words);
    read_output(&output, &text);
    if (outcome == OUTCOME_FINE && is_json && !json_check((const char *)text.bytes, text.n))
        fuzz_stop("counters went well, but are no JSON");
    buffer_free(&text);
    (void)close(output.fd);
}

/* --- The library alone --- */

static ttr_dotnet *reach(bool listens)
{
    ttr_dotnet *target =
        listens ? ttr_dotnet_listen("/nowhere/port", NULL) : ttr_dotnet_new("/nowhere/port", NULL);
    if (!target)
        fuzz_stop("no target");
    return target;
}

static void ask(bool listens)
{
    ttr_dotnet_info info = {.size = sizeof info};
    size_t n = 0;
    ttr_dotnet *target = reach(listens);
    if (ttr_dotnet_info_get(target, &info, NULL) == TTR_OK &&
        (!info.command || !info.os || !info.arch || !info.assembly || !info.runtime || !info.rid))
        fuzz_stop("what a runtime says is not there");
    if (ttr_dotnet_environment(target, &n, NULL) == TTR_OK)
        for (size_t i = 0; i < n; i++)
            if (!ttr_dotnet_variable(target, i))
                fuzz_stop("a variable is not there");
    (void)!ttr_dotnet_resume(target, NULL);
    ttr_dotnet_free(target);
}

/* Reads a session in small pieces. By `options`, requests its end in the middle, once or twice, or
 * drops it. */
static void take_session(ttr_dotnet_session *session, uint8_t options)
{
    uint8_t piece[64];
    size_t got, all = 0;
    unsigned silent = 0;
    ttr_status status;
    do {
        status = ttr_dotnet_read(session, piece, 1 + (size_t)options * 4, 100, &got, NULL);
        all += got;
        silent = status == TTR_AGAIN ? silent + 1 : 0;
        if (silent == 20u + options && ttr_dotnet_stop(session, NULL) != TTR_OK)
            fuzz_stop("a stop cannot begin");
    } while (status == TTR_OK || (status == TTR_AGAIN && silent < 300));
    ttr_dotnet_report report = {.size = sizeof report};
    ttr_dotnet_session_report(session, &report);
    /* Bytes that show another kind of stream are counted, but not returned. */
    if ((status != TTR_E_MALFORMED && report.bytes != all) || report.complete_bytes > all ||
        (report.has_end && !report.is_known))
        fuzz_stop("a report says what was not");
}

static void hold_session(uint8_t options)
{
    ttr_dotnet *target = reach(options & 8);
    ttr_dotnet_providers *providers = ttr_dotnet_providers_new();
    if (!providers || ttr_dotnet_providers_add(providers, "A,B:1:5:k=v", NULL) != TTR_OK)
        fuzz_stop("no providers");
    const ttr_dotnet_config wish = {
        .size = sizeof wish, .providers = providers, .flags = options & 7, .rundown = 1};
    ttr_dotnet_session *session = ttr_dotnet_session_start(target, &wish, NULL);
    if (session)
        take_session(session, options);
    ttr_dotnet_close(session);
    ttr_dotnet_providers_free(providers);
    ttr_dotnet_free(target);
}

static void work(enum job job, uint8_t options)
{
    switch (job) {
    case COUNTERS:
    case COUNTERS_LISTEN:
        count(job, options);
        break;
    case ASK:
    case ASK_LISTEN:
        ask(job == ASK_LISTEN);
        break;
    case SESSION:
        hold_session(options);
        break;
    default:
        record(job, options);
        break;
    }
}

static bool is_trace(const uint8_t *bytes, size_t n)
{
    return n > 8 && (memcmp(bytes, "Nettrace", 8) == 0 || memcmp(bytes + 4, "!Fas", 4) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (is_trace(bytes, n)) {
        world_begin_stream(bytes, n, 3600000);
        work(n % 2 ? RECORD_WATCH : RECORD, 0);
        world_end(n);
        return 0;
    }
    if (n < 3)
        return 0;
    world_begin(bytes + 3, n - 3, bytes[1] * UINT64_C(100), bytes[2] & 15);
    work((enum job)(bytes[0] % JOBS), bytes[2] >> 4);
    world_end(n);
    return 0;
}
