/* Runs golden vectors through a reader: as written, cut, in pieces, without memory. While writing a
 * vector: TTR_VECTORS_SHOW=1 prints the dump if it differs from the expected one,
 * TTR_VECTOR=string- runs only vectors with names that start so. */
#include "support/vectors.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/dump.h"
#include "support/hexa.h"
#include "support/support.h"

#define PATH_ROOM 600
/* Longer vectors are cut at every byte only near their ends, and in between at a distance. */
#define CUTS_DENSE ((size_t)512)
#define CUTS_STRIDE ((size_t)61)

/* Options and results of reading one vector. */
struct way {
    const char *format;
    const uint8_t *bytes;
    size_t n;
    size_t piece; /* bytes per piece; 0 = at once, from memory */
    uint32_t flags;
    uint64_t max_record;
    const ttr_options *options;
    uint64_t damage_regions, damage_bytes, first_damage, damage_end; /* out */
    /* out: the reader was opened */
    bool is_read;
    /* threads are dumped as numbers */
    bool is_raw;
};

struct pieces {
    const uint8_t *bytes;
    size_t n, at, piece;
};

static int64_t pull(void *ctx, void *to, size_t n)
{
    struct pieces *pieces = ctx;
    size_t left = pieces->n - pieces->at;
    size_t give = n < pieces->piece ? n : pieces->piece;
    give = give < left ? give : left;
    if (give)
        memcpy(to, pieces->bytes + pieces->at, give);
    pieces->at += give;
    return (int64_t)give;
}

static ttr_reader *open_way(ttr *t, struct way *way, struct pieces *pieces, ttr_error *error)
{
    ttr_read_options options = {.size = sizeof options,
                                .from = way->format,
                                .flags = way->flags,
                                .max_record = way->max_record};
    *pieces = (struct pieces){way->bytes, way->n, 0, way->piece};
    if (way->piece)
        return ttr_open_pull(t, pull, pieces, "vector", &options, error);
    return ttr_open_memory(t, way->bytes, way->n, "vector", &options, error);
}

/* Reads and dumps. If opening fails, the status of the dump is that of opening. */
static void read_way(struct way *way, struct dump *dump)
{
    struct pieces pieces;
    dump_init(dump);
    ttr *t = ttr_new(way->options);
    if (!t) {
        dump->status = TTR_E_NOMEM;
        return;
    }
    ttr_reader *reader = open_way(t, way, &pieces, &dump->error);
    way->is_read = reader != NULL;
    if (reader) {
        ttr_report report = {.size = sizeof report};
        dump_events(dump, t, reader);
        dump_report(dump, reader);
        if (ttr_reader_report(reader, 0, &report)) {
            way->damage_regions = report.damage_regions;
            way->damage_bytes = report.damage_bytes;
            way->first_damage = report.regions_n ? report.regions[0].offset : UINT64_MAX;
            const ttr_region *last =
                report.regions_n ? &report.regions[report.regions_n - 1] : NULL;
            way->damage_end = last ? last->offset + last->bytes : 0;
        }
    } else {
        dump->status = dump->error.status;
    }
    if (!way->is_raw)
        dump_names(dump, t);
    ttr_close(reader);
    ttr_free(t);
}

static void check_same(const char *path, const char *what, const char *got, const char *expected)
{
    size_t line = 1, at = 0, begin = 0;
    if (strcmp(got, expected) == 0)
        return;
    if (getenv("TTR_VECTORS_SHOW"))
        (void)fprintf(stderr, "%s\n---\n%s", path, got);
    for (; got[at] && got[at] == expected[at]; at++) {
        line += got[at] == '\n';
        begin = got[at] == '\n' ? at + 1 : begin;
    }
    fail_msg("%s, %s: line %zu is\n  %.*s\nexpected\n  %.*s", path, what, line,
             (int)strcspn(got + begin, "\n"), got + begin, (int)strcspn(expected + begin, "\n"),
             expected + begin);
}

/* Returns the dump as a C string, which is owned by the dump. */
static const char *text_of(struct dump *dump)
{
    buffer_add_byte(&dump->text, 0);
    assert_false(dump->text.failed);
    dump->text.n--;
    return (const char *)dump->text.bytes;
}

static void check_written(const char *path, const struct hexa *hexa, const char *format)
{
    struct way way = {
        .format = format, .bytes = hexa->bytes, .n = hexa->n, .max_record = hexa->max_record};
    struct dump dump;
    read_way(&way, &dump);
    if (!way.is_read)
        fail_msg("%s: not opened: %s", path, dump.error.text);
    if (hexa->expect)
        check_same(path, "dump", text_of(&dump), hexa->expect);
    const char *status = dump.status == TTR_END ? "" : ttr_status_text(dump.status);
    check_same(path, "status", status, hexa->status);
    if (way.damage_regions != hexa->damage)
        fail_msg("%s: %llu damages, expected %llu", path, (unsigned long long)way.damage_regions,
                 (unsigned long long)hexa->damage);
    uint64_t offset = dump.status == TTR_END ? way.first_damage : dump.error.offset;
    if (hexa->offset != HEXA_NO_OFFSET && hexa->offset != offset)
        fail_msg("%s: damage at %lld, expected at %lld", path, (long long)offset,
                 (long long)hexa->offset);
    dump_free(&dump);
}

static void check_strict(const char *path, const struct hexa *hexa, const char *format)
{
    struct way way = {
        .format = format, .bytes = hexa->bytes, .n = hexa->n, .max_record = hexa->max_record};
    struct dump dump, strict;
    read_way(&way, &dump);
    way.flags = TTR_READ_STRICT;
    uint64_t first = way.first_damage, regions = way.damage_regions;
    read_way(&way, &strict);
    if (regions == 0)
        check_same(path, "strict", text_of(&strict), text_of(&dump));
    else if (strict.status != TTR_E_MALFORMED && strict.status != TTR_E_TRUNCATED)
        fail_msg("%s, strict: reading ends with %s", path, ttr_status_text(strict.status));
    else if (strict.error.offset != first)
        fail_msg("%s, strict: refused at %llu, damaged at %llu", path,
                 (unsigned long long)strict.error.offset, (unsigned long long)first);
    dump_free(&dump);
    dump_free(&strict);
}

static void check_bytes(const char *path, const struct hexa *hexa, const char *format)
{
    struct way way = {.format = format,
                      .bytes = hexa->bytes,
                      .n = hexa->n,
                      .max_record = hexa->max_record,
                      .flags = TTR_READ_DEFINITIONS};
    struct dump dump;
    read_way(&way, &dump);
    if (way.damage_regions == 0 && dump.status == TTR_END) {
        if (dump.raw.n != hexa->n)
            fail_msg("%s: raw events have %zu bytes together, the vector %zu", path, dump.raw.n,
                     hexa->n);
        if (hexa->n)
            assert_memory_equal(dump.raw.bytes, hexa->bytes, hexa->n);
    }
    dump_free(&dump);
}

static void check_cuts(const char *path, const struct hexa *hexa, const char *format)
{
    struct way whole_way = {.format = format,
                            .bytes = hexa->bytes,
                            .n = hexa->n,
                            .max_record = hexa->max_record,
                            .is_raw = true};
    struct dump whole;
    read_way(&whole_way, &whole);
    for (size_t n = 0; n < hexa->n;
         n += n < CUTS_DENSE || hexa->n - n < CUTS_DENSE ? support_stride(n, 32, 3) : CUTS_STRIDE) {
        /* An allocation of exactly the size, so that a sanitizer detects reads after the cut. */
        uint8_t *bytes = alloc_zero(alloc_default(), n + 1, 1);
        assert_non_null(bytes);
        memcpy(bytes + 1, hexa->bytes, n);
        struct way way = {.format = format,
                          .bytes = bytes + 1,
                          .n = n,
                          .max_record = hexa->max_record,
                          .is_raw = true};
        struct dump dump;
        read_way(&way, &dump);
        if (dump.status > TTR_AGAIN && dump.error.offset != UINT64_MAX && dump.error.offset > n)
            fail_msg("%s cut to %zu: the error is at byte %llu", path, n,
                     (unsigned long long)dump.error.offset);
        if (way.damage_end > n)
            fail_msg("%s cut to %zu: there is damage up to byte %llu", path, n,
                     (unsigned long long)way.damage_end);
        bool is_simple = whole_way.damage_regions == 0 && way.damage_regions <= 1 &&
                         (way.damage_regions == 0 || way.first_damage + way.damage_bytes == n);
        const char *cut_text = text_of(&dump), *whole_text = text_of(&whole);
        if (is_simple && strncmp(cut_text, whole_text, dump.events_n) != 0)
            fail_msg("%s cut to %zu gives other events:\n%.*s", path, n, (int)dump.events_n,
                     cut_text);
        dump_free(&dump);
        alloc_free(alloc_default(), bytes, n + 1, 1);
    }
    dump_free(&whole);
}

static void check_pieces(const char *path, const struct hexa *hexa, const char *format)
{
    static const size_t pieces[] = {1, 3, 7, 8, 13, 64, 1000, 4096};
    for (uint32_t flags = 0; flags <= TTR_READ_DEFINITIONS; flags += TTR_READ_DEFINITIONS) {
        struct way whole_way = {.format = format,
                                .bytes = hexa->bytes,
                                .n = hexa->n,
                                .max_record = hexa->max_record,
                                .is_raw = true,
                                .flags = flags};
        struct dump whole;
        read_way(&whole_way, &whole);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            struct way way = whole_way;
            struct dump dump;
            char what[40];
            way.piece = pieces[i];
            read_way(&way, &dump);
            (void)snprintf(what, sizeof what, "in pieces of %zu", pieces[i]);
            check_same(path, what, text_of(&dump), text_of(&whole));
            assert_int_equal(dump.raw.n, whole.raw.n);
            dump_free(&dump);
        }
        dump_free(&whole);
    }
}

static void check_memory(const char *path, const struct hexa *hexa, const char *format)
{
    ttr_status status = TTR_E_NOMEM;
    for (size_t at = 1;; at += support_stride(at, 32, 3)) {
        struct support_heap heap;
        support_heap_init(&heap, at);
        ttr_options options = {
            .size = sizeof options, .resize = heap.alloc.resize, .user_data = heap.alloc.ctx};
        struct way way = {.format = format,
                          .bytes = hexa->bytes,
                          .n = hexa->n,
                          .max_record = hexa->max_record,
                          .flags = TTR_READ_DEFINITIONS,
                          .options = &options};
        struct dump dump;
        read_way(&way, &dump);
        status = dump.status;
        dump_free(&dump);
        support_heap_check(&heap);
        bool was_refused = heap.requests >= at;
        if (was_refused && status != TTR_END && status != TTR_E_NOMEM && hexa->status[0] == '\0')
            fail_msg("%s: allocation %zu fails and reading says %s", path, at,
                     ttr_status_text(status));
        if (!was_refused)
            return;
    }
}

static void load(const char *path, struct hexa *hexa)
{
    char message[200];
    if (!hexa_load(path, hexa, message, sizeof message))
        fail_msg("%s: %s", path, message);
}

void vectors_load(struct hexa *hexa, const char *path)
{
    const char *root = getenv("TTR_SOURCE_ROOT");
    char full[PATH_ROOM];
    (void)snprintf(full, sizeof full, "%s/%s", root ? root : ".", path);
    load(full, hexa);
}

void vectors_each(const char *folder, const char *format,
                  void (*check)(const char *path, const struct hexa *hexa, const char *format))
{
    const char *root = getenv("TTR_SOURCE_ROOT"), *only = getenv("TTR_VECTOR");
    char path[PATH_ROOM];
    size_t n = 0;
    (void)snprintf(path, sizeof path, "%s/%s", root ? root : ".", folder);
    DIR *directory = opendir(path);
    if (!directory)
        fail_msg("no folder %s", path);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *end = strrchr(entry->d_name, '.');
        struct hexa hexa;
        if (!end || strcmp(end, ".hexa") != 0)
            continue;
        n++;
        if (only && strncmp(entry->d_name, only, strlen(only)) != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s/%s", root ? root : ".", folder, entry->d_name);
        load(path, &hexa);
        check(path, &hexa, format);
        hexa_free(&hexa);
    }
    (void)closedir(directory);
    if (n == 0)
        fail_msg("no vectors in %s", folder);
}

void vectors_read_as_written(const char *folder, const char *format)
{
    vectors_each(folder, format, check_written);
}

void vectors_give_every_byte(const char *folder, const char *format)
{
    vectors_each(folder, format, check_bytes);
}

void vectors_read_when_cut(const char *folder, const char *format)
{
    vectors_each(folder, format, check_cuts);
}

void vectors_read_in_pieces(const char *folder, const char *format)
{
    vectors_each(folder, format, check_pieces);
}

void vectors_read_without_memory(const char *folder, const char *format)
{
    vectors_each(folder, format, check_memory);
}

void vectors_refused_when_strict(const char *folder, const char *format)
{
    vectors_each(folder, format, check_strict);
}
