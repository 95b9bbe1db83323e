/* Event header plans: LTTng's two shapes, plain headers, both byte orders, and headers that need a
 * layout. */
#include "formats/ctf/packet/ctf_event_header_plan.h"

#include "support/support.h"

static const struct type_range compact_ids = {0, 30}, extended_ids = {31, 31},
                               small_ids = {0, 65534}, large_ids = {65535, 65535};
static const ttr_text id_name[] = {{"id", 2}};

#define NUMBER(width, alignment, what, big)                                       \
    {                                                                             \
        .kind = TYPE_UINT, .bits = (width), .align = (alignment), .role = (what), \
        .is_big_endian = (big)                                                    \
    }
#define MEMBER(text, of)                                 \
    {                                                    \
        .name = {(text), sizeof(text) - 1}, .type = (of) \
    }
#define STRUCT(list, alignment)                                                             \
    {                                                                                       \
        .kind = TYPE_STRUCT, .members = (list), .members_n = sizeof(list) / sizeof *(list), \
        .align = (alignment)                                                                \
    }

/* A header with an extension: id of `bits` and time of `time` bits, extended to 32 and 64 bits. */
struct extended_header {
    struct type id, time, long_id, long_time, usual, extension, variant, header;
    struct type_member usual_members[1], extension_members[2], options[2], members[2];
    struct ctf_stream_class stream;
};

static void make_header(struct extended_header *h, unsigned bits, unsigned time, uint8_t align,
                        bool big)
{
    bool is_compact = bits == 5;
    *h = (struct extended_header){
        .id = NUMBER(bits, is_compact ? 0 : align, CTF_ROLE_EVENT_ID, big),
        .time = NUMBER(time, is_compact ? 0 : align, CTF_ROLE_TIME, big),
        .long_id = NUMBER(32, align, CTF_ROLE_EVENT_ID, big),
        .long_time = NUMBER(64, align == 3 ? 3 : 6, CTF_ROLE_TIME, big),
        .usual_members = {MEMBER("timestamp", &h->time)},
        .extension_members = {MEMBER("id", &h->long_id), MEMBER("timestamp", &h->long_time)},
        .options = {{.name = {"compact", 7},
                     .type = &h->usual,
                     .ranges = is_compact ? &compact_ids : &small_ids,
                     .ranges_n = 1},
                    {.name = {"extended", 8},
                     .type = &h->extension,
                     .ranges = is_compact ? &extended_ids : &large_ids,
                     .ranges_n = 1}},
        .members = {MEMBER("id", &h->id), MEMBER("v", &h->variant)},
    };
    h->usual = (struct type)STRUCT(h->usual_members, is_compact ? 0 : align);
    h->extension = (struct type)STRUCT(h->extension_members, align == 3 ? 3 : 6);
    h->variant =
        (struct type){.kind = TYPE_VARIANT,
                      .members = h->options,
                      .members_n = 2,
                      .reference = {.names = id_name, .names_n = 1, .root = ROOT_EVENT_HEADER}};
    h->header = (struct type)STRUCT(h->members, align);
    h->stream = (struct ctf_stream_class){.event_header = &h->header};
}

/* Reads the header in `hex` from bit `at`, by loads and by parts if possible, and compares the
 * results. */
static void check_packet_header(const struct ctf_header_plan *plan, const char *hex, uint64_t at,
                                const struct ctf_event_header *expected, uint64_t end)
{
    uint8_t bytes[64] = {0};
    size_t n = support_hex(bytes, sizeof bytes, hex);
    struct ctf_event_header header = {.ticks = 0x123456789abcdef0}, loaded = header;
    struct bits bits = bits_init(bytes, at, n * 8);
    ctf_read_event_header(plan, &bits, NULL, &header);
    assert_int_equal(header.end, LAYOUT_OK);
    assert_int_equal(header.id, expected->id);
    assert_int_equal(header.ticks, expected->ticks);
    assert_int_equal(bits.at, end);
    if (plan->kind != CTF_PLAN_LOADS || at & 7)
        return;
    assert_true(ctf_load_event_header(plan, bytes + at / 8, &loaded));
    assert_int_equal(loaded.id, expected->id);
    assert_int_equal(loaded.ticks, expected->ticks);
    assert_int_equal(at + loaded.bits, end);
}

static void compact_headers_of_lttng_are_two_loads(void **state)
{
    (void)state;
    struct extended_header h;
    struct ctf_header_plan plan;
    make_header(&h, 5, 27, 3, false);
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LOADS);
    assert_int_equal(plan.escape, 31);
    /* id 3, time 0x2abcdef: 3 | 0x2abcdef << 5 = 0x5579bde3 */
    check_packet_header(
        &plan, "e3bd7955", 0,
        &(struct ctf_event_header){.id = 3, .ticks = 0x123456789aabcdef + 0x8000000}, 32);
    /* time equal to the clock: 0x2bcdef0 << 5 | 30 */
    check_packet_header(&plan, "00 1ede9b57", 8,
                        &(struct ctf_event_header){.id = 30, .ticks = 0x123456789abcdef0}, 40);
    check_packet_header(&plan, "1f 00010000 0807060504030201", 0,
                        &(struct ctf_event_header){.id = 256, .ticks = 0x0102030405060708}, 104);
}

static void big_endian_compact_headers_decode(void **state)
{
    (void)state;
    struct extended_header h;
    struct ctf_header_plan plan;
    make_header(&h, 5, 27, 3, true);
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LOADS);
    /* id 3 in the highest five bits, then the time 0x4000000 */
    check_packet_header(&plan, "1c000000", 0,
                        &(struct ctf_event_header){.id = 3, .ticks = 0x123456789c000000}, 32);
}

static void large_headers_of_lttng_are_two_loads(void **state)
{
    (void)state;
    struct extended_header h;
    struct ctf_header_plan plan;
    make_header(&h, 16, 32, 3, false);
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LOADS);
    assert_int_equal(plan.loads.bits, 48);
    check_packet_header(&plan, "feff 00000001", 0,
                        &(struct ctf_event_header){.id = 65534, .ticks = 0x1234567901000000}, 48);
    check_packet_header(&plan, "ffff ffff0000 0100000000000000", 0,
                        &(struct ctf_event_header){.id = 65535, .ticks = 1}, 112);
}

static void aligned_option_members_decode_individually(void **state)
{
    (void)state;
    struct extended_header h;
    struct ctf_header_plan plan;
    make_header(&h, 16, 32, 5, false); /* with natural alignment */
    h.header.align = 4;
    h.id.align = 4;
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_PARTS);
    check_packet_header(&plan, "0000 0500 00000001", 16,
                        &(struct ctf_event_header){.id = 5, .ticks = 0x1234567901000000}, 64);
    check_packet_header(&plan, "0500 0000 00000001", 0,
                        &(struct ctf_event_header){.id = 5, .ticks = 0x1234567901000000}, 64);
    check_packet_header(&plan, "ffff 0000 00000000 07000000 00000000 0900000000000000", 0,
                        &(struct ctf_event_header){.id = 7, .ticks = 9}, 192);
}

static void plain_headers_may_have_other_members(void **state)
{
    (void)state;
    struct type time = NUMBER(64, 3, CTF_ROLE_TIME, false),
                other = NUMBER(24, 3, CTF_ROLE_NONE, false),
                id = NUMBER(16, 3, CTF_ROLE_EVENT_ID, false),
                byte = NUMBER(8, 3, CTF_ROLE_NONE, false),
                bytes = {.kind = TYPE_ARRAY, .element = &byte, .count = 3, .align = 3};
    const struct type_member members[] = {MEMBER("timestamp", &time), MEMBER("other", &other),
                                          MEMBER("id", &id), MEMBER("bytes", &bytes)};
    struct type header = STRUCT(members, 3);
    struct ctf_stream_class stream = {.event_header = &header};
    struct ctf_header_plan plan;
    ctf_header_plan_init(&plan, &stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LOADS);
    assert_int_equal(plan.loads.room, 19);
    check_packet_header(&plan, "0102030405060708 ffffff 0201 ffffff 000000", 0,
                        &(struct ctf_event_header){.id = 0x102, .ticks = 0x0807060504030201}, 128);
}

static void unaligned_headers_decode_bitwise(void **state)
{
    (void)state;
    struct type id = NUMBER(3, 0, CTF_ROLE_EVENT_ID, false),
                time = NUMBER(10, 0, CTF_ROLE_TIME, false);
    const struct type_member members[] = {MEMBER("id", &id), MEMBER("timestamp", &time)};
    struct type header = STRUCT(members, 0);
    struct ctf_stream_class stream = {.event_header = &header};
    struct ctf_header_plan plan;
    ctf_header_plan_init(&plan, &stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_PARTS);
    /* id in bits 5..7, time in bits 8..17 */
    check_packet_header(&plan, "a0 ff 02", 5,
                        &(struct ctf_event_header){.id = 5, .ticks = 0x123456789abcdeff}, 18);
}

static void header_without_id_selects_only_class(void **state)
{
    (void)state;
    struct type time = NUMBER(32, 3, CTF_ROLE_TIME, false);
    const struct type_member members[] = {MEMBER("timestamp", &time)};
    struct type header = STRUCT(members, 3);
    struct ctf_event_class event = {.id = 77};
    struct ctf_event_class *events[] = {&event};
    struct ctf_stream_class stream = {.event_header = &header, .events = events, .events_n = 1};
    struct ctf_header_plan plan;
    ctf_header_plan_init(&plan, &stream, NULL);
    check_packet_header(&plan, "f1debc9a 00000000", 0,
                        &(struct ctf_event_header){.id = 77, .ticks = 0x123456789abcdef1}, 32);
    stream.event_header = NULL;
    ctf_header_plan_init(&plan, &stream, NULL);
    assert_false(plan.has_time);
    check_packet_header(&plan, "00", 0,
                        &(struct ctf_event_header){.id = 77, .ticks = 0x123456789abcdef0}, 0);
}

static void truncated_headers_are_short(void **state)
{
    (void)state;
    struct extended_header h;
    struct ctf_header_plan plan;
    uint8_t bytes[16] = {0x1f};
    make_header(&h, 5, 27, 3, false);
    ctf_header_plan_init(&plan, &h.stream, NULL);
    for (uint64_t n = 0; n < 104; n++) {
        struct ctf_event_header header = {.ticks = 0};
        struct bits bits = bits_init(bytes, 0, n);
        ctf_read_event_header(&plan, &bits, NULL, &header);
        assert_int_equal(header.end, LAYOUT_TRUNCATED);
    }
}

static void other_variants_use_layout(void **state)
{
    (void)state;
    static const struct type_range hole = {0, 29};
    static const ttr_text other_name[] = {{"v", 1}};
    struct extended_header h;
    struct ctf_header_plan plan;
    make_header(&h, 5, 27, 3, false);
    h.options[0].ranges = &hole; /* no option for id 30 */
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LAYOUT);
    make_header(&h, 5, 27, 3, false);
    h.variant.reference.names = other_name;
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LAYOUT);
    make_header(&h, 5, 27, 3, false);
    h.time.is_reversed = true;
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LAYOUT);
    make_header(&h, 5, 27, 3, false);
    h.long_id.kind = TYPE_VAR_UINT;
    ctf_header_plan_init(&plan, &h.stream, NULL);
    assert_int_equal(plan.kind, CTF_PLAN_LAYOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_headers_of_lttng_are_two_loads),
        cmocka_unit_test(big_endian_compact_headers_decode),
        cmocka_unit_test(large_headers_of_lttng_are_two_loads),
        cmocka_unit_test(aligned_option_members_decode_individually),
        cmocka_unit_test(plain_headers_may_have_other_members),
        cmocka_unit_test(unaligned_headers_decode_bitwise),
        cmocka_unit_test(header_without_id_selects_only_class),
        cmocka_unit_test(truncated_headers_are_short),
        cmocka_unit_test(other_variants_use_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
