/* A trace in memory of many streams with the same bytes: at each time there is one event of each
 * stream, in the order of their numbers. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_MANY_STREAMS_MADE_TEST_H
#define TRACETTA_FORMATS_CTF_READ_CTF_MANY_STREAMS_MADE_TEST_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tracetta/advanced.h>
#include <tracetta/analyse.h>
#include <tracetta/build.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>
#include "base/buffer.h"
#include "support/files.h"
#include "model/context.h"
#include "support/support.h"

#define STREAMS 250u
#define EVENTS 1200u /* per stream; more than a window holds */
/* index of the event in the first packet that gets a damaged time */
#define HIT 300u
#define FAR_EVENTS 250u              /* per stream of the trace with large events */
#define PACKET_EVENTS 400u           /* maximum per packet */
#define COPY_MEMORY (12u << 20)      /* limit for copying, bytes */
#define ANEW_MEMORY (28u << 20)      /* limit for re-encoding, bytes */
#define SHARED_MEMORY (12u << 20)    /* limit for one of several readers, bytes */
#define STAT_MEMORY (5u << 19)       /* limit for counting and checking, bytes */
#define SPANS 100000                 /* more events than the sorting stage holds */
#define UNORDERED_MEMORY (13u << 20) /* limit for unordered reading, bytes */
#define FAR 256u                     /* alignment of a value from its packet's start, bytes */

/* CTF 1.8 metadata with the given event header and event fields. */
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

/* LTTng's compact header: larger ids use the extended form, smaller ones may. */
#define EXTENDED_METADATA(long_ts)                                                                 \
    METADATA("{ enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;" \
             " variant <id> { struct { short_ts timestamp; } compact; struct { u32 id; " long_ts   \
             " timestamp; } extended; } v; } align(8)",                                            \
             PLAIN_FIELDS)                                                                         \
    "event { name = \"x\"; id = 300; stream_id = 0; fields := struct { " PLAIN_FIELDS " }; };\n"

static const char extended_metadata[] = EXTENDED_METADATA("ts");

/* The same bytes, but the header ends inside a byte. */
static const char uneven_metadata[] =
    EXTENDED_METADATA("integer { size = 60; align = 1; map = clock.c.value; }");

enum made { MADE_PLAIN, MADE_FAR, MADE_EXTENDED };

/* Moves the next event to an offset at which alignments below FAR do not hold by chance. */
static const char far_rest[] = "a text with which values that are aligned are not followed by the "
                               "next event at once, but later";

static inline void add_number(struct buffer *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

/* Texts of all lengths, some longer than one vector search. */
static inline size_t word_of(uint32_t number, char word[80])
{
    const size_t n = number % 50 == 7 ? 40 + number % 30 : number % 20;
    for (size_t i = 0; i < n; i++)
        word[i] = (char)('a' + (number + i) % 26);
    word[n] = 0;
    return n;
}

/* Pseudo-random choice of short headers and classes, so that branch prediction fails. */
static inline bool is_compact(uint32_t number)
{
    return number * 2654435761u >> 30 == 0;
}

static inline bool is_second_class(uint32_t number, enum made made)
{
    return made == MADE_EXTENDED && !is_compact(number) && number % 8 > 0;
}

static inline void add_header(struct buffer *to, uint32_t number, enum made made)
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

static inline void add_event(struct buffer *to, size_t begin, uint32_t number, enum made made)
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

/* Appends packets of different sizes, some with padding. */
static inline void make_stream(struct buffer *to, enum made made)
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

static inline void expect_event(const ttr *t, const ttr_event *event, uint64_t i, enum made made)
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

/* A trace of many files in memory. */
struct many {
    struct buffer stream;
    ttr_file file[STREAMS + 1];
    char name[STREAMS][8];
};

static inline void make_many(struct many *many, const char *metadata, size_t metadata_n,
                             enum made made)
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

#endif
