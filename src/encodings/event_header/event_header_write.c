/* Encodes EventHeader events: each field appends its declaration to the metadata buffer and its
 * value to the payload buffer. All elements of an array of structs must have the same type. To
 * check this, the declarations of each element are generated, compared with those of the first,
 * and removed. */
#include "encodings/event_header/event_header_write.h"

#include <string.h>

#include "base/number.h"
#include "encodings/event_header/event_header_parts.h"
#include "model/activity.h"

#define MEMBERS_MAX 127u
#define EXTENSIONS_MAX ((size_t)EVENT_HEADER_BYTES + (size_t)2 * EVENT_HEADER_EXTENSION_BYTES + 32)
#define LEVEL_INFORMATION 4u
#define PROVIDER_MAX (EVENT_HEADER_NAME_MAX - NAME_SUFFIX_MAX)
#define FIELDS_PER_CALL 32u /* number of fields that are fetched per call */
/* bytes of a tracepoint name that are kept free for "_L", level, "K", keyword and the zero at the
 * end */
#define NAME_SUFFIX_MAX 32u

struct field_encoding {
    uint8_t encoding, format;
};

/* Sizes of both buffers before a field was written, by which the field can be removed again. */
struct buffer_mark {
    size_t metadata, payload;
};

void event_header_writer_init(struct event_header_writer *writer, const ttr *t,
                              const struct alloc *alloc)
{
    *writer = (struct event_header_writer){.t = t, .most = UINT16_MAX};
    buffer_init(&writer->metadata, alloc);
    buffer_init(&writer->payload, alloc);
}

void event_header_writer_free(struct event_header_writer *writer)
{
    if (writer->field)
        alloc_free(writer->metadata.alloc, writer->field, writer->capacity, sizeof *writer->field);
    buffer_free(&writer->metadata);
    buffer_free(&writer->payload);
}

static void count_encoder_loss(struct event_header_writer *writer, enum event_header_loss loss)
{
    writer->losses[loss]++;
    writer->losses_total++;
}

static void append_u16(const struct event_header_writer *writer, struct buffer *to, unsigned x)
{
    uint8_t bytes[2];
    if (writer->is_big_endian)
        store_u16be(bytes, (uint16_t)x);
    else
        store_u16le(bytes, (uint16_t)x);
    buffer_add(to, bytes, sizeof bytes);
}

static struct buffer_mark store_buffer_sizes(const struct event_header_writer *writer)
{
    return (struct buffer_mark){writer->metadata.n, writer->payload.n};
}

static void restore_buffer_sizes(struct event_header_writer *writer, struct buffer_mark mark)
{
    writer->metadata.n = mark.metadata;
    writer->payload.n = mark.payload;
}

/* --- Names of tracepoints --- */

/* Returns the data that the decoder has of an EventHeader event, if its tracepoint has a valid
 * name. Returns NULL for any other event. */
static const struct event_header_schema_data *get_decoder_data(
    const struct event_header_writer *writer, const ttr_event *event)
{
    const struct schema *schema = context_schema(writer->t, event->schema);
    const struct event_header_schema_data *ctx = schema->ctx;
    return schema->ops == &event_header_field_ops && ctx && ctx->kind->is_named ? ctx : NULL;
}

static unsigned convert_level(unsigned level)
{
    static const uint8_t levels[] = {[TTR_LEVEL_NONE] = LEVEL_INFORMATION,
                                     [TTR_LEVEL_TRACE] = 6,
                                     [TTR_LEVEL_DEBUG] = 5,
                                     [TTR_LEVEL_INFO] = 4,
                                     [TTR_LEVEL_WARNING] = 3,
                                     [TTR_LEVEL_ERROR] = 2,
                                     [TTR_LEVEL_FATAL] = 1};
    return level < sizeof levels ? levels[level] : LEVEL_INFORMATION;
}

static bool is_name_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           /* '-' and '.' are not allowed: perf cannot read format files with them in names */
           c == '_';
}

static size_t write_hex(char *to, uint64_t x)
{
    size_t n = 0;
    for (int shift = 60; shift >= 0; shift -= 4)
        if (n > 0 || x >> shift || shift == 0)
            to[n++] = "0123456789abcdef"[x >> shift & 15];
    return n;
}

size_t event_header_write_tracepoint_name(struct event_header_writer *writer,
                                          const ttr_event *event, char to[EVENT_HEADER_NAME_MAX])
{
    const struct event_header_schema_data *ctx = get_decoder_data(writer, event);
    if (ctx) {
        ttr_text name = ttr_text_get(writer->t, ctx->kind->tracepoint);
        size_t n = name.n - (ctx->kind->name.shape.n ? ctx->kind->name.shape.n + 1 : 0);
        memcpy(to, name.p, n);
        to[n] = '\0';
        return n;
    }
    ttr_text provider = ttr_text_get(writer->t, event->provider);
    if (provider.n == 0)
        provider = (ttr_text){"tracetta", 8};
    size_t n = 0;
    for (; n < provider.n && n < PROVIDER_MAX; n++)
        to[n] = is_name_character(provider.p[n]) ? provider.p[n] : '_';
    memcpy(to + n, "_L", 2);
    n += 2;
    n += write_hex(to + n, convert_level(event->level));
    to[n++] = 'K';
    n += write_hex(to + n, event->keyword);
    to[n] = '\0';
    return n;
}

/* Returns true if the provider's name must be changed to be valid in a tracepoint name. Remembers
 * the result for the last provider. */
static bool is_provider_renamed(struct event_header_writer *writer, ttr_id provider)
{
    if (writer->cached_provider == provider)
        return writer->is_renamed;
    ttr_text name = ttr_text_get(writer->t, provider);
    writer->cached_provider = provider;
    writer->is_renamed = name.n > PROVIDER_MAX;
    for (size_t i = 0; i < name.n; i++)
        writer->is_renamed |= !is_name_character(name.p[i]);
    return writer->is_renamed;
}

/* --- Encoding of fields: declaration to metadata, value to payload --- */

static void append_name(struct event_header_writer *writer, ttr_text name)
{
    uint8_t *at = buffer_room(&writer->metadata, name.n + 1);
    bool is_changed = false;
    if (!at)
        return;
    for (size_t i = 0; i < name.n; i++) {
        bool is_bad = name.p[i] == ';' || name.p[i] == '\0';
        at[i] = is_bad ? '_' : (uint8_t)name.p[i];
        is_changed |= is_bad;
    }
    at[name.n] = 0;
    buffer_commit(&writer->metadata, name.n + 1);
    if (is_changed)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_NAME);
}

static void append_type(struct event_header_writer *writer, struct field_encoding shape,
                        unsigned flags)
{
    unsigned has_format = shape.format ? EVENT_HEADER_HAS_FORMAT : 0;
    buffer_add_byte(&writer->metadata, (uint8_t)(shape.encoding | flags | has_format));
    if (shape.format)
        buffer_add_byte(&writer->metadata, shape.format);
}

static bool is_array_or_struct_value(const ttr_value *value)
{
    return value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT;
}

static bool is_errno_value(const ttr_value *value)
{
    const char *name =
        value->type == TTR_TYPE_INT && value->bits == 32 && value->hint == TTR_DISPLAY_ENUM
            ? event_header_get_errno_name((uint32_t)value->v.s)
            : NULL;
    return name && value->count && value->text.n == strlen(name) &&
           memcmp(value->text.p, name, value->text.n) == 0;
}

static uint8_t get_encoding_for_bits(unsigned bits)
{
    return bits == 0 || bits > 32 ? EVENT_HEADER_VALUE64
           : bits > 16            ? EVENT_HEADER_VALUE32
           : bits > 8             ? EVENT_HEADER_VALUE16
                                  : EVENT_HEADER_VALUE8;
}

static struct field_encoding choose_number_encoding(const ttr_value *value)
{
    uint8_t encoding = get_encoding_for_bits(value->bits);
    if (value->type == TTR_TYPE_INT)
        return (struct field_encoding){encoding, is_errno_value(value) ? EVENT_HEADER_ERRNO
                                                                       : EVENT_HEADER_SIGNED};
    bool is_hex = value->base == 16 || value->hint == TTR_DISPLAY_POINTER;
    return (struct field_encoding){encoding, is_hex ? EVENT_HEADER_HEX : EVENT_HEADER_DEFAULT};
}

/* If the value is a thread id of the library context, sets `thread` to that thread and returns
 * true. */
static bool find_context_thread(const struct event_header_writer *writer, const ttr_value *value,
                                ttr_thread *thread)
{
    return value->type == TTR_TYPE_UINT && value->hint == TTR_DISPLAY_THREAD &&
           ttr_thread_get(writer->t, (ttr_id)value->v.u, thread);
}

static struct field_encoding choose_value_encoding(const struct event_header_writer *writer,
                                                   const ttr_value *value)
{
    ttr_thread thread;
    if (find_context_thread(writer, value, &thread))
        return thread.tid <= INT32_MAX
                   ? (struct field_encoding){EVENT_HEADER_VALUE32, EVENT_HEADER_PID}
                   : (struct field_encoding){EVENT_HEADER_VALUE64, 0};
    switch (value->type) {
    case TTR_TYPE_BOOL:
        return (struct field_encoding){EVENT_HEADER_VALUE8, EVENT_HEADER_BOOLEAN};
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        return choose_number_encoding(value);
    case TTR_TYPE_FLOAT:
        return (struct field_encoding){
            value->bits == 32 ? EVENT_HEADER_VALUE32 : EVENT_HEADER_VALUE64, EVENT_HEADER_FLOAT};
    case TTR_TYPE_TEXT:
        return (struct field_encoding){EVENT_HEADER_STRING8, 0};
    case TTR_TYPE_BYTES:
        return (struct field_encoding){EVENT_HEADER_BINARY, 0};
    default:
        /* readers take a string of length 0 with a numeric format for null */
        return (struct field_encoding){EVENT_HEADER_STRING8, EVENT_HEADER_UNSIGNED};
    }
}

static void append_number(struct event_header_writer *writer, uint64_t x, unsigned encoding)
{
    uint8_t bytes[8];
    unsigned n = 1u << (encoding - EVENT_HEADER_VALUE8);
    if (writer->is_big_endian)
        store_u64be(bytes, x << (64 - 8 * n));
    else
        store_u64le(bytes, x);
    buffer_add(&writer->payload, bytes, n);
}

static void append_text(struct event_header_writer *writer, ttr_text text)
{
    size_t n = text.n <= UINT16_MAX ? text.n : UINT16_MAX;
    if (n < text.n)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_CUT);
    append_u16(writer, &writer->payload, (unsigned)n);
    buffer_add(&writer->payload, text.p, n);
}

static uint64_t convert_float_to_bits(const ttr_value *value)
{
    uint32_t low;
    float single = (float)value->v.f;
    memcpy(&low, &single, sizeof low);
    return value->bits == 32 ? low : bits_of_double(value->v.f);
}

static void append_value(struct event_header_writer *writer, const ttr_value *value,
                         struct field_encoding shape)
{
    ttr_thread thread;
    bool has_names =
        (value->hint == TTR_DISPLAY_ENUM || value->hint == TTR_DISPLAY_FLAGS) && value->count > 0;
    if (has_names && shape.format != EVENT_HEADER_ERRNO)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_LABEL);
    if (find_context_thread(writer, value, &thread))
        append_number(writer, thread.tid, shape.encoding);
    else if (value->type == TTR_TYPE_FLOAT)
        append_number(writer, convert_float_to_bits(value), shape.encoding);
    else if (value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES)
        append_text(writer, value->text);
    else if (value->type == TTR_TYPE_NULL)
        append_u16(writer, &writer->payload, 0);
    else
        append_number(writer, value->v.u, shape.encoding);
}

/* Returns the index of the first field after field `i` that is not nested in it. */
static size_t find_next_sibling(const struct event_header_writer *writer, size_t i)
{
    uint16_t depth = writer->field[i++].depth;
    while (i < writer->fields_n && writer->field[i].depth > depth)
        i++;
    return i;
}

static size_t encode_field(struct event_header_writer *writer, size_t i, ttr_text name);

/* Encodes the members of field `i` and returns their number. is_array: the members are array
 * elements, which get the names "0", "1", ... */
static unsigned encode_members(struct event_header_writer *writer, size_t i, bool is_array)
{
    size_t end = find_next_sibling(writer, i);
    unsigned n = 0;
    char number[NUMBER_MAX];
    writer->depth++;
    for (size_t at = i + 1; at < end;) {
        if (n == MEMBERS_MAX) {
            count_encoder_loss(writer, EVENT_HEADER_LOSS_CUT);
            break;
        }
        ttr_text name =
            is_array ? (ttr_text){number, number_format_u64(number, n)} : writer->field[at].name;
        size_t before = writer->metadata.n;
        at = encode_field(writer, at, name);
        n += writer->metadata.n > before;
    }
    writer->depth--;
    return n;
}

/* Encodes field `i` as a struct of its members or elements. Without any, encodes it as null, since
 * the format does not have empty structs. */
static void encode_struct(struct event_header_writer *writer, size_t i, ttr_text name,
                          bool is_array)
{
    struct buffer_mark mark = store_buffer_sizes(writer);
    append_name(writer, name);
    append_type(writer, (struct field_encoding){EVENT_HEADER_STRUCT, MEMBERS_MAX}, 0);
    size_t format_at = writer->metadata.n - 1;
    unsigned n = encode_members(writer, i, is_array);
    if (n > 0 && !writer->metadata.failed) {
        writer->metadata.bytes[format_at] = (uint8_t)n;
        return;
    }
    restore_buffer_sizes(writer, mark);
    count_encoder_loss(writer, EVENT_HEADER_LOSS_EMPTY);
    const ttr_value null = {.type = TTR_TYPE_NULL};
    struct field_encoding shape = choose_value_encoding(writer, &null);
    append_name(writer, name);
    append_type(writer, shape, 0);
    append_value(writer, &null, shape);
}

/* Encodes field `i` as an array of numbers or texts. If the elements have different types, writes
 * nothing and returns false. */
static bool encode_value_array(struct event_header_writer *writer, size_t i, ttr_text name)
{
    size_t end = find_next_sibling(writer, i), n = end - i - 1;
    struct field_encoding first = n ? choose_value_encoding(writer, &writer->field[i + 1].value)
                                    : (struct field_encoding){EVENT_HEADER_VALUE8, 0};
    for (size_t at = i + 1; at < end; at++) {
        struct field_encoding shape = choose_value_encoding(writer, &writer->field[at].value);
        if (is_array_or_struct_value(&writer->field[at].value) ||
            shape.encoding != first.encoding || shape.format != first.format)
            return false;
    }
    if (n > UINT16_MAX)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_CUT);
    n = n > UINT16_MAX ? UINT16_MAX : n;
    append_name(writer, name);
    append_type(writer, first, EVENT_HEADER_COUNTED_ARRAY);
    append_u16(writer, &writer->payload, (unsigned)n);
    for (size_t at = i + 1; at < i + 1 + n; at++)
        append_value(writer, &writer->field[at].value, first);
    return true;
}

/* Encodes the elements of an array of structs. Keeps only the declaration of the first element,
 * with which all others must agree. Returns the number of elements; 0 if their types differ. Does
 * not compare an element that was cut off (is_cut). */
static unsigned encode_struct_elements(struct event_header_writer *writer, size_t i,
                                       uint8_t *members)
{
    size_t end = find_next_sibling(writer, i), begin = writer->metadata.n, first_n = 0, at = i + 1;
    unsigned n = 0;
    for (; at < end && n < UINT16_MAX; n++) {
        size_t before = writer->metadata.n, element = at;
        if (writer->field[at].value.type != TTR_TYPE_STRUCT)
            return 0;
        at = find_next_sibling(writer, at);
        unsigned found = encode_members(writer, element, false);
        size_t made = writer->metadata.n - before;
        bool is_whole = !writer->is_cut || at < writer->fields_n;
        if (writer->metadata.failed || found == 0)
            return 0;
        if (n == 0) {
            first_n = made;
            *members = (uint8_t)found;
            continue;
        }
        if (is_whole &&
            (made != first_n || found != *members ||
             memcmp(writer->metadata.bytes + begin, writer->metadata.bytes + before, made) != 0))
            return 0;
        writer->metadata.n = before;
    }
    if (at < end)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_CUT);
    return n;
}

static bool encode_struct_array(struct event_header_writer *writer, size_t i, ttr_text name)
{
    struct buffer_mark mark = store_buffer_sizes(writer);
    uint64_t losses[EVENT_HEADER_LOSSES], losses_total = writer->losses_total;
    uint8_t members = 0;
    memcpy(losses, writer->losses, sizeof losses);
    append_name(writer, name);
    append_type(writer, (struct field_encoding){EVENT_HEADER_STRUCT, MEMBERS_MAX},
                EVENT_HEADER_COUNTED_ARRAY);
    size_t format_at = writer->metadata.n - 1, count_at = writer->payload.n;
    append_u16(writer, &writer->payload, 0);
    unsigned n = encode_struct_elements(writer, i, &members);
    if (n > 0 && !writer->payload.failed) {
        writer->metadata.bytes[format_at] = members;
        (writer->is_big_endian ? store_u16be : store_u16le)(writer->payload.bytes + count_at,
                                                            (uint16_t)n);
        return true;
    }
    restore_buffer_sizes(writer, mark);
    memcpy(writer->losses, losses, sizeof losses);
    writer->losses_total = losses_total;
    return false;
}

static void encode_array(struct event_header_writer *writer, size_t i, ttr_text name)
{
    if (encode_value_array(writer, i, name))
        return;
    bool has_room = writer->depth < EVENT_HEADER_DEPTH_MAX;
    if (has_room && encode_struct_array(writer, i, name))
        return;
    count_encoder_loss(writer, has_room ? EVENT_HEADER_LOSS_ARRAY : EVENT_HEADER_LOSS_CUT);
    if (has_room)
        encode_struct(writer, i, name, true);
}

/* Encodes field `i` and all fields nested in it. Returns the index of the next field. */
static size_t encode_field(struct event_header_writer *writer, size_t i, ttr_text name)
{
    const ttr_value *value = &writer->field[i].value;
    if (value->type == TTR_TYPE_ARRAY) {
        encode_array(writer, i, name);
    } else if (value->type == TTR_TYPE_STRUCT && writer->depth == EVENT_HEADER_DEPTH_MAX) {
        count_encoder_loss(writer, EVENT_HEADER_LOSS_CUT);
    } else if (value->type == TTR_TYPE_STRUCT) {
        encode_struct(writer, i, name, false);
    } else {
        struct field_encoding shape = choose_value_encoding(writer, value);
        append_name(writer, name);
        append_type(writer, shape, 0);
        append_value(writer, value, shape);
    }
    return find_next_sibling(writer, i);
}

/* --- Encoding of events: header, extensions and kind fields --- */

static void append_extra_field(struct event_header_writer *writer, const char *name,
                               const ttr_value *value)
{
    struct field_encoding shape = choose_value_encoding(writer, value);
    append_name(writer, (ttr_text){name, strlen(name)});
    append_type(writer, shape, 0);
    append_value(writer, value, shape);
}

/* Returns true if a reader derives the event's kind from its opcode and activity ids. */
static bool is_kind_implied(const ttr_event *event)
{
    return event->kind == TTR_KIND_INSTANT || (activity_is_start_or_stop(event) && event->activity);
}

/* Appends the fields "ttr.kind", "ttr.duration_ns" and "ttr.link", unless readers derive the
 * event's kind from other data. */
static void append_kind_fields(struct event_header_writer *writer, const ttr_event *event)
{
    const char *kind = ttr_kind_text(event->kind);
    if (is_kind_implied(event))
        return;
    count_encoder_loss(writer, EVENT_HEADER_LOSS_KIND);
    append_extra_field(writer, "ttr.kind",
                       &(ttr_value){.type = TTR_TYPE_TEXT, .text = {kind, strlen(kind)}});
    if (event->duration)
        append_extra_field(writer, "ttr.duration_ns",
                           &(ttr_value){.type = TTR_TYPE_UINT, .v.u = event->duration});
    if (event->link)
        append_extra_field(writer, "ttr.link",
                           &(ttr_value){.type = TTR_TYPE_UINT, .v.u = event->link, .base = 16});
}

/* Encodes a top-level field with all its members. If it does not fit, removes it and counts one
 * loss CUT, but no losses inside it. */
static void encode_top_level_field(struct event_header_writer *writer, size_t at)
{
    const struct buffer_mark mark = store_buffer_sizes(writer);
    const uint8_t group = writer->field[at].group;
    uint64_t losses[EVENT_HEADER_LOSSES], losses_total = writer->losses_total;
    memcpy(losses, writer->losses, sizeof losses);
    (void)encode_field(writer, at, writer->field[at].name);
    const bool fits = writer->metadata.n <= UINT16_MAX &&
                      EXTENSIONS_MAX + writer->metadata.n + writer->payload.n <= writer->most;
    if (!fits) {
        restore_buffer_sizes(writer, mark);
        memcpy(writer->losses, losses, sizeof losses);
        writer->losses_total = losses_total;
    }
    if (!fits || writer->is_cut)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_CUT);
    if (fits && (group == TTR_GROUP_CONTEXT || group == TTR_GROUP_COMMON))
        count_encoder_loss(writer, EVENT_HEADER_LOSS_CONTEXT);
}

/* Returns how many bytes a value needs in the payload at least. */
static size_t count_minimum_payload(const ttr_value *value)
{
    switch (value->type) {
    case TTR_TYPE_ARRAY:
    case TTR_TYPE_STRUCT:
        return value->count ? 0 : 2;
    case TTR_TYPE_TEXT:
    case TTR_TYPE_BYTES:
        return 2 + (value->text.n < UINT16_MAX ? value->text.n : UINT16_MAX);
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        return value->hint == TTR_DISPLAY_THREAD
                   ? 4
                   : (size_t)1 << (get_encoding_for_bits(value->bits) - EVENT_HEADER_VALUE8);
    case TTR_TYPE_FLOAT:
        return value->bits == 32 ? 4 : 8;
    default:
        return 1;
    }
}

/* Collects `n` fields from index `from` on. Encodes each top-level field when the next one starts;
 * `*begin`: start of the current one. Collects no more of a field than fits in an event: the field
 * would be dropped, and memory stays limited. */
static void collect_fields(struct event_header_writer *writer, size_t from, size_t n, size_t *begin)
{
    writer->fields_n = from;
    for (size_t i = from; i < from + n; i++) {
        const ttr_field *field = &writer->field[i];
        if (field->depth == 0) {
            if (writer->fields_n > *begin)
                encode_top_level_field(writer, *begin);
            *begin = writer->fields_n;
            writer->least = 0;
            writer->is_cut = false;
        }
        writer->is_cut |= writer->least > writer->most;
        if (writer->is_cut)
            continue;
        writer->least += count_minimum_payload(&field->value);
        if (writer->fields_n != i)
            writer->field[writer->fields_n] = *field;
        writer->fields_n++;
    }
}

/* Encodes the fields of an event. Drops those that do not fit. Returns false if memory runs out. */
static bool encode_fields(struct event_header_writer *writer, const ttr_event *event)
{
    ttr_fields fields;
    size_t begin = 0;
    writer->fields_n = 0;
    writer->least = 0;
    writer->is_cut = false;
    ttr_fields_begin(writer->t, event, &fields);
    for (uint32_t n = 1; n > 0;) {
        if (begin > FIELDS_PER_CALL) {
            memmove(writer->field, writer->field + begin,
                    (writer->fields_n - begin) * sizeof *writer->field);
            writer->fields_n -= begin;
            begin = 0;
        }
        const size_t before = writer->fields_n;
        if (!alloc_reserve(writer->metadata.alloc, (void **)&writer->field, &writer->capacity,
                           before + FIELDS_PER_CALL, sizeof *writer->field))
            return false;
        for (n = 0; n < FIELDS_PER_CALL && ttr_fields_next(&fields, &writer->field[before + n]);)
            n++;
        collect_fields(writer, before, n, &begin);
    }
    if (writer->fields_n > begin)
        encode_top_level_field(writer, begin);
    append_kind_fields(writer, event);
    return true;
}

/* Returns the opcode and activity ids that the event has. */
static struct event_header_ids choose_event_ids(const ttr_event *event)
{
    return (struct event_header_ids){event->opcode, event->activity, event->related};
}

static void append_header(struct event_header_writer *writer, const ttr_event *event,
                          const struct event_header_ids *ids, struct buffer *to)
{
    if (!event->provider)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_NO_PROVIDER);
    else if (is_provider_renamed(writer, event->provider))
        count_encoder_loss(writer, EVENT_HEADER_LOSS_PROVIDER);
    if (event->level <= TTR_LEVEL_TRACE || event->level > TTR_LEVEL_FATAL)
        count_encoder_loss(writer, EVENT_HEADER_LOSS_LEVEL);
    unsigned flags = EVENT_HEADER_POINTER64 | EVENT_HEADER_EXTENSION |
                     (writer->is_big_endian ? 0 : EVENT_HEADER_LITTLE_ENDIAN);
    buffer_add_byte(to, (uint8_t)flags);
    buffer_add_byte(to, 0);
    append_u16(writer, to, 0);
    append_u16(writer, to, is_kind_implied(event) ? event->tag : 0);
    buffer_add_byte(to, ids->opcode);
    buffer_add_byte(to, (uint8_t)convert_level(event->level));
    if (ids->activity) {
        append_u16(writer, to, ids->related ? 32 : 16);
        append_u16(writer, to, EVENT_HEADER_ACTIVITY | EVENT_HEADER_CHAIN);
        buffer_add(to, ids->activity, 16);
        buffer_add(to, ids->related, ids->related ? 16 : 0);
    }
    append_u16(writer, to, (unsigned)writer->metadata.n);
    append_u16(writer, to, EVENT_HEADER_METADATA);
}

/* Copies the bytes of an event that was read as EventHeader, without the padding of the container.
 * Returns false if it is damaged or of another kind, so that it must be encoded. */
static bool copy_stored_event(const struct event_header_writer *writer, const ttr_event *event,
                              struct buffer *to)
{
    const struct event_header_schema_data *ctx = get_decoder_data(writer, event);
    struct event_header_parts parts;
    struct event_header_iter iter;
    if (!ctx)
        return false;
    const struct event_header_decoder_spec *spec = &ctx->kind->all->spec;
    struct event_header_raw raw = spec->raw(spec->ctx, event);
    if (!event_header_parse_header(raw, ctx->kind->skip, &parts) || parts.why)
        return false;
    event_header_iter_begin(&iter, parts.metadata ? ctx->plan : NULL, &parts);
    while (event_header_iter_next(&iter) != EVENT_HEADER_ITER_END)
        continue;
    struct cursor all = cursor_init(raw.p, raw.n, 0);
    (void)cursor_skip(&all, ctx->kind->skip);
    size_t filled = event_header_count_padding(ctx->kind->all, &iter.data);
    buffer_add(to, all.p, cursor_left(&all) - (iter.why ? 0 : filled));
    return true;
}

void event_header_write_event(struct event_header_writer *writer, const ttr_event *event,
                              const struct event_header_ids *ids, struct buffer *to)
{
    struct event_header_ids ctx = choose_event_ids(event);
    if (!ids && copy_stored_event(writer, event, to))
        return;
    buffer_clear(&writer->metadata);
    buffer_clear(&writer->payload);
    append_name(writer, ttr_text_get(writer->t, event->name));
    to->failed |= !encode_fields(writer, event);
    to->failed |= writer->metadata.failed || writer->payload.failed;
    if (to->failed)
        return;
    append_header(writer, event, ids ? ids : &ctx, to);
    buffer_add(to, writer->metadata.bytes, writer->metadata.n);
    buffer_add(to, writer->payload.bytes, writer->payload.n);
}
