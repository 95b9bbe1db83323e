/* Tests of frames against bytes that Python's struct and zlib made from the drawing in
 * file_frame.h. */
#include "network/file_frame.h"

#include "support/support.h"

/* Packet 3 of file 7 "ust/ch": "packet", 20 events after 60. */
static const uint8_t example[] = {0xD7, 0x54, 0x52, 0x46, 0x00, 0x00, 0x00, 0x42, 0xCA, 0xCC, 0x95,
                                  0x97, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x63, 0x74,
                                  0x66, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00,
                                  0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14,
                                  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3C, 0x00, 0x06, 0x75,
                                  0x73, 0x74, 0x2F, 0x63, 0x68, 0x70, 0x61, 0x63, 0x6B, 0x65, 0x74};

static void frame_is_written_as_specified(void **state)
{
    (void)state;
    struct buffer to;
    const struct file_frame frame = {.session = UINT64_C(0x0102030405060708),
                                     .format = "ctf",
                                     .file = 7,
                                     .number = 3,
                                     .events = 20,
                                     .events_before = 60,
                                     .name = "ust/ch",
                                     .name_n = 6,
                                     .content = (const uint8_t *)"packet",
                                     .content_n = 6};
    buffer_init(&to, alloc_default());
    file_frame_write(&to, &frame);
    assert_int_equal(to.n, sizeof example);
    assert_memory_equal(to.bytes, example, sizeof example);
    buffer_free(&to);
}

static void frame_is_parsed_as_specified(void **state)
{
    (void)state;
    struct file_frame frame;
    struct packet_facts facts;
    assert_int_equal(file_frame_transfer.get_size(example, 1000), sizeof example);
    assert_int_equal(file_frame_transfer.get_size(example, 65), 0);
    assert_true(file_frame_parse(example, sizeof example, &frame));
    assert_string_equal(frame.format, "ctf");
    assert_int_equal(frame.name_n, 6);
    assert_memory_equal(frame.name, "ust/ch", 6);
    assert_int_equal(frame.content_n, 6);
    assert_memory_equal(frame.content, "packet", 6);
    assert_true(file_frame_transfer.parse(example, sizeof example, &facts));
    assert_true(facts.is_counted && !facts.is_head && facts.has_epoch);
    assert_int_equal(facts.epoch_ns, UINT64_C(0x0102030405060708));
    assert_int_equal(facts.stream, 7);
    assert_int_equal(facts.counter, 3);
    assert_int_equal(facts.events, 20);
    assert_int_equal(facts.events_before, 60);
}

static void each_changed_byte_is_found(void **state)
{
    (void)state;
    uint8_t bytes[sizeof example];
    struct file_frame frame;
    for (size_t i = 0; i < sizeof example; i++) {
        memcpy(bytes, example, sizeof bytes);
        bytes[i] ^= 0x10;
        assert_false(file_frame_transfer.get_size(bytes, 1000) == sizeof bytes &&
                     file_frame_parse(bytes, sizeof bytes, &frame));
    }
}

static void names_that_leave_the_folder_are_invalid(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "metadata", "ust/uid/0/64-bit/ch 0", "a..b", "1/2/3"};
    static const char *const bad[] = {
        "",   "/a",   "a/",   "a//b", "..",    "../a", "a/../b",
        ".a", "a/.b", "a\nb", "a\\b", "a/./b", "\x7f", "1/2/3/4/5/6/7/8/9"};
    char name[300];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(file_frame_is_valid_name(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (file_frame_is_valid_name(bad[i], strlen(bad[i])))
            fail_msg("\"%s\" is accepted", bad[i]);
    memset(name, 'a', sizeof name);
    assert_true(file_frame_is_valid_name(name, 255));
    assert_false(file_frame_is_valid_name(name, 256));
    assert_false(file_frame_is_valid_name("a\0b", 3));
}

static void number_of_a_part_is_below_their_number(void **state)
{
    (void)state;
    struct buffer to;
    struct file_frame frame = {.format = "ctf", .number = 1, .parts = 2, .name = "m", .name_n = 1},
                      got;
    struct packet_facts facts;
    buffer_init(&to, alloc_default());
    file_frame_write(&to, &frame);
    assert_true(file_frame_transfer.parse(to.bytes, to.n, &facts));
    assert_true(facts.is_head && !facts.is_counted && facts.events == 0);
    buffer_clear(&to);
    frame.number = 2;
    file_frame_write(&to, &frame);
    assert_false(file_frame_parse(to.bytes, to.n, &got));
    buffer_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_is_written_as_specified),
        cmocka_unit_test(frame_is_parsed_as_specified),
        cmocka_unit_test(each_changed_byte_is_found),
        cmocka_unit_test(names_that_leave_the_folder_are_invalid),
        cmocka_unit_test(number_of_a_part_is_below_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
