/* The damage campaign of traces that are folders: damages one file of a small CTF trace, leaves the
 * others intact, and reads the trace to its end with all fields.
 *
 *   usage: damage_folder [MUTATIONS [PART [all]]]   (default 1000 for each part of a trace, half of
 *                                                   them on golden vectors; the seeds are fixed)
 *
 * Each damaged trace goes through one consumer (consumers.h), with `all` through all of them.
 *
 * Parts are the streams; metadata as TSDL, as TSDL in packets, as CTF 2, and as RFC v1.1; and
 * LTTng's index of a stream, for which reading starts in the middle of the trace so that the index
 * is used. Events are compared by content, as in damage.c. A case fails
 *
 *   - on a crash, or on too much time or memory for one input
 *   - on a status other than TTR_END; damaged metadata may be refused with a reason
 *   - if a damaged index changes an event
 *   - if a consumer fails on a trace that can be read
 *   - if a stream that is cut does not return exactly the events
 *     that are complete before the cut
 *
 * The traces are the golden vectors and recorded traces below TTR_CORPUS. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <tracetta/advanced.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support/corpus.h"
#include "support/hexa.h"
#include "campaigns/consumers.h"
#include "campaigns/mutate.h"
#include "campaigns/outcome.h"
#include "support/support.h"
#include "support/tap.h"

#define TRACES_MAX 240u
#define FILES_MAX 16u
#define TARGETS_MAX 400u
#define FILE_MAX ((size_t)192 << 10)
#define CUT_FILE_MAX ((size_t)8 << 10)
#define CUT_DENSE ((size_t)512)
#define CUT_STRIDE ((size_t)37)
#define MUTATIONS_LONG                                                        \
    10000u /* from this number of mutations on, streams are cut at every byte \
            */
#define MAIN_FILE "metadata"
#define VECTORS "src/formats/ctf/vectors"

enum part { PART_STREAM, PART_TSDL, PART_PACKETS, PART_CTF2, PART_RFC11, PART_INDEX, PARTS };

static const char *const part_names[PARTS] = {"streams", "tsdl",  "packets",
                                              "ctf2",    "rfc11", "index"};

/* Offsets of the size fields and the magic number of each part. */
static const struct mutate_format part_formats[PARTS] = {
    [PART_STREAM] = {.size_at = 48,
                     .size_bytes = 8,
                     .bits = 64,
                     .magic = {0xC1, 0x1F, 0xFC, 0xC1},
                     .magic_n = 4}, /* the content size, in LTTng's packets */
    [PART_TSDL] = {.size_at = 0, .size_bytes = 1, .bits = 8, .magic = "struct {", .magic_n = 8},
    [PART_PACKETS] = {.size_at = 24,
                      .size_bytes = 4,
                      .bits = 32,
                      .magic = {0x57, 0x1D, 0xD1, 0x75},
                      .magic_n = 4},
    [PART_CTF2] = {.size_at = 0,
                   .size_bytes = 1,
                   .bits = 8,
                   .magic = {0x1E, '{', '"', 't', 'y', 'p', 'e', '"'},
                   .magic_n = 8},
    [PART_RFC11] = {.size_at = 0, .size_bytes = 1, .bits = 8, .magic = "section ", .magic_n = 8},
    [PART_INDEX] = {.size_at = 0,
                    .size_bytes = 8,
                    .is_big_endian = true,
                    .bits = 64,
                    .magic = {0xC1, 0xF1, 0xDC, 0xC1},
                    .magic_n = 4},
};

struct trace {
    char name[120];
    char file_name[FILES_MAX][280];
    struct buffer bytes[FILES_MAX];
    ttr_file files[FILES_MAX];
    size_t n, size;
    uint64_t *hashes; /* hashes of the events, sorted */
    size_t events;
    uint64_t *late; /* hashes of the events in the second half of the trace's time range */
    size_t late_n;
    int64_t middle;
    bool is_recorded;
};

/* A file of a trace that is damaged. */
struct target {
    const struct trace *trace;
    size_t file;
    uint64_t *records; /* offsets of the size fields, for MUTATE_SIZE */
    size_t records_n;
};

struct tally {
    enum mutation mutation;
    unsigned trials, refused;
    uint64_t intact, exact, altered;
    double slowest;
};

static struct trace traces[TRACES_MAX];
static size_t traces_n;

/* --- Reading --- */

static void touch_group(const ttr *t, const ttr_event *event, ttr_group group)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin_group(t, event, group, &fields);
    while (ttr_fields_next(&fields, &field))
        continue;
}

/* The byte range of an event in its file. */
struct place {
    uint64_t begin, end;
};

/* Reads all events. Stores the byte range of each in `places`, unless that is NULL. */
static void read_all(const ttr *t, ttr_reader *reader, struct outcome *outcome,
                     struct buffer *places)
{
    ttr_error error = {0};
    ttr_batch batch;
    while ((outcome->status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            touch_group(t, event, TTR_GROUP_PACKET);
            touch_group(t, event, TTR_GROUP_HEADER);
            if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP)
                continue;
            outcome_add(outcome, outcome_hash(t, event));
            struct place place = {event->offset, event->offset + event->payload_size};
            if (places)
                buffer_add(places, &place, sizeof place);
        }
    (void)snprintf(outcome->text, sizeof outcome->text, "%s", error.text);
    ttr_report report = {.size = sizeof report};
    outcome->damage_regions = 0;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        outcome->damage_regions += report.damage_regions;
}

/* The files to read and the start time. */
struct reading {
    const ttr_file *files;
    size_t n;
    int64_t from_ns;
    struct buffer *places;
    int64_t first_ns, last_ns; /* out: times of the first and the last event */
};

static void learn_times(struct reading *reading, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    reading->first_ns = INT64_MAX;
    reading->last_ns = INT64_MIN;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        if (!report.has_times)
            continue;
        reading->first_ns =
            report.first_ns < reading->first_ns ? report.first_ns : reading->first_ns;
        reading->last_ns = report.last_ns > reading->last_ns ? report.last_ns : reading->last_ns;
    }
}

static void read_input(struct reading *reading, struct outcome *outcome)
{
    struct support_heap heap;
    support_heap_init(&heap, 0);
    ttr_options context = {
        .size = sizeof context, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
    ttr_read_options options = {.size = sizeof options, .from = "ctf"};
    ttr_filter filter;
    ttr_error error = {0};
    double begin = outcome_seconds();
    outcome->n = 0;
    outcome->text[0] = '\0';
    ttr *t = ttr_new(&context);
    ttr_reader *reader = ttr_open_files(t, "trace", reading->files, reading->n, &options, &error);
    ttr_filter_init(&filter);
    filter.from_ns = reading->from_ns;
    if (reading->from_ns != INT64_MIN)
        reader = ttr_filter_new(reader, &filter, &error);
    if (reader) {
        read_all(t, reader, outcome, reading->places);
        learn_times(reading, reader);
    } else {
        outcome->status = error.status;
        (void)snprintf(outcome->text, sizeof outcome->text, "%s", error.text);
    }
    ttr_close(reader);
    ttr_free(t);
    outcome->seconds = outcome_seconds() - begin;
    outcome->peak = heap.peak;
    outcome_sort(outcome);
    if (heap.blocks)
        (void)outcome_complain("memory was not given back", outcome);
}

/* --- Traces --- */

static uint64_t *keep(const struct outcome *outcome)
{
    uint64_t *hashes = calloc(outcome->n + 1, sizeof *hashes);
    if (!hashes)
        abort();
    if (outcome->n)
        memcpy(hashes, outcome->hashes, outcome->n * sizeof *hashes);
    return hashes;
}

static void forget(struct trace *trace)
{
    for (size_t i = 0; i < trace->n; i++)
        buffer_free(&trace->bytes[i]);
    free(trace->hashes);
    free(trace->late);
    *trace = (struct trace){.n = 0};
}

/* Reads the intact trace. Adds it to the campaign if it has events and can be read to the end. */
static void settle(struct trace *trace)
{
    static struct outcome outcome;
    bool is_small = true;
    for (size_t i = 0; i < trace->n; i++) {
        trace->files[i] = (ttr_file){trace->file_name[i], trace->bytes[i].bytes, trace->bytes[i].n};
        trace->size += trace->bytes[i].n;
        is_small = is_small && trace->bytes[i].n <= FILE_MAX;
    }
    struct reading reading = {.files = trace->files, .n = trace->n, .from_ns = INT64_MIN};
    outcome.n = 0;
    if (is_small && trace->n)
        read_input(&reading, &outcome);
    if (outcome.n == 0 || outcome.status != TTR_END) {
        forget(trace);
        return;
    }
    trace->hashes = keep(&outcome);
    trace->events = outcome.n;
    trace->middle =
        reading.first_ns + (int64_t)(((uint64_t)reading.last_ns - (uint64_t)reading.first_ns) / 2);
    reading.from_ns = trace->middle;
    read_input(&reading, &outcome);
    trace->late = keep(&outcome);
    trace->late_n = outcome.n;
    traces_n++;
}

static struct buffer *add_file(struct trace *trace, const char *folder, const char *name)
{
    struct buffer *bytes = &trace->bytes[trace->n];
    (void)snprintf(trace->file_name[trace->n], sizeof trace->file_name[0], "%s%s", folder, name);
    buffer_init(bytes, alloc_default());
    trace->n++;
    return bytes;
}

static void add_vector_file(struct trace *trace, const char *path, const char *entry)
{
    struct hexa hexa;
    char message[200];
    size_t length = strlen(entry);
    if (length < 6 || strcmp(entry + length - 5, ".hexa") != 0 || trace->n == FILES_MAX)
        return;
    if (hexa_load(path, &hexa, message, sizeof message)) {
        buffer_add(add_file(trace, "", entry), hexa.bytes, hexa.n);
        char *name = trace->file_name[trace->n - 1];
        name[length - 5] = '\0';
        for (char *plus = name; (plus = strchr(plus, '+')) != NULL;)
            *plus = '/';
    }
    hexa_free(&hexa);
}

static void add_recorded_file(struct trace *trace, const char *path, const char *folder,
                              const char *entry)
{
    static char block[FILE_MAX + 1];
    struct stat about;
    if (trace->n == FILES_MAX || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    buffer_add(add_file(trace, folder, entry), block, fread(block, 1, sizeof block, file));
    (void)fclose(file);
}

/* Adds the files of a folder: all vectors, or recorded files with names that start with `prefix`.
 */
static void add_folder(struct trace *trace, const char *folder, const char *prefix,
                       bool are_vectors)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1200];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (are_vectors)
            add_vector_file(trace, path, entries[i]->d_name);
        else
            add_recorded_file(trace, path, prefix, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void add_vectors(const char *root)
{
    char path[600];
    struct dirent **entries = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", root, VECTORS);
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && traces_n < TRACES_MAX) {
            struct trace *trace = &traces[traces_n];
            *trace = (struct trace){.n = 0};
            (void)snprintf(trace->name, sizeof trace->name, "%.100s", name);
            (void)snprintf(path, sizeof path, "%s/%s/%.200s", root, VECTORS, name);
            add_folder(trace, path, "", true);
            settle(trace);
        }
        free(entries[i]);
    }
    free(entries);
}

static void add_recorded(const char *corpus, const char *name)
{
    char path[700];
    if (traces_n == TRACES_MAX)
        return;
    struct trace *trace = &traces[traces_n];
    *trace = (struct trace){.is_recorded = true};
    (void)snprintf(trace->name, sizeof trace->name, "%.110s", name);
    (void)snprintf(path, sizeof path, "%s/ctf/%s", corpus, name);
    add_folder(trace, path, "", false);
    (void)snprintf(path, sizeof path, "%s/ctf/%s/index", corpus, name);
    add_folder(trace, path, "index/", false);
    settle(trace);
}

static void add_corpus(const char *corpus)
{
    static const char *const folders[] = {
        "lttng-2.13.9/small/ust/uid/0/64-bit",   "lttng-2.15.1/ctx/ust/uid/0/64-bit",
        "lttng-2.15.1/discard/ust/uid/0/64-bit", "lttng-2.15.1/discard18/ust/uid/0/64-bit",
        "lttng-2.15.1/tfsize/ust/uid/0/64-bit",  "babeltrace/ctf-traces/succeed/multi-domains/ust"};
    static const char *const parents[] = {"babeltrace/ctf-traces/succeed", "actf", "tracecompass"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        add_recorded(corpus, folders[i]);
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        struct dirent **entries = NULL;
        char path[700];
        (void)snprintf(path, sizeof path, "%s/ctf/%s", corpus, parents[i]);
        int n = scandir(path, &entries, NULL, alphasort);
        for (int j = 0; j < n; j++) {
            (void)snprintf(path, sizeof path, "%s/%.100s", parents[i], entries[j]->d_name);
            if (entries[j]->d_name[0] != '.')
                add_recorded(corpus, path);
            free(entries[j]);
        }
        free(entries);
    }
}

/* --- Mutation --- */

static enum part part_of(const struct trace *trace, size_t file)
{
    static const uint8_t magic[2][4] = {{0x57, 0x1D, 0xD1, 0x75}, {0x75, 0xD1, 0x1D, 0x57}};
    const struct buffer *bytes = &trace->bytes[file];
    if (strncmp(trace->file_name[file], "index/", 6) == 0)
        return PART_INDEX;
    if (strcmp(trace->file_name[file], MAIN_FILE) != 0)
        return PART_STREAM;
    if (strncmp(trace->name, "rfc11-", 6) == 0)
        return PART_RFC11;
    if (bytes->n >= 4 &&
        (memcmp(bytes->bytes, magic[0], 4) == 0 || memcmp(bytes->bytes, magic[1], 4) == 0))
        return PART_PACKETS;
    return bytes->n && (bytes->bytes[0] == 0x1E || bytes->bytes[0] == '{') ? PART_CTF2 : PART_TSDL;
}

static bool is_record(enum part part, const uint8_t *bytes, size_t at)
{
    const struct mutate_format *format = &part_formats[part];
    if (part == PART_STREAM || part == PART_PACKETS)
        return memcmp(bytes + at, format->magic, format->magic_n) == 0;
    if (part == PART_INDEX)
        return at >= 16 && at % 8 == 0;
    return bytes[at] >= '0' && bytes[at] <= '9';
}

static void find_records(struct target *target, enum part part)
{
    const struct buffer *bytes = &target->trace->bytes[target->file];
    target->records = calloc(bytes->n + 1, sizeof *target->records);
    if (!target->records)
        abort();
    for (size_t at = 0; at + part_formats[part].magic_n <= bytes->n; at++)
        if (is_record(part, bytes->bytes, at))
            target->records[target->records_n++] = at;
}

static size_t find_targets(enum part part, bool are_recorded, struct target *targets)
{
    size_t n = 0;
    for (size_t i = 0; i < traces_n; i++)
        for (size_t file = 0; file < traces[i].n && n < TARGETS_MAX; file++)
            if (traces[i].is_recorded == are_recorded && traces[i].bytes[file].n &&
                part_of(&traces[i], file) == part) {
                targets[n] = (struct target){.trace = &traces[i], .file = file};
                find_records(&targets[n++], part);
            }
    return n;
}

static bool check(enum part part, const struct trace *trace, const struct outcome *outcome,
                  size_t exact)
{
    bool is_metadata = part != PART_STREAM && part != PART_INDEX;
    bool is_refusal = outcome->status == TTR_E_MALFORMED || outcome->status == TTR_E_TRUNCATED ||
                      outcome->status == TTR_E_UNSUPPORTED || outcome->status == TTR_E_LIMIT;
    if (outcome->status != TTR_END &&
        !(is_metadata && is_refusal && outcome->n == 0 && outcome->text[0]))
        return outcome_complain("reading does not go to the end", outcome);
    if (part == PART_INDEX && (exact != trace->late_n || outcome->n != exact))
        return outcome_complain("a damaged index changes what is read", outcome);
    return outcome_is_bounded(outcome, 2 * trace->size);
}

/* True if each damaged trace goes through all consumers, else through one of them. */
static bool has_all_consumers;

static bool check_consumers(const struct reading *reading, const struct outcome *outcome,
                            unsigned trial)
{
    const struct consumer_input input = {
        .format = "ctf", .files = reading->files, .files_n = reading->n};
    const char *failed =
        outcome->status == TTR_END ? consumers_run_trial(trial, has_all_consumers, &input) : NULL;
    return !failed || outcome_complain(failed, outcome);
}

static bool try_one(enum part part, const struct target *target, const struct target *other,
                    struct tally *tally)
{
    static struct outcome outcome;
    const struct trace *trace = target->trace;
    const struct buffer *ctx = &trace->bytes[target->file],
                        *strange = &other->trace->bytes[other->file];
    struct mutate_input input = {.bytes = ctx->bytes,
                                 .n = ctx->n,
                                 .records = target->records,
                                 .records_n = target->records_n,
                                 .other = strange->bytes,
                                 .other_n = strange->n,
                                 .format = &part_formats[part]};
    unsigned trial = tally->trials++;
    uint64_t state = hash_pair(hash_pair(part + 1u, tally->mutation + 1u), trial + 1u);
    uint8_t *bytes = malloc(mutate_room(&input) + 1);
    if (!bytes)
        abort();
    size_t n = mutate(&input, tally->mutation, &state, bytes);
    /* exact size, so that a sanitizer detects reads past the end */
    uint8_t *fit = realloc(bytes, n + 1);
    ttr_file files[FILES_MAX];
    memcpy(files, trace->files, sizeof files);
    files[target->file].bytes = fit ? fit : bytes;
    files[target->file].n = n;
    outcome_begin("%s of %s, %s trial %u", trace->file_name[target->file], trace->name,
                  mutate_name(tally->mutation), trial);
    struct reading reading = {
        .files = files, .n = trace->n, .from_ns = part == PART_INDEX ? trace->middle : INT64_MIN};
    read_input(&reading, &outcome);
    size_t intact = part == PART_INDEX ? trace->late_n : trace->events;
    size_t exact =
        outcome_exact(part == PART_INDEX ? trace->late : trace->hashes, intact, &outcome);
    tally->intact += intact;
    tally->exact += exact;
    tally->altered += outcome.n - exact;
    tally->refused += outcome.status != TTR_END;
    tally->slowest = outcome.seconds > tally->slowest ? outcome.seconds : tally->slowest;
    const bool is_good =
        check(part, trace, &outcome, exact) && check_consumers(&reading, &outcome, trial);
    free(fit ? fit : bytes);
    return is_good;
}

static void tell(const struct tally *tally)
{
    double trials = tally->trials ? tally->trials : 1,
           intact = tally->intact ? (double)tally->intact : 1;
    (void)printf("# %-10s %6u inputs  refused %6u  exact %7.3f %%  lost %8.2f  altered %8.2f an "
                 "input  slowest %.0f ms\n",
                 mutate_name(tally->mutation), tally->trials, tally->refused,
                 100 * (double)tally->exact / intact,
                 (double)(tally->intact - tally->exact) / trials, (double)tally->altered / trials,
                 tally->slowest * 1e3);
}

static void run(enum part part, bool are_recorded, unsigned mutations)
{
    static struct target targets[TARGETS_MAX];
    size_t n = find_targets(part, are_recorded, targets);
    const char *origin = are_recorded ? "recorded" : "golden";
    if (n == 0) {
        tap_skip(part_names[part], "no %s traces with it", origin);
        return;
    }
    (void)printf("# %s, %s: %zu files\n", part_names[part], origin, n);
    for (unsigned kind = 0; kind < MUTATIONS; kind++) {
        struct tally tally = {.mutation = (enum mutation)kind};
        bool is_kind_good = true;
        while (tally.trials < mutations / MUTATIONS + 1) {
            uint64_t choice = hash_pair(kind + 1u, tally.trials + 1u);
            is_kind_good =
                try_one(part, &targets[choice % n], &targets[(choice >> 32) % n], &tally) &&
                is_kind_good;
        }
        tell(&tally);
        (void)tap_case(is_kind_good, "%s %s, %s", part_names[part], origin,
                       mutate_name((enum mutation)kind));
    }
    while (n)
        free(targets[--n].records);
}

/* --- Cuts --- */

/* Reads one stream, cut to n bytes, and stores the byte range of each event. */
static void read_cut(const struct trace *trace, size_t file, size_t n, struct outcome *outcome,
                     struct buffer *places)
{
    ttr_file files[2];
    uint8_t *bytes = malloc(n + 1);
    if (!bytes)
        abort();
    memcpy(bytes, trace->bytes[file].bytes, n);
    for (size_t i = 0; i < trace->n; i++)
        if (strcmp(trace->file_name[i], MAIN_FILE) == 0)
            files[0] = trace->files[i];
    files[1] = (ttr_file){trace->file_name[file], bytes, n};
    struct reading reading = {.files = files, .n = 2, .from_ns = INT64_MIN, .places = places};
    buffer_clear(places);
    read_input(&reading, outcome);
    free(bytes);
}

static struct place place_at(const struct buffer *places, size_t i)
{
    struct place place;
    memcpy(&place, places->bytes + i * sizeof place, sizeof place);
    return place;
}

/* Checks a stream that was cut at byte n. An event is complete if the next one begins at or before
 * n, unless both share the byte at n. An event that begins at n must be missing. */
static bool check_cut(const struct outcome *whole, const struct buffer *places,
                      const struct outcome *cut, size_t n)
{
    size_t least = 0, most = 0;
    for (size_t i = 0; i < whole->n; i++) {
        most += place_at(places, i).begin < n;
        least +=
            i + 1 < whole->n && place_at(places, i + 1).begin <= n && place_at(places, i).end <= n;
    }
    if (cut->status != TTR_END)
        return outcome_complain("reading does not go to the end", cut);
    if (cut->n < least || cut->n > most)
        return outcome_complain("cut, it has not every whole event", cut);
    return outcome_exact(whole->hashes, whole->n, cut) == cut->n ||
           outcome_complain("cut, it has other events", cut);
}

static bool cut_everywhere(const struct trace *trace, size_t file, size_t stride, size_t *cuts)
{
    static struct outcome whole, cut;
    struct buffer places, ignored;
    bool is_good = true;
    buffer_init(&places, alloc_default());
    buffer_init(&ignored, alloc_default());
    read_cut(trace, file, trace->bytes[file].n, &whole, &places);
    for (size_t n = 0; n < trace->bytes[file].n; n += n < CUT_DENSE ? 1 : stride, ++*cuts) {
        outcome_begin("%s of %s, cut to %zu", trace->file_name[file], trace->name, n);
        read_cut(trace, file, n, &cut, &ignored);
        is_good = check_cut(&whole, &places, &cut, n) && is_good;
    }
    buffer_free(&places);
    buffer_free(&ignored);
    return is_good;
}

/* Returns false for vectors that mean something else if their end is missing: names with "-whole",
 * guessed layouts, and compressed traces (rfc11_sizes_test.c covers those). */
static bool can_be_cut(const struct trace *trace)
{
    static const char *const others[] = {"-bad-", "_nok",   "-whole",     "-probed",
                                         "-gzip", "-bzip2", "-compressed"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(trace->name, others[i]))
            return false;
    return true;
}

static void run_cuts(size_t stride)
{
    size_t cuts = 0, files = 0;
    bool is_good = true;
    for (size_t i = 0; i < traces_n; i++)
        for (size_t file = 0; file < traces[i].n; file++)
            if (can_be_cut(&traces[i]) && part_of(&traces[i], file) == PART_STREAM &&
                traces[i].bytes[file].n <= CUT_FILE_MAX) {
                is_good = cut_everywhere(&traces[i], file, stride, &cuts) && is_good;
                files++;
            }
    (void)printf("# %zu streams, %zu cuts\n", files, cuts);
    (void)tap_case(is_good && cuts, "streams cut anywhere give every event that was whole");
}

int main(int argc, char **argv)
{
    unsigned mutations = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
    const char *root = getenv("TTR_SOURCE_ROOT");
    has_all_consumers = argc > 3 && strcmp(argv[3], "all") == 0;
    outcome_catch();
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    root = root ? root : ".";
    add_vectors(root);
    add_corpus(corpus_folder());
    (void)printf("# %zu traces\n", traces_n);
    for (enum part part = 0; part < PARTS; part++)
        if (argc < 3 || strcmp(argv[2], part_names[part]) == 0)
            for (int are_recorded = 0; are_recorded < 2; are_recorded++)
                run(part, are_recorded, mutations / 2);
    if (argc < 3 || strcmp(argv[2], "cut") == 0)
        run_cuts(mutations < MUTATIONS_LONG ? CUT_STRIDE : 1);
    while (traces_n)
        forget(&traces[--traces_n]);
    return tap_end();
}
