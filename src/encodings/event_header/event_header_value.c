/* Converts stored bytes to typed values. The type is that of the declared format if values of this
 * size can have it, else that of the encoding's default format. */
#include "base/bit_cursor.h"
#include "base/number.h"
#include "base/utf.h"
#include "encodings/event_header/event_header_parts.h"

/* Value sizes that each format accepts: bit n is set if n bytes are valid (n = 1, 2, 4, 8 or
 * 16). */
static const uint8_t sizes_of_format[EVENT_HEADER_FORMATS] = {
    [EVENT_HEADER_UNSIGNED] = 15,
    [EVENT_HEADER_SIGNED] = 15,
    [EVENT_HEADER_HEX] = 15,
    [EVENT_HEADER_ERRNO] = 4,
    [EVENT_HEADER_PID] = 4,
    [EVENT_HEADER_TIME] = 12,
    [EVENT_HEADER_BOOLEAN] = 7,
    [EVENT_HEADER_FLOAT] = 12,
    [EVENT_HEADER_UUID] = 16,
    [EVENT_HEADER_PORT] = 2,
    [EVENT_HEADER_IP_ADDRESS] = 4 | 16,
    [EVENT_HEADER_IP_OBSOLETE] = 4 | 16,
};
_Static_assert(EVENT_HEADER_FORMATS == 19, "a new format has a size");

static bool is_text_format(unsigned format)
{
    return format >= EVENT_HEADER_LATIN1 && format <= EVENT_HEADER_JSON;
}

/* Returns the format by which a value of `n` bytes is converted. A value of 16 bytes without a
 * valid format becomes bytes, since the library has no 128-bit integers. */
static enum event_header_format get_effective_format(unsigned format, size_t n)
{
    if (format < EVENT_HEADER_FORMATS && sizes_of_format[format] & n)
        return (enum event_header_format)format;
    bool is_character = (format == EVENT_HEADER_LATIN1 && n == 1) ||
                        (format == EVENT_HEADER_UTF && (n == 2 || n == 4));
    if (is_character || format == EVENT_HEADER_HEX_BYTES)
        return (enum event_header_format)format;
    return n == 16 ? EVENT_HEADER_HEX_BYTES : EVENT_HEADER_UNSIGNED;
}

static bool has_wide_characters(unsigned encoding)
{
    return encoding == EVENT_HEADER_ZSTRING16 || encoding == EVENT_HEADER_ZSTRING32 ||
           encoding == EVENT_HEADER_STRING16 || encoding == EVENT_HEADER_STRING32;
}

enum event_header_format event_header_get_effective_format(unsigned encoding, unsigned format,
                                                           size_t n)
{
    bool is_known = format > EVENT_HEADER_DEFAULT && format < EVENT_HEADER_FORMATS;
    if (encoding <= EVENT_HEADER_VALUE128)
        return get_effective_format(format, n);
    if (is_text_format(format) || format == EVENT_HEADER_HEX_BYTES)
        return format == EVENT_HEADER_LATIN1 && has_wide_characters(encoding)
                   ? EVENT_HEADER_UTF
                   : (enum event_header_format)format;
    bool is_any = encoding == EVENT_HEADER_STRING8 || encoding == EVENT_HEADER_BINARY;
    if (is_any && is_known && n == 0)
        return EVENT_HEADER_DEFAULT;
    if (is_any && is_known && n <= 16 && (n & (n - 1)) == 0 && sizes_of_format[format] & n)
        return (enum event_header_format)format;
    return encoding == EVENT_HEADER_BINARY ? EVENT_HEADER_HEX_BYTES : EVENT_HEADER_UTF;
}

const char *event_header_get_errno_name(uint32_t number)
{
    /* Error numbers of Linux on most architectures (asm-generic/errno.h); the event does not record
     * its architecture. */
    /* clang-format off */
    static const char *const names[] = {
        /*   0 */ NULL, "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC",
                  "EBADF",
        /*  10 */ "ECHILD", "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST",
                  "EXDEV", "ENODEV",
        /*  20 */ "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG",
                  "ENOSPC", "ESPIPE",
        /*  30 */ "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK", "ENAMETOOLONG", "ENOLCK",
                  "ENOSYS", "ENOTEMPTY",
        /*  40 */ "ELOOP", NULL, "ENOMSG", "EIDRM", "ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST",
                  "ELNRNG", "EUNATCH",
        /*  50 */ "ENOCSI", "EL2HLT", "EBADE", "EBADR", "EXFULL", "ENOANO", "EBADRQC", "EBADSLT",
                  NULL, "EBFONT",
        /*  60 */ "ENOSTR", "ENODATA", "ETIME", "ENOSR", "ENONET", "ENOPKG", "EREMOTE", "ENOLINK",
                  "EADV", "ESRMNT",
        /*  70 */ "ECOMM", "EPROTO", "EMULTIHOP", "EDOTDOT", "EBADMSG", "EOVERFLOW", "ENOTUNIQ",
                  "EBADFD", "EREMCHG", "ELIBACC",
        /*  80 */ "ELIBBAD", "ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ERESTART", "ESTRPIPE",
                  "EUSERS", "ENOTSOCK", "EDESTADDRREQ",
        /*  90 */ "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT",
                  "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT", "EADDRINUSE", "EADDRNOTAVAIL",
        /* 100 */ "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED", "ECONNRESET", "ENOBUFS",
                  "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS",
        /* 110 */ "ETIMEDOUT", "ECONNREFUSED", "EHOSTDOWN", "EHOSTUNREACH", "EALREADY",
                  "EINPROGRESS", "ESTALE", "EUCLEAN", "ENOTNAM", "ENAVAIL",
        /* 120 */ "EISNAM", "EREMOTEIO", "EDQUOT", "ENOMEDIUM", "EMEDIUMTYPE", "ECANCELED",
                  "ENOKEY", "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED",
        /* 130 */ "EOWNERDEAD", "ENOTRECOVERABLE", "ERFKILL", "EHWPOISON",
    };
    /* clang-format on */
    return number < sizeof names / sizeof *names ? names[number] : NULL;
}

char *event_header_write_uuid(char *to, const uint8_t *bytes)
{
    for (unsigned i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = "0123456789abcdef"[bytes[i] >> 4];
        *to++ = "0123456789abcdef"[bytes[i] & 15];
    }
    return to;
}

static size_t write_ipv4(char *to, const uint8_t *bytes)
{
    size_t n = 0;
    for (unsigned i = 0; i < 4; i++) {
        n += number_format_u64(to + n, bytes[i]);
        to[n++] = '.';
    }
    to[--n] = '\0';
    return n;
}

static size_t write_ipv6_group(char *to, unsigned group)
{
    size_t n = 0;
    for (int shift = 12; shift >= 0; shift -= 4)
        if (n > 0 || group >> shift || shift == 0)
            to[n++] = "0123456789abcdef"[group >> shift & 15];
    return n;
}

/* Finds the longest run of at least two zero groups in an IPv6 address, the first of several (RFC
 * 5952, 4.2.3). Returns its length, 0 if there is none, and sets `begin` to its first group. */
static unsigned find_longest_zero_run(const uint8_t *bytes, unsigned *begin)
{
    unsigned best = 1;
    for (unsigned i = 0, run = 0; i < 8; i++) {
        run = load_u16be(bytes + 2 * (size_t)i) == 0 ? run + 1 : 0;
        if (run > best) {
            best = run;
            *begin = i + 1 - run;
        }
    }
    return best > 1 ? best : 0;
}

/* Writes an IPv6 address as RFC 5952 prescribes. If it contains an IPv4 address, writes that part
 * with dots, as inet_ntop does. */
static size_t write_ipv6(char *to, const uint8_t *bytes)
{
    unsigned begin = 8, zeros = find_longest_zero_run(bytes, &begin);
    size_t n = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (zeros && i == begin) {
            to[n++] = ':';
            to[n++] = ':';
            i += zeros - 1;
            continue;
        }
        if (n > 0 && to[n - 1] != ':')
            to[n++] = ':';
        bool is_mapped = begin == 0 && i == 6 &&
                         (zeros == 6 || (zeros == 5 && load_u16be(bytes + 10) == 0xffff));
        if (is_mapped)
            return n + write_ipv4(to + n, bytes + 12);
        n += write_ipv6_group(to + n, load_u16be(bytes + 2 * (size_t)i));
    }
    to[n] = '\0';
    return n;
}

/* Writes an address of 4 bytes as "127.0.0.1", of 16 bytes as "::1": at most 46 characters, and a
 * zero. Returns the length without the zero. */
static size_t write_ip_address(char *to, const uint8_t *bytes, size_t n)
{
    return n == 4 ? write_ipv4(to, bytes) : write_ipv6(to, bytes);
}

/* Detects a byte order mark at the start of a text. Returns its character size in bytes (1, 2, 4)
 * and sets the byte order; returns 0 if there is none. */
static unsigned detect_byte_order_mark(const uint8_t *p, size_t n, bool *is_big_endian)
{
    *is_big_endian = n >= 2 && (p[0] == 0 || p[0] == 0xfe);
    if (n >= 4 && (load_u32le(p) == 0xfeff || load_u32be(p) == 0xfeff))
        return 4;
    if (n >= 2 && (load_u16le(p) == 0xfeff || load_u16be(p) == 0xfeff))
        return 2;
    return n >= 3 && p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf ? 1 : 0;
}

/* --- Text in Latin-1, UTF-8, UTF-16 and UTF-32 --- */

struct encoded_text {
    const uint8_t *p;
    size_t n;
    unsigned unit; /* bytes per character; 0 for ISO 8859-1 */
    bool is_big_endian;
};

static void decode_text(struct encoded_text from, struct arena *scratch, ttr_value *value)
{
    value->type = TTR_TYPE_TEXT;
    value->text = (ttr_text){(const char *)from.p, from.n};
    if (from.unit == 1 || from.n == 0)
        return;
    char *to = arena_alloc(scratch, 2 * from.n);
    if (!to)
        value->type = TTR_TYPE_BYTES;
    else if (from.unit == 0)
        value->text = (ttr_text){to, utf8_from_latin1(to, from.p, from.n)};
    else if (from.unit == 4)
        value->text = (ttr_text){to, utf8_from_utf32(to, from.p, from.n / 4, from.is_big_endian)};
    else
        value->text = (ttr_text){to, (from.is_big_endian ? utf8_from_utf16be : utf8_from_utf16le)(
                                         to, from.p, from.n / 2)};
}

/* Bytes of a value, and the declaration of the field that it belongs to. */
struct stored_value {
    const struct event_header_step *step;
    const uint8_t *p;
    uint32_t n;
    bool is_big_endian;
};

static void convert_text(const struct stored_value *stored, enum event_header_format meaning,
                         struct arena *scratch, ttr_value *value)
{
    struct encoded_text from = {stored->p, stored->n,
                                stored->step->unit ? stored->step->unit : stored->step->bytes,
                                stored->is_big_endian};
    if (meaning == EVENT_HEADER_LATIN1)
        from.unit = 0;
    bool is_big_endian = false;
    unsigned mark =
        meaning > EVENT_HEADER_UTF ? detect_byte_order_mark(from.p, from.n, &is_big_endian) : 0;
    if (mark) {
        unsigned bytes = mark == 1 ? 3 : mark;
        from = (struct encoded_text){from.p + bytes, from.n - bytes, mark, is_big_endian};
    }
    decode_text(from, scratch, value);
}

/* --- Numbers and booleans --- */

static uint64_t load_integer(const uint8_t *p, size_t n, bool is_big_endian)
{
    switch (n) {
    case 1:
        return *p;
    case 2:
        return is_big_endian ? load_u16be(p) : load_u16le(p);
    case 4:
        return is_big_endian ? load_u32be(p) : load_u32le(p);
    default:
        return is_big_endian ? load_u64be(p) : load_u64le(p);
    }
}

static double convert_bits_to_float(uint64_t x, unsigned bits)
{
    float single;
    uint32_t low = (uint32_t)x;
    memcpy(&single, &low, sizeof single);
    return bits == 32 ? (double)single : double_of_bits(x);
}

/* Converts a boolean. If it is not 0 or 1, it becomes an integer, to keep its value; one of four
 * bytes a signed integer, as in Microsoft's decoder. */
static void convert_boolean(uint64_t x, unsigned bits, ttr_value *value)
{
    value->v.u = x;
    value->type = x <= 1 ? TTR_TYPE_BOOL : TTR_TYPE_UINT;
    if (x > 1 && bits == 32) {
        value->type = TTR_TYPE_INT;
        value->v.s = bits_sign_extend(x, 32);
    }
}

static void convert_errno(uint64_t x, ttr_value *value)
{
    const char *name = event_header_get_errno_name((uint32_t)x);
    value->type = TTR_TYPE_INT;
    value->v.s = bits_sign_extend(x, 32);
    value->hint = TTR_DISPLAY_ENUM;
    value->count = name != NULL;
    value->text = name ? (ttr_text){name, strlen(name)} : (ttr_text){"", 0};
}

/* Converts a time, UUID or IP address to text. The value becomes BYTES if memory runs out. */
static void convert_to_text(const struct stored_value *stored, enum event_header_format meaning,
                            struct arena *scratch, ttr_value *value)
{
    char *to = arena_alloc(scratch, (size_t)2 * NUMBER_MAX);
    size_t n = 0;
    *value = (ttr_value){.type = TTR_TYPE_BYTES, .text = {(const char *)stored->p, stored->n}};
    if (!to)
        return;
    if (meaning == EVENT_HEADER_UUID) {
        n = (size_t)(event_header_write_uuid(to, stored->p) - to);
    } else if (meaning == EVENT_HEADER_TIME) {
        n = number_format_date_time(
            to, bits_sign_extend(load_integer(stored->p, stored->n, stored->is_big_endian),
                                 8 * stored->n));
        to[n++] = 'Z';
    } else {
        n = write_ip_address(to, stored->p, stored->n);
    }
    value->type = TTR_TYPE_TEXT;
    value->text = (ttr_text){to, n};
}

static void convert_number(const struct stored_value *stored, enum event_header_format meaning,
                           ttr_value *value)
{
    unsigned bits = 8 * stored->n;
    bool is_big_endian = stored->is_big_endian || meaning == EVENT_HEADER_PORT;
    uint64_t x = load_integer(stored->p, stored->n, is_big_endian);
    value->bits = (uint8_t)(bits & 63);
    value->type = TTR_TYPE_UINT;
    value->v.u = x;
    switch (meaning) {
    case EVENT_HEADER_SIGNED:
    case EVENT_HEADER_PID:
        value->type = TTR_TYPE_INT;
        value->v.s = bits_sign_extend(x, bits);
        return;
    case EVENT_HEADER_HEX:
        value->base = 16;
        return;
    case EVENT_HEADER_FLOAT:
        value->type = TTR_TYPE_FLOAT;
        value->v.f = convert_bits_to_float(x, bits);
        return;
    case EVENT_HEADER_BOOLEAN:
        convert_boolean(x, bits, value);
        return;
    case EVENT_HEADER_ERRNO:
        convert_errno(x, value);
        return;
    default:
        return;
    }
}

static inline void convert_value(const struct stored_value *stored, struct arena *scratch,
                                 ttr_value *value)
{
    const struct event_header_step *step = stored->step;
    enum event_header_format meaning =
        step->meaning ? (enum event_header_format)step->meaning
                      : event_header_get_effective_format(step->encoding, step->format, stored->n);
    if (meaning == EVENT_HEADER_UTF && step->unit == 1) {
        value->type = TTR_TYPE_TEXT;
        value->text = (ttr_text){(const char *)stored->p, stored->n};
        return;
    }
    switch (meaning) {
    case EVENT_HEADER_DEFAULT:
        return; /* the type of the value stays NULL */
    case EVENT_HEADER_HEX_BYTES:
        value->type = TTR_TYPE_BYTES;
        value->text = (ttr_text){(const char *)stored->p, stored->n};
        return;
    case EVENT_HEADER_TIME:
    case EVENT_HEADER_UUID:
    case EVENT_HEADER_IP_ADDRESS:
    case EVENT_HEADER_IP_OBSOLETE:
        convert_to_text(stored, meaning, scratch, value);
        return;
    case EVENT_HEADER_LATIN1:
    case EVENT_HEADER_UTF:
    case EVENT_HEADER_UTF_BOM:
    case EVENT_HEADER_XML:
    case EVENT_HEADER_JSON:
        convert_text(stored, meaning, scratch, value);
        return;
    default:
        convert_number(stored, meaning, value);
        return;
    }
}

void event_header_convert_value(const struct event_header_iter *iter, struct arena *scratch,
                                ttr_value *value)
{
    const struct stored_value stored = {iter->step, iter->value, iter->value_n,
                                        iter->metadata.is_big_endian};
    convert_value(&stored, scratch, value);
}

/* --- Fast path: decoding of many simple values per call --- */

static uint32_t decode_members(struct event_header_iter *iter, struct arena *scratch,
                               ttr_field *field, uint32_t room)
{
    struct event_header_level *level = &iter->level[iter->levels];
    struct stored_value stored = {.step = &iter->plan->step[iter->at],
                                  .is_big_endian = iter->metadata.is_big_endian};
    struct cursor c = iter->data;
    uint32_t n = 0, most = iter->end - iter->at;
    most = most < level->members ? most : level->members;
    most = most < room ? most : room;
    for (; n < most && !stored.step->array && !stored.step->members; n++, stored.step++) {
        if (!event_header_read_value(stored.step, stored.is_big_endian, &c, &stored.p, &stored.n))
            break;
        field_clear(&field[n]);
        field[n].name = stored.step->name;
        field[n].name_id = stored.step->name_id;
        field[n].depth = level->depth;
        convert_value(&stored, scratch, &field[n].value);
    }
    iter->data = c;
    iter->at += n;
    level->members -= n;
    return n;
}

static uint32_t decode_elements(struct event_header_iter *iter, struct arena *scratch,
                                ttr_field *field, uint32_t room)
{
    struct stored_value stored = {.step = iter->step,
                                  .is_big_endian = iter->metadata.is_big_endian};
    uint32_t n = 0, most = iter->elements < room ? iter->elements : room;
    for (; n < most && event_header_read_value(stored.step, stored.is_big_endian, &iter->data,
                                               &stored.p, &stored.n);
         n++) {
        field_clear(&field[n]);
        field[n].depth = (uint16_t)(iter->level[iter->levels].depth + 1);
        convert_value(&stored, scratch, &field[n].value);
    }
    iter->elements -= n;
    return n;
}

uint32_t event_header_decode_values(struct event_header_iter *iter, struct arena *scratch,
                                    ttr_field *field, uint32_t room)
{
    if (!iter->plan)
        return 0;
    return iter->elements ? decode_elements(iter, scratch, field, room)
                          : decode_members(iter, scratch, field, room);
}
