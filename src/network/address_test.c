/* Tests of network addresses as text. */
#include "network/address.h"

#include "support/support.h"

static void check_address(const char *text, const char *printed)
{
    struct address address;
    char got[ADDRESS_TEXT_MAX];
    ttr_error error = {0};
    if (address_parse(text, &address, &error) != TTR_OK)
        fail_msg("%s: %s", text, error.text);
    address_print(&address, got);
    assert_string_equal(got, printed);
}

static void addresses_are_printed_as_they_are_parsed(void **state)
{
    (void)state;
    check_address("udp:127.0.0.1:7000", "udp:127.0.0.1:7000");
    check_address("tcp:127.0.0.1:65535", "tcp:127.0.0.1:65535");
    check_address("udp:[::1]:7000", "udp:[::1]:7000");
    check_address("unix:/tmp/a:b", "unix:/tmp/a:b");
}

static void missing_host_is_the_loopback_interface(void **state)
{
    (void)state;
    check_address("udp::7000", "udp:127.0.0.1:7000");
}

static void text_that_is_no_address_is_misuse(void **state)
{
    (void)state;
    static const char *const texts[] = {"",          "udp",        "udp:",  "udp:7000",
                                        "udp:h:",    "tls:h:1",    "unix:", "udp:::1:7000",
                                        "udp:h:abc", "udp:[::1]7", "7000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct address address;
        ttr_error error = {0};
        if (address_parse(texts[i], &address, &error) != TTR_E_MISUSE)
            fail_msg("\"%s\" was not refused as misuse: %s", texts[i], error.text);
        assert_non_null(strstr(error.text, "expected") ? error.text : strstr(error.text, "has"));
    }
}

static void hosts_are_compared_without_their_ports(void **state)
{
    (void)state;
    struct address a, b, c;
    assert_int_equal(address_parse("tcp:127.0.0.1:1", &a, NULL), TTR_OK);
    assert_int_equal(address_parse("tcp:127.0.0.1:2", &b, NULL), TTR_OK);
    assert_int_equal(address_parse("tcp:127.0.0.2:1", &c, NULL), TTR_OK);
    assert_true(address_has_same_host(&a, &b));
    assert_false(address_has_same_host(&a, &c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_printed_as_they_are_parsed),
        cmocka_unit_test(missing_host_is_the_loopback_interface),
        cmocka_unit_test(text_that_is_no_address_is_misuse),
        cmocka_unit_test(hosts_are_compared_without_their_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
