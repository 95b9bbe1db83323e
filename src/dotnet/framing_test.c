/* Tests for the block scanner: small streams written by hand, passed byte by byte and split at
 * every offset. */
#include "dotnet/framing.h"

#include "support/support.h"

/* [0..31] header | [32..101] Trace object | [102..131] start of a block, padded | [132..135]
 * payload | [136] close tag | [137] end tag */
static const char nettrace4[] =
    "4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31"
    "05 05 01 04000000 04000000 05000000 5472616365 06 "
    "000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000 06"
    "05 05 01 02000000 02000000 0a000000 4576656e74426c6f636b 06 04000000 01020304 06 01";

/* The same stream as netperf. Its Trace object starts 8 bytes earlier, so its block needs no
 * padding. */
static const char netperf[] =
    "14000000 2146617374536572 69616c697a617469 6f6e2e31"
    "04 04 01 04000000 04000000 05000000 5472616365 06 "
    "000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000 06"
    "04 04 01 02000000 02000000 0b000000 4576656e74426c6f636b32 06 04000000 000000 01020304 06 01";

/* [0..19] header | [20..23] block of kind 1, 3 bytes | [24..26] payload | [27..30] end block */
static const char nettrace6[] =
    "4e65747472616365 00000000 06000000 00000000 03000001 aabbcc 00000000";

static void check_complete_ends(const char *hex, const uint64_t *complete_ends,
                                size_t complete_ends_n)
{
    uint8_t bytes[256];
    size_t n = support_hex(bytes, sizeof bytes, hex), next_end = 0;
    struct framing by_one, at_once;
    framing_init(&by_one);
    for (size_t i = 0; i < n; i++) {
        framing_scan(&by_one, bytes + i, 1);
        if (next_end < complete_ends_n && by_one.complete_end == complete_ends[next_end])
            next_end++;
        assert_true(by_one.complete_end <= by_one.at);
        assert_true(by_one.complete_end == 0 ||
                    /* a stream cut inside its header has no complete part */
                    by_one.complete_end >= complete_ends[0]);
    }
    assert_int_equal(next_end, complete_ends_n);
    assert_int_equal(by_one.state, FRAMING_OVER);
    assert_int_equal(by_one.complete_end, n);
    for (size_t cut = 0; cut <= n; cut++) {
        framing_init(&at_once);
        framing_scan(&at_once, bytes, cut);
        framing_scan(&at_once, bytes + cut, n - cut);
        assert_int_equal(at_once.state, FRAMING_OVER);
        assert_int_equal(at_once.complete_end, n);
    }
}

static void block_ends_of_each_format_are_found(void **state)
{
    (void)state;
    check_complete_ends(nettrace4, (const uint64_t[]){32, 102, 137, 138}, 4);
    check_complete_ends(netperf, (const uint64_t[]){24, 94, 133, 134}, 4);
    check_complete_ends(nettrace6, (const uint64_t[]){20, 27 - 7, 27, 31}, 1);
}

static void foreign_bytes_stop_the_scan(void **state)
{
    static const char *const others[] = {
        "00000000000000000000",
        "4e65747472616365 15000000 0000000000000000",
        "4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31 07",
        "4e65747472616365 14000000 2146617374536572 69616c00 7a617469 6f6e2e31 01",
        "4e65747472616365 00000000 07000000 00000000 00000000",
        "4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31 050001 00000000 "
        "00000000 01000000 54 06",
        "4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31 050401 00000000 "
        "00000000 01000000 54 06",
        "14000000 21466173 74000072 69616c69 7a617469 6f6e2e31 01",
        "4e65747472616365 14000000 2146617374536572 69616c697a617469 6f6e2e31 050501 00000000 "
        "00000000 ffffffff"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        uint8_t bytes[64];
        struct framing framing;
        size_t n = support_hex(bytes, sizeof bytes, others[i]);
        framing_init(&framing);
        framing_scan(&framing, bytes, n);
        assert_int_equal(framing.state, FRAMING_UNKNOWN);
        /* all but those with a damaged header */
        assert_int_equal(framing.is_foreign, strncmp(others[i], "4e657474", 8) != 0 &&
                                                 strncmp(others[i], "14000000 21466173", 17) != 0);
        assert_int_equal(framing.at, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_ends_of_each_format_are_found),
        cmocka_unit_test(foreign_bytes_stop_the_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
