/* Measures how many undamaged events a reader returns from a damaged trace, and how often it
 * reports the damage.
 *
 *   usage: kept_events [-n TRIALS] [-v] TRACE...     (default 40 trials of each kind of damage)
 *
 * TRACE is a file, or the folder of a CTF trace. The program uses the public library only, and
 * links it dynamically: LD_LIBRARY_PATH selects another version of the library, so that two
 * versions can be compared. Trial i of a kind damages the same bytes in each run.
 *
 * Damage: "cut" removes the end of the file, "flip" inverts one bit, "zeros" clears 512 bytes,
 * "drop1" and "drop4096" remove bytes from the middle. Metadata files of CTF stay intact.
 *
 * An event is undamaged if none of the bytes from its start to the start of the next event is
 * damaged. Events are compared by ticks, thread, name and fields. Columns of the output:
 *
 *   kept      events of all trials that were read unchanged, in percent of undamaged events
 *   median    undamaged events that are missing, median and worst of all trials
 *   added     events per trial that the undamaged trace does not have
 *   reported  trials with reported damage
 *   silent    trials without any report, although an event is missing, added or moved in time;
 *             a changed value of a field alone does not count */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tracetta/advanced.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#define FILES_MAX 32u
#define SOURCES_MAX 256u

enum damage { CUT, FLIP, ZEROS, DROP_1, DROP_4096, DAMAGES };

static const char *const damage_names[DAMAGES] = {"cut", "flip", "zeros", "drop1", "drop4096"};

struct trace {
    char names[FILES_MAX][256];
    ttr_file files[FILES_MAX]; /* their bytes are allocated */
    size_t n;
    bool is_folder;
};

/* Event of the undamaged trace, or of a damaged one. */
struct seen {
    uint64_t offset, end; /* in its file; end: start of the next event */
    uint64_t hash, head;  /* head: hash without fields */
    uint32_t file;        /* index in trace.files */
    bool is_hit;          /* scratch: damaged in this trial */
};

struct reading {
    struct seen *events;
    size_t n, capacity;
    uint64_t damage; /* damaged ranges reported */
    bool is_reported;
};

/* Range of bytes that a trial damages. */
struct trial {
    uint64_t begin, end;
    size_t file;
};

static uint64_t mix(uint64_t hash, uint64_t x)
{
    x = (hash ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ x >> 29;
}

static uint64_t mix_text(uint64_t hash, ttr_text text)
{
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (uint8_t)text.p[i]) * UINT64_C(0x100000001B3);
    return mix(hash, text.n);
}

static uint64_t hash_head(const ttr *t, const ttr_event *event)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(t, event->thread, &thread);
    uint64_t hash = mix(mix(event->kind, event->ticks), event->duration);
    hash = mix(mix(hash, thread.pid), thread.tid);
    return mix_text(hash, ttr_text_get(t, event->name));
}

static uint64_t hash_fields(const ttr *t, const ttr_event *event, uint64_t hash)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_text = field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES;
        hash = mix(mix_text(hash, field.name), (uint64_t)field.depth << 32 | field.value.type);
        hash = is_text ? mix_text(hash, field.value.text) : mix(hash, field.value.v.u);
    }
    return hash;
}

/* --- Reading --- */

static void add_event(struct reading *reading, const ttr *t, const ttr_event *event)
{
    if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP)
        return;
    if (reading->n == reading->capacity) {
        reading->capacity = reading->capacity * 2 + 4096;
        reading->events = realloc(reading->events, reading->capacity * sizeof *reading->events);
        if (!reading->events)
            abort();
    }
    uint64_t head = hash_head(t, event);
    reading->events[reading->n++] = (struct seen){.offset = event->offset,
                                                  .head = head,
                                                  .hash = hash_fields(t, event, head),
                                                  .file = event->source};
}

/* Returns the index of the file that an input reads. */
static uint32_t find_file(const struct trace *trace, ttr_text path)
{
    for (uint32_t i = 0; i < trace->n; i++) {
        size_t n = strlen(trace->names[i]);
        if (path.n >= n && memcmp(path.p + path.n - n, trace->names[i], n) == 0)
            return i;
    }
    return 0;
}

static void read_report(const struct trace *trace, struct reading *reading, ttr_reader *reader)
{
    static uint32_t files[SOURCES_MAX];
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        reading->damage += report.damage_regions;
        for (size_t k = 0; k < report.notes_n; k++)
            reading->is_reported |= report.notes[k].severity != TTR_SEVERITY_REMARK;
        reading->is_reported |= report.damage_regions || report.lost;
        if (report.source < SOURCES_MAX)
            files[report.source] = find_file(trace, report.path);
    }
    for (size_t i = 0; i < reading->n; i++)
        reading->events[i].file =
            reading->events[i].file < SOURCES_MAX ? files[reading->events[i].file] : 0;
}

static bool read_trace(const struct trace *trace, struct reading *reading)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    reading->n = 0;
    reading->damage = 0;
    reading->is_reported = false;
    ttr_reader *reader = trace->is_folder
                             ? ttr_open_files(t, "trace", trace->files, trace->n, NULL, &error)
                             : ttr_open_memory(t, trace->files[0].bytes, trace->files[0].n,
                                               trace->names[0], NULL, &error);
    ttr_status status = reader ? TTR_OK : error.status;
    while (reader && (status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            add_event(reading, t, ttr_batch_at(&batch, i));
    if (reader)
        read_report(trace, reading, reader);
    if (status != TTR_END)
        reading->is_reported = true, reading->damage++;
    ttr_close(reader);
    ttr_free(t);
    return status == TTR_END;
}

static int by_position(const void *one, const void *other)
{
    const struct seen *a = one, *b = other;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int by_hash(const void *one, const void *other)
{
    const struct seen *a = one, *b = other;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static int by_head(const void *one, const void *other)
{
    const struct seen *a = one, *b = other;
    return a->head < b->head ? -1 : a->head > b->head;
}

static void sort_events(struct reading *reading, int (*compare)(const void *, const void *))
{
    if (reading->n)
        qsort(reading->events, reading->n, sizeof *reading->events, compare);
}

/* Sets the end of each event; events are sorted by position. */
static void set_ends(const struct trace *trace, struct reading *whole)
{
    sort_events(whole, by_position);
    for (size_t i = whole->n; i > 0; i--) {
        struct seen *event = &whole->events[i - 1], *next = event + 1;
        bool has_next = i < whole->n && next->file == event->file;
        event->end = !has_next                      ? trace->files[event->file].n
                     : next->offset > event->offset ? next->offset
                                                    : next->end;
    }
}

/* --- Damage --- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    return mix(*state, *state >> 31) % (below ? below : 1);
}

static bool is_data_file(const struct trace *trace, size_t i)
{
    return !trace->is_folder || strcmp(trace->names[i], "metadata") != 0;
}

/* Returns a copy of the trace's files in which one file is damaged; its bytes are allocated. */
static struct trace damage_trace(const struct trace *trace, enum damage damage, unsigned number,
                                 struct trial *trial)
{
    uint64_t state = mix(damage + 1u, number + 1u), total = 0;
    struct trace copy = *trace;
    for (size_t i = 0; i < trace->n; i++)
        total += is_data_file(trace, i) ? trace->files[i].n : 0;
    uint64_t at = draw(&state, total);
    size_t i = 0;
    for (; i < trace->n && (!is_data_file(trace, i) || at >= trace->files[i].n); i++)
        at -= is_data_file(trace, i) ? trace->files[i].n : 0;
    const uint8_t *bytes = trace->files[i].bytes;
    size_t n = trace->files[i].n, length = damage == ZEROS ? 512 : damage == DROP_4096 ? 4096 : 1;
    at = at + length > n && n > length ? n - length : at;
    length = length < n - at ? length : n - (size_t)at;
    length = damage == CUT ? n - (size_t)at : length;
    uint8_t *damaged = malloc(n + 1);
    if (!damaged)
        abort();
    memcpy(damaged, bytes, n);
    *trial = (struct trial){at, at + length, i};
    if (damage == FLIP)
        damaged[at] ^= (uint8_t)(1u << draw(&state, 8));
    else if (damage == ZEROS)
        memset(damaged + at, 0, length);
    else
        memmove(damaged + at, damaged + at + length, n - (size_t)at - length);
    copy.files[i].bytes = damaged;
    copy.files[i].n = damage == FLIP || damage == ZEROS ? n : n - length;
    return copy;
}

/* --- Comparison --- */

struct tally {
    uint64_t undamaged, kept, added, reported, silent;
    uint64_t *missing; /* per trial */
};

/* Counts undamaged events among those read. Both are sorted by hash. Sets `added` to the number of
 * events read that the undamaged trace does not have. */
static size_t count_kept(const struct reading *whole, const struct reading *read, size_t *undamaged,
                         size_t *added)
{
    size_t kept = 0, k = 0, i = 0;
    *undamaged = *added = 0;
    while (i < whole->n) {
        uint64_t hash = whole->events[i].hash;
        size_t fine = 0, all = 0, found = 0;
        for (; i < whole->n && whole->events[i].hash == hash; i++, all++)
            fine += !whole->events[i].is_hit;
        for (; k < read->n && read->events[k].hash < hash; k++)
            ++*added;
        for (; k < read->n && read->events[k].hash == hash; k++)
            found++;
        *undamaged += fine;
        kept += found < fine ? found : fine;
        *added += found > all ? found - all : 0;
    }
    *added += read->n - k;
    return kept;
}

/* Returns whether the events differ in more than the fields of one event. Sorts both by head. */
static bool differs_in_heads(struct reading *whole, struct reading *read)
{
    sort_events(whole, by_head);
    sort_events(read, by_head);
    bool differs = whole->n != read->n;
    for (size_t i = 0; i < whole->n && !differs; i++)
        differs = whole->events[i].head != read->events[i].head;
    sort_events(whole, by_hash);
    return differs;
}

static void run_trial(const struct trace *trace, struct reading *whole, enum damage damage,
                      unsigned number, struct tally *tally, bool is_verbose)
{
    static struct reading read;
    struct trial trial;
    size_t undamaged, added;
    struct trace copy = damage_trace(trace, damage, number, &trial);
    (void)read_trace(&copy, &read);
    free((void *)(uintptr_t)copy.files[trial.file].bytes);
    for (size_t i = 0; i < whole->n; i++) {
        struct seen *event = &whole->events[i];
        event->is_hit =
            event->file == trial.file && event->offset < trial.end && event->end > trial.begin;
    }
    sort_events(&read, by_hash);
    size_t kept = count_kept(whole, &read, &undamaged, &added);
    bool is_silent = !read.is_reported && differs_in_heads(whole, &read);
    tally->undamaged += undamaged;
    tally->kept += kept;
    tally->added += added;
    tally->reported += read.damage > 0;
    tally->silent += is_silent;
    tally->missing[number] = undamaged - kept;
    if (is_verbose)
        printf("#   %s %u: %s bytes %" PRIu64 " to %" PRIu64 ": %zu of %zu kept, %zu added, "
               "%" PRIu64 " ranges reported%s\n",
               damage_names[damage], number, trace->names[trial.file], trial.begin, trial.end, kept,
               undamaged, added, read.damage, is_silent ? ", SILENT" : "");
}

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

static void measure(const struct trace *trace, const char *name, unsigned trials, bool is_verbose)
{
    struct reading whole = {0};
    if (trace->n == 0 || !read_trace(trace, &whole) || whole.n == 0) {
        printf("%s: not a readable trace\n", name);
        return;
    }
    set_ends(trace, &whole);
    sort_events(&whole, by_hash);
    for (enum damage damage = CUT; damage < DAMAGES; damage++) {
        struct tally tally = {.missing = calloc(trials + 1, sizeof *tally.missing)};
        if (!tally.missing)
            abort();
        for (unsigned i = 0; i < trials; i++)
            run_trial(trace, &whole, damage, i, &tally, is_verbose);
        qsort(tally.missing, trials, sizeof *tally.missing, by_value);
        printf("%-26.26s %8zu  %-8s kept %8.4f %%  median %6" PRIu64 "  worst %7" PRIu64
               "  added %7.2f  reported %3" PRIu64 "  silent %3" PRIu64 "\n",
               name, whole.n, damage_names[damage],
               tally.undamaged ? 100 * (double)tally.kept / (double)tally.undamaged : 100.0,
               tally.missing[trials / 2], tally.missing[trials - 1],
               (double)tally.added / (trials ? trials : 1), tally.reported, tally.silent);
        (void)fflush(stdout);
        free(tally.missing);
    }
    free(whole.events);
}

/* --- Files --- */

static void load_file(struct trace *trace, const char *path, const char *name)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file)
        return;
    if (fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) && trace->n < FILES_MAX) {
        uint8_t *bytes = malloc((size_t)about.st_size + 1);
        if (!bytes)
            abort();
        (void)snprintf(trace->names[trace->n], sizeof trace->names[0], "%s", name);
        trace->files[trace->n].n = fread(bytes, 1, (size_t)about.st_size, file);
        trace->files[trace->n++].bytes = bytes;
    }
    (void)fclose(file);
}

static void load_folder(struct trace *trace, const char *folder)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);
    trace->is_folder = true;
    for (int i = 0; i < n; i++) {
        char path[1200];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            load_file(trace, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    for (size_t i = 0; i < trace->n; i++)
        trace->files[i].name = trace->names[i];
}

int main(int argc, char **argv)
{
    static struct trace trace;
    unsigned trials = 40;
    bool is_verbose = false;
    for (int i = 1; i < argc; i++) {
        struct stat about;
        const char *slash = strrchr(argv[i], '/'), *name = slash ? slash + 1 : argv[i];
        if (strcmp(argv[i], "-v") == 0) {
            is_verbose = true;
            continue;
        }
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
            trials = (unsigned)strtoul(argv[++i], NULL, 10);
            continue;
        }
        trace.n = 0;
        trace.is_folder = false;
        if (stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode))
            load_folder(&trace, argv[i]);
        else
            load_file(&trace, argv[i], name);
        measure(&trace, name, trials, is_verbose);
        for (size_t k = 0; k < trace.n; k++)
            free((void *)(uintptr_t)trace.files[k].bytes);
    }
    return 0;
}
