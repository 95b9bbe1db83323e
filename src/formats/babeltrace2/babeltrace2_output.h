/* Output position and nesting levels of the event that is being printed. Included only in this
 * folder.
 *
 * Text is written directly into reserved bytes of the buffer. A function first reserves as many
 * bytes as it may write (reserve_room()), and then only advances `at`. */
#ifndef TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_OUTPUT_H
#define TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_OUTPUT_H

#include "encodings/json/emit.h"
#include "formats/babeltrace2/babeltrace2.h"

#define DEPTH_MAX 64u
#define ROOM_MIN ((size_t)4096)
/* number of bytes to reserve for any value that is not a text, with closing braces */
#define VALUE_ROOM 192u

struct bt2_level {
    bool is_array;
    /* number of braces to close after the field for which this level was opened */
    uint8_t choices;
    uint64_t printed; /* number of members or elements of this level printed so far */
};

struct bt2_output {
    struct buffer *to;
    /* reserved bytes of the buffer that are still unused; buffer->n does not include them */
    char *at, *end;
    struct babeltrace2_cache *cache;
    const ttr_fields *fields;
    bool with_names, with_color;
    /* depth of the innermost open level; all levels from 0 on are open */
    unsigned depth;
    struct bt2_level level[DEPTH_MAX + 1];
};

/* State of printing an event as parts, such as "{ ... }" for the payload. */
struct bt2_parts {
    struct bt2_output output;
    const struct babeltrace2_names *names;
    const struct event_class *event_class;
    bool has_part, is_open;
    unsigned next; /* index in `order` of the next part to print */
};

static inline void bt2_begin_append(struct bt2_output *output, size_t n)
{
    if (n < ROOM_MIN)
        n = ROOM_MIN;
    output->at = output->end = (char *)buffer_room(output->to, n);
    if (output->at)
        output->end = output->at + n;
}

static inline void bt2_end_append(struct bt2_output *output)
{
    if (output->at)
        buffer_commit(output->to,
                      (size_t)(output->at - (char *)(output->to->bytes + output->to->n)));
    output->at = output->end = NULL;
}

/* Ensures that `n` bytes can be written at output->at. Returns false if memory runs out. */
static inline bool reserve_room(struct bt2_output *output, size_t n)
{
    if ((size_t)(output->end - output->at) >= n)
        return true;
    bt2_end_append(output);
    bt2_begin_append(output, n);
    return (size_t)(output->end - output->at) >= n;
}

static inline void emit_color(struct bt2_output *output, const char *code)
{
    if (output->with_color)
        output->at = emit_constant(output->at, code);
}

/* Returns the offset in the buffer of the next byte to write. */
static inline size_t get_output_offset(const struct bt2_output *output)
{
    return output->at ? (size_t)(output->at - (const char *)output->to->bytes) : 0;
}

/* How a value is printed. Structs and arrays open a level. */
enum value_kind {
    VALUE_OTHER,
    VALUE_UNSIGNED,
    VALUE_SIGNED,
    VALUE_TEXT,
    VALUE_STRUCT,
    VALUE_ARRAY
};

static inline uint8_t get_value_kind(const ttr_value *value)
{
    bool is_based = value->base == 2 || value->base == 8 || value->base == 16;
    switch (value->type) {
    case TTR_TYPE_STRUCT:
        return VALUE_STRUCT;
    case TTR_TYPE_ARRAY:
        return VALUE_ARRAY;
    case TTR_TYPE_TEXT:
        return value->hint == TTR_DISPLAY_DECIMAL ? VALUE_OTHER : VALUE_TEXT;
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        if (is_based || value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS)
            return VALUE_OTHER;
        return value->type == TTR_TYPE_INT ? VALUE_SIGNED : VALUE_UNSIGNED;
    default:
        return VALUE_OTHER;
    }
}

/* Appends an unsigned number. A single digit needs no function call, since it is the most frequent
 * case in arrays. */
static inline char *emit_unsigned(char *at, uint64_t x)
{
    if (x >= 10)
        return emit_u64(at, x);
    *at = (char)('0' + x);
    return at + 1;
}

static inline char *emit_signed(char *at, uint64_t x)
{
    return (int64_t)x < 0 ? emit_i64(at, (int64_t)x) : emit_unsigned(at, x);
}

/* Appends ", [N] = ". Texts of low indices are cached. */
char *babeltrace2_emit_index(struct babeltrace2_cache *cache, uint64_t index, char *at);

/* Appends ", [N] = " from the cache if it contains the text; else calls
 * babeltrace2_emit_index(). */
static inline char *emit_index(struct babeltrace2_cache *cache, uint64_t index, char *at)
{
    const struct babeltrace2_index *known = &cache->index[index % BABELTRACE2_INDEXES];
    if (index >= BABELTRACE2_INDEXES || known->n == 0)
        return babeltrace2_emit_index(cache, index, at);
    /* copy the entire array, which is faster, then advance by n bytes */
    memcpy(at, known, sizeof *known);
    return at + known->n;
}

/* Appends a text in quotes, up to its first zero byte. */
void babeltrace2_add_quoted(struct bt2_output *output, ttr_text text);

/* Appends a value that is not a struct or array. The caller must have reserved VALUE_ROOM bytes
 * for it. */
void babeltrace2_add_value(struct bt2_output *output, const ttr_value *value);

/* Append a float in the form of "%g", or an integer in base 2, 8 or 16. */
char *babeltrace2_emit_float(char *at, double x);
char *babeltrace2_emit_based(char *at, const ttr_value *value);

/* babeltrace2_emit_hex appends a number in base 16. babeltrace2_hex_mask returns a mask of the
 * bits of a value that are printed. */
char *babeltrace2_emit_hex(char *at, uint64_t x);
uint64_t babeltrace2_hex_mask(const ttr_value *value);

/* Appends everything between the previous value and the value of `field`, including the "{" of a
 * struct or "[" of an array. Returns false if `field` has no value to print. */
bool babeltrace2_begin_field(struct bt2_parts *parts, const ttr_field *field);

/* Appends everything that follows the last value: closing braces, empty parts, the line feed. */
void babeltrace2_close_parts(struct bt2_parts *parts);

#define BLOCK 32u /* number of bytes per copy */

/* Copies a text in blocks. BLOCK bytes after the text must be readable, and writable at the
 * destination. */
static inline char *emit_in_blocks(char *at, const char *text, size_t n)
{
    memcpy(at, text, BLOCK);
    for (size_t i = BLOCK; __builtin_expect(i < n, 0); i += BLOCK)
        memcpy(at + i, text + i, BLOCK);
    return at + n;
}

/* Returns the packet number of an event; 0 if the event has none. */
static inline uint64_t get_packet_number(const struct schema *schema, const ttr_event *event)
{
    return schema->ops->packet ? schema->ops->packet(schema->ctx, event) : 0;
}

/* Returns the cached text of the packet context of an event; NULL if the cache contains the text
 * of another packet. */
static inline const struct babeltrace2_packet *find_cached_packet(
    const struct babeltrace2_cache *cache, const ttr_event *event, uint64_t number)
{
    const struct babeltrace2_packet *known = &cache->packet[event->source % BABELTRACE2_PACKETS];
    return number && known->number == number && known->source == event->source ? known : NULL;
}

/* Counts an event of a class before its first part is printed. Makes the plan of the class when
 * the number of events is large enough. */
void babeltrace2_count_event_of_class(const struct bt2_parts *parts, const struct schema *schema,
                                      struct babeltrace2_class *of_class);

#endif
