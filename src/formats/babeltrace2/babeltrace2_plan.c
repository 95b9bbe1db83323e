/* Plans: compiled printing of frequent event classes, directly from payload bytes, without
 * iterating over fields.
 *
 * The text between two values (braces, names, quotes) is the same in all events of a class. A plan
 * is a straight-line program: each operation copies a constant text, loads a value at a known
 * offset, and formats it. Example for { a, s } with a u32 and a string:
 *
 *   op 0  text "{ a = "        PUT_DECIMAL + LOAD_U32LE   at base + 0
 *   op 1  text ", s = \""      PUT_STRING                 at base + 4
 *   op 2  text "\" }\n"        PUT_END
 *
 * Order of calls:
 *   babeltrace2_count_event_of_class   counts the events of a class. The first event looks for the
 * plan of the same class in another stream, event PLAN_FROM compiles a plan. make_plan lists the
 * values of the record (layout/layout_record_parts.h), prints one event without its values by
 * babeltrace2_fields.c, and records the text before each value. So both ways of printing agree.
 *   babeltrace2_run_plan      executes the plan for an event: reserves room, appends the packet
 *                             context and the values.
 *
 * Invariants:
 *   - The output of a plan equals that of field-by-field printing (babeltrace2_plan_test.c).
 *   - Offsets are relative to a base. A value of variable size moves the base to its end.
 *   - `reach` bytes after the base are checked each time it moves; an event that is too short is
 *     printed field by field.
 *   - Room for the complete event is reserved before its first byte: room + per_byte * payload.
 *   - Texts are padded by BLOCK bytes, so that they can be copied in blocks.
 *
 * Cost: one indirect branch per value. All plans together use at most 1 MiB; a class without a plan
 * is only slower.
 *
 * Left out, printed field by field: colors, arrays without indices, values with several labels,
 * optional fields and variants, payloads of more than PLAN_PAYLOAD_MAX bytes. */
#include "formats/babeltrace2/babeltrace2_quote.h"
#include "formats/babeltrace2/babeltrace2_output.h"
#include "layout/layout_record_parts.h"

#define PLAN_PARTS_MAX 128u /* maximum number of fields of a class that gets a plan */
#define PLAN_FROM 16u       /* number of events of a class after which its plan is made */
/* memory limit for all plans, in bytes; only traces with very many classes reach it */
#define PLAN_BYTES_MAX ((size_t)1024 * 1024)
#define PLAN_PAYLOAD_MAX 4096u
/* maximum number of output bytes for an index and a number, per payload byte; each element has at
 * least one payload byte */
#define ELEMENT_ROOM 64u

enum plan_op_code {
    /* PUT_DECIMAL is added to an enum load. The S64 operations print signed 64-bit numbers, which
     * are loaded in the same way as unsigned ones. */
    PUT_DECIMAL,
    PUT_DECIMAL_S64LE = PUT_DECIMAL + LOAD_COUNT,
    PUT_DECIMAL_S64BE,
    PUT_HEX,
    PUT_FLOAT,
    PUT_LABEL,
    PUT_TEXT,
    PUT_STRING,
    PUT_LAST_STRING,
    PUT_COUNTED_TEXT,
    PUT_BYTES,    /* prints an array of unsigned eight-bit numbers */
    PUT_ELEMENTS, /* prints an array of other numbers */
    PUT_ANY,
    PUT_END
};

struct plan_op {
    /* separator that precedes the value; BLOCK bytes after it are readable */
    const char *text;
    uint32_t text_n;
    uint8_t code; /* operation (enum plan_op_code) */
    struct layout_part part;
    uint64_t mask; /* for PUT_HEX: mask of the bits of the value that are printed */
};

struct babeltrace2_plan {
    struct babeltrace2_plan *next; /* next plan in the same slot of the hash table */
    /* root types of the class; another stream's class with the same types shares the plan */
    const struct type *root[ROOT_COUNT];
    /* value of the member `start` of the schema for which the plan was made */
    const void *start;
    /* number of payload bytes that precede the first field of variable size */
    uint32_t reach;
    uint32_t per_byte; /* maximum number of output bytes per payload byte */
    size_t room;       /* maximum number of output bytes that do not depend on the payload */
    /* has_packet: events may have a packet context, which is printed before the operations of the
     * plan */
    bool has_packet, is_after_packet;
    struct plan_op op[];
};

/* --- Compilation of plans --- */

/* Returns the operation code that prints a number: PUT_ANY unless the number is a plain decimal,
 * hexadecimal or float. */
static uint8_t choose_number_opcode(const ttr_value *value, uint8_t load)
{
    const uint8_t kind = get_value_kind(value);
    const bool is_64 = load == LOAD_U64LE || load == LOAD_U64BE, is_signed = load >= LOAD_S8;
    if (kind == VALUE_SIGNED && is_64)
        return load == LOAD_U64LE ? PUT_DECIMAL_S64LE : PUT_DECIMAL_S64BE;
    if ((kind == VALUE_SIGNED && is_signed) || (kind == VALUE_UNSIGNED && !is_signed))
        return (uint8_t)(PUT_DECIMAL + load);
    if (value->type == TTR_TYPE_FLOAT)
        return PUT_FLOAT;
    return kind == VALUE_OTHER && value->base == 16 && !value->hint ? PUT_HEX : PUT_ANY;
}

static uint8_t choose_part_opcode(const struct layout_part *part)
{
    const bool is_text = get_value_kind(&part->field->value) == VALUE_TEXT;
    switch (part->kind) {
    case LAYOUT_PART_END:
        return PUT_END;
    case LAYOUT_PART_SINGLE:
        return PUT_FLOAT;
    case LAYOUT_PART_ENUM:
        return PUT_LABEL;
    case LAYOUT_PART_NUMBER:
        return choose_number_opcode(&part->field->value, part->load);
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
                       get_value_kind(&part->element->value) == VALUE_UNSIGNED
                   ? PUT_BYTES
                   : PUT_ELEMENTS;
    default:
        return PUT_ANY;
    }
}

/* Returns true if a plan can print this field. */
static bool can_plan_print(const struct bt2_parts *parts, const struct layout_part *part)
{
    const uint8_t kind = get_value_kind(&part->field->value);
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
        return kind == VALUE_ARRAY && is_named &&
               get_value_kind(&part->element->value) < VALUE_TEXT && !part->field->choices;
    default:
        return kind != VALUE_ARRAY && !part->field->choices;
    }
}

static bool is_quoted_text_op(uint8_t code)
{
    return code >= PUT_TEXT && code <= PUT_COUNTED_TEXT;
}

/* Prints the text of an event without values, and stores the length of the text before each value.
 * Returns the number of operations, including PUT_END. */
static uint32_t print_constant_texts(struct bt2_parts *parts, const struct layout_part *part,
                                     struct plan_op *op)
{
    struct bt2_output *output = &parts->output;
    uint32_t n = 0;
    for (size_t from = 0;; part++) {
        if (part->kind == LAYOUT_PART_END) {
            babeltrace2_close_parts(parts);
        } else if (!babeltrace2_begin_field(parts, part->field) &&
                   part->kind != LAYOUT_PART_ELEMENTS) {
            continue; /* a struct has no value of its own */
        }
        op[n] = (struct plan_op){.code = choose_part_opcode(part),
                                 .part = *part,
                                 .mask = babeltrace2_hex_mask(&part->field->value)};
        if (is_quoted_text_op(op[n].code) && reserve_room(output, 1))
            *output->at++ = '"';
        op[n].text_n = (uint32_t)(get_output_offset(output) - from);
        from = get_output_offset(output);
        if (part->kind == LAYOUT_PART_END)
            return n + 1;
        if (is_quoted_text_op(op[n++].code) && reserve_room(output, 1))
            *output->at++ = '"';
    }
}

static void compute_plan_room(struct babeltrace2_plan *plan, const struct plan_op *op)
{
    const uint32_t per_byte = op->part.kind == LAYOUT_PART_ELEMENTS ? ELEMENT_ROOM
                              : is_quoted_text_op(op->code)         ? 4
                                                                    : 0;
    plan->room += op->text_n + BLOCK + VALUE_ROOM;
    if (per_byte > plan->per_byte)
        plan->per_byte = per_byte;
}

/* Copies operations and texts into a new plan. Returns NULL if the memory limit for plans is
 * reached. */
static struct babeltrace2_plan *assemble_plan(struct babeltrace2_cache *cache,
                                              const struct plan_op *op, uint32_t n,
                                              const struct buffer *texts)
{
    const size_t size = sizeof(struct babeltrace2_plan) + n * sizeof *op + texts->n + BLOCK;
    struct babeltrace2_plan *plan = texts->failed || size > PLAN_BYTES_MAX - cache->plans_size
                                        ? NULL
                                        : arena_alloc(cache->arena, size);
    if (!plan)
        return NULL;
    char *text = (char *)&plan->op[n];
    cache->plans_size += size;
    memset(plan, 0, size);
    memcpy(plan->op, op, n * sizeof *op);
    memcpy(text, texts->bytes, texts->n);
    for (uint32_t i = 0; i < n; text += op[i++].text_n) {
        plan->op[i].text = text;
        compute_plan_room(plan, &op[i]);
    }
    return plan;
}

static void make_byte_texts(struct babeltrace2_cache *cache)
{
    for (uint32_t i = 0; i < BABELTRACE2_INDEXES; i++)
        (void)babeltrace2_emit_index(cache, i, (char[NUMBER_MAX]){0});
    for (unsigned i = 0; i < 256; i++) {
        char text[NUMBER_MAX];
        cache->byte[i].n = (uint8_t)number_format_u64(text, i);
        memcpy(cache->byte[i].text, text, sizeof cache->byte[i].text);
    }
}

static struct babeltrace2_plan **find_plan_slot(struct babeltrace2_cache *cache,
                                                const struct schema *schema)
{
    return &cache->plans[(uintptr_t)schema->start / 16 % BABELTRACE2_PLANS];
}

/* Returns the plan of an equal class of another stream; NULL if none has been made. Sharing keeps
 * the plans of hundreds of streams in the caches of the CPU. */
static const struct babeltrace2_plan *find_plan(const struct bt2_parts *line,
                                                const struct schema *schema)
{
    const struct babeltrace2_plan *plan = *find_plan_slot(line->output.cache, schema);
    while (plan && (plan->start != schema->start || plan->is_after_packet != line->has_part ||
                    memcmp(plan->root, line->event_class->root, sizeof plan->root) != 0))
        plan = plan->next;
    return plan;
}

/* Makes the plan of a schema; `line` is at the start of an event. Returns NULL if a plan cannot
 * print one of the class's fields. */
static const struct babeltrace2_plan *make_plan(const struct bt2_parts *line,
                                                const struct schema *schema)
{
    struct layout_part part[PLAN_PARTS_MAX];
    struct plan_op op[PLAN_PARTS_MAX];
    struct buffer texts;
    struct bt2_parts parts;
    struct babeltrace2_plan *plan;
    uint32_t reach,
        n = line->output.with_color ? 0 : layout_list_parts(schema, part, PLAN_PARTS_MAX, &reach);
    for (uint32_t i = 0; i < n; i++)
        n = can_plan_print(line, &part[i]) ? n : 0;
    if (n == 0)
        return NULL;
    if (!line->output.cache->byte[0].n)
        make_byte_texts(line->output.cache);
    buffer_init(&texts, line->output.cache->arena->alloc);
    parts.output.to = &texts;
    parts.output.cache = line->output.cache;
    parts.output.with_color = false;
    parts.output.depth = 0;
    parts.names = line->names;
    parts.event_class = line->event_class;
    parts.has_part = line->has_part;
    parts.is_open = line->is_open;
    parts.next = line->next;
    bt2_begin_append(&parts.output, 0);
    n = print_constant_texts(&parts, part, op);
    bt2_end_append(&parts.output);
    plan = assemble_plan(line->output.cache, op, n, &texts);
    buffer_free(&texts);
    if (!plan)
        return NULL;
    plan->start = schema->start;
    plan->reach = reach;
    plan->has_packet = line->event_class->root[ROOT_PACKET_CONTEXT] != NULL;
    plan->is_after_packet = line->has_part;
    memcpy(plan->root, line->event_class->root, sizeof plan->root);
    struct babeltrace2_plan **const plans = find_plan_slot(line->output.cache, schema);
    plan->next = *plans;
    return *plans = plan;
}

void babeltrace2_count_event_of_class(const struct bt2_parts *parts, const struct schema *schema,
                                      struct babeltrace2_class *of_class)
{
    if (of_class->seen ==
        PLAN_FROM) /* at the threshold it was decided whether the class has a plan */
        return;
    const bool is_time = ++of_class->seen == PLAN_FROM;
    if (!of_class->plan && (of_class->seen == 1 || is_time))
        of_class->plan = find_plan(parts, schema);
    if (!of_class->plan && is_time)
        of_class->plan = make_plan(parts, schema);
}

/* --- Execution of plans --- */

/* State of running a plan for one event. */
struct plan_run {
    struct buffer *to;
    struct babeltrace2_cache *cache;
    const struct babeltrace2_plan *plan;
    struct layout_record record;
    size_t room; /* number of output bytes that are reserved for the event */
};

/* Prints a value of any type. Returns NULL if too few bytes are reserved. It is not inlined, since
 * it is large and rarely used. */
static __attribute__((noinline)) char *emit_any_value(const struct plan_run *run,
                                                      const struct layout_part *part,
                                                      const uint8_t *at, char *to)
{
    static const ttr_fields none;
    struct bt2_output output;
    ttr_value value;
    layout_decode_part(part, &run->record, at, &value);
    if (value.hint == TTR_DISPLAY_ENUM && value.count > 1)
        return NULL;
    output.to = run->to;
    output.at = to;
    output.end = to + VALUE_ROOM;
    output.fields = &none;
    output.with_color = false;
    babeltrace2_add_value(&output, &value);
    bt2_end_append(&output);
    return (char *)buffer_room(run->to, run->room);
}

/* Appends a number with its labels. The texts of the numbers printed last are cached. */
static inline char *emit_label(const struct plan_run *run, const struct plan_op *op,
                               const uint8_t *at, char *to)
{
    const uint64_t number = load_whole_number((enum load)op->part.load, at);
    struct babeltrace2_label *kept =
        &run->cache->label[((uintptr_t)op / sizeof *op + number) % BABELTRACE2_LABELS];
    if (kept->op == op && kept->number == number)
        return emit_in_blocks(to, kept->text, kept->n);
    const size_t from = (size_t)(to - (const char *)run->to->bytes);
    to = emit_any_value(run, &op->part, at, to);
    const size_t n = to ? (size_t)(to - (const char *)run->to->bytes) - from : SIZE_MAX;
    if (n <= sizeof kept->text) {
        *kept = (struct babeltrace2_label){.op = op, .number = number, .n = (uint32_t)n};
        memcpy(kept->text, run->to->bytes + from, n);
    }
    return to;
}

/* Returns the number of elements of an array, or the number of bytes of a text. */
static inline uint64_t load_element_count(const struct layout_part *part, const uint8_t *at)
{
    return part->load == LOAD_COUNT ? part->count
                                    : load_whole_number((enum load)part->load, at - part->back);
}

static inline double load_float(const struct layout_part *part, const uint8_t *p)
{
    const uint64_t bits = load_whole_number((enum load)part->load, p);
    return part->kind == LAYOUT_PART_SINGLE ? load_float32((uint32_t)bits) : double_of_bits(bits);
}

static char *emit_plan_element(const struct layout_part *part, const uint8_t *p, char *to)
{
    ttr_value value = part->element->value;
    const uint64_t number = load_whole_number((enum load)part->element_load, p);
    if (value.type == TTR_TYPE_FLOAT)
        return babeltrace2_emit_float(to, part->has_single_elements ? load_float32((uint32_t)number)
                                                                    : double_of_bits(number));
    value.v.u = number;
    switch (get_value_kind(&value)) {
    case VALUE_SIGNED:
        return emit_signed(to, number);
    case VALUE_UNSIGNED:
        return emit_unsigned(to, number);
    default:
        return babeltrace2_emit_based(to, &value);
    }
}

static char *emit_plan_elements(struct babeltrace2_cache *cache, const struct layout_part *part,
                                const uint8_t *p, uint64_t n, char *to)
{
    for (uint64_t i = 0; i < n; i++, p += part->stride)
        to = emit_plan_element(part, p, emit_index(cache, i, to));
    return to;
}

static inline char *emit_byte_elements(struct babeltrace2_cache *cache, const uint8_t *p,
                                       uint64_t n, char *to)
{
    for (uint64_t i = 0; i < n; i++) {
        const struct babeltrace2_byte *byte = &cache->byte[p[i]];
        to = emit_index(cache, i, to);
        /* copy the entire array, which is faster, then advance by n bytes */
        memcpy(to, byte, sizeof *byte);
        to += byte->n;
    }
    return to;
}

/* One case of the switch below: a decimal number with a constant load operation. */
#define DECIMAL(load, put_number, number) \
    case PUT_DECIMAL + (load):            \
        to = put_number(to, number);      \
        continue

/* Appends the values of an event by running the plan. Returns NULL if the event does not fit the
 * plan. */
static char *run_plan_ops(const struct plan_run *run, char *to)
{
    /* long function: one case per operation */
    const uint8_t *const base = run->record.base, *const end = run->record.end,
                         *p = run->record.begin;
    const struct plan_op *op = run->plan->op;
    if ((uint64_t)(end - p) < run->plan->reach)
        return NULL;
    for (uint64_t n;; op++) {
        const struct layout_part *const part = &op->part;
        const uint8_t *const at = p + part->at;
        to = emit_in_blocks(to, op->text, op->text_n);
        switch (op->code) {
            DECIMAL(LOAD_U8, emit_unsigned, *at);
            DECIMAL(LOAD_U16LE, emit_unsigned, load_u16le(at));
            DECIMAL(LOAD_U32LE, emit_unsigned, load_u32le(at));
            DECIMAL(LOAD_U64LE, emit_unsigned, load_u64le(at));
            DECIMAL(LOAD_U16BE, emit_unsigned, load_u16be(at));
            DECIMAL(LOAD_U32BE, emit_unsigned, load_u32be(at));
            DECIMAL(LOAD_U64BE, emit_unsigned, load_u64be(at));
            DECIMAL(LOAD_S8, emit_signed, (uint64_t)(int8_t)*at);
            DECIMAL(LOAD_S16LE, emit_signed, (uint64_t)(int16_t)load_u16le(at));
            DECIMAL(LOAD_S32LE, emit_signed, (uint64_t)(int32_t)load_u32le(at));
            DECIMAL(LOAD_S16BE, emit_signed, (uint64_t)(int16_t)load_u16be(at));
            DECIMAL(LOAD_S32BE, emit_signed, (uint64_t)(int32_t)load_u32be(at));
            DECIMAL(LOAD_COUNT, emit_signed, load_u64le(at));
            DECIMAL(LOAD_COUNT + 1, emit_signed, load_u64be(at));
        case PUT_HEX:
            to = babeltrace2_emit_hex(to, load_whole_number((enum load)part->load, at) & op->mask);
            continue;
        case PUT_FLOAT:
            to = babeltrace2_emit_float(to, load_float(part, at));
            continue;
        case PUT_TEXT:
            to = emit_quotable_text(to, base, at, at + part->count);
            continue;
        case PUT_END:
            return to;
        case PUT_STRING:
            p = find_zero(base, at, end);
            if (!p)
                return NULL;
            to = emit_quotable_text(to, base, at, p++);
            break;
        case PUT_LAST_STRING:
            p = end - part->reach;
            if (p <= at || p[-1])
                return NULL;
            to = emit_quotable_text(to, base, at, p - 1);
            break;
        case PUT_COUNTED_TEXT:
            n = load_element_count(part, at);
            if (n > (uint64_t)(end - at))
                return NULL;
            p = at + n;
            to = emit_quotable_text(to, base, at, p);
            break;
        case PUT_BYTES:
        case PUT_ELEMENTS:
            n = load_element_count(part, at);
            if (n > (uint64_t)(end - at) ||
                n * part->stride - (n ? part->gap : 0) > (uint64_t)(end - at))
                return NULL;
            p = at + n * part->stride - (n ? part->gap : 0);
            to = op->code == PUT_BYTES ? emit_byte_elements(run->cache, at, n, to)
                                       : emit_plan_elements(run->cache, part, at, n, to);
            break;
        case PUT_LABEL:
        case PUT_ANY:
            to = op->code == PUT_LABEL ? emit_label(run, op, at, to)
                                       : emit_any_value(run, part, at, to);
            if (!to)
                return NULL;
            continue;
        default:
            /* choose_part_opcode() returns only codes that have a case above */
            __builtin_unreachable();
        }
        if ((uint64_t)(end - p) < part->reach)
            return NULL;
    }
}

/* Sets *text to the cached packet context of an event. Returns false if the cache does not contain
 * it, or if the plan is for events without a packet context. */
static inline bool find_cached_packet_text(const struct plan_run *run, const struct schema *schema,
                                           const ttr_event *of, ttr_text *text)
{
    const struct babeltrace2_plan *plan = run->plan;
    *text = (ttr_text){run->cache->packet[0].text, 0};
    if (!plan->has_packet)
        return true;
    const struct babeltrace2_packet *known =
        find_cached_packet(run->cache, of, get_packet_number(schema, of));
    if (!known || (known->n > 0) != plan->is_after_packet)
        return false;
    *text = (ttr_text){known->text, known->n};
    return true;
}

bool babeltrace2_run_plan(struct buffer *to, const struct schema *schema, const ttr_event *event,
                          const struct babeltrace2_plan *plan, struct babeltrace2_cache *cache)
{
    struct plan_run tried = {.to = to, .cache = cache, .plan = plan};
    ttr_text packet;
    if (plan->start != schema->start || event->payload_size > PLAN_PAYLOAD_MAX ||
        !layout_locate_record(schema, event, &tried.record) ||
        !find_cached_packet_text(&tried, schema, event, &packet))
        return false;
    const size_t begin = to->n;
    tried.room = plan->room + (size_t)plan->per_byte * event->payload_size;
    char *at = (char *)buffer_room(to, tried.room + sizeof cache->packet[0].text);
    at = at ? run_plan_ops(&tried, emit_in_blocks(at, packet.p, packet.n)) : NULL;
    if (at)
        to->n = (size_t)(at - (char *)to->bytes);
    else
        to->n = begin;
    return at != NULL;
}
