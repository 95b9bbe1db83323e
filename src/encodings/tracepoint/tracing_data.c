/* Parser of trace-cmd's description of tracepoints. Byte layout: tracing_data.h. */
#include "encodings/tracepoint/tracing_data.h"

#include <string.h>

#include "base/number.h"
#include "base/status.h"

#define SYSTEM_MAX 4096u /* bytes of the longest system name that is accepted */
#define FORMAT_BEGIN "name: "
/* Limits of a system that is found after damage. */
#define FOUND_SYSTEM_MAX 64u
#define FOUND_FORMATS_MAX 65535u

uint64_t tracing_data_read_number(const struct tracing_data *data, struct cursor *c, unsigned bytes)
{
    const uint8_t *p = cursor_read_bytes(c, bytes);
    uint64_t value = 0;
    for (unsigned i = 0; p && i < bytes; i++)
        value = value << 8 | p[data->is_big_endian ? i : bytes - 1 - i];
    return value;
}

/* Reads a string and the zero at its end, in at most `most` bytes. If they contain no zero,
 * returns NULL and sets c->failed. */
static ttr_text read_string(struct cursor *c, size_t most)
{
    size_t left = cursor_left(c);
    const uint8_t *zero = left ? memchr(c->p, 0, left < most ? left : most) : NULL;
    if (!zero) {
        c->failed = true;
        return (ttr_text){0};
    }
    ttr_text text = {(const char *)c->p, (size_t)(zero - c->p)};
    (void)cursor_skip(c, text.n + 1);
    return text;
}

/* Reads a text that follows its length, a number of `bytes` bytes. If it is cut off, sets
 * c->failed. */
static ttr_text read_sized_text(const struct tracing_data *data, struct cursor *c, unsigned bytes)
{
    uint64_t n = tracing_data_read_number(data, c, bytes);
    const uint8_t *p = c->failed ? NULL : cursor_read_bytes(c, n);
    return (ttr_text){(const char *)p, p ? (size_t)n : 0};
}

bool tracing_data_parse_head(struct tracing_data *data, struct cursor *c)
{
    *data = (struct tracing_data){
        .all = data->all, .odd = data->odd, .ctx = data->ctx, .is_complete = data->is_complete};
    const uint8_t *magic = cursor_read_bytes(c, TRACING_DATA_MAGIC_BYTES);
    if (!magic || memcmp(magic, TRACING_DATA_MAGIC, TRACING_DATA_MAGIC_BYTES) != 0)
        return false;
    ttr_text version = read_string(c, sizeof data->version);
    if (c->failed)
        return false;
    memcpy(data->version, version.p, version.n);
    data->is_big_endian = cursor_u8(c) != 0;
    data->long_bytes = cursor_u8(c);
    data->page_bytes = (uint32_t)tracing_data_read_number(data, c, 4);
    data->commit_bytes = data->long_bytes == 4 ? 4 : 8;
    data->page_data = 8u + data->commit_bytes;
    return !c->failed && (data->long_bytes == 4 || data->long_bytes == 8);
}

/* Finds the number after `key` in the line of `field`, in a text with lines such as "field:
 * local_t commit;\toffset:8;\tsize:8;\tsigned:1;". Returns false if the text does not contain
 * it. */
static bool find_field_number(ttr_text text, const char *field, const char *key, uint64_t *value)
{
    const char *at = memmem(text.p, text.n, field, strlen(field));
    if (!at)
        return false;
    size_t left = text.n - (size_t)(at - text.p);
    const char *end = memchr(at, '\n', left);
    size_t line = end ? (size_t)(end - at) : left;
    const char *number = memmem(at, line, key, strlen(key));
    if (!number)
        return false;
    number += strlen(key);
    size_t digits = 0, most = line - (size_t)(number - at);
    while (digits < most && number[digits] >= '0' && number[digits] <= '9')
        digits++;
    return digits > 0 && number_parse_u64(number, digits, value);
}

ttr_status tracing_data_parse_pages(struct tracing_data *data, struct cursor *c)
{
    static const char *const names[] = {"header_page", "header_event"};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t offset = c->offset, commit, place;
        ttr_text name = read_string(c, 16);
        ttr_text text = c->failed ? name : read_sized_text(data, c, 8);
        if (c->failed)
            return TTR_OK;
        if (name.n != strlen(names[i]) || memcmp(name.p, names[i], name.n) != 0) {
            data->odd(data->ctx, offset, "the layout of pages has another name than expected");
            c->failed = true;
            return TTR_OK;
        }
        if (i == 1 || text.n == 0) /* header_event is not evaluated, because the encoding of events
                                      has never changed */
            continue;
        if (find_field_number(text, " commit;", "size:", &commit) && (commit == 4 || commit == 8))
            data->commit_bytes = (uint8_t)commit;
        data->page_data = 8u + data->commit_bytes;
        if (find_field_number(text, " data;", "offset:", &place) && place >= data->page_data &&
            place <= 64)
            data->page_data = (uint32_t)place;
    }
    return TTR_OK;
}

/* --- Formats, and resynchronization after a damaged one --- */

/* Reads a format. If all bytes are there, an empty format and one with a zero byte are damaged: the
 * size is wrong or bytes were cleared. */
static bool read_format(const struct tracing_data *data, struct cursor *c, ttr_text *format)
{
    *format = read_sized_text(data, c, 8);
    if (c->failed || !data->is_complete)
        return !c->failed;
    return format->n && !memchr(format->p, 0, format->n);
}

static bool is_format_here(const struct tracing_data *data, struct cursor c)
{
    ttr_text format;
    return read_format(data, &c, &format) && format.n > strlen(FORMAT_BEGIN) &&
           memcmp(format.p, FORMAT_BEGIN, strlen(FORMAT_BEGIN)) == 0;
}

static bool is_name_character(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Returns the size in bytes of the name and count of a system if these are the last of `n` bytes,
 * or 0. */
static size_t find_system_head(const struct tracing_data *data, const uint8_t *p, size_t n)
{
    size_t length = 0;
    if (n < 4 + 1 + 1 || p[n - 4 - 1] != 0)
        return 0;
    struct cursor c = cursor_init(p + n - 4, 4, 0);
    const uint64_t count = tracing_data_read_number(data, &c, 4);
    while (length < n - 4 - 1 && is_name_character(p[n - 4 - 1 - 1 - length]))
        length++;
    return count && count <= FOUND_FORMATS_MAX && length && length <= FOUND_SYSTEM_MAX
               ? length + 1 + 4
               : 0;
}

static bool is_system_here(const struct tracing_data *data, struct cursor c)
{
    const uint8_t *p = c.p;
    const ttr_text name = read_string(&c, FOUND_SYSTEM_MAX + 1);
    return !c.failed && cursor_skip(&c, 4) &&
           find_system_head(data, p, name.n + 1 + 4) == name.n + 1 + 4 && is_format_here(data, c);
}

/* Moves the cursor to the next format, or to its system if the format is the first of one. Each
 * byte is visited a fixed number of times, since a format has no zero byte but its size has some.
 * Returns false, with the cursor unchanged, if there is none. */
static bool resync(struct tracing_data *data, struct cursor *c)
{
    const uint8_t *begin = c->p, *found = begin;
    const size_t n = cursor_left(c);
    for (size_t at = 0; (found = memmem(begin + at, n - at, FORMAT_BEGIN, strlen(FORMAT_BEGIN)));
         at++) {
        at = (size_t)(found - begin);
        struct cursor next = *c;
        if (at < 8 || !cursor_skip(&next, at - 8) || !is_format_here(data, next))
            continue;
        if (data->damage_end == data->damage_at)
            data->damage_at = c->offset;
        (void)cursor_skip(c, at - 8 - find_system_head(data, begin, at - 8));
        data->damage_end = c->offset;
        data->is_resynced = true;
        return true;
    }
    return false;
}

static ttr_status add_format(const struct tracing_data *data, uint64_t offset, ttr_text system,
                             ttr_text format, ttr_error *error)
{
    ttr_error why;
    const ttr_status status = data->all ? tracepoints_add(data->all, system, format, &why) : TTR_OK;
    if (status == TTR_E_MALFORMED)
        data->odd(data->ctx, offset, why.text);
    else if (status != TTR_OK && error)
        *error = why;
    return status == TTR_E_MALFORMED ? TTR_OK : status;
}

/* Parses n formats of a system. After damage parses all formats up to the next system. */
static ttr_status parse_formats(struct tracing_data *data, struct cursor *c, uint64_t n,
                                ttr_text system, ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint64_t i = 0; status == TTR_OK && !c->failed && (i < n || data->is_resynced); i++) {
        const struct cursor begin = *c;
        ttr_text format;
        const bool is_end = data->is_resynced && !is_format_here(data, begin);
        if (is_end && (is_system_here(data, begin) || !resync(data, c)))
            break;
        if (is_end)
            continue;
        if (read_format(data, c, &format)) {
            status = add_format(data, begin.offset, system, format, error);
            continue;
        }
        const struct cursor end = *c;
        *c = begin;
        if (data->is_complete && resync(data, c))
            continue;
        *c = end;
        if (!c->failed)
            data->odd(data->ctx, begin.offset, "a format is empty or has zero bytes");
    }
    return status;
}

ttr_status tracing_data_parse_ftrace(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    const uint64_t n = tracing_data_read_number(data, c, 4);
    return parse_formats(data, c, n, (ttr_text){"ftrace", 6}, error);
}

ttr_status tracing_data_parse_systems(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    /* resynchronization may have skipped the count */
    uint64_t n =
        data->is_resynced && is_system_here(data, *c) ? 0 : tracing_data_read_number(data, c, 4);
    ttr_status status = TTR_OK;
    for (uint64_t i = 0;
         !c->failed && status == TTR_OK && (data->is_resynced ? is_system_here(data, *c) : i < n);
         i++) {
        const struct cursor begin = *c;
        ttr_text system = read_string(c, SYSTEM_MAX);
        uint64_t formats = tracing_data_read_number(data, c, 4);
        if (data->is_complete && (c->failed || system.n == 0)) {
            *c = begin;
            c->failed = !resync(data, c);
            if (is_system_here(data, *c))
                continue;
            system.n = formats = 0; /* the name is unknown */
        }
        status = parse_formats(data, c, formats, system, error);
    }
    return status;
}

/* --- Texts after the formats: kernel symbols, printk formats, thread names --- */

enum { KALLSYMS, PRINTK, COMMS, TEXTS };

/* maximum difference in bytes between the declared size of a damaged text and its true size */
#define SIZE_ERROR_MAX 4096u

static const struct {
    uint8_t size_bytes; /* size of the number before the text */
    bool (*add)(struct tracepoints *, ttr_text);
} texts[TEXTS] = {[KALLSYMS] = {4, tracepoints_add_kallsyms},
                  [PRINTK] = {4, tracepoints_add_printk},
                  [COMMS] = {8, tracepoints_add_comms}};

static ttr_status add_text(const struct tracing_data *data, unsigned i, ttr_text lines,
                           ttr_error *error)
{
    return lines.n == 0 || !data->all || texts[i].add(data->all, lines) ? TTR_OK
                                                                        : fail_memory(error);
}

static ttr_status parse_text(const struct tracing_data *data, struct cursor *c, unsigned i,
                             ttr_error *error)
{
    ttr_text lines = read_sized_text(data, c, texts[i].size_bytes);
    return c->failed ? TTR_OK : add_text(data, i, lines, error);
}

ttr_status tracing_data_parse_kallsyms(struct tracing_data *data, struct cursor *c,
                                       ttr_error *error)
{
    return parse_text(data, c, KALLSYMS, error);
}

ttr_status tracing_data_parse_printk(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    return parse_text(data, c, PRINTK, error);
}

ttr_status tracing_data_parse_comms(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    return parse_text(data, c, COMMS, error);
}

/* Returns true if the data have version 0.6 or later, which stores thread names. */
static bool has_thread_names(const struct tracing_data *data)
{
    const char *version = data->version;
    return !(version[0] == '0' && version[1] == '.' && version[2] < '6' && version[3] == 0);
}

static unsigned count_texts(const struct tracing_data *data)
{
    return has_thread_names(data) ? TEXTS : COMMS;
}

/* Returns true if the texts from number `i` on end exactly at the end of the cursor. */
static bool texts_fill_cursor(const struct tracing_data *data, struct cursor c, unsigned i)
{
    for (const unsigned n = count_texts(data); i < n && !c.failed; i++)
        (void)read_sized_text(data, &c, texts[i].size_bytes);
    return !c.failed && cursor_left(&c) == 0;
}

/* Sets *size to the size of text number `i`, which is at the cursor, with which the texts after it
 * fill the cursor. Tries sizes near the declared one, smaller ones first. Returns false if none
 * fits. */
static bool find_text_size(const struct tracing_data *data, struct cursor c, unsigned i,
                           uint64_t *size)
{
    const uint64_t declared = tracing_data_read_number(data, &c, texts[i].size_bytes);
    for (uint64_t k = 1; k <= UINT64_C(2) * SIZE_ERROR_MAX; k++) {
        struct cursor rest = c;
        *size = k <= SIZE_ERROR_MAX ? declared - k : declared + (k - SIZE_ERROR_MAX);
        if (*size <= cursor_left(&c) && cursor_skip(&rest, *size) &&
            texts_fill_cursor(data, rest, i + 1))
            return true;
    }
    return false;
}

/* Parses text number `i` of the description. If data->end shows that the declared size is wrong,
 * uses the size with which the later texts end there, and records the damage. */
static ttr_status parse_text_of_description(struct tracing_data *data, struct cursor *c, unsigned i,
                                            ttr_error *error)
{
    struct cursor all = *c;
    uint64_t size;
    if (data->end < c->offset || data->end - c->offset > cursor_left(c))
        return parse_text(data, c, i, error);
    all.end = all.p + (data->end - c->offset);
    if (texts_fill_cursor(data, all, i) || !find_text_size(data, all, i, &size))
        return parse_text(data, c, i, error);
    if (data->damage_end == data->damage_at)
        data->damage_at = c->offset;
    (void)cursor_skip(c, texts[i].size_bytes);
    const uint8_t *lines = cursor_read_bytes(c, size);
    data->damage_end = c->offset;
    return add_text(data, i, (ttr_text){(const char *)lines, (size_t)size}, error);
}

ttr_status tracing_data_parse(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    const struct cursor begin = *c;
    ttr_status status = tracing_data_parse_pages(data, c);
    if (c->failed && data->is_complete) {
        *c = begin;
        c->failed = !resync(data, c);
    }
    if (status == TTR_OK && !c->failed)
        status = tracing_data_parse_ftrace(data, c, error);
    if (status == TTR_OK && !c->failed)
        status = tracing_data_parse_systems(data, c, error);
    const unsigned n = count_texts(data);
    for (unsigned i = 0; i < n && status == TTR_OK && !c->failed; i++)
        status = parse_text_of_description(data, c, i, error);
    return status;
}
