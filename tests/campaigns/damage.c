/* The damage campaign: damages small traces of each format in thousands of ways, and reads each
 * damaged trace to its end with all fields.
 *
 *   usage: damage [MUTATIONS [CAMPAIGN [all]]]   (default 2000 per campaign; the seeds are fixed)
 *
 * CAMPAIGN is a format, which may have several campaigns: "nettrace" selects nettrace-v1 to
 * nettrace-v6.
 *
 * Events are compared with those of the intact trace by content: exact (in both), lost (only in the
 * intact trace), altered (only in the damaged trace). A case fails if
 *
 *   - the reader crashes, or needs more than two seconds or too much memory for one input
 *   - reading ends with another status than TTR_END
 *   - input in pieces reads differently from input in memory
 *   - damage is reported after the end of the input
 *   - the copy that the format's writer makes of the damaged trace is itself damaged
 *   - a consumer (consumers.h) crashes or fails: symbols, statistics, trees, profiles, meaning, and
 *     all writers; each damaged trace goes through one of them, with "all" through all of them
 *
 * Small traces of some formats are also cut at every byte: exactly the events that are complete
 * before the cut must be read. Figures are printed as TAP comments. The traces are the golden
 * vectors, concatenated, and recorded traces. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support/corpus.h"
#include "support/hexa.h"
#include "campaigns/campaign.h"
#include "campaigns/consumers.h"
#include "campaigns/outcome.h"
#include "support/support.h"
#include "support/tap.h"
#include "support/writing.h"

#define BASES_MAX 8u
#define PIECES_EACH 8u    /* every how manieth input is also read in pieces */
#define RECOVER_PASSES 8u /* upper limit for repeated recovery of a copy */
#define CUT_FILE_MAX ((size_t)8 << 10)
#define TARGET_TRIALS 200u
#define RECOVER_EACH 4u /* every how manieth input is also copied */

struct base {
    char name[80];
    struct buffer bytes;
    uint64_t *hashes; /* hashes of the intact events, sorted */
    size_t events;
    uint64_t *records;
    size_t records_n;
};

/* An input that is read in pieces of random sizes. */
struct pieces {
    const uint8_t *bytes;
    size_t n, at;
    uint64_t state;
};

static int64_t pull(void *ctx, void *to, size_t n)
{
    struct pieces *pieces = ctx;
    size_t left = pieces->n - pieces->at,
           give = 1 + (size_t)(support_random(&pieces->state) % 3000);
    give = give < left ? give : left;
    give = give < n ? give : n;
    if (give)
        memcpy(to, pieces->bytes + pieces->at, give);
    pieces->at += give;
    return (int64_t)give;
}

/* The input of one read, its format, and the buffers that receive the results. */
struct reading {
    const char *format;
    const uint8_t *bytes;
    size_t n;
    bool is_in_pieces;
    uint32_t flags;
    struct base *records;    /* receives the offsets of the records, or NULL */
    bool are_events_records; /* the reader cannot return raw records */
    struct buffer *begins;   /* receives the offsets of the events, or NULL */
    struct buffer *copy;     /* receives the copy by the format's writer, or NULL */
};

static void add_event(const ttr *t, const struct reading *reading, const ttr_event *event,
                      struct outcome *outcome)
{
    outcome_add(outcome, outcome_hash(t, event));
    if (reading->begins)
        buffer_add(reading->begins, &event->offset, sizeof event->offset);
}

static void add_batch(const ttr *t, const struct reading *reading, const ttr_batch *batch,
                      struct outcome *outcome)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind != TTR_KIND_DEFINITION && event->kind != TTR_KIND_GAP)
            add_event(t, reading, event, outcome);
        if (reading->records && (event->flags & TTR_EVENT_RAW || reading->are_events_records) &&
            reading->records->records_n < reading->n)
            reading->records->records[reading->records->records_n++] = event->offset;
    }
}

/* Returns the end offset of the last damaged region. */
static uint64_t end_of_damage(const ttr_report *report)
{
    uint64_t end = 0;
    for (size_t i = 0; i < report->regions_n; i++) {
        uint64_t offset = report->regions[i].offset, bytes = report->regions[i].bytes;
        uint64_t behind = bytes < UINT64_MAX - offset ? offset + bytes : UINT64_MAX;
        end = behind > end ? behind : end;
    }
    for (size_t i = 0; i < report->notes_n; i++)
        if (report->notes[i].first_offset != UINT64_MAX)
            end = report->notes[i].first_offset > end ? report->notes[i].first_offset : end;
    return end;
}

static void read_all(ttr *t, ttr_reader *reader, const struct reading *reading,
                     struct outcome *outcome)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr_writer *writer = reading->copy ? ttr_create_push(t, writing_to_buffer, reading->copy,
                                                         reading->format, NULL, &error)
                                       : NULL;
    while ((outcome->status = ttr_read(reader, &batch, &error)) == TTR_OK) {
        add_batch(t, reading, &batch, outcome);
        if (writer && ttr_write(writer, &batch, &error) != TTR_OK)
            break;
    }
    if (writer && outcome->status == TTR_END && ttr_finish(writer, &error) != TTR_OK)
        outcome->status = error.status;
    else if (writer && outcome->status != TTR_END)
        ttr_writer_abort(writer);
    ttr_report report = {.size = sizeof report};
    if (ttr_reader_report(reader, 0, &report)) {
        outcome->damage_regions = report.damage_regions;
        outcome->damage_end = end_of_damage(&report);
    }
    (void)snprintf(outcome->text, sizeof outcome->text, "%s", error.text);
}

static void read_input(const struct reading *reading, struct outcome *outcome)
{
    struct support_heap heap;
    support_heap_init(&heap, 0);
    ttr_options context = {
        .size = sizeof context, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
    ttr_read_options options = {
        .size = sizeof options, .from = reading->format, .flags = reading->flags};
    struct pieces pieces = {.bytes = reading->bytes, .n = reading->n, .state = reading->n + 1};
    ttr_error error = {0};
    double begin = outcome_seconds();
    outcome->n = 0;
    outcome->damage_end = 0;
    outcome->text[0] = '\0';
    ttr *t = ttr_new(&context);
    ttr_reader *reader =
        reading->is_in_pieces
            ? ttr_open_pull(t, pull, &pieces, "pieces", &options, &error)
            : ttr_open_memory(t, reading->bytes, reading->n, "bytes", &options, &error);
    if (reader) {
        read_all(t, reader, reading, outcome);
    } else {
        outcome->status = error.status;
        (void)snprintf(outcome->text, sizeof outcome->text, "%s", error.text);
    }
    ttr_close(reader);
    ttr_free(t);
    outcome->seconds = outcome_seconds() - begin;
    outcome->peak = heap.peak;
    outcome_sort(outcome);
}

/* Sums over all trials of one mutation. */
struct tally {
    enum mutation mutation;
    unsigned trials;
    uint64_t intact, exact, altered;
    double slowest;
};

static bool check_outcome(const struct reading *reading, const struct outcome *outcome)
{
    bool can_be_refused = reading->n == 0 || outcome->n == 0;
    if (outcome->status != TTR_END && !(can_be_refused && outcome->status == TTR_E_UNSUPPORTED))
        return outcome_complain("reading does not go to the end", outcome);
    if (outcome->damage_end > reading->n)
        return outcome_complain("damage is told of behind the end", outcome);
    return outcome_is_bounded(outcome, reading->n);
}

/* Recovers the copy again, as the recover command does. Removing damage makes records neighbours,
 * and a reader may then find that one contradicts the other. */
static void copy_once_more(struct reading *reading, struct buffer *copy, size_t *events,
                           struct outcome *other)
{
    struct buffer next;
    buffer_init(&next, alloc_default());
    struct reading again = *reading;
    again.copy = &next;
    again.flags = TTR_READ_DEFINITIONS;
    read_input(&again, other);
    *events = other->n;
    buffer_free(copy);
    *copy = next;
    reading->bytes = copy->bytes;
    reading->n = copy->n;
    if (copy->n)
        read_input(reading, other);
}

/* Reads the same bytes in pieces, and checks that the copy by the writer is undamaged. */
static bool check_otherwise(const struct reading *reading, const struct outcome *outcome,
                            unsigned trial)
{
    static struct outcome other;
    struct reading again = *reading;
    bool is_good = true;
    if (trial % PIECES_EACH == 0) {
        again.is_in_pieces = true;
        read_input(&again, &other);
        is_good = outcome_same(outcome, &other) ||
                  outcome_complain("in pieces it reads otherwise", &other);
        is_good = (other.damage_end <= reading->n ||
                   outcome_complain("damage is told of behind the end, in pieces", &other)) &&
                  is_good;
    }
    ttr_format_info info = {0};
    for (size_t i = 0; ttr_format_get(i, &info) && strcmp(info.name, reading->format) != 0; i++)
        continue;
    if (trial % RECOVER_EACH || !(info.abilities & TTR_FORMAT_WRITES))
        return is_good;
    struct buffer copy;
    buffer_init(&copy, alloc_default());
    again = *reading;
    again.copy = &copy;
    again.flags = TTR_READ_DEFINITIONS;
    read_input(&again, &other);
    again = (struct reading){.format = reading->format, .bytes = copy.bytes, .n = copy.n};
    size_t events = other.n;
    if (copy.n)
        read_input(&again, &other);
    for (unsigned pass = 0; copy.n && other.damage_regions && pass < RECOVER_PASSES; pass++)
        copy_once_more(&again, &copy, &events, &other);
    if (copy.n && (other.damage_regions || other.n < events))
        is_good = outcome_complain("what was recovered is damaged", &other);
    buffer_free(&copy);
    return is_good;
}

/* True if each damaged trace goes through all consumers, else through one of them. */
static bool has_all_consumers;

static bool check_consumers(const struct reading *reading, const struct outcome *outcome,
                            unsigned trial)
{
    const struct consumer_input input = {
        .format = reading->format, .bytes = reading->bytes, .n = reading->n};
    const char *failed =
        outcome->status == TTR_END ? consumers_run_trial(trial, has_all_consumers, &input) : NULL;
    return !failed || outcome_complain(failed, outcome);
}

/* Returns a damaged copy in an allocation of exactly its size, so that a sanitizer detects reads
 * past the end. */
static uint8_t *mutate_once(const struct mutate_input *input, const struct tally *tally,
                            unsigned trial, size_t *n)
{
    uint64_t state = hash_pair(tally->mutation + 1u, trial + 1u);
    uint8_t *room = malloc(mutate_room(input) + 1);
    if (!room)
        abort();
    *n = mutate(input, tally->mutation, &state, room);
    uint8_t *bytes = malloc(*n + 1);
    if (!bytes)
        abort();
    memcpy(bytes, room, *n);
    free(room);
    return bytes;
}

static bool try_one(const struct campaign *campaign, const struct mutate_input *input,
                    const struct base *base, struct tally *tally)
{
    static struct outcome outcome;
    unsigned trial = tally->trials++;
    size_t n;
    uint8_t *bytes = mutate_once(input, tally, trial, &n);
    struct reading reading = {.format = campaign->format, .bytes = bytes, .n = n};
    outcome_begin("%s, %s, %s trial %u", campaign->name, base->name, mutate_name(tally->mutation),
                  trial);
    read_input(&reading, &outcome);
    bool is_good = check_outcome(&reading, &outcome) &&
                   check_otherwise(&reading, &outcome, trial) &&
                   check_consumers(&reading, &outcome, trial);
    size_t exact = outcome_exact(base->hashes, base->events, &outcome);
    tally->intact += base->events;
    tally->exact += exact;
    tally->altered += outcome.n - exact;
    tally->slowest = outcome.seconds > tally->slowest ? outcome.seconds : tally->slowest;
    free(bytes);
    return is_good;
}

/* Reads an intact trace to collect the hashes of its events and the offsets of its records. Returns
 * false if it has no events. */
static bool prepare(const struct campaign *campaign, struct base *base)
{
    struct outcome outcome = {.n = 0};
    base->records = calloc(base->bytes.n + 1, sizeof *base->records);
    if (!base->records)
        abort();
    struct reading reading = {.format = campaign->format,
                              .bytes = base->bytes.bytes,
                              .n = base->bytes.n,
                              .records = base,
                              .are_events_records = campaign->are_events_records};
    read_input(&reading, &outcome);
    base->hashes = outcome.hashes;
    base->events = outcome.n;
    return outcome.n > 0 && outcome.status == TTR_END;
}

static void forget(struct base *base)
{
    buffer_free(&base->bytes);
    free(base->hashes);
    free(base->records);
    *base = (struct base){.name = ""};
}

/* Prepares a trace. Returns 1 if it is usable, else 0. */
static size_t settle(const struct campaign *campaign, struct base *base)
{
    if (base->bytes.n && prepare(campaign, base))
        return 1;
    forget(base);
    return 0;
}

static void add_vector(const char *path, struct buffer *to)
{
    char message[200];
    struct hexa hexa;
    const char *end = strrchr(path, '.');
    if (!end || strcmp(end, ".hexa") != 0 || !hexa_load(path, &hexa, message, sizeof message))
        return;
    if (hexa.damage == 0 && hexa.status[0] == '\0')
        buffer_add(to, hexa.bytes, hexa.n);
    hexa_free(&hexa);
}

/* Appends the bytes of all vectors of a folder that read without damage, or of one named vector. */
static void add_vectors(const char *root, const char *folder, struct buffer *to)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/src/formats/%s", root, folder);
    add_vector(path, to);
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/src/formats/%s/%s", root, folder, entries[i]->d_name);
        add_vector(path, to);
        free(entries[i]);
    }
    free(entries);
}

/* Appends a file. Appends nothing if it cannot be read, or if it is compressed and xz is not
 * installed. */
static void add_file(const char *path, struct buffer *to)
{
    char block[65536], command[700];
    const char *end = strrchr(path, '.');
    bool is_packed = end && strcmp(end, ".xz") == 0;
    (void)snprintf(command, sizeof command, "xz -dc '%s' 2>/dev/null", path);
    FILE *file = is_packed ? popen(command, "r")
                           : fopen(path, "rb"); /* NOLINT: a test tool, a path of its own table */
    for (size_t n; file && (n = fread(block, 1, sizeof block, file)) > 0;)
        buffer_add(to, block, n);
    if (file)
        (void)(is_packed ? pclose(file) : fclose(file));
}

/* Collects the traces of a campaign. Returns their number. */
static size_t gather(const struct campaign *campaign, struct base *bases)
{
    const char *root = getenv("TTR_SOURCE_ROOT");
    size_t n = 0;
    for (size_t i = 0; campaign->vectors[i]; i++) {
        bases[n] = (struct base){.name = ""};
        (void)snprintf(bases[n].name, sizeof bases[n].name, "%s", campaign->vectors[i]);
        buffer_init(&bases[n].bytes, alloc_default());
        add_vectors(root ? root : ".", campaign->vectors[i], &bases[n].bytes);
        n += settle(campaign, &bases[n]);
    }
    for (size_t i = 0; campaign->traces[i]; i++) {
        char path[600];
        bases[n] = (struct base){.name = ""};
        (void)snprintf(bases[n].name, sizeof bases[n].name, "%s", campaign->traces[i]);
        (void)snprintf(path, sizeof path, "%s/%s", corpus_folder(), campaign->traces[i]);
        buffer_init(&bases[n].bytes, alloc_default());
        add_file(path, &bases[n].bytes);
        n += settle(campaign, &bases[n]);
    }
    return n;
}

static struct mutate_input input_of(const struct campaign *campaign, const struct base *base,
                                    const struct base *other)
{
    return (struct mutate_input){.bytes = base->bytes.bytes,
                                 .n = base->bytes.n,
                                 .records = base->records,
                                 .records_n = base->records_n,
                                 .other = other->bytes.bytes,
                                 .other_n = other->bytes.n,
                                 .format = &campaign->mutate};
}

static void tell(const struct tally *tally)
{
    double trials = tally->trials ? tally->trials : 1,
           intact = tally->intact ? (double)tally->intact : 1;
    (void)printf(
        "# %-10s %6u inputs  exact %7.3f %%  lost %8.2f  altered %8.2f an input  slowest %.0f ms\n",
        mutate_name(tally->mutation), tally->trials, 100 * (double)tally->exact / intact,
        (double)(tally->intact - tally->exact) / trials, (double)tally->altered / trials,
        tally->slowest * 1e3);
}

/* Counts the events that begin before the cut (`most`), and those that are complete because the
 * next one begins before the cut too (`least`). */
static void count_whole(const struct buffer *begins, size_t cut, size_t *least, size_t *most)
{
    uint64_t last_begin = 0, begin;
    *least = *most = 0;
    for (size_t i = 0; i < begins->n; i += sizeof begin) {
        memcpy(&begin, begins->bytes + i, sizeof begin);
        *most += begin < cut;
        last_begin = begin < cut && begin > last_begin ? begin : last_begin;
    }
    for (size_t i = 0; i < begins->n; i += sizeof begin) {
        memcpy(&begin, begins->bytes + i, sizeof begin);
        *least += begin < last_begin;
    }
}

static bool cut_everywhere(const struct campaign *campaign, const struct base *base)
{
    static struct outcome whole, outcome;
    struct buffer begins;
    bool is_good = true;
    buffer_init(&begins, alloc_default());
    struct reading reading = {.format = campaign->format,
                              .bytes = base->bytes.bytes,
                              .n = base->bytes.n,
                              .begins = &begins};
    read_input(&reading, &whole);
    for (size_t n = 0; n < base->bytes.n; n++) {
        size_t least, most;
        uint8_t *bytes = malloc(n + 1);
        if (!bytes)
            abort();
        memcpy(bytes, base->bytes.bytes, n);
        outcome_begin("%s, %s cut to %zu", campaign->name, base->name, n);
        struct reading cut = {.format = campaign->format, .bytes = bytes, .n = n};
        read_input(&cut, &outcome);
        count_whole(&begins, n, &least, &most);
        is_good = check_outcome(&cut, &outcome) && is_good;
        if (outcome.n < least || outcome.n > most)
            is_good = outcome_complain("cut, it has not every whole event", &outcome);
        if (outcome_exact(whole.hashes, whole.n, &outcome) < outcome.n)
            is_good = outcome_complain("cut, it has other events", &outcome);
        free(bytes);
    }
    buffer_free(&begins);
    return is_good;
}

static void run_cuts(const struct campaign *campaign, const struct base *bases, size_t n)
{
    size_t cuts = 0;
    bool is_good = true;
    for (size_t i = 0; i < n; i++)
        if (bases[i].bytes.n <= CUT_FILE_MAX) {
            is_good = cut_everywhere(campaign, &bases[i]) && is_good;
            cuts += bases[i].bytes.n;
        }
    (void)printf("# cut at %zu bytes\n", cuts);
    (void)tap_case(is_good && cuts, "%s cut anywhere gives every event that was whole",
                   campaign->name);
}

static void run(const struct campaign *campaign, unsigned mutations)
{
    struct base bases[BASES_MAX];
    size_t n = gather(campaign, bases);
    if (n == 0)
        tap_skip(campaign->name, "no reader or no traces of it");
    for (unsigned kind = 0; n && kind < MUTATIONS; kind++) {
        struct tally tally = {.mutation = (enum mutation)kind};
        bool is_kind_good = true;
        while (tally.trials < mutations / MUTATIONS + 1) {
            const struct base *base = &bases[tally.trials % n],
                              *other = &bases[(tally.trials / n) % n];
            struct mutate_input input = input_of(campaign, base, other);
            is_kind_good = try_one(campaign, &input, base, &tally) && is_kind_good;
        }
        tell(&tally);
        (void)tap_case(is_kind_good, "%s %s", campaign->name, mutate_name((enum mutation)kind));
    }
    if (n && campaign->is_cut_at_each_byte)
        run_cuts(campaign, bases, n);
    while (n)
        forget(&bases[--n]);
}

/* Damages a recorded trace as the format's first campaign does. Fails if a smaller share of events
 * survives than the target requires. */
static void run_target(const struct campaign *first, const struct campaign_target *target)
{
    const struct campaign campaign = {.name = first->name,
                                      .format = first->format,
                                      .mutate = first->mutate,
                                      .traces = {target->trace}};
    struct base base;
    if (gather(&campaign, &base) == 0) {
        tap_skip("target of recovery", "no %s in %s", target->trace, corpus_folder());
        return;
    }
    struct tally tally = {.mutation = target->mutation};
    bool is_reached = true;
    struct mutate_input input = input_of(&campaign, &base, &base);
    while (tally.trials < TARGET_TRIALS)
        is_reached = try_one(&campaign, &input, &base, &tally) && is_reached;
    tell(&tally);
    is_reached = is_reached && 100 * (double)tally.exact >= target->percent * (double)tally.intact;
    (void)tap_case(is_reached, "%s keeps %.1f %% of the events after %s", campaign.name,
                   target->percent, mutate_name(target->mutation));
    forget(&base);
}

static bool is_wanted(const struct campaign *campaign, const char *wanted)
{
    return !wanted || strcmp(wanted, campaign->format) == 0 || strcmp(wanted, campaign->name) == 0;
}

int main(int argc, char **argv)
{
    unsigned mutations = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    const char *wanted = argc > 2 ? argv[2] : NULL;
    const struct format_campaigns *of;
    has_all_consumers = argc > 3 && strcmp(argv[3], "all") == 0;
    outcome_catch();
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; (of = format_campaigns_at(i)); i++)
        for (size_t k = 0; k < of->campaigns_n; k++)
            if (is_wanted(&of->campaigns[k], wanted))
                run(&of->campaigns[k], mutations);
    for (size_t i = 0; (of = format_campaigns_at(i)); i++)
        for (size_t k = 0; k < of->targets_n; k++)
            if (is_wanted(of->campaigns, wanted))
                run_target(of->campaigns, &of->targets[k]);
    return tap_end();
}
