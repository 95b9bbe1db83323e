/* The fast path for fields: decodes a complete record into fields that stay in memory from one
 * event of a class to the next, so that only values are written.
 *
 * Order of calls: fast_program_compile compiles each step of the field iterator's program to a step
 * of the fast program. For each event layout_fields_decode_cached (or layout_decode_complete)
 * copies the templates of the fields, if they are not in the cache yet, and calls the first step.
 * Each step writes a value and calls the next step.
 *
 *   iterator: FIELD_NUMBER   FIELD_STRING8   FIELD_NUMBER   STEP_END
 *   fast:     decode_u32le -> decode_string -> decode_u16le -> finish_record
 *   bytes:    |<-- reach -->|  text..0     |<- reach -->|
 *
 * Algorithm: threaded code. Steps are functions that call their successor in tail position, so all
 * state is in registers. If events of many classes come in random order, a processor does not
 * predict one shared jump from step to step, but it does predict many separate ones. If a compiler
 * does not turn these calls into jumps, their depth is the number of fields, which is limited.
 *
 * Invariants: `p` is the byte at which the last field of variable size ended. After each such field
 * one check covers all bytes up to the next one (`reach`), so fixed-size fields need no check. The
 * templates of all fields up to the next array are in the cache. An array with an element count
 * that differs from that of the previous event prepares its elements and the fields after them.
 *
 * Left out: bit fields, LEB128 numbers, loops and variants. At such a step, at the end of a
 * truncated record, or if an array does not fit, the field iterator continues
 * (layout_field_iter.c). */
#include "layout/layout_program.h"

_Static_assert(FAST_F32BE - FAST_NUMBER == FIELD_F32BE - FIELD_NUMBER,
               "numbers in the order of their steps");

/* --- Elements of arrays --- */

/* How write_elements loads array elements and which parts of each field it writes. */
struct element_filling {
    enum load load;
    bool is_single, is_prepared;
};

/* Writes n elements into `field`, loading one every op->step.amount bits, starting at p. */
static inline __attribute__((always_inline)) void fill_elements(
    ttr_field *field, const struct op *op, const uint8_t *p, uint32_t n,
    struct element_filling element_filling)
{
    const uint64_t stride = op->step.amount >> 3;
    const ttr_field model = op->field;
    for (uint32_t i = 0; i < n; i++, p += stride) {
        uint64_t number = load_whole_number(element_filling.load, p);
        if (!element_filling.is_prepared)
            step_copy_field(&field[i], &model);
        field[i].value.v.u =
            element_filling.is_single ? bits_of_double(load_float32((uint32_t)number)) : number;
    }
}

/* long function: one case per kind of load */
static inline __attribute__((always_inline)) void write_elements(const struct op *op,
                                                                 const uint8_t *p, ttr_field *field,
                                                                 uint32_t n, bool is_prepared)
{
    switch (op->step.code) {
    case FIELD_ELEMENT + LOAD_U8:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U8, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_U16LE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U16LE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_U32LE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U32LE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_U64LE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U64LE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_U16BE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U16BE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_U32BE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U32BE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_U64BE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U64BE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_S8:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_S8, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_S16LE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_S16LE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_S32LE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_S32LE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_S16BE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_S16BE, false, is_prepared});
        break;
    case FIELD_ELEMENT + LOAD_S32BE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_S32BE, false, is_prepared});
        break;
    case FIELD_ELEMENT_F32LE:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U32LE, true, is_prepared});
        break;
    default:
        fill_elements(field, op, p, n, (struct element_filling){LOAD_U32BE, true, is_prepared});
        break;
    }
}

OUT_OF_LINE void layout_write_elements(const struct op *op, const uint8_t *p, ttr_field *field,
                                       uint32_t n)
{
    write_elements(op, p, field, n, false);
}

/* Writes only the values of array elements. The fields have name and type from an earlier event,
 * with an equally long array. */
static OUT_OF_LINE void overwrite_elements(const struct op *op, const uint8_t *p, ttr_field *field,
                                           uint32_t n)
{
    write_elements(op, p, field, n, true);
}

/* Decoder state for one event. */
struct fast_decoder {
    ttr_fields *fields;
    struct field_cache *cache;
    const uint8_t *base, *end; /* start and end of the event's payload */
    struct arena *scratch;
    bool must_end_payload; /* true: a record that does not end at `end` yields no fields */
};

#define NEXT(step, p, to) ((step) + 1)->decode((step) + 1, p, to, fast_decoder)

/* Copies the templates of this step's field and of the later ones, up to the next array. Fields
 * after an array are prepared when its element count is known. */
static OUT_OF_LINE void prepare_fields(const struct fast_step *step, ttr_field *to)
{
    for (; step->code != FAST_END && step->code != FAST_OTHER; step++, to++) {
        step_copy_field(to, &step->op->field);
        if (step->code != FAST_ELEMENTS)
            continue;
        /* No array can have this count, so decode_elements sees a changed count. It then prepares
         * the elements and the later fields. */
        to->value.count = UINT32_MAX;
        return;
    }
}

/* Ends fast decoding before `op` and makes the field iterator continue at `op`. Returns the number
 * of fields decoded so far. */
static OUT_OF_LINE uint32_t stop_fast_path(const struct op *op, const uint8_t *p,
                                           const ttr_field *to,
                                           const struct fast_decoder *fast_decoder)
{
    ttr_fields *fields = fast_decoder->fields;
    struct layout_iter *iter = (struct layout_iter *)fields->state;
    const struct layout_schema *schema = fields->ctx;
    if (fast_decoder->must_end_payload)
        return 0;
    const struct bits bits = bits_init(fast_decoder->base, (uint64_t)(p - fast_decoder->base) << 3,
                                       (uint64_t)(fast_decoder->end - fast_decoder->base) << 3);
    layout_iter_begin(iter, schema->layout, &bits, schema->scratch);
    iter->run.bits.at = bits.at;
    iter->op = op - 1;
    return (uint32_t)(to - fast_decoder->cache->field);
}

/* Calls the next step after a variable-size field that ended at p. Leaves the fast path if the
 * record is too short for the fixed-size fields that follow. */
static inline __attribute__((always_inline)) uint32_t continue_after_move(
    const struct fast_step *step, const uint8_t *p, ttr_field *to,
    struct fast_decoder *fast_decoder)
{
    if (UNLIKELY((uint64_t)(fast_decoder->end - p) < step->reach))
        return stop_fast_path(step->op + 1, p, to, fast_decoder);
    return NEXT(step, p, to);
}

/* --- Fixed-size fields --- */

#define DECODE_NUMBER(name, load)                                                                \
    static uint32_t decode_##name(const struct fast_step *step, const uint8_t *p, ttr_field *to, \
                                  struct fast_decoder *fast_decoder)                             \
    {                                                                                            \
        const uint8_t *at = p + step->at;                                                        \
        to->value.v.u = (load);                                                                  \
        return NEXT(step, p, to + 1);                                                            \
    }

DECODE_NUMBER(u8, *at)
DECODE_NUMBER(u16le, load_u16le(at))
DECODE_NUMBER(u32le, load_u32le(at))
DECODE_NUMBER(u64le, load_u64le(at))
DECODE_NUMBER(u16be, load_u16be(at))
DECODE_NUMBER(u32be, load_u32be(at))
DECODE_NUMBER(u64be, load_u64be(at))
DECODE_NUMBER(s8, (uint64_t)(int8_t)*at)
DECODE_NUMBER(s16le, (uint64_t)(int16_t)load_u16le(at))
DECODE_NUMBER(s32le, (uint64_t)(int32_t)load_u32le(at))
DECODE_NUMBER(s16be, (uint64_t)(int16_t)load_u16be(at))
DECODE_NUMBER(s32be, (uint64_t)(int32_t)load_u32be(at))
DECODE_NUMBER(f32le, bits_of_double(load_float32(load_u32le(at))))
DECODE_NUMBER(f32be, bits_of_double(load_float32(load_u32be(at))))

static uint32_t decode_constant_field(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                                      struct fast_decoder *fast_decoder)
{
    return NEXT(step, p, to + 1);
}

static uint32_t decode_text16(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                              struct fast_decoder *fast_decoder)
{
    const uint8_t *at = p + step->at;
    to->value.text =
        (ttr_text){(const char *)at, (size_t)__builtin_ctz(zero_mask_16(at) | 1u << 16)};
    return NEXT(step, p, to + 1);
}

static uint32_t decode_text(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                            struct fast_decoder *fast_decoder)
{
    step_set_text(&to->value, fast_decoder->base, p + step->at, (size_t)step->op->step.count);
    return NEXT(step, p, to + 1);
}

static uint32_t decode_blob(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                            struct fast_decoder *fast_decoder)
{
    to->value.text = (ttr_text){(const char *)p + step->at, (size_t)step->op->step.count};
    return NEXT(step, p, to + 1);
}

/* Copies the field's template for each event, because layout_get_fixed_value may change the type of
 * the field. */
static uint32_t decode_fixed(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                             struct fast_decoder *fast_decoder)
{
    const struct op *op = step->op;
    const struct value_source source = {.step = &op->step,
                                        .base = fast_decoder->base,
                                        .at = (uint64_t)(p + step->at - fast_decoder->base) << 3,
                                        .end = (uint64_t)(fast_decoder->end - fast_decoder->base)
                                               << 3,
                                        .scratch = fast_decoder->scratch};
    step_copy_field(to, &op->field);
    layout_get_fixed_value(&source, &to->value);
    return NEXT(step, p, to + 1);
}

/* If a number has several labels, decoding stops after its field, because labels can only be
 * queried for the last field returned. */
static uint32_t decode_enum(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                            struct fast_decoder *fast_decoder)
{
    const struct op *op = step->op;
    to->value = op->field.value;
    to->value.v.u = load_whole_number((enum load)op->step.load, p + step->at);
    layout_get_enum_value(&(struct value_source){.step = &op->step}, &to->value);
    return UNLIKELY(to->value.count > 1) ? stop_fast_path(op + 1, p, to + 1, fast_decoder)
                                         : NEXT(step, p, to + 1);
}

/* --- Variable-size fields --- */

static uint32_t decode_string(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                              struct fast_decoder *fast_decoder)
{
    const uint8_t *at = p + step->at, *zero = find_zero(fast_decoder->base, at, fast_decoder->end);
    if (UNLIKELY(!zero))
        return stop_fast_path(step->op, p, to, fast_decoder);
    to->value.text = (ttr_text){(const char *)at, (size_t)(zero - at)};
    return continue_after_move(step, zero + 1, to + 1, fast_decoder);
}

/* Decodes a text that only fixed-size fields follow. Its terminating zero is at a fixed distance
 * from the record's end, so that no scan is needed. */
static uint32_t decode_string_at_end(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                                     struct fast_decoder *fast_decoder)
{
    const uint8_t *at = p + step->at, *following = fast_decoder->end - step->reach;
    if (UNLIKELY(following <= at || following[-1]))
        return stop_fast_path(step->op, p, to, fast_decoder);
    to->value.text = (ttr_text){(const char *)at, (size_t)(following - 1 - at)};
    return NEXT(step, following, to + 1);
}

static uint32_t decode_counted_text(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                                    struct fast_decoder *fast_decoder)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const uint64_t n =
        fast_element_count(op, step, at, (struct layout_iter *)fast_decoder->fields->state);
    if (UNLIKELY(n > (uint64_t)(fast_decoder->end - at)))
        return stop_fast_path(op, p, to, fast_decoder);
    step_set_text(&to->value, fast_decoder->base, at, (size_t)n);
    return continue_after_move(step, at + n, to + 1, fast_decoder);
}

static uint32_t decode_wide_string(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                                   struct fast_decoder *fast_decoder)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const struct value_source source = {.step = &op->step,
                                        .base = fast_decoder->base,
                                        .at = (uint64_t)(at - fast_decoder->base) << 3,
                                        .end = (uint64_t)(fast_decoder->end - fast_decoder->base)
                                               << 3,
                                        .scratch = fast_decoder->scratch};
    step_copy_field(to, &op->field);
    const size_t n = layout_get_wide_string(&source, &to->value);
    if (UNLIKELY(n == SIZE_MAX))
        return stop_fast_path(op, p, to, fast_decoder);
    return continue_after_move(step, at + n + op->step.width, to + 1, fast_decoder);
}

/* If the element count differs from that of the previous event, the later fields move in the cache
 * and are prepared again. */
static uint32_t decode_elements(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                                struct fast_decoder *fast_decoder)
{
    const struct op *op = step->op;
    const uint8_t *at = p + step->at;
    const uint64_t n =
        fast_element_count(op, step, at, (struct layout_iter *)fast_decoder->fields->state);
    const uint64_t room =
        (uint64_t)(fast_decoder->cache->field + fast_decoder->cache->n - to) - step->fields;
    const uint64_t bytes = n ? (n * op->step.amount - op->step.width) >> 3 : 0;
    fast_decoder->cache->is_full |= n >= room;
    if (UNLIKELY(n >= room || bytes > (uint64_t)(fast_decoder->end - at)))
        return stop_fast_path(op, p, to, fast_decoder);
    if (LIKELY(n == to->value.count)) {
        overwrite_elements(op + 1, at, to + 1, (uint32_t)n);
    } else {
        to->value.count = (uint32_t)n;
        layout_write_elements(op + 1, at, to + 1, (uint32_t)n);
        prepare_fields(step + 3, to + 1 + n);
    }
    return continue_after_move(step + 2, at + bytes, to + 1 + n, fast_decoder);
}

/* --- End of the record --- */

static uint32_t finish_record(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                              struct fast_decoder *fast_decoder)
{
    if (fast_decoder->must_end_payload && UNLIKELY(p + step->at != fast_decoder->end))
        return 0;
    fast_decoder->fields->ops = NULL;
    return (uint32_t)(to - fast_decoder->cache->field);
}

static uint32_t decode_with_iterator(const struct fast_step *step, const uint8_t *p, ttr_field *to,
                                     struct fast_decoder *fast_decoder)
{
    return stop_fast_path(step->op, p, to, fast_decoder);
}

/* Returns the decoding function of a fast code. */
static fast_step_fn *find_decode_function(enum fast_code code)
{
    static fast_step_fn *const steps[] = {
        [FAST_END] = finish_record,
        [FAST_OTHER] = decode_with_iterator,
        [FAST_NUMBER + LOAD_U8] = decode_u8,
        [FAST_NUMBER + LOAD_U16LE] = decode_u16le,
        [FAST_NUMBER + LOAD_U32LE] = decode_u32le,
        [FAST_NUMBER + LOAD_U64LE] = decode_u64le,
        [FAST_NUMBER + LOAD_U16BE] = decode_u16be,
        [FAST_NUMBER + LOAD_U32BE] = decode_u32be,
        [FAST_NUMBER + LOAD_U64BE] = decode_u64be,
        [FAST_NUMBER + LOAD_S8] = decode_s8,
        [FAST_NUMBER + LOAD_S16LE] = decode_s16le,
        [FAST_NUMBER + LOAD_S32LE] = decode_s32le,
        [FAST_NUMBER + LOAD_S16BE] = decode_s16be,
        [FAST_NUMBER + LOAD_S32BE] = decode_s32be,
        [FAST_F32LE] = decode_f32le,
        [FAST_F32BE] = decode_f32be,
        [FAST_READY] = decode_constant_field,
        [FAST_ENUM] = decode_enum,
        [FAST_TEXT] = decode_text,
        [FAST_TEXT16] = decode_text16,
        [FAST_BLOB] = decode_blob,
        [FAST_FIXED] = decode_fixed,
        [FAST_STRING] = decode_string,
        [FAST_LAST_STRING] = decode_string_at_end,
        [FAST_STRING_WIDE] = decode_wide_string,
        [FAST_TEXT_COUNTED] = decode_counted_text,
        [FAST_ELEMENTS] = decode_elements,
    };
    return steps[code];
}

/* --- Compiling --- */

/* Returns the fast code of a fixed-size field, or FAST_OTHER if the fast path does not support it.
 */
static enum fast_code select_fixed_code(const struct step *step)
{
    if (step->code >= FIELD_NUMBER && step->code <= FIELD_F32BE &&
        step->code != FIELD_NUMBER + LOAD_BITS)
        return (enum fast_code)(FAST_NUMBER + (step->code - FIELD_NUMBER));
    switch (step->code) {
    case FIELD_READY:
        return FAST_READY;
    case FIELD_ENUM:
        return step->load == LOAD_BITS ? FAST_OTHER : FAST_ENUM;
    case FIELD_BLOB:
        return FAST_BLOB;
    case FIELD_BOOL:
    case FIELD_TEXT_WIDE:
        return FAST_FIXED;
    case FIELD_TEXT:
        return step->count == 16 ? FAST_TEXT16 : FAST_TEXT;
    default:
        return FAST_OTHER;
    }
}

/* Returns the fast code of any step, or FAST_OTHER. */
static enum fast_code select_fast_code(const struct op *op)
{
    const struct step *step = &op->step;
    const bool is_counted = (step->flags & (STEP_FIXED | STEP_LOADS)) != 0;
    if (step->advance % 8)
        return FAST_OTHER;
    switch (step->code) {
    case STEP_END:
        return FAST_END;
    case FIELD_STRING8:
        return FAST_STRING;
    case FIELD_STRING_WIDE:
        return FAST_STRING_WIDE;
    case FIELD_TEXT_COUNTED:
        return is_counted ? FAST_TEXT_COUNTED : FAST_OTHER;
    case FIELD_ELEMENTS:
        return is_counted && step->align <= 3 ? FAST_ELEMENTS : FAST_OTHER;
    default:
        return select_fixed_code(step);
    }
}

/* Properties of the steps that follow a step. Compilation goes from the last step to the first. */
struct following {
    /* bytes that must exist between the last variable-size field before this step and the next one
     * after it */
    uint64_t reach;
    /* number of fields that the remaining steps return, array elements not counted */
    uint32_t fields;
    bool is_still; /* all remaining fields have a fixed size */
};

static void compile_fast_step(const struct op *op, struct fast_step *to,
                              struct following *following)
{
    const struct step *step = &op->step;
    const uint64_t advance = step->advance >> 3;
    const enum fast_code code = select_fast_code(op);
    *to = (struct fast_step){.decode = find_decode_function(code),
                             .op = op,
                             .code = (uint8_t)code,
                             .load = step->load,
                             .back = (uint8_t)(step->jump >> 3),
                             .slot = step->slot,
                             .at = (uint32_t)advance,
                             .reach = (uint32_t)following->reach,
                             .fields = (uint16_t)following->fields};
    if (advance > FAST_BYTES || following->reach > FAST_BYTES || following->fields > FAST_FIELDS ||
        code == FAST_OTHER) {
        to->code = FAST_OTHER, to->decode = find_decode_function(FAST_OTHER);
        *following = (struct following){.reach = 0};
    } else if (code == FAST_END) {
        *following = (struct following){.reach = advance, .is_still = true};
    } else if (code < FAST_STRING) {
        const uint64_t amount = step->amount >> 3;
        following->reach = amount > following->reach ? amount : following->reach;
        following->fields++;
    } else {
        if (code == FAST_STRING && following->is_still)
            to->code = FAST_LAST_STRING, to->decode = find_decode_function(FAST_LAST_STRING);
        *following = (struct following){.reach = advance, .fields = following->fields + 1};
    }
}

struct fast_program *fast_program_compile(struct arena *arena, const struct op *ops, size_t n)
{
    struct fast_program *fast_program =
        arena_alloc(arena, sizeof *fast_program + n * sizeof *fast_program->step);
    struct following following = {.reach = 0};
    if (!fast_program)
        return NULL;
    for (size_t i = n; i-- > 1;) {
        const bool is_element = ops[i].step.code >= FIELD_ELEMENT && ops[i].step.code < FIELD_END;
        fast_program->step[i] =
            (struct fast_step){.op = &ops[i], .reach = (uint32_t)following.reach};
        if (!is_element)
            compile_fast_step(&ops[i], &fast_program->step[i], &following);
    }
    fast_program->ops = ops;
    fast_program->reach = (uint32_t)following.reach;
    fast_program->fields = following.fields;
    return fast_program;
}

/* --- Decoding --- */

/* Decodes the record that starts at `begin` into the cache; prepares the cached fields if they are
 * not. Returns the number of fields, or 0 if they exceed the cache or the record is truncated. */
static inline uint32_t decode_record(const struct fast_program *fast_program, const uint8_t *begin,
                                     struct fast_decoder *fast_decoder)
{
    struct field_cache *cache = fast_decoder->cache;
    if (UNLIKELY((uint64_t)(fast_decoder->end - begin) < fast_program->reach))
        return 0;
    if (UNLIKELY(!cache->is_prepared)) {
        cache->is_full |= cache->n < fast_program->fields;
        if (cache->n < fast_program->fields)
            return 0;
        prepare_fields(&fast_program->step[1], cache->field);
        cache->is_prepared = true;
    }
    return fast_program->step[1].decode(&fast_program->step[1], begin, cache->field, fast_decoder);
}

uint32_t layout_fields_decode_cached(ttr_fields *fields, struct field_cache *cache)
{
    const struct fast_program *fast_program =
        ((const struct layout_iter *)fields->state)->fast_program;
    const struct layout_schema *schema = fields->ctx;
    const ttr_event *event = fields->event;
    const uint8_t *begin = fast_record_start(fields);
    if (UNLIKELY(!begin || event->flags & TTR_EVENT_PARTIAL))
        return 0;
    struct fast_decoder fast_decoder = {.fields = fields,
                                        .cache = cache,
                                        .base = event->payload,
                                        .end = event->payload + event->payload_size,
                                        .scratch = schema->scratch};
    return decode_record(fast_program, begin, &fast_decoder);
}

uint32_t layout_decode_complete(const struct layout *layout, struct arena *scratch,
                                ttr_fields *fields, struct field_cache *cache)
{
    const ttr_event *event = fields->event;
    struct fast_decoder fast_decoder = {.fields = fields,
                                        .cache = cache,
                                        .base = event->payload,
                                        .end = event->payload + event->payload_size,
                                        .scratch = scratch,
                                        .must_end_payload = true};
    return layout->fast_program ? decode_record(layout->fast_program, event->payload, &fast_decoder)
                                : 0;
}
