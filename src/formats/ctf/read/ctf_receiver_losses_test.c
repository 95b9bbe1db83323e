/* Losses of a receiver in a folder: gap events and attributes, and files that are not such files.
 */
#include "formats/ctf/read/ctf_packets_test.h"
#include "formats/ctf/read/ctf_receiver_losses.h"

/* Result of reading two streams of two packets. */
struct seen {
    size_t events, gaps;
    char names[2][80]; /* of the first gaps */
    uint64_t kernel_drops, dropped_packets, odd;
};

static void note_attributes(const ttr *t, uint16_t source, struct seen *seen)
{
    ttr_attribute attribute;
    for (size_t i = 0; ttr_source_attribute(t, source, i, &attribute); i++)
        if (strncmp(attribute.name.p, "network.kernel_drops", attribute.name.n) == 0)
            seen->kernel_drops = attribute.value.v.u;
        else if (strncmp(attribute.name.p, "network.dropped_packets", attribute.name.n) == 0)
            seen->dropped_packets = attribute.value.v.u;
}

static void note_gap(ttr *t, const ttr_event *event, struct seen *seen)
{
    const ttr_text name = ttr_text_get(t, event->name);
    assert_true(event->flags & TTR_EVENT_NO_TIME);
    assert_int_equal(event->link, 0);
    if (seen->gaps < 2)
        (void)snprintf(seen->names[seen->gaps], sizeof seen->names[0], "%.*s", (int)name.n, name.p);
    seen->gaps++;
}

/* Reads a trace with a file of losses. */
static struct seen read_with_losses(const char *losses)
{
    struct seen seen = {0};
    char metadata[sizeof((struct chunk *)0)->metadata];
    struct buffer streams[2];
    ttr_batch batch;
    ttr_error error;
    ttr *t = ttr_new(NULL);
    (void)snprintf(metadata, sizeof metadata, metadata_head, UUID_A);
    for (uint32_t i = 0; i < 2; i++) {
        buffer_init(&streams[i], alloc_default());
        put_packet(&streams[i], &(struct packet){i, 0, 0, 1000, 10});
        put_packet(&streams[i], &(struct packet){i, 1, 0, 2000, 10});
    }
    const ttr_file files[] = {{CTF_RECEIVER_LOSSES, losses, strlen(losses)},
                              {"metadata", metadata, strlen(metadata)},
                              {"s0", streams[0].bytes, streams[0].n},
                              {"s1", streams[1].bytes, streams[1].n}};
    ttr_reader *reader = ttr_open_files(t, "trace", files, 4, NULL, &error);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_GAP)
                note_gap(t, event, &seen);
            else
                seen.events++;
        }
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        note_attributes(t, report.source, &seen);
        for (size_t k = 0; k < report.notes_n; k++)
            seen.odd += strcmp(report.notes[k].code, "ctf.bad-losses") == 0;
    }
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&streams[0]);
    buffer_free(&streams[1]);
    return seen;
}

static void losses_of_a_receiver_are_gaps_and_attributes(void **state)
{
    (void)state;
    struct seen seen = read_with_losses("kernel_drops 12\ndropped_packets 3\n");
    assert_int_equal(seen.events, 40);
    assert_int_equal(seen.gaps, 2);
    assert_string_equal(seen.names[0], "12 datagrams were dropped by the kernel");
    assert_string_equal(seen.names[1], "3 packets were dropped by a full queue");
    assert_int_equal(seen.kernel_drops, 12);
    assert_int_equal(seen.dropped_packets, 3);
    assert_int_equal(seen.odd, 0);
}

static void written_losses_are_read_back(void **state)
{
    (void)state;
    struct buffer text;
    buffer_init(&text, alloc_default());
    ctf_write_receiver_losses(
        &text, &(struct packet_losses){.kernel_drops = UINT64_MAX, .dropped_packets = 0});
    buffer_add_byte(&text, 0);
    const struct seen seen = read_with_losses((const char *)text.bytes);
    buffer_free(&text);
    assert_int_equal(seen.gaps, 1);
    assert_true(seen.kernel_drops == UINT64_MAX);
    assert_int_equal(seen.dropped_packets, 0);
}

static void losses_of_zero_are_no_gap(void **state)
{
    (void)state;
    const struct seen seen = read_with_losses("kernel_drops 0\ndropped_packets 0\n");
    assert_int_equal(seen.gaps, 0);
    assert_int_equal(seen.odd, 0);
    assert_int_equal(seen.events, 40);
}

static void invalid_losses_are_reported_and_not_used(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "kernel_drops",
                                        "kernel_drops -1\n",
                                        "kernel_drops 7\nother 8\n",
                                        "kernel_drops 99999999999999999999999\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct seen seen = read_with_losses(texts[i]);
        assert_int_equal(seen.odd, 1);
        assert_int_equal(seen.gaps, 0);
        assert_int_equal(seen.kernel_drops, 0);
        assert_int_equal(seen.events, 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_of_a_receiver_are_gaps_and_attributes),
        cmocka_unit_test(written_losses_are_read_back),
        cmocka_unit_test(losses_of_zero_are_no_gap),
        cmocka_unit_test(invalid_losses_are_reported_and_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
