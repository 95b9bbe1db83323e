/* Events of EventHeader are made of any others: fields become metadata and payload side by side.
 *
 * Whether the elements of an array are alike is seen by what they would have for metadata: those of
 * the second and all others are made too, compared with those of the first, and taken away. */
#include "encodings/event_header/event_header_write.h"

#include <string.h>

#include "base/number.h"
#include "encodings/event_header/event_header_parts.h"
#include "model/activity.h"

#define MEMBERS_MOST 127u
#define EXTENSIONS_MOST ((size_t)EVENT_HEADER_BYTES + (size_t)2 * EVENT_HEADER_EXTENSION_BYTES + 32)
#define INFORMATION 4u
#define PROVIDER_MOST (EVENT_HEADER_NAME_MAX - NAME_KEEPS)
#define TAKEN 32u      /* fields at a time */
#define NAME_KEEPS 32u /* bytes of a tracepoint's name for level, keyword and the zero */

struct shape {
    uint8_t encoding, format;
};

/* Where both buffers end. */
struct mark {
    size_t metadata, payload;
};

void event_header_put_init(struct event_header_put *put, const ttr *t, const struct alloc *alloc)
{
    *put = (struct event_header_put){.t = t, .most = UINT16_MAX};
    buffer_init(&put->metadata, alloc);
    buffer_init(&put->payload, alloc);
}

void event_header_put_free(struct event_header_put *put)
{
    if (put->field)
        alloc_free(put->metadata.alloc, put->field, put->capacity, sizeof *put->field);
    buffer_free(&put->metadata);
    buffer_free(&put->payload);
}

static void lost(struct event_header_put *put, enum event_header_loss loss)
{
    put->losses[loss]++;
    put->lost_any++;
}

static void add_u16(const struct event_header_put *put, struct buffer *to, unsigned x)
{
    uint8_t bytes[2];
    if (put->is_big_endian)
        store_u16be(bytes, (uint16_t)x);
    else
        store_u16le(bytes, (uint16_t)x);
    buffer_add(to, bytes, sizeof bytes);
}

static struct mark mark_of(const struct event_header_put *put)
{
    return (struct mark){put->metadata.n, put->payload.n};
}

static void go_back(struct event_header_put *put, struct mark mark)
{
    put->metadata.n = mark.metadata;
    put->payload.n = mark.payload;
}

/* --- The name of the tracepoint --- */

/* The bytes of an event that is one of EventHeader and has a tracepoint of it; NULL = it is
 * another's. */
static const struct event_header_own *own_of(const struct event_header_put *put,
                                             const ttr_event *event)
{
    const struct schema *schema = context_schema(put->t, event->schema);
    const struct event_header_own *own = schema->own;
    return schema->ops == &event_header_field_ops && own && own->kind->is_named ? own : NULL;
}

static unsigned level_of(unsigned level)
{
    static const uint8_t levels[] = {
        [TTR_LEVEL_NONE] = INFORMATION, [TTR_LEVEL_TRACE] = 6,   [TTR_LEVEL_DEBUG] = 5,
        [TTR_LEVEL_INFO] = 4,           [TTR_LEVEL_WARNING] = 3, [TTR_LEVEL_ERROR] = 2,
        [TTR_LEVEL_FATAL] = 1};
    return level < sizeof levels ? levels[level] : INFORMATION;
}

static bool is_good(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '_'; /* perf cannot read formats of other names */
}

static size_t put_hex(char *to, uint64_t x)
{
    size_t n = 0;
    for (int shift = 60; shift >= 0; shift -= 4)
        if (n > 0 || x >> shift || shift == 0)
            to[n++] = "0123456789abcdef"[x >> shift & 15];
    return n;
}

size_t event_header_put_name(struct event_header_put *put, const ttr_event *event,
                             char to[EVENT_HEADER_NAME_MAX])
{
    const struct event_header_own *own = own_of(put, event);
    if (own) {
        ttr_text name = ttr_text_get(put->t, own->kind->tracepoint);
        size_t n = name.n - (own->kind->name.shape.n ? own->kind->name.shape.n + 1 : 0);
        memcpy(to, name.p, n);
        to[n] = '\0';
        return n;
    }
    ttr_text provider = ttr_text_get(put->t, event->provider);
    if (provider.n == 0)
        provider = (ttr_text){"tracetta", 8};
    size_t n = 0;
    for (; n < provider.n && n < PROVIDER_MOST; n++)
        to[n] = is_good(provider.p[n]) ? provider.p[n] : '_';
    memcpy(to + n, "_L", 2);
    n += 2;
    n += put_hex(to + n, level_of(event->level));
    to[n++] = 'K';
    n += put_hex(to + n, event->keyword);
    to[n] = '\0';
    return n;
}

/* Whether a provider has another name in those of tracepoints. */
static bool is_renamed(struct event_header_put *put, ttr_id provider)
{
    if (put->asked == provider)
        return put->is_renamed;
    ttr_text name = ttr_text_get(put->t, provider);
    put->asked = provider;
    put->is_renamed = name.n > PROVIDER_MOST;
    for (size_t i = 0; i < name.n; i++)
        put->is_renamed |= !is_good(name.p[i]);
    return put->is_renamed;
}

/* --- Fields --- */

static void add_name(struct event_header_put *put, ttr_text name)
{
    uint8_t *at = buffer_room(&put->metadata, name.n + 1);
    bool is_changed = false;
    if (!at)
        return;
    for (size_t i = 0; i < name.n; i++) {
        bool is_bad = name.p[i] == ';' || name.p[i] == '\0';
        at[i] = is_bad ? '_' : (uint8_t)name.p[i];
        is_changed |= is_bad;
    }
    at[name.n] = 0;
    buffer_filled(&put->metadata, name.n + 1);
    if (is_changed)
        lost(put, EVENT_HEADER_LOSS_NAME);
}

static void add_type(struct event_header_put *put, struct shape shape, unsigned flags)
{
    unsigned has_format = shape.format ? EVENT_HEADER_HAS_FORMAT : 0;
    buffer_add_byte(&put->metadata, (uint8_t)(shape.encoding | flags | has_format));
    if (shape.format)
        buffer_add_byte(&put->metadata, shape.format);
}

static bool is_container(const ttr_value *value)
{
    return value->type == TTR_TYPE_ARRAY || value->type == TTR_TYPE_STRUCT;
}

static bool is_errno(const ttr_value *value)
{
    const char *name =
        value->type == TTR_TYPE_INT && value->bits == 32 && value->hint == TTR_HINT_ENUM
            ? event_header_errno((uint32_t)value->v.s)
            : NULL;
    return name && value->count && value->text.n == strlen(name) &&
           memcmp(value->text.p, name, value->text.n) == 0;
}

static uint8_t encoding_of_bits(unsigned bits)
{
    return bits == 0 || bits > 32 ? EVENT_HEADER_VALUE64
           : bits > 16            ? EVENT_HEADER_VALUE32
           : bits > 8             ? EVENT_HEADER_VALUE16
                                  : EVENT_HEADER_VALUE8;
}

static struct shape shape_of_number(const ttr_value *value)
{
    uint8_t encoding = encoding_of_bits(value->bits);
    if (value->type == TTR_TYPE_INT)
        return (struct shape){encoding, is_errno(value) ? EVENT_HEADER_ERRNO : EVENT_HEADER_SIGNED};
    bool is_hex = value->base == 16 || value->hint == TTR_HINT_POINTER;
    return (struct shape){encoding, is_hex ? EVENT_HEADER_HEX : EVENT_HEADER_DEFAULT};
}

/* The tid a number stands for; false where it is a number. */
static bool is_thread(const struct event_header_put *put, const ttr_value *value,
                      ttr_thread *thread)
{
    return value->type == TTR_TYPE_UINT && value->hint == TTR_HINT_THREAD &&
           ttr_thread_get(put->t, (ttr_id)value->v.u, thread);
}

static struct shape shape_of(const struct event_header_put *put, const ttr_value *value)
{
    ttr_thread thread;
    if (is_thread(put, value, &thread))
        return thread.tid <= INT32_MAX ? (struct shape){EVENT_HEADER_VALUE32, EVENT_HEADER_PID}
                                       : (struct shape){EVENT_HEADER_VALUE64, 0};
    switch (value->type) {
    case TTR_TYPE_BOOL:
        return (struct shape){EVENT_HEADER_VALUE8, EVENT_HEADER_BOOLEAN};
    case TTR_TYPE_UINT:
    case TTR_TYPE_INT:
        return shape_of_number(value);
    case TTR_TYPE_FLOAT:
        return (struct shape){value->bits == 32 ? EVENT_HEADER_VALUE32 : EVENT_HEADER_VALUE64,
                              EVENT_HEADER_FLOAT};
    case TTR_TYPE_TEXT:
        return (struct shape){EVENT_HEADER_STRING8, 0};
    case TTR_TYPE_BYTES:
        return (struct shape){EVENT_HEADER_BINARY, 0};
    default:
        return (struct shape){EVENT_HEADER_STRING8, EVENT_HEADER_UNSIGNED}; /* of no bytes: null */
    }
}

static void add_number(struct event_header_put *put, uint64_t x, unsigned encoding)
{
    uint8_t bytes[8];
    unsigned n = 1u << (encoding - EVENT_HEADER_VALUE8);
    if (put->is_big_endian)
        store_u64be(bytes, x << (64 - 8 * n));
    else
        store_u64le(bytes, x);
    buffer_add(&put->payload, bytes, n);
}

static void add_text(struct event_header_put *put, ttr_text text)
{
    size_t n = text.n <= UINT16_MAX ? text.n : UINT16_MAX;
    if (n < text.n)
        lost(put, EVENT_HEADER_LOSS_CUT);
    add_u16(put, &put->payload, (unsigned)n);
    buffer_add(&put->payload, text.p, n);
}

static uint64_t bits_of(const ttr_value *value)
{
    uint32_t low;
    float single = (float)value->v.f;
    memcpy(&low, &single, sizeof low);
    return value->bits == 32 ? low : bits_of_double(value->v.f);
}

static void add_value(struct event_header_put *put, const ttr_value *value, struct shape shape)
{
    ttr_thread thread;
    bool has_names =
        (value->hint == TTR_HINT_ENUM || value->hint == TTR_HINT_FLAGS) && value->count > 0;
    if (has_names && shape.format != EVENT_HEADER_ERRNO)
        lost(put, EVENT_HEADER_LOSS_LABEL);
    if (is_thread(put, value, &thread))
        add_number(put, thread.tid, shape.encoding);
    else if (value->type == TTR_TYPE_FLOAT)
        add_number(put, bits_of(value), shape.encoding);
    else if (value->type == TTR_TYPE_TEXT || value->type == TTR_TYPE_BYTES)
        add_text(put, value->text);
    else if (value->type == TTR_TYPE_NULL)
        add_u16(put, &put->payload, 0);
    else
        add_number(put, value->v.u, shape.encoding);
}

/* The field behind one and all that it holds. */
static size_t behind(const struct event_header_put *put, size_t i)
{
    uint16_t depth = put->field[i++].depth;
    while (i < put->fields_n && put->field[i].depth > depth)
        i++;
    return i;
}

static size_t put_field(struct event_header_put *put, size_t i, ttr_text name);

/* Puts what the i-th field holds; `is_array`: under the names "0", "1", ...  Gives how many. */
static unsigned put_members(struct event_header_put *put, size_t i, bool is_array)
{
    size_t end = behind(put, i);
    unsigned n = 0;
    char number[NUMBER_MAX];
    put->depth++;
    for (size_t at = i + 1; at < end;) {
        if (n == MEMBERS_MOST) {
            lost(put, EVENT_HEADER_LOSS_CUT);
            break;
        }
        ttr_text name =
            is_array ? (ttr_text){number, number_put_u64(number, n)} : put->field[at].name;
        size_t before = put->metadata.n;
        at = put_field(put, at, name);
        n += put->metadata.n > before;
    }
    put->depth--;
    return n;
}

/* A struct of the i-th field's members or elements; null where it would have none. */
static void put_struct(struct event_header_put *put, size_t i, ttr_text name, bool is_array)
{
    struct mark mark = mark_of(put);
    add_name(put, name);
    add_type(put, (struct shape){EVENT_HEADER_STRUCT, MEMBERS_MOST}, 0);
    size_t format_at = put->metadata.n - 1;
    unsigned n = put_members(put, i, is_array);
    if (n > 0 && !put->metadata.failed) {
        put->metadata.bytes[format_at] = (uint8_t)n;
        return;
    }
    go_back(put, mark);
    lost(put, EVENT_HEADER_LOSS_EMPTY);
    const ttr_value null = {.type = TTR_TYPE_NULL};
    struct shape shape = shape_of(put, &null);
    add_name(put, name);
    add_type(put, shape, 0);
    add_value(put, &null, shape);
}

/* An array of numbers or texts; false, with nothing put, where they are not alike. */
static bool put_values(struct event_header_put *put, size_t i, ttr_text name)
{
    size_t end = behind(put, i), n = end - i - 1;
    struct shape first =
        n ? shape_of(put, &put->field[i + 1].value) : (struct shape){EVENT_HEADER_VALUE8, 0};
    for (size_t at = i + 1; at < end; at++) {
        struct shape shape = shape_of(put, &put->field[at].value);
        if (is_container(&put->field[at].value) || shape.encoding != first.encoding ||
            shape.format != first.format)
            return false;
    }
    if (n > UINT16_MAX)
        lost(put, EVENT_HEADER_LOSS_CUT);
    n = n > UINT16_MAX ? UINT16_MAX : n;
    add_name(put, name);
    add_type(put, first, EVENT_HEADER_COUNTED_ARRAY);
    add_u16(put, &put->payload, (unsigned)n);
    for (size_t at = i + 1; at < i + 1 + n; at++)
        add_value(put, &put->field[at].value, first);
    return true;
}

/* The elements of an array of structs, the metadata of the first staying; gives how many, 0 where
 * they are not alike.  One of which the rest was not kept is taken for one like the others. */
static unsigned put_elements(struct event_header_put *put, size_t i, uint8_t *members)
{
    size_t end = behind(put, i), begin = put->metadata.n, first_n = 0, at = i + 1;
    unsigned n = 0;
    for (; at < end && n < UINT16_MAX; n++) {
        size_t before = put->metadata.n, element = at;
        if (put->field[at].value.type != TTR_TYPE_STRUCT)
            return 0;
        at = behind(put, at);
        unsigned found = put_members(put, element, false);
        size_t made = put->metadata.n - before;
        bool is_whole = !put->is_cut || at < put->fields_n;
        if (put->metadata.failed || found == 0)
            return 0;
        if (n == 0) {
            first_n = made;
            *members = (uint8_t)found;
            continue;
        }
        if (is_whole &&
            (made != first_n || found != *members ||
             memcmp(put->metadata.bytes + begin, put->metadata.bytes + before, made) != 0))
            return 0;
        put->metadata.n = before;
    }
    if (at < end)
        lost(put, EVENT_HEADER_LOSS_CUT);
    return n;
}

static bool put_structs(struct event_header_put *put, size_t i, ttr_text name)
{
    struct mark mark = mark_of(put);
    uint64_t losses[EVENT_HEADER_LOSSES], lost_any = put->lost_any;
    uint8_t members = 0;
    memcpy(losses, put->losses, sizeof losses);
    add_name(put, name);
    add_type(put, (struct shape){EVENT_HEADER_STRUCT, MEMBERS_MOST}, EVENT_HEADER_COUNTED_ARRAY);
    size_t format_at = put->metadata.n - 1, count_at = put->payload.n;
    add_u16(put, &put->payload, 0);
    unsigned n = put_elements(put, i, &members);
    if (n > 0 && !put->payload.failed) {
        put->metadata.bytes[format_at] = members;
        (put->is_big_endian ? store_u16be : store_u16le)(put->payload.bytes + count_at,
                                                         (uint16_t)n);
        return true;
    }
    go_back(put, mark);
    memcpy(put->losses, losses, sizeof losses);
    put->lost_any = lost_any;
    return false;
}

static void put_array(struct event_header_put *put, size_t i, ttr_text name)
{
    if (put_values(put, i, name))
        return;
    bool has_room = put->depth < EVENT_HEADER_DEPTH;
    if (has_room && put_structs(put, i, name))
        return;
    lost(put, has_room ? EVENT_HEADER_LOSS_ARRAY : EVENT_HEADER_LOSS_CUT);
    if (has_room)
        put_struct(put, i, name, true);
}

/* Puts a field and all that it holds; gives the one behind. */
static size_t put_field(struct event_header_put *put, size_t i, ttr_text name)
{
    const ttr_value *value = &put->field[i].value;
    if (value->type == TTR_TYPE_ARRAY) {
        put_array(put, i, name);
    } else if (value->type == TTR_TYPE_STRUCT && put->depth == EVENT_HEADER_DEPTH) {
        lost(put, EVENT_HEADER_LOSS_CUT);
    } else if (value->type == TTR_TYPE_STRUCT) {
        put_struct(put, i, name, false);
    } else {
        struct shape shape = shape_of(put, value);
        add_name(put, name);
        add_type(put, shape, 0);
        add_value(put, value, shape);
    }
    return behind(put, i);
}

/* --- The event --- */

static void add_own(struct event_header_put *put, const char *name, const ttr_value *value)
{
    struct shape shape = shape_of(put, value);
    add_name(put, (ttr_text){name, strlen(name)});
    add_type(put, shape, 0);
    add_value(put, value, shape);
}

/* Whether the kind is no more than what opcode and activity say. */
static bool is_said(const ttr_event *event)
{
    return event->kind == TTR_KIND_INSTANT || (activity_is(event) && event->activity);
}

/* What the kind of an event says, where it is no instant. */
static void put_kind(struct event_header_put *put, const ttr_event *event)
{
    const char *kind = ttr_kind_text(event->kind);
    if (is_said(event))
        return;
    lost(put, EVENT_HEADER_LOSS_KIND);
    add_own(put, "ttr.kind", &(ttr_value){.type = TTR_TYPE_TEXT, .text = {kind, strlen(kind)}});
    if (event->duration)
        add_own(put, "ttr.duration_ns",
                &(ttr_value){.type = TTR_TYPE_UINT, .v.u = event->duration});
    if (event->link)
        add_own(put, "ttr.link",
                &(ttr_value){.type = TTR_TYPE_UINT, .v.u = event->link, .base = 16});
}

/* Puts the field under way, with all that it holds, where there is room for it.  What was lost in
 * one that is left out is lost with it. */
static void put_outermost(struct event_header_put *put, size_t at)
{
    const struct mark mark = mark_of(put);
    const uint8_t group = put->field[at].group;
    uint64_t losses[EVENT_HEADER_LOSSES], lost_any = put->lost_any;
    memcpy(losses, put->losses, sizeof losses);
    (void)put_field(put, at, put->field[at].name);
    const bool fits = put->metadata.n <= UINT16_MAX &&
                      EXTENSIONS_MOST + put->metadata.n + put->payload.n <= put->most;
    if (!fits) {
        go_back(put, mark);
        memcpy(put->losses, losses, sizeof losses);
        put->lost_any = lost_any;
    }
    if (!fits || put->is_cut)
        lost(put, EVENT_HEADER_LOSS_CUT);
    if (fits && (group == TTR_GROUP_CONTEXT || group == TTR_GROUP_COMMON))
        lost(put, EVENT_HEADER_LOSS_CONTEXT);
}

/* The bytes of payload that a field takes at least. */
static size_t least_of(const ttr_value *value)
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
        return value->hint == TTR_HINT_THREAD
                   ? 4
                   : (size_t)1 << (encoding_of_bits(value->bits) - EVENT_HEADER_VALUE8);
    case TTR_TYPE_FLOAT:
        return value->bits == 32 ? 4 : 8;
    default:
        return 1;
    }
}

/* Takes the fields from `from` on, putting each outermost one when the next begins; `begin` is the
 * one under way.  Of one that has more than an event has room for the rest is not kept: it would be
 * left out all the same, and has no bound. */
static void take_block(struct event_header_put *put, size_t from, size_t n, size_t *begin)
{
    put->fields_n = from;
    for (size_t i = from; i < from + n; i++) {
        const ttr_field *field = &put->field[i];
        if (field->depth == 0) {
            if (put->fields_n > *begin)
                put_outermost(put, *begin);
            *begin = put->fields_n;
            put->least = 0;
            put->is_cut = false;
        }
        put->is_cut |= put->least > put->most;
        if (put->is_cut)
            continue;
        put->least += least_of(&field->value);
        if (put->fields_n != i)
            put->field[put->fields_n] = *field;
        put->fields_n++;
    }
}

/* Puts all fields that there is room for; false when memory is out. */
static bool put_fields(struct event_header_put *put, const ttr_event *event)
{
    ttr_fields fields;
    size_t begin = 0;
    put->fields_n = 0;
    put->least = 0;
    put->is_cut = false;
    ttr_fields_begin(put->t, event, &fields);
    for (uint32_t n = 1; n > 0;) {
        if (begin > TAKEN) {
            memmove(put->field, put->field + begin, (put->fields_n - begin) * sizeof *put->field);
            put->fields_n -= begin;
            begin = 0;
        }
        const size_t before = put->fields_n;
        if (!alloc_reserve(put->metadata.alloc, (void **)&put->field, &put->capacity,
                           before + TAKEN, sizeof *put->field))
            return false;
        for (n = 0; n < TAKEN && ttr_fields_next(&fields, &put->field[before + n]);)
            n++;
        take_block(put, before, n, &begin);
    }
    if (put->fields_n > begin)
        put_outermost(put, begin);
    put_kind(put, event);
    return true;
}

struct event_header_says event_header_says(const ttr_event *event)
{
    return (struct event_header_says){event->opcode, event->activity, event->related};
}

static void add_header(struct event_header_put *put, const ttr_event *event,
                       const struct event_header_says *says, struct buffer *to)
{
    if (!event->provider)
        lost(put, EVENT_HEADER_LOSS_NOBODY);
    else if (is_renamed(put, event->provider))
        lost(put, EVENT_HEADER_LOSS_PROVIDER);
    if (event->level <= TTR_LEVEL_TRACE || event->level > TTR_LEVEL_FATAL)
        lost(put, EVENT_HEADER_LOSS_LEVEL);
    unsigned flags = EVENT_HEADER_POINTER64 | EVENT_HEADER_EXTENSION |
                     (put->is_big_endian ? 0 : EVENT_HEADER_LITTLE_ENDIAN);
    buffer_add_byte(to, (uint8_t)flags);
    buffer_add_byte(to, 0);
    add_u16(put, to, 0);
    add_u16(put, to, is_said(event) ? event->tag : 0);
    buffer_add_byte(to, says->opcode);
    buffer_add_byte(to, (uint8_t)level_of(event->level));
    if (says->activity) {
        add_u16(put, to, says->related ? 32 : 16);
        add_u16(put, to, EVENT_HEADER_ACTIVITY | EVENT_HEADER_CHAIN);
        buffer_add(to, says->activity, 16);
        buffer_add(to, says->related, says->related ? 16 : 0);
    }
    add_u16(put, to, (unsigned)put->metadata.n);
    add_u16(put, to, EVENT_HEADER_METADATA);
}

/* Copies an event of EventHeader without what its container filled up; false where it is none, or
 * is not whole. */
static bool copy_event(const struct event_header_put *put, const ttr_event *event,
                       struct buffer *to)
{
    const struct event_header_own *own = own_of(put, event);
    struct event_header_parts parts;
    struct event_header_walk walk;
    if (!own)
        return false;
    const struct event_headers_spec *spec = &own->kind->all->spec;
    struct event_header_raw raw = spec->raw(spec->own, event);
    if (!event_header_parse(raw, own->kind->skip, &parts) || parts.why)
        return false;
    event_header_walk_begin(&walk, parts.metadata ? own->plan : NULL, &parts);
    while (event_header_walk_next(&walk) != PLACE_END)
        continue;
    struct cursor all = cursor_over(raw.p, raw.n, 0);
    (void)cursor_skip(&all, own->kind->skip);
    size_t filled = event_header_padding(own->kind->all, &walk.data);
    buffer_add(to, all.p, cursor_left(&all) - (walk.why ? 0 : filled));
    return true;
}

void event_header_put_event(struct event_header_put *put, const ttr_event *event,
                            const struct event_header_says *says, struct buffer *to)
{
    struct event_header_says own = event_header_says(event);
    if (!says && copy_event(put, event, to))
        return;
    buffer_clear(&put->metadata);
    buffer_clear(&put->payload);
    add_name(put, ttr_text_get(put->t, event->name));
    to->failed |= !put_fields(put, event);
    to->failed |= put->metadata.failed || put->payload.failed;
    if (to->failed)
        return;
    add_header(put, event, says ? says : &own, to);
    buffer_add(to, put->metadata.bytes, put->metadata.n);
    buffer_add(to, put->payload.bytes, put->payload.n);
}
