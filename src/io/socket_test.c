/* Tests of connections: to a listener on the loopback interface, and over socket pairs. */
#include "io/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/support.h"

enum { PATIENCE_MS = 60000, BRIEF_MS = 300 };

/* Returns a descriptor that listens on a free port of the loopback interface. */
static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(listen(fd, 4), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static struct socket *make_pair(int *other)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    *other = pair[1];
    struct socket *socket = socket_adopt(alloc_default(), pair[0], NULL);
    assert_non_null(socket);
    return socket;
}

static void connection_transfers_bytes_both_ways(void **state)
{
    (void)state;
    uint16_t port;
    int listener = listen_anywhere(&port);
    struct socket_target target = {.host = "127.0.0.1", .port = port, .limit_ms = PATIENCE_MS};
    struct socket *socket = socket_connect(alloc_default(), &target, NULL);
    assert_non_null(socket);
    int other = accept(listener, NULL, NULL);
    assert_true(other >= 0);
    assert_int_equal(socket_send(socket, "hello", 5, NULL), 5);
    char got[16] = {0};
    assert_int_equal(read(other, got, sizeof got), 5);
    assert_string_equal(got, "hello");
    assert_int_equal(write(other, "you", 3), 3);
    assert_true(socket_wait(socket, false, PATIENCE_MS));
    assert_int_equal(socket_receive(socket, got, 2, NULL), 2);
    assert_int_equal(socket_receive(socket, got, sizeof got, NULL), 1);
    assert_int_equal(got[0], 'u');
    socket_close(socket);
    (void)close(other);
    (void)close(listener);
}

static void refused_connection_is_reported(void **state)
{
    (void)state;
    uint16_t port;
    ttr_error error;
    (void)close(listen_anywhere(&port));
    struct socket_target target = {
        .host = "127.0.0.1", .port = port, .family = SOCKET_IPV4, .limit_ms = PATIENCE_MS};
    assert_null(socket_connect(alloc_default(), &target, &error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_non_null(strstr(error.text, "127.0.0.1"));
    assert_non_null(strstr(error.text, "is the daemon running"));
}

static void invalid_host_is_not_found(void **state)
{
    (void)state;
    ttr_error error;
    struct socket_target target = {
        .host = "no host has spaces", .port = 1, .limit_ms = PATIENCE_MS};
    assert_null(socket_connect(alloc_default(), &target, &error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_non_null(strstr(error.text, "cannot find the host no host has spaces"));
}

static void address_of_other_family_is_not_used(void **state)
{
    (void)state;
    struct socket_target target = {
        .host = "127.0.0.1", .port = 1, .family = SOCKET_IPV6, .limit_ms = PATIENCE_MS};
    ttr_error error;
    assert_null(socket_connect(alloc_default(), &target, &error));
    assert_non_null(strstr(error.text, "cannot find the host"));
}

static bool stop(void *ctx)
{
    ++*(int *)ctx;
    return false;
}

/* A listener with a full queue leaves further connects pending. */
static void connect_ends_at_limit_or_on_request(void **state)
{
    (void)state;
    uint16_t port;
    int listener = listen_anywhere(&port), asked = 0;
    struct socket_target target = {.host = "127.0.0.1", .port = port, .limit_ms = BRIEF_MS};
    struct socket *filler[64] = {0};
    ttr_error error = {0};
    size_t n = 0;
    assert_int_equal(listen(listener, 0), 0);
    while (n < 64 && (filler[n] = socket_connect(alloc_default(), &target, &error)))
        n++;
    assert_true(n < 64);
    assert_int_equal(error.status, TTR_E_IO);
    target.goes_on = stop;
    target.ctx = &asked;
    target.limit_ms = PATIENCE_MS;
    uint64_t begin = socket_now_ms();
    assert_null(socket_connect(alloc_default(), &target, &error));
    assert_int_equal(error.status, TTR_AGAIN);
    assert_int_equal(asked, 1);
    assert_true(socket_now_ms() - begin < PATIENCE_MS);
    while (n > 0)
        socket_close(filler[--n]);
    (void)close(listener);
}

static void receive_without_bytes_returns_zero(void **state)
{
    (void)state;
    int other;
    char byte;
    struct socket *socket = make_pair(&other);
    assert_int_equal(socket_receive(socket, &byte, 1, NULL), 0);
    uint64_t begin = socket_now_ms();
    assert_false(socket_wait(socket, false, 20));
    assert_true(socket_now_ms() - begin >= 19);
    assert_true(socket_wait(socket, true, PATIENCE_MS));
    (void)close(other);
    socket_close(socket);
}

static void send_to_full_connection_returns_zero(void **state)
{
    (void)state;
    int other;
    static char bytes[1 << 16];
    struct socket *socket = make_pair(&other);
    int64_t sent;
    size_t total = 0;
    while ((sent = socket_send(socket, bytes, sizeof bytes, NULL)) > 0)
        total += (size_t)sent;
    assert_int_equal(sent, 0);
    assert_true(total > 0);
    assert_false(socket_wait(socket, true, 0));
    (void)close(other);
    socket_close(socket);
}

static void connection_closed_by_peer_is_lost(void **state)
{
    (void)state;
    int other;
    char byte;
    ttr_error error;
    struct socket *socket = make_pair(&other);
    (void)close(other);
    assert_true(socket_wait(socket, false, PATIENCE_MS));
    assert_int_equal(socket_receive(socket, &byte, 1, &error), -1);
    assert_int_equal(error.status, TTR_E_IO);
    assert_int_equal(socket_send(socket, "x", 1, &error), -1);
    assert_int_equal(error.status, TTR_E_IO);
    socket_close(socket);
    socket_close(NULL);
}

static bool adopt(const struct alloc *alloc)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    struct socket *socket = socket_adopt(alloc, pair[0], NULL);
    socket_close(socket);
    (void)close(pair[1]);
    return socket != NULL;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(adopt);
}

static void invalid_descriptor_is_not_adopted(void **state)
{
    (void)state;
    ttr_error error;
    assert_null(socket_adopt(alloc_default(), -1, &error));
    assert_int_equal(error.status, TTR_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connection_transfers_bytes_both_ways),
        cmocka_unit_test(refused_connection_is_reported),
        cmocka_unit_test(invalid_host_is_not_found),
        cmocka_unit_test(address_of_other_family_is_not_used),
        cmocka_unit_test(connect_ends_at_limit_or_on_request),
        cmocka_unit_test(receive_without_bytes_returns_zero),
        cmocka_unit_test(send_to_full_connection_returns_zero),
        cmocka_unit_test(connection_closed_by_peer_is_lost),
        cmocka_unit_test(failed_allocation_is_reported),
        cmocka_unit_test(invalid_descriptor_is_not_adopted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
