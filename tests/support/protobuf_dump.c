/* Decodes protobuf according to the encoding guide. */
#include "support/protobuf_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/support.h"

static uint64_t take_varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        assert_true(*at < end);
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    fail_msg("a varint of more than ten bytes");
    return 0;
}

bool protobuf_next(const uint8_t **at, const uint8_t *end, struct protobuf_item *item)
{
    if (*at == end)
        return false;
    uint64_t tag = take_varint(at, end);
    *item = (struct protobuf_item){.field = (uint32_t)(tag >> 3), .wire = tag & 7};
    assert_true(item->field != 0);
    switch (item->wire) {
    case 0:
        item->value = take_varint(at, end);
        break;
    case 1:
        assert_true(end - *at >= 8);
        for (unsigned i = 0; i < 8; i++)
            item->value |= (uint64_t)(*at)[i] << 8 * i;
        *at += 8;
        break;
    case 2:
        item->n = (size_t)take_varint(at, end);
        assert_true((size_t)(end - *at) >= item->n);
        item->bytes = *at;
        *at += item->n;
        break;
    default:
        fail_msg("wire type %u", item->wire);
    }
    return true;
}

bool protobuf_find(const void *bytes, size_t n, const uint32_t *path, struct protobuf_item *item)
{
    const uint8_t *at = bytes, *end = at + n;
    while (protobuf_next(&at, end, item)) {
        if (item->field != path[0])
            continue;
        return path[1] == 0 ||
               (item->wire == 2 && protobuf_find(item->bytes, item->n, path + 1, item));
    }
    return false;
}

static bool is_listed(const char *list, const char *path)
{
    size_t n = strlen(path);
    for (const char *at = strstr(list, path); at; at = strstr(at + 1, path))
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static void print_fields(FILE *to, const struct protobuf_item *message, const char *messages,
                         const char *path)
{
    struct protobuf_item item;
    const uint8_t *at = message->bytes, *end = at + message->n;
    const char *blank = "";
    while (protobuf_next(&at, end, &item)) {
        char below[64];
        (void)snprintf(below, sizeof below, "%s%s%" PRIu32, path, path[0] ? "/" : "", item.field);
        (void)fprintf(to, "%s%" PRIu32, blank, item.field);
        blank = " ";
        if (item.wire == 0) {
            (void)fprintf(to, ":%" PRIu64, item.value);
        } else if (item.wire == 1) {
            (void)fprintf(to, "=%016" PRIx64, item.value);
        } else if (is_listed(messages, below)) {
            (void)fputc('{', to);
            print_fields(to, &item, messages, below);
            (void)fputc('}', to);
        } else {
            (void)fprintf(to, "\"%.*s\"", (int)item.n, (const char *)item.bytes);
        }
    }
}

char *protobuf_text(const void *bytes, size_t n, const char *messages)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    print_fields(to, &(struct protobuf_item){.bytes = bytes, .n = n}, messages, "");
    (void)fclose(to);
    return text;
}
