/* Plans: events of a class that come often, and lie straight in their payloads, are printed from
 * their bytes without fields in between.
 *
 * All that stands between two values (braces, names, quotes) is the same in all events of a class,
 * so a plan is a list of such texts, each with the value behind it: where it lies
 * (layout/layout_record_parts.h) and how it is printed.  The texts are made by what prints fields
 * otherwise.  There is room for all of an event before its first byte is written. Left out, and
 * printed field by field: colours, arrays without their indices, values with several names,
 * payloads of more than PAYLOAD_MOST bytes. */
#include "formats/babeltrace2/babeltrace2_quote.h"
#include "formats/babeltrace2/babeltrace2_walk.h"
#include "layout/layout_record_parts.h"

#define PARTS_MOST 128u /* of a class with a plan */
#define PLAN_FROM 16u   /* events of a class that come before its plan */
#define PLANS_MOST                                                                 \
    ((size_t)1024 * 1024) /* bytes of all plans: what very many classes would take \
                           */
#define PAYLOAD_MOST 4096u
#define ELEMENT_ROOM 64u /* of an index and a number: no element takes less than a byte */

enum put_code {
    PUT_DECIMAL, /* + enum load: unsigned or signed as that is */
    PUT_DECIMAL_S64LE = PUT_DECIMAL + LOAD_COUNT,
    PUT_DECIMAL_S64BE,
    PUT_HEX,
    PUT_FLOAT,
    PUT_LABEL,
    PUT_TEXT,
    PUT_STRING,
    PUT_LAST_STRING,
    PUT_COUNTED_TEXT,
    PUT_BYTES,    /* elements: unsigned numbers of eight bits */
    PUT_ELEMENTS, /* others */
    PUT_ANY,
    PUT_END
};

struct put {
    const char *text; /* before the value; BLOCK bytes behind it can be read */
    uint32_t text_n;
    uint8_t code; /* enum put_code */
    struct layout_part part;
    uint64_t mask; /* PUT_HEX: bits that are shown */
};

struct babeltrace2_plan {
    struct babeltrace2_plan *next;       /* among those with such a start */
    const struct type *root[ROOT_COUNT]; /* of the class */
    const void *start;                   /* of the schema that it was made for */
    uint32_t reach;    /* bytes that must be there up to the first part that moves */
    uint32_t per_byte; /* text that a byte of the payload may become */
    size_t room;       /* for all else */
    bool has_packet, is_behind_packet; /* events may have a packet's part; it is printed before */
    struct put put[];
};

/* --- Making --- */

/* The code of a plain number; PUT_ANY where it is none, or not in decimal. */
static uint8_t code_of_number(const ttr_value *value, uint8_t load)
{
    const uint8_t kind = kind_of(value);
    const bool is_64 = load == LOAD_U64LE || load == LOAD_U64BE, is_signed = load >= LOAD_S8;
    if (kind == VALUE_SIGNED && is_64)
        return load == LOAD_U64LE ? PUT_DECIMAL_S64LE : PUT_DECIMAL_S64BE;
    if ((kind == VALUE_SIGNED && is_signed) || (kind == VALUE_UNSIGNED && !is_signed))
        return (uint8_t)(PUT_DECIMAL + load);
    if (value->type == TTR_TYPE_FLOAT)
        return PUT_FLOAT;
    return kind == VALUE_OTHER && value->base == 16 && !value->hint ? PUT_HEX : PUT_ANY;
}

static uint8_t code_of(const struct layout_part *part)
{
    const bool is_text = kind_of(&part->field->value) == VALUE_TEXT;
    switch (part->kind) {
    case LAYOUT_PART_END:
        return PUT_END;
    case LAYOUT_PART_SINGLE:
        return PUT_FLOAT;
    case LAYOUT_PART_ENUM:
        return PUT_LABEL;
    case LAYOUT_PART_NUMBER:
        return code_of_number(&part->field->value, part->load);
    case LAYOUT_PART_TEXT:
        return is_text ? PUT_TEXT : PUT_ANY;
    case LAYOUT_PART_STRING:
        return PUT_STRING;
    case LAYOUT_PART_LAST_STRING:
        return PUT_LAST_STRING;
    case LAYOUT_PART_COUNTED_TEXT:
        return PUT_COUNTED_TEXT;
    case LAYOUT_PART_ELEMENTS:
        return part->element_load == LOAD_U8 && part->stride == 1 &&
                       kind_of(&part->element->value) == VALUE_UNSIGNED
                   ? PUT_BYTES
                   : PUT_ELEMENTS;
    default:
        return PUT_ANY;
    }
}

/* Whether a plan can have a part. */
static bool is_plain_part(const struct parts *parts, const struct layout_part *part)
{
    const uint8_t kind = kind_of(&part->field->value);
    const bool is_named =
        part->field->group == TTR_GROUP_PAYLOAD ? parts->names->payload : parts->names->context;
    switch (part->kind) {
    case LAYOUT_PART_END:
        return true;
    case LAYOUT_PART_STRING:
    case LAYOUT_PART_LAST_STRING:
    case LAYOUT_PART_COUNTED_TEXT:
        return kind == VALUE_TEXT && !part->field->choices;
    case LAYOUT_PART_ELEMENTS:
        return kind == VALUE_ARRAY && is_named && kind_of(&part->element->value) < VALUE_TEXT &&
               !part->field->choices;
    default:
        return kind != VALUE_ARRAY && !part->field->choices;
    }
}

static bool is_quoted(uint8_t code)
{
    return code >= PUT_TEXT && code <= PUT_COUNTED_TEXT;
}

/* Prints all of an event but its values; `put` gets how long the text before each of them is.  How
 * many values there are, with the end. */
static uint32_t print_texts(struct parts *parts, const struct layout_part *part, struct put *put)
{
    struct walk *walk = &parts->walk;
    uint32_t n = 0;
    for (size_t from = 0;; part++) {
        if (part->kind == LAYOUT_PART_END) {
            babeltrace2_end_parts(parts);
        } else if (!babeltrace2_begin_field(parts, part->field) &&
                   part->kind != LAYOUT_PART_ELEMENTS) {
            continue; /* a structure: no more than its brace */
        }
        put[n] = (struct put){.code = code_of(part),
                              .part = *part,
                              .mask = babeltrace2_hex_mask(&part->field->value)};
        if (is_quoted(put[n].code) && room_for(walk, 1))
            *walk->at++ = '"';
        put[n].text_n = (uint32_t)(place_in(walk) - from);
        from = place_in(walk);
        if (part->kind == LAYOUT_PART_END)
            return n + 1;
        if (is_quoted(put[n++].code) && room_for(walk, 1))
            *walk->at++ = '"';
    }
}

static void set_room(struct babeltrace2_plan *plan, const struct put *put)
{
    const uint32_t per_byte = put->part.kind == LAYOUT_PART_ELEMENTS ? ELEMENT_ROOM
                              : is_quoted(put->code)                 ? 4
                                                                     : 0;
    plan->room += put->text_n + BLOCK + VALUE_ROOM;
    if (per_byte > plan->per_byte)
        plan->per_byte = per_byte;
}

/* Puts values and texts together. */
static struct babeltrace2_plan *assemble(struct babeltrace2_cache *cache, const struct put *put,
                                         uint32_t n, const struct buffer *texts)
{
    const size_t size = sizeof(struct babeltrace2_plan) + n * sizeof *put + texts->n + BLOCK;
    struct babeltrace2_plan *plan = texts->failed || size > PLANS_MOST - cache->plans_size
                                        ? NULL
                                        : arena_take(cache->arena, size);
    if (!plan)
        return NULL;
    char *text = (char *)&plan->put[n];
    cache->plans_size += size;
    memset(plan, 0, size);
    memcpy(plan->put, put, n * sizeof *put);
    memcpy(text, texts->bytes, texts->n);
    for (uint32_t i = 0; i < n; text += put[i++].text_n) {
        plan->put[i].text = text;
        set_room(plan, &put[i]);
    }
    return plan;
}

static void make_numbers(struct babeltrace2_cache *cache)
{
    for (uint32_t i = 0; i < BABELTRACE2_INDEXES; i++)
        (void)babeltrace2_put_index(cache, i, (char[NUMBER_MAX]){0});
    for (unsigned i = 0; i < 256; i++) {
        char text[NUMBER_MAX];
        cache->byte[i].n = (uint8_t)number_put_u64(text, i);
        memcpy(cache->byte[i].text, text, sizeof cache->byte[i].text);
    }
}

static struct babeltrace2_plan **plans_with(struct babeltrace2_cache *cache,
                                            const struct schema *schema)
{
    return &cache->plans[(uintptr_t)schema->start / 16 % BABELTRACE2_PLANS];
}

/* The plan made for the same class in another stream: hundreds of these have no room for one each
 * in the nearer caches. */
static const struct babeltrace2_plan *find_plan(const struct parts *line,
                                                const struct schema *schema)
{
    const struct babeltrace2_plan *plan = *plans_with(line->walk.cache, schema);
    while (plan && (plan->start != schema->start || plan->is_behind_packet != line->has_part ||
                    memcmp(plan->root, line->event_class->root, sizeof plan->root) != 0))
        plan = plan->next;
    return plan;
}

/* Makes the plan of a schema whose event is about to be printed from `line` on; NULL where it can
 * have none. */
static const struct babeltrace2_plan *make_plan(const struct parts *line,
                                                const struct schema *schema)
{
    struct layout_part part[PARTS_MOST];
    struct put put[PARTS_MOST];
    struct buffer texts;
    struct parts parts;
    struct babeltrace2_plan *plan;
    uint32_t reach, n = line->walk.with_color ? 0 : layout_parts(schema, part, PARTS_MOST, &reach);
    for (uint32_t i = 0; i < n; i++)
        n = is_plain_part(line, &part[i]) ? n : 0;
    if (n == 0)
        return NULL;
    if (!line->walk.cache->byte[0].n)
        make_numbers(line->walk.cache);
    buffer_init(&texts, line->walk.cache->arena->alloc);
    parts.walk.to = &texts;
    parts.walk.cache = line->walk.cache;
    parts.walk.with_color = false;
    parts.walk.depth = 0;
    parts.names = line->names;
    parts.event_class = line->event_class;
    parts.has_part = line->has_part;
    parts.is_open = line->is_open;
    parts.next = line->next;
    begin_room(&parts.walk, 0);
    n = print_texts(&parts, part, put);
    end_room(&parts.walk);
    plan = assemble(line->walk.cache, put, n, &texts);
    buffer_free(&texts);
    if (!plan)
        return NULL;
    plan->start = schema->start;
    plan->reach = reach;
    plan->has_packet = line->event_class->root[ROOT_PACKET_CONTEXT] != NULL;
    plan->is_behind_packet = line->has_part;
    memcpy(plan->root, line->event_class->root, sizeof plan->root);
    struct babeltrace2_plan **const plans = plans_with(line->walk.cache, schema);
    plan->next = *plans;
    return *plans = plan;
}

void babeltrace2_meet(const struct parts *parts, const struct schema *schema,
                      struct babeltrace2_class *of_class)
{
    if (of_class->met == PLAN_FROM) /* there is a plan, or none can be */
        return;
    const bool is_time = ++of_class->met == PLAN_FROM;
    if (!of_class->plan && (of_class->met == 1 || is_time))
        of_class->plan = find_plan(parts, schema);
    if (!of_class->plan && is_time)
        of_class->plan = make_plan(parts, schema);
}

/* --- Following --- */

/* An event that is printed by a plan. */
struct event {
    struct buffer *to;
    struct babeltrace2_cache *cache;
    const struct babeltrace2_plan *plan;
    struct layout_record record;
    size_t room; /* for all of it */
};

/* Values that take more; NULL: the event is to be printed otherwise. */
static __attribute__((noinline)) char *put_any(const struct event *event,
                                               const struct layout_part *part, const uint8_t *at,
                                               char *to)
{
    static const ttr_fields none;
    struct walk walk;
    ttr_value value;
    layout_part_value(part, &event->record, at, &value);
    if (value.hint == TTR_HINT_ENUM && value.count > 1)
        return NULL;
    walk.to = event->to;
    walk.at = to;
    walk.end = to + VALUE_ROOM;
    walk.fields = &none;
    walk.with_color = false;
    babeltrace2_add_value(&walk, &value);
    end_room(&walk);
    return (char *)buffer_room(event->to, event->room);
}

/* A number with its names; those that were printed last are kept. */
static inline char *put_label(const struct event *event, const struct put *put, const uint8_t *at,
                              char *to)
{
    const uint64_t number = load_plain((enum load)put->part.load, at);
    struct babeltrace2_label *kept =
        &event->cache->label[((uintptr_t)put / sizeof *put + number) % BABELTRACE2_LABELS];
    if (kept->place == put && kept->number == number)
        return put_blocks(to, kept->text, kept->n);
    const size_t from = (size_t)(to - (const char *)event->to->bytes);
    to = put_any(event, &put->part, at, to);
    const size_t n = to ? (size_t)(to - (const char *)event->to->bytes) - from : SIZE_MAX;
    if (n <= sizeof kept->text) {
        *kept = (struct babeltrace2_label){.place = put, .number = number, .n = (uint32_t)n};
        memcpy(kept->text, event->to->bytes + from, n);
    }
    return to;
}

/* How many elements, or bytes of a text, there are. */
static inline uint64_t count_of(const struct layout_part *part, const uint8_t *at)
{
    return part->load == LOAD_COUNT ? part->count
                                    : load_plain((enum load)part->load, at - part->back);
}

static inline double load_float(const struct layout_part *part, const uint8_t *p)
{
    const uint64_t bits = load_plain((enum load)part->load, p);
    return part->kind == LAYOUT_PART_SINGLE ? load_single((uint32_t)bits) : double_of_bits(bits);
}

static char *put_element(const struct layout_part *part, const uint8_t *p, char *to)
{
    ttr_value value = part->element->value;
    const uint64_t number = load_plain((enum load)part->element_load, p);
    if (value.type == TTR_TYPE_FLOAT)
        return babeltrace2_put_float(to, part->has_single_elements ? load_single((uint32_t)number)
                                                                   : double_of_bits(number));
    value.v.u = number;
    switch (kind_of(&value)) {
    case VALUE_SIGNED:
        return put_signed(to, number);
    case VALUE_UNSIGNED:
        return put_unsigned(to, number);
    default:
        return babeltrace2_put_based(to, &value);
    }
}

static char *put_elements(struct babeltrace2_cache *cache, const struct layout_part *part,
                          const uint8_t *p, uint64_t n, char *to)
{
    for (uint64_t i = 0; i < n; i++, p += part->stride)
        to = put_element(part, p, put_index(cache, i, to));
    return to;
}

static inline char *put_bytes(struct babeltrace2_cache *cache, const uint8_t *p, uint64_t n,
                              char *to)
{
    for (uint64_t i = 0; i < n; i++) {
        const struct babeltrace2_byte *byte = &cache->byte[p[i]];
        to = put_index(cache, i, to);
        memcpy(to, byte, sizeof *byte); /* of which the text counts */
        to += byte->n;
    }
    return to;
}

/* The numbers of parts that stand still. */
#define DECIMAL(load, put_number, number) \
    case PUT_DECIMAL + (load):            \
        to = put_number(to, number);      \
        continue

/* Prints an event; NULL where it is not as the plan has it. */
/* long: one case for each kind of value */
static char *put_event(const struct event *event, char *to)
{
    const uint8_t *const base = event->record.base, *const end = event->record.end,
                         *p = event->record.begin;
    const struct put *put = event->plan->put;
    if ((uint64_t)(end - p) < event->plan->reach)
        return NULL;
    for (uint64_t n;; put++) {
        const struct layout_part *const part = &put->part;
        const uint8_t *const at = p + part->at;
        to = put_blocks(to, put->text, put->text_n);
        switch (put->code) {
            DECIMAL(LOAD_U8, put_unsigned, *at);
            DECIMAL(LOAD_U16LE, put_unsigned, load_u16le(at));
            DECIMAL(LOAD_U32LE, put_unsigned, load_u32le(at));
            DECIMAL(LOAD_U64LE, put_unsigned, load_u64le(at));
            DECIMAL(LOAD_U16BE, put_unsigned, load_u16be(at));
            DECIMAL(LOAD_U32BE, put_unsigned, load_u32be(at));
            DECIMAL(LOAD_U64BE, put_unsigned, load_u64be(at));
            DECIMAL(LOAD_S8, put_signed, (uint64_t)(int8_t)*at);
            DECIMAL(LOAD_S16LE, put_signed, (uint64_t)(int16_t)load_u16le(at));
            DECIMAL(LOAD_S32LE, put_signed, (uint64_t)(int32_t)load_u32le(at));
            DECIMAL(LOAD_S16BE, put_signed, (uint64_t)(int16_t)load_u16be(at));
            DECIMAL(LOAD_S32BE, put_signed, (uint64_t)(int32_t)load_u32be(at));
            DECIMAL(LOAD_COUNT, put_signed, load_u64le(at));
            DECIMAL(LOAD_COUNT + 1, put_signed, load_u64be(at));
        case PUT_HEX:
            to = babeltrace2_put_hex(to, load_plain((enum load)part->load, at) & put->mask);
            continue;
        case PUT_FLOAT:
            to = babeltrace2_put_float(to, load_float(part, at));
            continue;
        case PUT_TEXT:
            to = put_quotable(to, base, at, at + part->count);
            continue;
        case PUT_END:
            return to;
        case PUT_STRING:
            p = find_zero(base, at, end);
            if (!p)
                return NULL;
            to = put_quotable(to, base, at, p++);
            break;
        case PUT_LAST_STRING:
            p = end - part->reach;
            if (p <= at || p[-1])
                return NULL;
            to = put_quotable(to, base, at, p - 1);
            break;
        case PUT_COUNTED_TEXT:
            n = count_of(part, at);
            if (n > (uint64_t)(end - at))
                return NULL;
            p = at + n;
            to = put_quotable(to, base, at, p);
            break;
        case PUT_BYTES:
        case PUT_ELEMENTS:
            n = count_of(part, at);
            if (n > (uint64_t)(end - at) ||
                n * part->stride - (n ? part->gap : 0) > (uint64_t)(end - at))
                return NULL;
            p = at + n * part->stride - (n ? part->gap : 0);
            to = put->code == PUT_BYTES ? put_bytes(event->cache, at, n, to)
                                        : put_elements(event->cache, part, at, n, to);
            break;
        case PUT_LABEL:
        case PUT_ANY:
            to = put->code == PUT_LABEL ? put_label(event, put, at, to)
                                        : put_any(event, part, at, to);
            if (!to)
                return NULL;
            continue;
        default:
            __builtin_unreachable(); /* code_of makes no others */
        }
        if ((uint64_t)(end - p) < part->reach)
            return NULL;
    }
}

/* Gives the packet's part of an event; false where it is not known, or not what the plan was made
 * for. */
static inline bool get_packet(const struct event *event, const struct schema *schema,
                              const ttr_event *of, ttr_text *text)
{
    const struct babeltrace2_plan *plan = event->plan;
    *text = (ttr_text){event->cache->packet[0].text, 0};
    if (!plan->has_packet)
        return true;
    const struct babeltrace2_packet *known = known_packet(event->cache, of, packet_of(schema, of));
    if (!known || (known->n > 0) != plan->is_behind_packet)
        return false;
    *text = (ttr_text){known->text, known->n};
    return true;
}

bool babeltrace2_follow(struct buffer *to, const struct schema *schema, const ttr_event *event,
                        const struct babeltrace2_plan *plan, struct babeltrace2_cache *cache)
{
    struct event tried = {.to = to, .cache = cache, .plan = plan};
    ttr_text packet;
    if (plan->start != schema->start || event->payload_size > PAYLOAD_MOST ||
        !layout_record_of(schema, event, &tried.record) ||
        !get_packet(&tried, schema, event, &packet))
        return false;
    const size_t begin = to->n;
    tried.room = plan->room + (size_t)plan->per_byte * event->payload_size;
    char *at = (char *)buffer_room(to, tried.room + sizeof cache->packet[0].text);
    at = at ? put_event(&tried, put_blocks(at, packet.p, packet.n)) : NULL;
    if (at)
        to->n = (size_t)(at - (char *)to->bytes);
    else
        to->n = begin;
    return at != NULL;
}
