/* Keys of encrypted RFC v1.1 packets (AES-256, 32 bytes), read from a file or an environment
 * variable. Messages never contain the key. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "formats/ctf/packet/rfc11_packet.h"

/* maximum size of a key file in bytes: 64 digits and surrounding blanks */
#define KEY_TEXT 80

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the value of a hexadecimal digit, or 16 for any other character. */
static unsigned hex_digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16;
}

bool rfc11_parse_key(const uint8_t *bytes, size_t n, uint8_t key[RFC11_KEY])
{
    if (n == RFC11_KEY) {
        memcpy(key, bytes, RFC11_KEY);
        return true;
    }
    while (n > 0 && is_blank(bytes[n - 1]))
        n--;
    for (; n > 0 && is_blank(*bytes); n--)
        bytes++;
    if (n != (size_t)2 * RFC11_KEY)
        return false;
    for (size_t i = 0; i < RFC11_KEY; i++) {
        unsigned high = hex_digit_value(bytes[2 * i]), low = hex_digit_value(bytes[2 * i + 1]);
        if (high > 15 || low > 15)
            return false;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Reads up to n bytes from the start of a file. Returns the number of bytes read, or -1 with errno
 * set. */
static ssize_t read_file_start(const char *path, uint8_t *to, size_t n)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = 0, all = 0;
    if (file < 0)
        return -1;
    do {
        got = read(file, to + all, n - (size_t)all);
        all += got > 0 ? got : 0;
    } while ((got < 0 && errno == EINTR) || (got > 0 && (size_t)all < n));
    int sys = errno;
    (void)close(file);
    errno = sys;
    return got < 0 ? -1 : all;
}

ttr_status rfc11_read_key_file(const char *path, uint8_t key[RFC11_KEY], ttr_error *error)
{
    uint8_t text[KEY_TEXT + 1];
    ssize_t n = read_file_start(path, text, sizeof text);
    if (n < 0)
        return fail_sys(error, errno, NO_OFFSET, "cannot read the key file %s", path);
    bool is_key = n <= KEY_TEXT && rfc11_parse_key(text, (size_t)n, key);
    explicit_bzero(text, sizeof text);
    return is_key ? TTR_OK
                  : fail(error, TTR_E_MISUSE, NO_OFFSET,
                         "%s holds no key: expected 32 bytes, or 64 hexadecimal digits", path);
}

ttr_status rfc11_read_key_variable(const char *name, uint8_t key[RFC11_KEY], ttr_error *error)
{
    const char *value = getenv(name);
    if (!value)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the environment has no variable \"%s\" to take the key from", name);
    size_t n = strlen(value);
    if (n == RFC11_KEY || !rfc11_parse_key((const uint8_t *)value, n, key))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the variable %s holds no key: expected 64 hexadecimal digits", name);
    return TTR_OK;
}
