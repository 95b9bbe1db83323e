/* Hundreds of streams, whose windows are small: what is read in rounds, and where windows move,
 * shows in nothing that is given.  All streams have the same bytes, so that each instant has an
 * event of each, in the order of their numbers. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/analyse.h>
#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/buffer.h"
#include "support/files.h"
#include "model/context.h"
#include "support/support.h"

#define STREAMS 250u
#define EVENTS 1200u                 /* of a stream: more than a window holds */
#define HIT 300u                     /* the event of the first packet whose time is damaged */
#define FAR_EVENTS 250u              /* the same of larger ones */
#define PACKET_EVENTS 400u           /* of a packet at most */
#define COPY_MEMORY (12u << 20)      /* what a copy may take */
#define ANEW_MEMORY (28u << 20)      /* what encoding anew may take */
#define SHARED_MEMORY (12u << 20)    /* what one of several readers may take */
#define STAT_MEMORY (5u << 19)       /* what counting and checking may take */
#define SPANS 100000                 /* more events than wait for one another to come in order */
#define UNORDERED_MEMORY (13u << 20) /* what reading without order may take */
#define FAR 256u /* bytes: what a value is aligned to, from its packet's begin */

/* Metadata of 1.8 with such headers of events, and a class of events that have these fields. */
#define METADATA(header, fields)                                                                  \
    "/* CTF 1.8 */\n"                                                                             \
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = " \
    "8; } := u64;\n"                                                                              \
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "    \
    "stream_id; }; };\n"                                                                          \
    "clock { name = c; freq = 1000000000; };\n"                                                   \
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"                   \
    "typealias integer { size = 27; align = 1; map = clock.c.value; } := short_ts;\n"             \
    "stream { id = 0; packet.context := struct { u64 content_size; u64 packet_size; }; "          \
    "event.header := struct " header "; };\n"                                                     \
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { " fields " }; };\n"

#define PLAIN_FIELDS "u32 number; string word;"

static const char plain_metadata[] = METADATA("{ u32 id; ts timestamp; }", PLAIN_FIELDS);

static const char far_metadata[] =
    METADATA("{ u32 id; ts timestamp; }",
             "enum : integer { size = 8; align = 8; } { FAR = 1 } tag;"
             " variant <tag> { integer { size = 32; align = 2048; } FAR; } v; string rest;");

/* Headers as LTTng has them: those of higher ids, and any, may be longer ones. */
#define EXTENDED_METADATA(long_ts)                                                                 \
    METADATA("{ enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;" \
             " variant <id> { struct { short_ts timestamp; } compact; struct { u32 id; " long_ts   \
             " timestamp; } extended; } v; } align(8)",                                            \
             PLAIN_FIELDS)                                                                         \
    "event { name = \"x\"; id = 300; stream_id = 0; fields := struct { " PLAIN_FIELDS " }; };\n"

static const char extended_metadata[] = EXTENDED_METADATA("ts");

/* The same bytes, but headers end inside one. */
static const char uneven_metadata[] =
    EXTENDED_METADATA("integer { size = 60; align = 1; map = clock.c.value; }");

enum made { MADE_PLAIN, MADE_FAR, MADE_EXTENDED };

/* So that the next event begins where alignments to less than FAR do not hold by chance. */
static const char far_rest[] = "a text with which values that are aligned are not followed by the "
                               "next event at once, but later";

static void add_number(struct buffer *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

/* Texts of all lengths, some longer than is looked at at once. */
static size_t word_of(uint32_t number, char word[80])
{
    const size_t n = number % 50 == 7 ? 40 + number % 30 : number % 20;
    for (size_t i = 0; i < n; i++)
        word[i] = (char)('a' + (number + i) % 26);
    word[n] = 0;
    return n;
}

/* Which headers are short, and what class an event is of, comes at random to whoever guesses. */
static bool is_compact(uint32_t number)
{
    return number * 2654435761u >> 30 == 0;
}

static bool is_second_class(uint32_t number, enum made made)
{
    return made == MADE_EXTENDED && !is_compact(number) && number % 8 > 0;
}

static void add_header(struct buffer *to, uint32_t number, enum made made)
{
    const uint64_t time = 1000 + (uint64_t)number * 10;
    if (made == MADE_EXTENDED && is_compact(number)) {
        add_number(to, time << 5, 4);
        return;
    }
    if (made == MADE_EXTENDED)
        buffer_add_byte(to, 31);
    add_number(to, is_second_class(number, made) ? 300 : 0, 4);
    add_number(to, time, 8);
}

static void add_event(struct buffer *to, size_t begin, uint32_t number, enum made made)
{
    char word[80];
    const bool is_far = made == MADE_FAR;
    add_header(to, number, made);
    if (is_far) {
        buffer_add_byte(to, 1);
        buffer_add_zeros(to, (FAR - (to->n - begin) % FAR) % FAR);
    }
    add_number(to, number, 4);
    if (is_far)
        buffer_add(to, far_rest, sizeof far_rest);
    else
        buffer_add(to, word, word_of(number, word) + 1);
}

/* Packets of different sizes, some with bytes behind their content. */
static void make_stream(struct buffer *to, enum made made)
{
    const uint32_t events = made == MADE_FAR ? FAR_EVENTS : EVENTS;
    for (uint32_t number = 0, packet = 0; number < events; packet++) {
        const size_t begin = to->n;
        add_number(to, 0xC1FC1FC1u, 4);
        buffer_add_zeros(to, 20);
        for (uint32_t i = 0; i < PACKET_EVENTS / (1 + packet % 3) && number < events; i++)
            add_event(to, begin, number++, made);
        const uint64_t content = to->n - begin;
        buffer_add_zeros(to, (packet % 2) * 5000 + (8 - to->n % 8) % 8);
        const uint64_t sizes[2] = {content * 8, (to->n - begin) * 8};
        for (unsigned i = 0; i < 16; i++)
            to->bytes[begin + 8 + i] = (uint8_t)(sizes[i / 8] >> 8 * (i % 8));
    }
}

static void expect_event(const ttr *t, const ttr_event *event, uint64_t i, enum made made)
{
    const bool is_far = made == MADE_FAR;
    ttr_fields fields;
    ttr_field field[4];
    char word[80];
    const uint32_t number = (uint32_t)(i / STREAMS);
    assert_int_equal(event->time, 1000 + (int64_t)number * 10);
    assert_int_equal(event->ticks, event->time);
    assert_int_equal(event->source, 1 + i % STREAMS);
    assert_string_equal(ttr_text_get(t, event->name).p, is_second_class(number, made) ? "x" : "e");
    if (i % 3)
        return;
    ttr_fields_begin(t, event, &fields);
    uint32_t n_fields = 0;
    while (n_fields < 4 && ttr_fields_next(&fields, &field[n_fields]))
        n_fields++;
    assert_int_equal(n_fields, 2 + is_far);
    const size_t n = word_of(number, word);
    assert_int_equal(field[is_far].value.v.u, number);
    if (is_far)
        return;
    assert_int_equal(field[1].value.text.n, n);
    assert_memory_equal(field[1].value.text.p, word, n);
}

/* A trace of many files, in memory. */
struct many {
    struct buffer stream;
    ttr_file file[STREAMS + 1];
    char name[STREAMS][8];
};

static void make_many(struct many *many, const char *metadata, size_t metadata_n, enum made made)
{
    buffer_init(&many->stream, alloc_default());
    make_stream(&many->stream, made);
    many->file[0] = (ttr_file){.name = "metadata", .bytes = metadata, .n = metadata_n};
    for (unsigned i = 0; i < STREAMS; i++) {
        (void)snprintf(many->name[i], sizeof many->name[i], "s%03u", i);
        many->file[i + 1] =
            (ttr_file){.name = many->name[i], .bytes = many->stream.bytes, .n = many->stream.n};
    }
}

static void read_many(const char *metadata, size_t metadata_n, enum made made)
{
    const uint32_t events = made == MADE_FAR ? FAR_EVENTS : EVENTS;
    static struct many many;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    uint64_t given = 0;
    make_many(&many, metadata, metadata_n, made);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END;) {
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++, given++)
            expect_event(t, ttr_batch_at(&batch, i), given, made);
    }
    assert_int_equal(given, STREAMS * events);
    for (unsigned i = 0; i < STREAMS; i++) {
        assert_true(ttr_reader_report(in, i, &report));
        assert_int_equal(report.events, events);
        assert_int_equal(report.damage_regions, 0);
        assert_int_equal(report.first_ns, 1000);
        assert_int_equal(report.last_ns, 1000 + (events - 1) * 10);
    }
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

static void events_of_many_streams_come_by_time_then_by_stream_with_their_fields(void **state)
{
    (void)state;
    read_many(plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
}

static void alignments_in_options_of_variants_hold_where_small_windows_move(void **state)
{
    (void)state;
    read_many(far_metadata, sizeof far_metadata - 1, MADE_FAR);
}

static void extended_headers_among_short_ones_tell_class_and_time(void **state)
{
    (void)state;
    read_many(extended_metadata, sizeof extended_metadata - 1, MADE_EXTENDED);
}

static void extended_headers_that_end_inside_a_byte_are_read_up_to_their_bit(void **state)
{
    (void)state;
    read_many(uneven_metadata, sizeof uneven_metadata - 1, MADE_EXTENDED);
}

/* --- What packets and headers say of an event --- */

#define OWN_EVENTS 300u

static const char own_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = 8; "
    "} := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { u64 content_size; u64 packet_size; u32 own; };\n"
    "event.header := struct { u32 id; ts timestamp; u32 more; }; };\n"
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { u32 number; string word; }; "
    "};\n"
    "event { name = \"far\"; id = 1; stream_id = 0; fields := struct { integer { size = 32; align "
    "= 2048; } number; string word; }; };\n";

/* Of the first events some have a field that is aligned to the packet's begin: they are no plain
 * ones. */
static bool is_aligned(uint32_t i)
{
    return i < OWN_EVENTS / 3 && i % 3 == 0;
}

/* One packet of stream `ctx`. */
static void make_own(struct buffer *to, uint32_t ctx)
{
    char word[80];
    add_number(to, 0xC1FC1FC1u, 4);
    buffer_add_zeros(to, 20);
    add_number(to, ctx, 4);
    for (uint32_t i = 0; i < OWN_EVENTS; i++) {
        add_number(to, is_aligned(i), 4);
        add_number(to, 1000 + i * 10, 8);
        add_number(to, ctx + i, 4);
        if (is_aligned(i))
            buffer_add_zeros(to, (FAR - to->n % FAR) % FAR);
        add_number(to, ctx * OWN_EVENTS + i, 4);
        buffer_add(to, word, word_of(i + ctx, word) + 1);
    }
    for (unsigned i = 0; i < 16; i++)
        to->bytes[8 + i] = (uint8_t)(to->n * 8 >> 8 * (i % 8));
}

static uint64_t number_of_group(const ttr *t, const ttr_event *event, ttr_group group,
                                const char *name)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin_group(t, event, group, &fields);
    while (ttr_fields_next(&fields, &field))
        if (field.name.n == strlen(name) && memcmp(field.name.p, name, field.name.n) == 0)
            return field.value.v.u;
    fail_msg("no %s", name);
    return 0;
}

static void expect_own(const ttr *t, const ttr_event *event, uint32_t ctx, uint32_t i)
{
    char word[80];
    ttr_field field;
    const size_t n = word_of(i + ctx, word);
    assert_int_equal(event->time, 1000 + i * 10);
    assert_int_equal(number_of_group(t, event, TTR_GROUP_PACKET, "own"), ctx);
    assert_int_equal(number_of_group(t, event, TTR_GROUP_HEADER, "more"), ctx + i);
    assert_true(ttr_field_find(t, event, "number", &field));
    assert_int_equal(field.value.v.u, ctx * OWN_EVENTS + i);
    assert_true(ttr_field_find(t, event, "word", &field));
    assert_int_equal(field.value.text.n, n);
    assert_memory_equal(field.value.text.p, word, n);
}

static void packets_and_headers_of_events_are_those_of_their_own_stream(void **state)
{
    (void)state;
    static struct buffer stream[STREAMS];
    static char name[STREAMS][8];
    static ttr_file file[STREAMS + 1];
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    uint64_t given = 0;
    file[0] = (ttr_file){.name = "metadata", .bytes = own_metadata, .n = sizeof own_metadata - 1};
    for (unsigned i = 0; i < STREAMS; i++) {
        buffer_init(&stream[i], alloc_default());
        make_own(&stream[i], i);
        (void)snprintf(name[i], sizeof name[i], "s%03u", i);
        file[i + 1] = (ttr_file){.name = name[i], .bytes = stream[i].bytes, .n = stream[i].n};
    }
    ttr_reader *in = ttr_open_files(t, "made", file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END;) {
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++, given++)
            expect_own(t, ttr_batch_at(&batch, i), (uint32_t)(given % STREAMS),
                       (uint32_t)(given / STREAMS));
    }
    assert_int_equal(given, STREAMS * OWN_EVENTS);
    ttr_close(in);
    ttr_free(t);
    for (unsigned i = 0; i < STREAMS; i++)
        buffer_free(&stream[i]);
}

/* What a trace takes that is open and read from. */
static uint64_t memory_of_trace(ttr *t, const ttr_file *file)
{
    const uint64_t before = t->memory;
    ttr_batch batch;
    ttr_reader *in = ttr_open_files(t, "made", file, 2, NULL, NULL);
    assert_non_null(in);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
    assert_true(t->memory > before);
    const uint64_t memory = t->memory - before;
    ttr_close(in);
    return memory;
}

static void a_trace_takes_no_more_memory_behind_a_thousand_others(void **state)
{
    (void)state;
    struct buffer stream;
    ttr *t = ttr_new(NULL);
    buffer_init(&stream, alloc_default());
    make_own(&stream, 0);
    const ttr_file file[2] = {
        {.name = "metadata", .bytes = own_metadata, .n = sizeof own_metadata - 1},
        {.name = "s", .bytes = stream.bytes, .n = stream.n}};
    (void)memory_of_trace(t, file);
    const uint64_t early = memory_of_trace(t, file);
    for (unsigned i = 0; i < 1000; i++)
        (void)memory_of_trace(t, file);
    assert_int_equal(memory_of_trace(t, file), early);
    ttr_free(t);
    buffer_free(&stream);
}

/* Where an event of the first packet begins. */
static size_t place_of_event(uint32_t number)
{
    char word[80];
    size_t at = 24;
    for (uint32_t i = 0; i < number; i++)
        at += 4 + 8 + 4 + word_of(i, word) + 1;
    return at;
}

/* Reads the first n streams, of which one has other bytes: `given` events come in order. */
static void read_hit(struct many *many, unsigned n, const struct buffer *hit, uint64_t given)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    int64_t last = INT64_MIN;
    const ttr_file whole = many->file[n / 2];
    many->file[n / 2].bytes = hit->bytes;
    ttr_reader *in = ttr_open_files(t, "made", many->file, n + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END; given -= batch.n) {
        assert_int_equal(status, TTR_OK);
        for (uint32_t i = 0; i < batch.n; i++) {
            const int64_t time = ttr_batch_at(&batch, i)->time;
            assert_true(time >= last);
            last = time;
        }
    }
    assert_int_equal(given, 0);
    many->file[n / 2] = whole;
    ttr_close(in);
    ttr_free(t);
}

/* What is no event may say anything of its time: the packets behind it come when it is their turn.
 */
static void a_late_time_of_what_is_no_event_keeps_back_no_packet_behind_it(void **state)
{
    static const unsigned streams[] = {6, STREAMS}; /* read in both ways */
    static struct many many;
    (void)state;
    struct buffer hit;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, false);
    buffer_init(&hit, alloc_default());
    buffer_add(&hit, many.stream.bytes, many.stream.n);
    const size_t at = place_of_event(HIT), last = place_of_event(PACKET_EVENTS - 1),
                 end = place_of_event(PACKET_EVENTS) - 1;
    for (unsigned i = 0; i < 2; i++) {
        hit.bytes[at] = 0xff; /* of the id */
        hit.bytes[at + 4 + 6] = 1;
        read_hit(&many, streams[i], &hit, (uint64_t)streams[i] * EVENTS - (PACKET_EVENTS - HIT));
        memcpy(hit.bytes, many.stream.bytes, hit.n);
        hit.bytes[end] = 'x'; /* its text does not end */
        hit.bytes[last + 4 + 6] = 1;
        read_hit(&many, streams[i], &hit, (uint64_t)streams[i] * EVENTS - 1);
        memcpy(hit.bytes, many.stream.bytes, hit.n);
    }
    buffer_free(&hit);
    buffer_free(&many.stream);
}

/* A time that no clock gets to is not one that comes later: the stream is asked again, not waited
 * for. */
static void a_time_beyond_all_clocks_in_one_of_many_streams_ends(void **state)
{
    (void)state;
    static struct many many;
    struct buffer hit;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    uint64_t given = 0;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    buffer_init(&hit, alloc_default());
    buffer_add(&hit, many.stream.bytes, many.stream.n);
    hit.bytes[place_of_event(HIT) + 4 + 7] = 0x82; /* of the time */
    many.file[STREAMS / 2].bytes = hit.bytes;
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    for (ttr_status status; (status = ttr_read(in, &batch, NULL)) != TTR_END; given += batch.n)
        assert_int_equal(status, TTR_OK);
    assert_in_range(given, (uint64_t)(STREAMS - 1) * EVENTS, (uint64_t)STREAMS * EVENTS + 1);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&hit);
    buffer_free(&many.stream);
}

/* Copies all of `in`, one stream behind another; with the memory that a few take. */
static void copy_scattered(ttr_reader *in, ttr_writer *out)
{
    ttr_batch batch;
    ttr_status status;
    unsigned source = 0;
    assert_true(ttr_writer_allow_stream_order(out, in));
    for (; (status = ttr_read(in, &batch, NULL)) == TTR_OK;
         source = ttr_batch_at(&batch, batch.n - 1)->source) {
        assert_true(ttr_batch_at(&batch, 0)->source >= source);
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    }
    assert_int_equal(status, TTR_END);
    assert_false(ttr_writer_allow_stream_order(out, in)); /* too late */
    ttr_close(in);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
}

static void expect_copies_of_many(const char *const *version, unsigned changed)
{
    static struct many many;
    char folder[] = "/tmp/tracetta-many-XXXXXX", path[64];
    const ttr_options options = {.size = sizeof options, .max_memory = COPY_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_DEFINITIONS};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = version};
    ttr *t = ttr_new(&options);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/copy", folder);
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, &reading, NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &writing, NULL);
    assert_true(in && out);
    copy_scattered(in, out);
    for (unsigned i = changed; i < STREAMS + 1; i++)
        files_expect_copy(path, &many.file[i]);
    ttr_free(t);
    buffer_free(&many.stream);
    assert_int_equal(files_remove(folder), 0);
}

static void copies_of_many_streams_are_made_one_behind_another_in_little_memory(void **state)
{
    (void)state;
    expect_copies_of_many(NULL, 0);
}

static void so_are_those_with_metadata_in_another_language(void **state)
{
    static const char *const other_version[] = {"version=2", NULL};
    (void)state;
    expect_copies_of_many(other_version, 1); /* all but the metadata are copies */
}

static void streams_that_are_read_one_after_another_leave_nothing_behind(void **state)
{
    static struct many many;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = UNORDERED_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_UNORDERED};
    ttr *t = ttr_new(&options);
    ttr_batch batch;
    ttr_status status;
    uint64_t events = 0;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, false);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, &reading, NULL);
    assert_non_null(in);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        events += batch.n;
    assert_int_equal(status, TTR_END);
    assert_int_equal(ttr_read(in, &batch, NULL), TTR_END);
    assert_int_equal(events, (uint64_t)STREAMS * EVENTS);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

/* Puts the files of a trace into a folder; all streams are one file. */
static void make_folder(const struct many *many, const char *folder)
{
    char path[PATH_MAX], first[PATH_MAX];
    (void)snprintf(first, sizeof first, "%s/%s", folder, many->file[1].name);
    for (unsigned i = 0; i < STREAMS + 1; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, many->file[i].name);
        if (i > 1) {
            assert_int_equal(link(first, path), 0);
            continue;
        }
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(many->file[i].bytes, 1, many->file[i].n, file), many->file[i].n);
        assert_int_equal(fclose(file), 0);
    }
}

/* Packets are copied as a whole, and larger here than a window; for who does not copy them they are
 * read as for any other use. */
static void streams_that_are_encoded_anew_take_no_memory_for_whole_packets(void **state)
{
    static struct many many;
    (void)state;
    static const char *const other_order[] = {"byte-order=be", NULL};
    const ttr_options options = {.size = sizeof options, .max_memory = ANEW_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_DEFINITIONS};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = other_order};
    char folder[] = "/tmp/tracetta-many-XXXXXX";
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(&options);
    assert_non_null(mkdtemp(folder));
    make_many(&many, far_metadata, sizeof far_metadata - 1, MADE_FAR);
    make_folder(&many, folder);
    ttr_reader *in = ttr_open(t, folder, &reading, NULL);
    ttr_writer *out = ttr_create(t, NULL, "ctf", &writing, NULL);
    assert_true(in && out);
    (void)ttr_writer_allow_stream_order(out, in);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(status, TTR_END);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
    assert_int_equal(files_remove(folder), 0);
}

/* Reads a folder of many streams as one of so many readers; whether the memory is enough. */
static bool fits(const char *folder, uint32_t readers)
{
    const ttr_options options = {.size = sizeof options, .max_memory = SHARED_MEMORY};
    const ttr_read_options reading = {
        .size = sizeof reading, .flags = TTR_READ_NO_MMAP, .readers = readers};
    ttr *t = ttr_new(&options);
    ttr_batch batch;
    ttr_status status;
    ttr_reader *in = ttr_open(t, folder, &reading, NULL);
    assert_non_null(in);
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        ;
    ttr_close(in);
    ttr_free(t);
    return status == TTR_END;
}

static void readers_of_one_trace_share_the_memory_for_windows(void **state)
{
    static struct many many;
    (void)state;
    char folder[] = "/tmp/tracetta-many-XXXXXX";
    assert_non_null(mkdtemp(folder));
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    make_folder(&many, folder);
    assert_false(fits(folder, 0));
    assert_true(fits(folder, 8));
    assert_true(fits(folder, UINT32_MAX)); /* more than there are pages for */
    buffer_free(&many.stream);
    assert_int_equal(files_remove(folder), 0);
}

static void definitions_for_a_copy_to_another_format_or_with_other_times_are_not_given(void **state)
{
    static struct many many;
    (void)state;
    ttr *t = ttr_new(NULL);
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    static const char *const formats[] = {"ctf", "fxt", NULL};
    for (unsigned i = 0; i < 6; i++) {
        const bool is_moved = i >= 3;
        const ttr_read_options reading = {.size = sizeof reading,
                                          .flags = TTR_READ_DEFINITIONS,
                                          .copied_to = formats[i % 3],
                                          .time_offset = is_moved ? 7 : 0};
        ttr_batch batch;
        ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, &reading, NULL);
        assert_int_equal(ttr_read(in, &batch, NULL), TTR_OK);
        assert_int_equal(ttr_batch_at(&batch, 0)->kind == TTR_KIND_DEFINITION, i != 1 && !is_moved);
        ttr_close(in);
    }
    ttr_free(t);
    buffer_free(&many.stream);
}

static void who_only_looks_for_damage_reads_streams_one_behind_another_in_little_memory(
    void **state)
{
    static struct many many;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = STAT_MEMORY};
    ttr *t = ttr_new(&options);
    ttr_batch batch;
    ttr_status status;
    unsigned source = 0;
    uint64_t events = 0;
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    assert_true(ttr_reader_allow_stream_order(in));
    for (; (status = ttr_read(in, &batch, NULL)) == TTR_OK; events += batch.n) {
        assert_true(ttr_batch_at(&batch, 0)->source >= source);
        source = ttr_batch_at(&batch, batch.n - 1)->source;
    }
    assert_int_equal(status, TTR_END);
    assert_int_equal(events, STREAMS * EVENTS);
    assert_false(ttr_reader_allow_stream_order(in)); /* too late */
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

/* That a stream begins before the one that was read before it ended is no disorder. */
static void a_summary_of_many_streams_counts_what_goes_back_within_each(void **state)
{
    static struct many many;
    struct buffer hit;
    ttr_summary summary;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = STAT_MEMORY};
    ttr *t = ttr_new(&options);
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    buffer_init(&hit, alloc_default());
    buffer_add(&hit, many.stream.bytes, many.stream.n);
    hit.bytes[24 + 4] = 0xff; /* its first time: later than the second */
    many.file[7].bytes = many.file[9].bytes = hit.bytes;
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
    assert_non_null(in);
    ttr_error error = {0};
    ttr_status status = ttr_summarize(t, in, &summary, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, TTR_OK);
    assert_int_equal(summary.events, STREAMS * EVENTS);
    assert_int_equal(summary.begin_ns, 1000);
    assert_int_equal(summary.end_ns, 1000 + (EVENTS - 1) * 10);
    assert_int_equal(summary.backward, 2);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&hit);
    buffer_free(&many.stream);
}

/* The last packet says that it goes on far behind the end of its file. */
static void what_a_packet_claims_is_no_size_of_its_stream(void **state)
{
    static struct many many;
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_report report = {.size = sizeof report};
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    const uint8_t far[8] = {0, 0, 0, 0, 1};
    memcpy(many.stream.bytes + 16, far, sizeof far);
    for (unsigned scattered = 0; scattered < 2; scattered++) {
        ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, NULL);
        assert_true(scattered ? ttr_reader_allow_stream_order(in) : in != NULL);
        while (ttr_read(in, &batch, NULL) == TTR_OK)
            continue;
        for (size_t i = 0; ttr_reader_report(in, i, &report); i++)
            assert_in_range(report.bytes, 1, many.stream.n);
        ttr_close(in);
    }
    ttr_free(t);
    buffer_free(&many.stream);
}

/* Instants are counted stream by stream, where only one has events and bytes at hand. */
static void many_streams_without_spans_are_counted_one_behind_another_in_little_memory(void **state)
{
    static struct many many;
    (void)state;
    const ttr_options options = {.size = sizeof options, .max_memory = STAT_MEMORY};
    ttr *t = ttr_new(&options);
    const ttr_stat_row *row;
    ttr_error error = {0};
    make_many(&many, plain_metadata, sizeof plain_metadata - 1, MADE_PLAIN);
    ttr_reader *in = ttr_open_files(t, "made", many.file, STREAMS + 1, NULL, &error);
    ttr_stat *stat = in ? ttr_stat_new(t, in, NULL, NULL, &error) : NULL;
    assert_string_equal(error.text, "");
    assert_non_null(stat);
    assert_int_equal(ttr_stat_rows(stat, &row), 1);
    assert_int_equal(row->count, STREAMS * EVENTS);
    assert_int_equal(row->first_ns, 1000);
    assert_int_equal(row->last_ns, 1000 + (EVENTS - 1) * 10);
    ttr_stat_free(stat);
    ttr_close(in);
    ttr_free(t);
    buffer_free(&many.stream);
}

static void write_on(ttr_builder *builder, ttr_writer *out, ttr_kind kind, int64_t time,
                     uint32_t cpu)
{
    ttr_event_begin(builder, kind, time, NULL, "work");
    ttr_event_set_thread(builder, 1, 2);
    ttr_event_attributes(builder)->cpu = (uint16_t)cpu;
    ttr_event_attributes(builder)->flags |= TTR_EVENT_HAS_CPU;
    assert_int_equal(ttr_event_end(builder, out, NULL), TTR_OK);
}

/* A thread that begins on one processor and ends on that before: all ends come before all begins in
 * their files. */
static void spans_from_one_stream_to_another_are_counted_in_order(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-many-XXXXXX", path[64];
    ttr *t = ttr_new(NULL);
    const ttr_stat_row *row;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/spans", folder);
    ttr_writer *out = ttr_create(t, path, "ctf", NULL, NULL);
    ttr_builder *builder = ttr_builder_new(t);
    assert_true(out && builder);
    for (int64_t i = 0; i < SPANS; i++) {
        write_on(builder, out, TTR_KIND_BEGIN, 1000 + 100 * i, 1);
        write_on(builder, out, TTR_KIND_END, 1000 + 100 * i + 7, 0);
    }
    ttr_builder_free(builder);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    ttr_stat *stat = ttr_stat_new(t, in, NULL, NULL, NULL);
    assert_int_equal(ttr_stat_rows(stat, &row), 1);
    assert_int_equal(row->kind, TTR_KIND_SPAN);
    assert_int_equal(row->count, SPANS);
    assert_int_equal(row->total, 7 * SPANS);
    assert_int_equal(ttr_stat_unmatched(stat), 0);
    ttr_stat_free(stat);
    ttr_close(in);
    ttr_free(t);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_many_streams_come_by_time_then_by_stream_with_their_fields),
        cmocka_unit_test(alignments_in_options_of_variants_hold_where_small_windows_move),
        cmocka_unit_test(extended_headers_among_short_ones_tell_class_and_time),
        cmocka_unit_test(extended_headers_that_end_inside_a_byte_are_read_up_to_their_bit),
        cmocka_unit_test(packets_and_headers_of_events_are_those_of_their_own_stream),
        cmocka_unit_test(a_trace_takes_no_more_memory_behind_a_thousand_others),
        cmocka_unit_test(a_time_beyond_all_clocks_in_one_of_many_streams_ends),
        cmocka_unit_test(a_late_time_of_what_is_no_event_keeps_back_no_packet_behind_it),
        cmocka_unit_test(copies_of_many_streams_are_made_one_behind_another_in_little_memory),
        cmocka_unit_test(so_are_those_with_metadata_in_another_language),
        cmocka_unit_test(streams_that_are_read_one_after_another_leave_nothing_behind),
        cmocka_unit_test(streams_that_are_encoded_anew_take_no_memory_for_whole_packets),
        cmocka_unit_test(readers_of_one_trace_share_the_memory_for_windows),
        cmocka_unit_test(
            definitions_for_a_copy_to_another_format_or_with_other_times_are_not_given),
        cmocka_unit_test(
            who_only_looks_for_damage_reads_streams_one_behind_another_in_little_memory),
        cmocka_unit_test(a_summary_of_many_streams_counts_what_goes_back_within_each),
        cmocka_unit_test(what_a_packet_claims_is_no_size_of_its_stream),
        cmocka_unit_test(
            many_streams_without_spans_are_counted_one_behind_another_in_little_memory),
        cmocka_unit_test(spans_from_one_stream_to_another_are_counted_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
