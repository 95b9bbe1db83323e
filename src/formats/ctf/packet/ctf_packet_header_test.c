/* Fixed packet headers and contexts: which types are fixed, and that results are equal to those of
 * their layouts for random types and bytes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/ctf/read/ctf_reader.h"
#include "support/support.h"

#define ROUNDS 400u
#define PACKETS 60u
#define BYTES_MOST 256u
#define UUID "01020304-0506-0708-090a-0b0c0d0e0f10"

/* Metadata text being built. */
struct text {
    char bytes[4096];
    size_t n;
};

static void add(struct text *text, const char *format, ...) TTR_PRINTF(2, 3);

static void add(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text->bytes + text->n, sizeof text->bytes - text->n, format, values);
    va_end(values);
    assert_true(n > 0 && (size_t)n < sizeof text->bytes - text->n);
    text->n += (size_t)n;
}

/* Returns NULL if the header cannot be compiled, because the byte order changes inside a byte. */
static struct ctf_trace *open_trace(ttr *t, const struct text *metadata)
{
    ttr_error error = {0};
    struct ctf_trace *trace = ctf_trace_new(t, NULL, &error);
    const struct ctf_text text = {.p = metadata->bytes, .n = metadata->n};
    assert_non_null(trace);
    if (ctf_trace_parse(trace, CTF_1_8, &text, &error) != TTR_OK)
        fail_msg("%s\n%.*s", error.text, (int)metadata->n, metadata->bytes);
    if (ctf_trace_compile(trace, &error) == TTR_OK)
        return trace;
    ctf_trace_unref(trace);
    return NULL;
}

/* Returns NULL if the context cannot be compiled. */
static struct ctf_stream_decoder *kind_of(struct ctf_trace *trace)
{
    ttr_error error = {0};
    return ctf_get_stream_decoder(trace, trace->class->description.streams[0], &error);
}

/* Expects that header and context with these members are fixed, or not. */
static void expect_fixed(const char *header, const char *context, bool is_header, bool is_context)
{
    struct text text = {.n = 0};
    ttr *t = ttr_new(NULL);
    add(&text,
        "trace { major = 1; minor = 8; byte_order = le; uuid = \"" UUID
        "\"; packet.header := struct { %s }; };"
        " stream { packet.context := struct { %s }; }; event { name = e; fields := struct { "
        "integer { size = 8; } x; }; };",
        header, context);
    struct ctf_trace *trace = open_trace(t, &text);
    assert_non_null(trace);
    const struct ctf_stream_decoder *kind = kind_of(trace);
    assert_non_null(kind);
    assert_int_equal(trace->class->head.is_fixed, is_header);
    assert_int_equal(kind->head.is_fixed, is_context);
    ctf_trace_unref(trace);
    ttr_free(t);
}

#define U(size) "integer { size = " #size "; align = 8; }"

static void headers_of_tracers_are_fixed(void **state)
{
    (void)state;
    static const char header[] =
        U(32) " magic; " U(8) " uuid[16]; " U(32) " stream_id; " U(64) " stream_instance_id;";
    static const char context[] =
        U(64) " timestamp_begin; " U(64) " timestamp_end; " U(64) " content_size; " U(
            64) " packet_size; " U(64) " packet_seq_num; " U(64) " events_discarded; " U(32) " cpu_"
                                                                                             "id;";
    expect_fixed(header, context, true, true);
    expect_fixed(header,
                 U(16) " packet_size; " U(16) " content_size; struct { " U(24) " a; } own; " U(
                     8) " more[3];",
                 true, true);
}

static void headers_with_selection_use_layout(void **state)
{
    (void)state;
    static const char header[] = U(32) " magic;", context[] = U(32) " packet_size; ";
    char with[200];
    expect_fixed(U(32) " magic; string s;", context, false, false);
    (void)snprintf(with, sizeof with, "%s integer { size = 5; } x;", context);
    expect_fixed(header, with, true, false);
    (void)snprintf(with, sizeof with, "%s string s;", context);
    expect_fixed(header, with, true, false);
    (void)snprintf(with, sizeof with, "%s " U(8) " n; " U(8) " many[n];", context);
    expect_fixed(header, with, true, false);
    expect_fixed(header, U(24) " packet_size;", true, false);
    expect_fixed(header,
                 "integer { size = 32; align = 8; signed = true; } a[2]; " U(32) " packet_size;",
                 true, true);
}

/* --- Any types, any bytes --- */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (*seed >> 11) % below;
}

static void add_number(struct text *text, uint64_t *seed, const char *name)
{
    static const unsigned sizes[] = {8, 16, 32, 64, 32, 64, 32, 64, 24, 13},
                          aligns[] = {8, 8, 8, 8, 16, 32, 64, 1};
    static const char *const tails[] = {"", "", "", "[3]", "[16]"};
    const bool is_own = name[0] == 'x';
    add(text, "integer { size = %u; align = %u; byte_order = %s; signed = %s; } %s%s; ",
        sizes[draw(seed, 10)], aligns[draw(seed, 8)], draw(seed, 2) ? "be" : "le",
        is_own && draw(seed, 2) ? "true" : "false", name, is_own ? tails[draw(seed, 5)] : "");
}

/* Adds some of the names in random order, and members without roles between them. */
static void add_members(struct text *text, uint64_t *seed, const char *const *names, size_t n)
{
    unsigned ctx = 0;
    for (size_t i = 0, first = draw(seed, n); i < n; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "x%u", ctx++);
        if (draw(seed, 4) == 0)
            add_number(text, seed, name);
        if (draw(seed, 5))
            add_number(text, seed, names[(first + i) % n]);
    }
    add_number(text, seed, "x_last");
}

static struct ctf_trace *any_trace(ttr *t, uint64_t *seed, struct text *text)
{
    static const char *const header[] = {"stream_id", "stream_instance_id"};
    static const char *const context[] = {"timestamp_begin", "timestamp_end",  "content_size",
                                          "packet_size",     "packet_seq_num", "events_discarded",
                                          "cpu_id"};
    text->n = 0;
    add(text,
        "trace { major = 1; minor = 8; byte_order = %s; uuid = \"" UUID
        "\"; packet.header := struct { ",
        draw(seed, 2) ? "be" : "le");
    if (draw(seed, 4))
        add(text, U(32) " magic; ");
    if (draw(seed, 2))
        add(text, U(8) " uuid[16]; ");
    add_members(text, seed, header, 2);
    add(text, "}; }; stream { packet.context := struct { ");
    add_members(text, seed, context, 7);
    add(text, "}; }; event { name = e; fields := struct { " U(8) " x; }; };");
    return open_trace(t, text);
}

/* Makes bytes that may be a packet: often with magic number and UUID, mostly small numbers. */
static void fill(uint8_t *bytes, uint64_t *seed)
{
    static const uint8_t magic[2][4] = {{0xc1, 0x1f, 0xfc, 0xc1}, {0xc1, 0xfc, 0x1f, 0xc1}};
    for (size_t i = 0; i < BYTES_MOST; i++)
        bytes[i] = draw(seed, 3) ? 0 : (uint8_t)draw(seed, 256);
    if (draw(seed, 4))
        memcpy(bytes, magic[draw(seed, 2)], 4);
    for (uint8_t i = 0, here = draw(seed, 3) > 0; i < 16 && here; i++)
        bytes[4 + i] = i + 1;
}

static void expect_same_packet(const struct ctf_packet *a, const struct ctf_packet *b)
{
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->content, b->content);
    assert_int_equal(a->has_begin, b->has_begin);
    assert_int_equal(a->begin, b->begin);
    assert_int_equal(a->has_end, b->has_end);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->has_discarded, b->has_discarded);
    assert_int_equal(a->discarded, b->discarded);
    assert_int_equal(a->has_sequence, b->has_sequence);
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->sequence_bits, b->sequence_bits);
    assert_int_equal(a->has_cpu, b->has_cpu);
    assert_int_equal(a->cpu, b->cpu);
}

static void expect_same(const struct ctf_frame *a, const struct ctf_frame *b)
{
    expect_same_packet(&a->packet, &b->packet);
    assert_ptr_equal(a->kind, b->kind);
    assert_int_equal(a->has_number, b->has_number);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->head, b->head);
    assert_int_equal(a->context_bit, b->context_bit);
    assert_int_equal(a->discarded_width, b->discarded_width);
    assert_int_equal(a->sequence_width, b->sequence_width);
    assert_int_equal(a->has_ticks, b->has_ticks);
    assert_int_equal(a->ticks, b->ticks);
    assert_int_equal(a->is_whole_file, b->is_whole_file);
    assert_int_equal(a->is_rounded, b->is_rounded);
    assert_int_equal(a->is_unfinished, b->is_unfinished);
    assert_int_equal(a->has_unset_size, b->has_unset_size);
    assert_int_equal(a->is_overfull, b->is_overfull);
    assert_int_equal(a->is_foreign, b->is_foreign);
    assert_string_equal(a->code ? a->code : "", b->code ? b->code : "");
    assert_string_equal(a->text, b->text);
}

/* Frames the same bytes with and without fixed offsets, and compares. */
static enum ctf_framing frame_twice(struct ctf_trace *trace, const uint8_t *bytes, uint64_t n)
{
    struct ctf_stream_decoder *kind = kind_of(trace);
    const bool is_header_fixed = trace->class->head.is_fixed,
               is_context_fixed = kind->head.is_fixed;
    struct bits bits = bits_init(bytes, 0, n * 8);
    struct ctf_frame fixed, walked;
    ttr_error error;
    const enum ctf_framing framing =
        ctf_parse_header_and_context(trace, NULL, &bits, &fixed, &error);
    trace->class->head.is_fixed = kind->head.is_fixed = false;
    assert_int_equal(ctf_parse_header_and_context(trace, NULL, &bits, &walked, &error), framing);
    trace->class->head.is_fixed = is_header_fixed;
    kind->head.is_fixed = is_context_fixed;
    expect_same(&fixed, &walked);
    return framing;
}

/* Frames a packet and a prefix of it; sanitizers detect reads beyond the end. */
static size_t frame_any(struct ctf_trace *trace, uint64_t *seed)
{
    const uint64_t n = draw(seed, BYTES_MOST);
    uint8_t *whole = malloc(BYTES_MOST), *part = malloc(n + 1);
    assert_true(whole && part);
    fill(whole, seed);
    memcpy(part, whole, n);
    size_t framed = frame_twice(trace, whole, BYTES_MOST) == CTF_FRAME_OK;
    framed += frame_twice(trace, part, n) == CTF_FRAME_OK;
    free(whole);
    free(part);
    return framed;
}

static void fixed_offsets_equal_layout_results(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    size_t fixed = 0, framed = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        struct text text;
        ttr *t = ttr_new(NULL);
        struct ctf_trace *trace = any_trace(t, &seed, &text);
        struct ctf_stream_decoder *kind = trace ? kind_of(trace) : NULL;
        fixed += kind && kind->head.is_fixed;
        for (size_t i = 0; i < PACKETS && kind; i++)
            framed += frame_any(trace, &seed);
        ctf_trace_unref(trace);
        ttr_free(t);
    }
    assert_true(fixed > ROUNDS / 20);
    assert_true(framed > ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_tracers_are_fixed),
        cmocka_unit_test(headers_with_selection_use_layout),
        cmocka_unit_test(fixed_offsets_equal_layout_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
