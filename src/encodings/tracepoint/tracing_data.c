/* Parser of trace-cmd's description of tracepoints. Byte layout: tracing_data.h. */
#include "encodings/tracepoint/tracing_data.h"

#include <string.h>

#include "base/number.h"
#include "base/status.h"

#define SYSTEM_MAX 4096u /* bytes of the longest system name that is accepted */

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
    *data = (struct tracing_data){.all = data->all, .odd = data->odd, .ctx = data->ctx};
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

static ttr_status parse_formats(struct tracing_data *data, struct cursor *c, ttr_text system,
                                ttr_error *error)
{
    uint64_t n = tracing_data_read_number(data, c, 4);
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        uint64_t offset = c->offset;
        ttr_text format = read_sized_text(data, c, 8);
        if (c->failed || !data->all)
            continue;
        ttr_error why;
        ttr_status status = tracepoints_add(data->all, system, format, &why);
        if (status == TTR_E_MALFORMED)
            data->odd(data->ctx, offset, why.text);
        else if (status != TTR_OK) {
            if (error)
                *error = why;
            return status;
        }
    }
    return TTR_OK;
}

ttr_status tracing_data_parse_ftrace(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    return parse_formats(data, c, (ttr_text){"ftrace", 6}, error);
}

ttr_status tracing_data_parse_systems(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    uint64_t n = tracing_data_read_number(data, c, 4);
    ttr_status status = TTR_OK;
    for (uint64_t i = 0; i < n && !c->failed && status == TTR_OK; i++) {
        ttr_text system = read_string(c, SYSTEM_MAX);
        if (!c->failed)
            status = parse_formats(data, c, system, error);
    }
    return status;
}

ttr_status tracing_data_parse_kallsyms(struct tracing_data *data, struct cursor *c,
                                       ttr_error *error)
{
    ttr_text lines = read_sized_text(data, c, 4);
    return c->failed || lines.n == 0 || !data->all || tracepoints_add_kallsyms(data->all, lines)
               ? TTR_OK
               : fail_memory(error);
}

ttr_status tracing_data_parse_printk(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    ttr_text lines = read_sized_text(data, c, 4);
    return c->failed || lines.n == 0 || !data->all || tracepoints_add_printk(data->all, lines)
               ? TTR_OK
               : fail_memory(error);
}

ttr_status tracing_data_parse_comms(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    ttr_text lines = read_sized_text(data, c, 8);
    return c->failed || lines.n == 0 || !data->all || tracepoints_add_comms(data->all, lines)
               ? TTR_OK
               : fail_memory(error);
}

/* Returns true if the data have version 0.6 or later, which stores thread names. */
static bool has_thread_names(const struct tracing_data *data)
{
    const char *version = data->version;
    return !(version[0] == '0' && version[1] == '.' && version[2] < '6' && version[3] == 0);
}

ttr_status tracing_data_parse(struct tracing_data *data, struct cursor *c, ttr_error *error)
{
    ttr_status status = tracing_data_parse_pages(data, c);
    if (status == TTR_OK && !c->failed)
        status = tracing_data_parse_ftrace(data, c, error);
    if (status == TTR_OK && !c->failed)
        status = tracing_data_parse_systems(data, c, error);
    if (status == TTR_OK && !c->failed)
        status = tracing_data_parse_kallsyms(data, c, error);
    if (status == TTR_OK && !c->failed)
        status = tracing_data_parse_printk(data, c, error);
    if (status == TTR_OK && !c->failed && has_thread_names(data))
        status = tracing_data_parse_comms(data, c, error);
    return status;
}
