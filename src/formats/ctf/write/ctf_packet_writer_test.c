/* Packets, events and indexes of small traces, byte by byte. Expected bytes are computed by hand
 * from rfc11_packet.h, ctf_packet_writer.c and LTTng's index format. */
#include "formats/ctf/write/ctf_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "support/support.h"

/* A trace with one stream, and the folder it is written to. */
struct made {
    char folder[64];
    struct ttr_writer out;
    struct ctf_writer writer; /* zeroed: the output has no other traces */
    ttr_loss ledger[CTF_LOSSES];
    struct ctf_options options;
    struct ctf_trace_out trace;
    struct ctf_stream_out stream;
    struct ctf_items items;
    ttr_builder *builder;
};

static void begin_trace(struct made *m, enum ctf_version version, bool is_big, bool has_cpu)
{
    static const struct format format = {.name = "ctf"};
    memset(m, 0, sizeof *m);
    (void)snprintf(m->folder, sizeof m->folder, "/tmp/tracetta-ctf-XXXXXX");
    assert_non_null(mkdtemp(m->folder));
    m->writer = (struct ctf_writer){.traces_n = 0};
    m->out = (struct ttr_writer){
        .t = ttr_new(NULL), .format = &format, .ledger = m->ledger, .ctx = &m->writer};
    m->out.folder = folder_create(
        alloc_default(), &(struct folder_output_options){m->folder, {"metadata", NULL}, true, NULL},
        NULL);
    assert_non_null(m->out.folder);
    buffer_init(&m->out.buffer, alloc_default());
    assert_int_equal(ctf_options_read(&m->out, &m->options, NULL), TTR_OK);
    m->options.is_big_endian = is_big;
    m->options.packing.align = 1;
    ctf_items_init(&m->items, &m->out.t->counted);
    m->builder = ttr_builder_new(m->out.t);
    assert_true(
        ctf_trace_out_init(&m->trace, m->out.t, &m->options, version, &(ttr_event){.time = 0}));
    m->trace.streams_n = 1;
    m->stream = (struct ctf_stream_out){.trace = &m->trace, .has_cpu = has_cpu, .cpu = 3};
    m->stream.kind = ctf_trace_out_add_stream_class(
        &m->trace, &(struct ctf_stream_class_spec){.name = {"events", 6},
                                                   .has_cpu = has_cpu,
                                                   .has_clock = true,
                                                   .has_time = true,
                                                   .has_sequence = true,
                                                   .has_discarded = true,
                                                   .clock = m->trace.clock});
    assert_non_null(m->stream.kind);
    m->stream.name_size = sizeof "stream";
    m->stream.name = alloc_zero(&m->out.t->counted, m->stream.name_size, 1);
    memcpy(m->stream.name, "stream", 6);
    buffer_init(&m->stream.packet, &m->out.t->counted);
    ctf_index_out_init(&m->stream.index, &m->out.t->counted);
    buffer_init(&m->stream.head, &m->out.t->counted);
}

/* Writes the builder's event to the stream. */
static void write_built_event(struct made *m)
{
    ttr_batch batch;
    assert_int_equal(ttr_event_build(m->builder, &batch, NULL), TTR_OK);
    const ttr_event *event = batch.event;
    const struct ctf_items_config what = {.out = &m->out,
                                          .version = m->trace.description.version,
                                          .has_conventions = true,
                                          .has_cpu = m->stream.has_cpu};
    ctf_items_collect(&m->items, &what, event);
    assert_false(m->items.failed);
    const struct ctf_class_key key = {.name = ttr_text_get(m->out.t, event->name),
                                      .identity = event->name};
    const struct ctf_event_class *class =
        ctf_get_event_class(&m->trace, m->stream.kind, &m->items, &key);
    assert_non_null(class);
    assert_int_equal(
        ctf_stream_append_event(&m->stream, &m->out, class, &m->items, (uint64_t)event->time, NULL),
        TTR_OK);
}

static void end_stream(struct made *m)
{
    ttr_error error = {0};
    if (ctf_stream_finish(&m->stream, &m->out, &error) != TTR_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ctf_write_file(folder_create_file(m->out.folder, "metadata", &error),
                                    &m->out.buffer, &error),
                     TTR_OK);
    assert_int_equal(folder_finish(m->out.folder, &error), TTR_OK);
    m->out.folder = NULL;
}

static void end_trace(struct made *m)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", m->folder);
    assert_int_equal(system(command), 0);
    ttr_builder_free(m->builder);
    ctf_items_free(&m->items);
    ctf_stream_free(&m->stream, &m->out.t->counted);
    ctf_trace_out_free(&m->trace, &m->out.t->counted);
    buffer_free(&m->out.buffer);
    ttr_free(m->out.t);
}

/* Compares a file with hexadecimal bytes; "uu" represents the trace's UUID, "ss" the session id. */
static void check_file(struct made *m, const char *name, const char *hex)
{
    uint8_t expected[4096], found[4096];
    char path[128], text[8192];
    const struct ctf_description *description = &m->trace.description;
    size_t n = 0;
    for (const char *p = hex; *p; p++) {
        unsigned count = strncmp(p, "uu", 2) == 0 ? 16 : strncmp(p, "ss", 2) == 0 ? 4 : 0;
        for (unsigned i = 0; i < count; i++) {
            unsigned place = description->is_big_endian && count == 4 ? 3 - i : i;
            n += (size_t)snprintf(text + n, sizeof text - n, "%02x", description->uuid[place]);
        }
        if (count)
            p++;
        else
            text[n++] = *p;
    }
    text[n] = '\0';
    n = support_hex(expected, sizeof expected, text);
    (void)snprintf(path, sizeof path, "%s/%s", m->folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t found_n = fread(found, 1, sizeof found, file);
    (void)fclose(file);
    assert_int_equal(found_n, n);
    for (size_t i = 0; i < n; i++)
        if (found[i] != expected[i])
            fail_msg("%s: byte %zu is %02x, expected %02x", name, i, found[i], expected[i]);
}

/* Writes an instant and a span with the usual attributes and fields. */
static void write_two_events(struct made *m)
{
    ttr_event_begin(m->builder, TTR_KIND_INSTANT, 1000, NULL, "hello");
    ttr_add_uint(m->builder, "x", 5);
    write_built_event(m);
    ttr_event_begin(m->builder, TTR_KIND_SPAN, 0x100000000 + 2000, "io", "work");
    ttr_event_set_thread(m->builder, 7, UINT64_C(0x123456789));
    ttr_event_attributes(m->builder)->duration = 300;
    ttr_add_text(m->builder, "s", "ab");
    ttr_add_bytes(m->builder, "b", "\xfe\xff", 2);
    write_built_event(m);
}

static void little_endian_ctf_1_8_packet_has_expected_bytes(void **state)
{
    (void)state;
    struct made m;
    begin_trace(&m, CTF_1_8, false, true);
    write_two_events(&m);
    end_stream(&m);
    check_file(&m, "stream",
               /* packet header */
               "c11ffcc1 uu 00000000 0000000000000000"
               /* context */ "e803000000000000 d007000001000000 5804000000000000 5804000000000000 "
               "0000000000000000 0000000000000000 03000000"
               /* id 0, time, x */ "0000 e8030000 0500000000000000"
               /* extended id 1, time beyond 32 bits */ "ffff 01000000 d007000001000000"
               /* kind span, category io, vpid, vtid, duration */ "04 00 07000000 8967452301000000 "
               "2c010000"
               /* s, length and b */ "616200 02000000 feff");
    check_file(&m, "index/stream.idx",
               "c1f1dcc1 00000001 00000001 00000048"
               "0000000000000000 0000000000000458 0000000000000458 00000000000003e8 "
               "00000001000007d0 0000000000000000 0000000000000000"
               "0000000000000000 0000000000000000");
    end_trace(&m);
}

static void big_endian_ctf_1_8_packet_without_cpu_has_expected_bytes(void **state)
{
    (void)state;
    struct made m;
    begin_trace(&m, CTF_1_8, true, false);
    write_two_events(&m);
    end_stream(&m);
    check_file(&m, "stream",
               "c1fc1fc1 uu 00000000 0000000000000000"
               "00000000000003e8 00000001000007d0 0000000000000438 0000000000000438 "
               "0000000000000000 0000000000000000"
               "0000 000003e8 0000000000000005"
               "ffff 00000001 00000001000007d0  04 00 00000007 0000000123456789 0000012c  616200 "
               "00000002 feff");
    end_trace(&m);
}

static void ctf_2_packet_has_bits_of_ctf_1_8(void **state)
{
    (void)state;
    struct made m;
    begin_trace(&m, CTF_2, false, false);
    write_two_events(&m);
    end_stream(&m);
    check_file(&m, "stream",
               "c11ffcc1 uu 00000000 0000000000000000"
               "e803000000000000 d007000001000000 3804000000000000 3804000000000000 "
               "0000000000000000 0000000000000000"
               "0000 e8030000 0500000000000000"
               "ffff 01000000 d007000001000000  04 00 07000000 8967452301000000 2c010000  616200 "
               "02000000 feff");
    end_trace(&m);
}

static void rfc_1_1_packet_has_own_header_and_time_before_id(void **state)
{
    (void)state;
    struct made m;
    begin_trace(&m, CTF_RFC_1_1, false, false);
    write_two_events(&m);
    end_stream(&m);
    check_file(&m, "stream",
               /* magic, session, sizes in bytes, no checksum, count */
               "c11ffcc1 ss 6b000000 6b000000 00000000 00000000"
               /* times, discarded, 32 bits of count, no schemes */
               "e803000000000000 d007000001000000 00000000 20 00 00 00"
               /* time, id 0, x */ "e8030000 0000 0500000000000000"
               /* low time, escape; time, id */ "d0070000 ffff d007000001000000 01000000"
               "04 00 07000000 8967452301000000 2c010000  616200 02000000 feff");
    end_trace(&m);
}

static void big_endian_rfc_1_1_packet_with_header_1_aligns_naturally(void **state)
{
    (void)state;
    struct made m;
    begin_trace(&m, CTF_RFC_1_1, true, false);
    ctf_trace_out_free(&m.trace, &m.out.t->counted);
    m.options.rfc_header = 1;
    m.options.rfc_is_natural = true;
    assert_true(
        ctf_trace_out_init(&m.trace, m.out.t, &m.options, CTF_RFC_1_1, &(ttr_event){.time = 0}));
    m.trace.streams_n = 1;
    m.stream.kind = ctf_trace_out_add_stream_class(
        &m.trace, &(struct ctf_stream_class_spec){.name = {"events", 6},
                                                  .has_clock = true,
                                                  .has_time = true,
                                                  .has_sequence = true,
                                                  .has_discarded = true,
                                                  .clock = m.trace.clock});
    write_two_events(&m);
    end_stream(&m);
    check_file(&m, "stream",
               "c1fc1fc1 ss 0000006e 0000006e 00000000 00000000 00000000000003e8 00000001000007d0 "
               "00000000 20 00 00 00"
               /* 48: id 0 in the 5 high bits, 27 of time; 56: x, aligned to 64 bits */
               "000003e8 00000000 0000000000000005"
               /* 64: id 31, low 27 bits of time; id, time; 80: aligned to 64 bits, where the
                  payload's struct begins */
               "f80007d0 00000001 00000001000007d0"
               /* kind, category, vpid at a multiple of 4, vtid at one of 8, duration */
               "04 00 0000 00000007 0000000123456789 0000012c"
               /* text, the length at a multiple of 4 */ "616200 00 00000002 feff");
    end_trace(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian_ctf_1_8_packet_has_expected_bytes),
        cmocka_unit_test(big_endian_ctf_1_8_packet_without_cpu_has_expected_bytes),
        cmocka_unit_test(ctf_2_packet_has_bits_of_ctf_1_8),
        cmocka_unit_test(rfc_1_1_packet_has_own_header_and_time_before_id),
        cmocka_unit_test(big_endian_rfc_1_1_packet_with_header_1_aligns_naturally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
