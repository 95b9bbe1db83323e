/* Runs golden vectors of many files through a reader. While writing a vector: TTR_VECTORS_SHOW=1
 * prints the dump if it differs from the expected one, TTR_VECTOR=rfc11-type runs only vectors with
 * names that start so. */
#include "support/vectors_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/dump.h"
#include "support/hexa.h"
#include "support/support.h"

#define PATH_ROOM 600
#define FILES_MAX 12u
#define KEY_VARIABLE "TTR_VECTOR_KEY"
#define CUTS_STRIDE ((size_t)7) /* distance of the cuts of a file, away from its ends, in bytes */
#define CUTS_DENSE ((size_t)160)

/* One trace of the vectors. */
struct trace {
    const char *path, *name, *format;
    struct hexa hexa[FILES_MAX];
    char file_name[FILES_MAX][64];
    ttr_file files[FILES_MAX];
    size_t n, main_file;
    unsigned rounds;
};

/* Options and results of reading one trace. */
struct way {
    uint32_t flags;
    const ttr_options *options;
    bool is_raw;
    struct dump dump;
    uint64_t damage_regions, first_damage;
};

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), ending_n = strlen(ending);
    return n >= ending_n && strcmp(name + n - ending_n, ending) == 0;
}

static void sum_reports(struct way *way, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    way->first_damage = HEXA_NO_OFFSET;
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        way->damage_regions += report.damage_regions;
        if (report.regions_n && way->first_damage == HEXA_NO_OFFSET)
            way->first_damage = report.regions[0].offset;
    }
}

static bool takes_key(const char *name)
{
    ttr_format_info format;
    ttr_option_info option;
    for (size_t i = 0; ttr_format_get(i, &format); i++)
        for (size_t k = 0; strcmp(format.name, name) == 0 && ttr_format_option(i, k, &option); k++)
            if (strcmp(option.key, "key-env") == 0)
                return true;
    return false;
}

static void read_trace(const struct trace *trace, struct way *way)
{
    bool has_key = takes_key(trace->format) && !ends_with(trace->name, "-without-key");
    const char *const with_key[] = {"key-env=" KEY_VARIABLE, NULL}, *const without[] = {NULL};
    ttr_read_options options = {.size = sizeof options,
                                .from = trace->format,
                                .flags = way->flags,
                                .format_options = has_key ? with_key : without};
    dump_init(&way->dump);
    way->damage_regions = 0;
    ttr *t = ttr_new(way->options);
    if (!t) {
        way->dump.status = TTR_E_NOMEM;
        return;
    }
    ttr_reader *reader =
        ttr_open_files(t, "vector", trace->files, trace->n, &options, &way->dump.error);
    if (reader) {
        dump_events(&way->dump, t, reader);
        dump_report(&way->dump, reader);
        sum_reports(way, reader);
    } else {
        way->dump.status = way->dump.error.status;
    }
    if (!way->is_raw)
        dump_names(&way->dump, t);
    buffer_add_byte(&way->dump.text, 0);
    ttr_close(reader);
    ttr_free(t);
}

static const char *text_of(const struct way *way)
{
    assert_false(way->dump.text.failed);
    return (const char *)way->dump.text.bytes;
}

static void check_same(const struct trace *trace, const char *what, const char *got,
                       const char *expected)
{
    size_t line = 1, at = 0, begin = 0;
    if (strcmp(got, expected) == 0)
        return;
    if (getenv("TTR_VECTORS_SHOW"))
        (void)fprintf(stderr, "%s\n---\n%s", trace->path, got);
    for (; got[at] && got[at] == expected[at]; at++) {
        line += got[at] == '\n';
        begin = got[at] == '\n' ? at + 1 : begin;
    }
    fail_msg("%s, %s: line %zu is\n  %.*s\nexpected\n  %.*s", trace->path, what, line,
             (int)strcspn(got + begin, "\n"), got + begin, (int)strcspn(expected + begin, "\n"),
             expected + begin);
}

static void check_written(const struct trace *trace)
{
    const struct hexa *hexa = &trace->hexa[trace->main_file];
    struct way way = {.flags = 0};
    read_trace(trace, &way);
    const char *status = way.dump.status == TTR_END ? "" : ttr_status_text(way.dump.status);
    if (strcmp(status, hexa->status) != 0)
        fail_msg("%s: reading ends with \"%s\", expected \"%s\": %s", trace->path, status,
                 hexa->status, way.dump.error.text);
    if (hexa->expect && !hexa->status[0])
        check_same(trace, "dump", text_of(&way), hexa->expect);
    if (way.damage_regions != hexa->damage)
        fail_msg("%s: %llu damages, expected %llu", trace->path,
                 (unsigned long long)way.damage_regions, (unsigned long long)hexa->damage);
    uint64_t offset = way.dump.status == TTR_END ? way.first_damage : way.dump.error.offset;
    if (hexa->offset != HEXA_NO_OFFSET && hexa->offset != offset)
        fail_msg("%s: damage at %lld, expected at %lld", trace->path, (long long)offset,
                 (long long)hexa->offset);
    dump_free(&way.dump);
}

/* Appends the payloads of all definitions. */
static void add_definitions(ttr_reader *reader, struct buffer *to)
{
    ttr_batch batch;
    ttr_error error;
    ttr_status status;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if (ttr_batch_at(&batch, i)->kind == TTR_KIND_DEFINITION)
                buffer_add(to, ttr_batch_at(&batch, i)->payload,
                           ttr_batch_at(&batch, i)->payload_size);
    if (status != TTR_END)
        fail_msg("definitions: %s", error.text);
}

static void check_bytes(const struct trace *trace)
{
    const struct hexa *hexa = &trace->hexa[trace->main_file];
    const char *const format_options[] = {"key-env=" KEY_VARIABLE, NULL};
    ttr_read_options options = {.size = sizeof options,
                                .from = trace->format,
                                .flags = TTR_READ_DEFINITIONS,
                                .format_options = format_options};
    if (trace->n != 2 || hexa->damage || hexa->status[0])
        return;
    struct buffer bytes;
    const ttr_file *stream = &trace->files[!trace->main_file];
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "vector", trace->files, trace->n, &options, NULL);
    assert_non_null(reader);
    buffer_init(&bytes, alloc_default());
    add_definitions(reader, &bytes);
    if (bytes.n != stream->n || (bytes.n && memcmp(bytes.bytes, stream->bytes, bytes.n) != 0))
        fail_msg("%s: definitions have %zu bytes together, the stream %zu", trace->path, bytes.n,
                 stream->n);
    buffer_free(&bytes);
    ttr_close(reader);
    ttr_free(t);
}

/* Reads the trace with one of its files cut. The prefix is in an allocation of exactly its size, so
 * that a sanitizer detects reads after the cut. */
static void check_cut(const struct trace *whole, struct trace *cut, size_t file, size_t n,
                      const struct way *whole_way)
{
    uint8_t *bytes = alloc_zero(alloc_default(), n + 1, 1);
    struct way way = {.is_raw = true};
    assert_non_null(bytes);
    memcpy(bytes + 1, whole->files[file].bytes, n);
    cut->files[file].bytes = bytes + 1;
    cut->files[file].n = n;
    read_trace(cut, &way);
    if (way.dump.status > TTR_AGAIN && way.dump.error.offset != UINT64_MAX &&
        way.dump.error.offset > n && file == whole->main_file)
        fail_msg("%s, %s cut to %zu: the error is at byte %llu", whole->path,
                 whole->file_name[file], n, (unsigned long long)way.dump.error.offset);
    bool is_simple = whole->n == 2 && !ends_with(whole->name, "-whole") &&
                     file != whole->main_file && whole_way->damage_regions == 0 &&
                     way.damage_regions <= 1;
    if (is_simple && strncmp(text_of(&way), text_of(whole_way), way.dump.events_n) != 0)
        fail_msg("%s, %s cut to %zu gives other events:\n%.*s", whole->path, whole->file_name[file],
                 n, (int)way.dump.events_n, text_of(&way));
    dump_free(&way.dump);
    alloc_free(alloc_default(), bytes, n + 1, 1);
}

static void check_cuts(const struct trace *trace)
{
    struct way whole = {.is_raw = true};
    read_trace(trace, &whole);
    for (size_t i = 0; i < trace->n; i++) {
        struct trace cut = *trace;
        size_t n = trace->files[i].n;
        for (size_t k = 0; k < n;
             k += k < CUTS_DENSE || n - k <= CUTS_DENSE ? support_stride(k, 64, 3) : CUTS_STRIDE)
            check_cut(trace, &cut, i, k, &whole);
    }
    dump_free(&whole.dump);
}

/* Changes one to four bytes: flips a bit, or sets all ones, zero, or a random value. */
static void change(uint8_t *bytes, size_t n, uint64_t *seed)
{
    for (uint64_t k = support_random(seed) % 4 + 1; k > 0; k--) {
        uint64_t word = support_random(seed);
        uint8_t *byte = &bytes[word % n];
        const uint8_t others[] = {(uint8_t)(*byte ^ (1u << (word >> 32) % 8)), 0xff, 0,
                                  (uint8_t)(word >> 40)};
        *byte = others[(word >> 56) % 4];
    }
}

static void check_changed(const struct trace *trace)
{
    static const ttr_options options = {.size = sizeof options, .max_memory = 64 << 20};
    uint64_t seed = 7;
    unsigned rounds = support_rounds(trace->rounds / 4, trace->rounds);
    for (unsigned i = 0; i < rounds; i++) {
        struct trace changed = *trace;
        struct way way = {.options = &options, .flags = i % 2 ? TTR_READ_DEFINITIONS : 0};
        size_t file = support_random(&seed) % trace->n, n = trace->files[file].n;
        uint8_t *bytes = alloc_zero(alloc_default(), n + 1, 1);
        assert_non_null(bytes);
        if (n) {
            memcpy(bytes, trace->files[file].bytes, n);
            change(bytes, n, &seed);
        }
        changed.files[file].bytes = bytes;
        read_trace(&changed, &way);
        if (way.dump.status == TTR_OK || way.dump.status == TTR_AGAIN ||
            way.dump.status == TTR_E_MISUSE)
            fail_msg("%s changed: reading ends with %s", trace->path,
                     ttr_status_text(way.dump.status));
        dump_free(&way.dump);
        alloc_free(alloc_default(), bytes, n + 1, 1);
    }
}

static void check_memory(const struct trace *trace)
{
    for (size_t at = 1;; at += support_stride(at, 32, 3)) {
        struct support_heap heap;
        support_heap_init(&heap, at);
        ttr_options options = {
            .size = sizeof options, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
        struct way way = {.flags = TTR_READ_DEFINITIONS, .options = &options};
        read_trace(trace, &way);
        ttr_status status = way.dump.status;
        dump_free(&way.dump);
        support_heap_check(&heap);
        bool was_refused = heap.requests >= at;
        if (was_refused && status != TTR_END && status != TTR_E_NOMEM &&
            !trace->hexa[trace->main_file].status[0])
            fail_msg("%s: allocation %zu fails and reading says %s", trace->path, at,
                     ttr_status_text(status));
        if (!was_refused)
            return;
    }
}

static void check_strict(const struct trace *trace)
{
    struct way way = {.flags = 0}, strict = {.flags = TTR_READ_STRICT};
    read_trace(trace, &way);
    read_trace(trace, &strict);
    if (way.damage_regions == 0)
        check_same(trace, "strict", text_of(&strict), text_of(&way));
    else if (strict.dump.status != TTR_E_MALFORMED && strict.dump.status != TTR_E_TRUNCATED &&
             strict.dump.status != TTR_E_UNSUPPORTED)
        fail_msg("%s, strict: reading ends with %s", trace->path,
                 ttr_status_text(strict.dump.status));
    dump_free(&way.dump);
    dump_free(&strict.dump);
}

static void load(struct trace *trace, const char *main_file)
{
    char path[PATH_ROOM], message[200];
    DIR *directory = opendir(trace->path);
    trace->n = 0;
    trace->main_file = FILES_MAX;
    if (!directory)
        fail_msg("no folder %s", trace->path);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || length > 60 || strcmp(entry->d_name + length - 5, ".hexa") != 0)
            continue;
        if (trace->n == FILES_MAX)
            fail_msg("%s: more than %u files", trace->path, FILES_MAX);
        (void)snprintf(path, sizeof path, "%s/%s", trace->path, entry->d_name);
        if (!hexa_load(path, &trace->hexa[trace->n], message, sizeof message))
            fail_msg("%s: %s", path, message);
        (void)snprintf(trace->file_name[trace->n], sizeof trace->file_name[0], "%.*s",
                       (int)(length - 5), entry->d_name);
        for (char *plus = trace->file_name[trace->n]; (plus = strchr(plus, '+')) != NULL;)
            *plus = '/';
        trace->files[trace->n] = (ttr_file){trace->file_name[trace->n], trace->hexa[trace->n].bytes,
                                            trace->hexa[trace->n].n};
        if (strcmp(trace->file_name[trace->n], main_file) == 0)
            trace->main_file = trace->n;
        trace->n++;
    }
    (void)closedir(directory);
    if (trace->main_file == FILES_MAX)
        fail_msg("%s has no %s.hexa", trace->path, main_file);
}

/* The check to run, and the folders to run it on. */
struct run {
    const char *folder, *prefix, *format, *main_file;
    void (*check)(const struct trace *trace);
    unsigned rounds;
};

static void run_one(const struct run *run, const char *root, const char *name)
{
    char path[PATH_ROOM];
    struct trace trace = {.path = path, .name = name, .format = run->format, .rounds = run->rounds};
    (void)snprintf(path, sizeof path, "%s/%s/%s", root, run->folder, name);
    load(&trace, run->main_file);
    run->check(&trace);
    for (size_t i = 0; i < trace.n; i++)
        hexa_free(&trace.hexa[i]);
}

static void each(const struct run *run)
{
    const char *root = getenv("TTR_SOURCE_ROOT"), *only = getenv("TTR_VECTOR");
    char path[PATH_ROOM];
    size_t n = 0;
    (void)setenv(KEY_VARIABLE, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
                 1);
    root = root ? root : ".";
    (void)snprintf(path, sizeof path, "%s/%s", root, run->folder);
    DIR *directory = opendir(path);
    if (!directory)
        fail_msg("no folder %s", path);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.' ||
            strncmp(entry->d_name, run->prefix, strlen(run->prefix)) != 0)
            continue;
        n++;
        if (!only || strncmp(entry->d_name, only, strlen(only)) == 0)
            run_one(run, root, entry->d_name);
    }
    (void)closedir(directory);
    if (n == 0)
        fail_msg("no vectors in %s", run->folder);
}

void vectors_files_read_as_written(const char *folder, const char *prefix, const char *format,
                                   const char *main_file)
{
    each(&(struct run){folder, prefix, format, main_file, check_written, 0});
}

void vectors_files_give_every_byte(const char *folder, const char *prefix, const char *format,
                                   const char *main_file)
{
    each(&(struct run){folder, prefix, format, main_file, check_bytes, 0});
}

void vectors_files_read_when_cut(const char *folder, const char *prefix, const char *format,
                                 const char *main_file)
{
    each(&(struct run){folder, prefix, format, main_file, check_cuts, 0});
}

void vectors_files_read_when_changed(const char *folder, const char *prefix, const char *format,
                                     const char *main_file, unsigned rounds)
{
    each(&(struct run){folder, prefix, format, main_file, check_changed, rounds});
}

void vectors_files_read_without_memory(const char *folder, const char *prefix, const char *format,
                                       const char *main_file)
{
    each(&(struct run){folder, prefix, format, main_file, check_memory, 0});
}

void vectors_files_refused_when_strict(const char *folder, const char *prefix, const char *format,
                                       const char *main_file)
{
    each(&(struct run){folder, prefix, format, main_file, check_strict, 0});
}
