/* Step generation for values: selects the step and the load of a type, and prepares its field.
 *
 * Numbers of 8, 16, 32 and 64 bits are loaded at once if they are known to start at a byte
 * boundary. All others are read bit by bit. A number that is a length or selector is saved to its
 * slot after its field is returned. */
#include "layout/layout_emit.h"

struct step *emit_still(struct compiler *c, enum step_code code, uint64_t bits)
{
    if (c->ops_n >= COMPILE_STEPS) {
        (void)compiler_refuse(c, "the record has more than %u fields", COMPILE_STEPS);
        return NULL;
    }
    if (!alloc_reserve(&c->spec->t->counted, (void **)&c->ops, &c->ops_capacity, c->ops_n + 1,
                       sizeof *c->ops)) {
        (void)fail_memory(c->error);
        return NULL;
    }
    struct op *op = &c->ops[c->ops_n++];
    *op = (struct op){.field = c->field};
    op->step.code = (uint8_t)code;
    op->step.advance = c->pending;
    op->step.amount = c->pending + bits;
    op->step.member = c->member;
    op->step.root = (uint8_t)c->root;
    op->step.level = (uint8_t)c->level;
    return &op->step;
}

struct step *emit_moving(struct compiler *c, enum step_code code)
{
    struct step *step = emit_still(c, code, 0);
    if (step)
        step->amount = 0;
    c->pending = 0;
    return step;
}

/* Adds the bits of a fixed-size field to the pending bits, which the next step skips. */
static bool add_pending_bits(struct compiler *c, uint64_t bits)
{
    if (bits > COMPILE_BITS - c->pending)
        return compiler_refuse(c, "with it the record is larger than 2^60 bits");
    c->pending += bits;
    position_advance(&c->position, bits);
    return true;
}

bool emit_align(struct compiler *c, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1;
    if (c->position.known >= log2)
        return add_pending_bits(c, (0 - (uint64_t)c->position.residue) & mask);
    struct step *step = emit_moving(c, STEP_ALIGN);
    if (!step)
        return false;
    step->amount = mask;
    c->position.known = (uint8_t)log2;
    c->position.residue = 0;
    return true;
}

bool emit_byte_order(struct compiler *c)
{
    bool is_known = c->position.order == ORDER_LE || c->position.order == ORDER_BE;
    if (is_known && !position_is_byte_aligned(&c->position)) {
        struct step *step = emit_moving(c, STEP_SET_ORDER);
        if (!step)
            return false;
        step->order = c->position.order;
    }
    c->position.order = ORDER_ANY;
    return true;
}

/* Checks that a field of this byte order, or of complete bytes, may start at the current position.
 * Emits a step for the check if the position is known only at run time. */
static bool emit_order(struct compiler *c, enum order order)
{
    bool is_first = c->position.order == ORDER_START && order != ORDER_BYTES;
    bool is_safe = position_is_byte_aligned(&c->position) || c->position.order == order || is_first;
    bool is_known =
        c->position.known >= 3 && (c->position.order != ORDER_ANY || order == ORDER_BYTES);
    if (!is_safe && is_known)
        return compiler_refuse(
            c, order == ORDER_BYTES
                   ? "it must start at a whole byte, but starts inside one"
                   : "it starts inside a byte that also has bits of the opposite byte order");
    if (!is_safe) {
        if (!emit_byte_order(c))
            return false;
        struct step *step = emit_moving(c, STEP_CHECK_ORDER);
        if (!step)
            return false;
        step->order = (uint8_t)order;
    }
    if (order == ORDER_BYTES && c->position.known < 3)
        c->position = (struct position){.known = 3};
    c->position.order = order == ORDER_BYTES ? (uint8_t)ORDER_ANY : (uint8_t)order;
    return true;
}

/* Emits a skip to the next storage unit if a gcc bitfield would cross a unit boundary. */
static bool emit_unit(struct compiler *c, const struct type *type)
{
    bool is_power = (type->unit & (type->unit - 1)) == 0;
    if (is_power && c->position.known >= (unsigned)__builtin_ctz(type->unit)) {
        uint32_t used = c->position.residue % type->unit;
        return !used || type->bits <= type->unit - used || add_pending_bits(c, type->unit - used);
    }
    struct position next = {
        .known = (uint8_t)(__builtin_ctz(type->unit) < 15 ? __builtin_ctz(type->unit) : 15),
        .order = c->position.order};
    struct step *step = emit_moving(c, STEP_UNIT);
    if (!step)
        return false;
    step->amount = type->unit;
    step->width = type->bits;
    c->position = position_join(c->position, next);
    return true;
}

static bool is_signed_integer(const struct type *type)
{
    return type->kind == TYPE_INT;
}

/* Returns how a number at this position is loaded: as complete bytes, or bit by bit. */
static enum load select_load(const struct type *type, const struct position *position)
{
    bool is_big = type->is_big_endian;
    if (!position_is_byte_aligned(position) || type->is_reversed)
        return LOAD_BITS;
    switch (type->bits) {
    case 8:
        return is_signed_integer(type) ? LOAD_S8 : LOAD_U8;
    case 16:
        return is_signed_integer(type) ? (is_big ? LOAD_S16BE : LOAD_S16LE)
               : is_big                ? LOAD_U16BE
                                       : LOAD_U16LE;
    case 32:
        return is_signed_integer(type) ? (is_big ? LOAD_S32BE : LOAD_S32LE)
               : is_big                ? LOAD_U32BE
                                       : LOAD_U32LE;
    case 64:
        return is_big ? LOAD_U64BE : LOAD_U64LE;
    default:
        return LOAD_BITS;
    }
}

static void set_step_load(struct step *step, const struct type *type,
                          const struct position *position)
{
    step->type = type;
    step->load = (uint8_t)select_load(type, position);
    step->width = type->bits;
    step->flags |=
        (uint8_t)((is_signed_integer(type) ? STEP_SIGNED : 0u) |
                  (type->is_reversed ? STEP_REVERSED : 0u) | (type->is_big_endian ? STEP_BIG : 0u));
}

static bool is_integer_type(const struct type *type)
{
    return type->kind == TYPE_UINT || type->kind == TYPE_INT || type->kind == TYPE_FLAGS;
}

static enum step_code select_number_code(const struct type *type, enum load load)
{
    bool has_labels = type->labels && is_integer_type(type);
    if (type->kind == TYPE_BOOL)
        return FIELD_BOOL;
    if (type->kind == TYPE_FLOAT && load == LOAD_U32LE)
        return FIELD_F32LE;
    if (type->kind == TYPE_FLOAT && load == LOAD_U32BE)
        return FIELD_F32BE;
    if (type->kind == TYPE_FLOAT && load != LOAD_U64LE && load != LOAD_U64BE)
        return FIELD_FLOAT;
    if (type->bits > 64)
        return FIELD_WIDE;
    if (has_labels)
        return type->kind == TYPE_FLAGS ? FIELD_FLAGS : FIELD_ENUM;
    return (enum step_code)(FIELD_NUMBER + load);
}

/* Sets the type, display and width of a field's template; the number itself is set for each
 * event. */
static void prepare_number(ttr_value *value, const struct type *type)
{
    static const uint8_t types[TYPE_KIND_COUNT] = {
        [TYPE_BITS] = TTR_TYPE_UINT,     [TYPE_BOOL] = TTR_TYPE_BOOL,
        [TYPE_UINT] = TTR_TYPE_UINT,     [TYPE_INT] = TTR_TYPE_INT,
        [TYPE_FLAGS] = TTR_TYPE_UINT,    [TYPE_FLOAT] = TTR_TYPE_FLOAT,
        [TYPE_VAR_UINT] = TTR_TYPE_UINT, [TYPE_VAR_INT] = TTR_TYPE_INT,
    };
    bool is_enum = type->labels && type->kind != TYPE_BITS;
    value->type = types[type->kind];
    value->hint = type->kind == TYPE_FLAGS ? TTR_DISPLAY_FLAGS
                  : is_enum                ? TTR_DISPLAY_ENUM
                                           : type->hint;
    value->bits = (uint8_t)(type->kind == TYPE_BOOL ? 1 : type->bits <= 64 ? type->bits : 0);
    value->base = type->kind == TYPE_BITS ? 16
                  : type->base == 10      ? 0
                                     /* Bits have no arithmetic meaning and are shown in
                                      * hexadecimal. */
                                     : type->base;
    value->text = (ttr_text){"", 0};
}

/* Emits a null field of `type->bits` bits. */
static bool emit_null_field(struct compiler *c, const struct type *type)
{
    struct step *step = emit_still(c, FIELD_READY, type->bits);
    if (!step)
        return false;
    step->type = type;
    c->ops[c->ops_n - 1].field.value =
        (ttr_value){.text = {"", 0}, .type = TTR_TYPE_NULL, .hint = type->hint};
    return true;
}

static bool emit_number_field(struct compiler *c, const struct type *type)
{
    if (type->kind == TYPE_NULL)
        return emit_null_field(c, type);
    enum load load = select_load(type, &c->position);
    enum step_code code = select_number_code(type, load);
    bool has_table = code == FIELD_ENUM || code == FIELD_FLAGS;
    const void *table = has_table ? compile_label_table(c, type) : NULL;
    struct step *step = has_table && !table ? NULL : emit_still(c, code, type->bits);
    if (!step)
        return false;
    set_step_load(step, type, &c->position);
    step->table = table;
    prepare_number(&c->ops[c->ops_n - 1].field.value, type);
    return true;
}

/* Emits the step that saves the number just read, which started at `begin`, to a slot. */
static bool emit_save(struct compiler *c, const struct type *type, const struct position *begin,
                      uint8_t slot, bool may_lack)
{
    struct step *step = emit_moving(c, STEP_SAVE);
    if (!step)
        return false;
    set_step_load(step, type, begin);
    step->slot = slot;
    step->flags |= may_lack ? STEP_MAY_BE_ABSENT : 0;
    return true;
}

/* Emits the alignment, storage unit and byte order checks that precede a number. */
static bool emit_number_start(struct compiler *c, const struct type *type)
{
    if (type->bits == 0)
        return compiler_refuse(c, "a number of 0 bits");
    return emit_align(c, type->align) && (!type->unit || emit_unit(c, type)) &&
           emit_order(c, type_get_byte_order(type));
}

bool emit_number(struct compiler *c, const struct type *type)
{
    if (!emit_number_start(c, type) || (emit_returns_fields(c) && !emit_number_field(c, type)))
        return false;
    struct position begin = c->position;
    const struct reference_use *reference_use = compiler_find_target(c);
    return add_pending_bits(c, type->bits) &&
           (!reference_use ||
            emit_save(c, type, &begin, reference_use->slot, reference_use->may_lack));
}

bool emit_inline_length(struct compiler *c, const struct type *type)
{
    const struct type *length = type->length_type;
    if (!length || (length->kind != TYPE_UINT && length->kind != TYPE_BITS) || length->bits > 64)
        return compiler_refuse(
            c, "the length of a sequence must be an unsigned number of at most 64 bits");
    if (!compiler_visit(c, length) || !emit_align(c, type->minimum_align) ||
        !emit_number_start(c, length))
        return false;
    struct position begin = c->position;
    return add_pending_bits(c, length->bits) &&
           emit_save(c, length, &begin, STEP_INLINE_SLOT, false);
}

bool emit_leb(struct compiler *c, const struct type *type)
{
    if (!emit_align(c, type->align > 3 ? type->align : 3))
        return false;
    if (emit_returns_fields(c)) {
        const void *table = type->labels ? compile_label_table(c, type) : NULL;
        struct step *step = type->labels && !table ? NULL : emit_still(c, FIELD_LEB, 0);
        if (!step)
            return false;
        step->type = type;
        step->table = table;
        prepare_number(&c->ops[c->ops_n - 1].field.value, type);
    }
    const struct reference_use *reference_use = compiler_find_target(c);
    struct step *step = emit_moving(c, reference_use ? STEP_LEB_SAVE : STEP_LEB);
    if (!step)
        return false;
    step->type = type;
    step->slot = reference_use ? reference_use->slot : 0;
    step->flags |= reference_use && reference_use->may_lack ? STEP_MAY_BE_ABSENT : 0;
    c->position = (struct position){.known = 3};
    return true;
}

/* --- Text and bytes --- */

static void prepare_text(struct compiler *c, const struct type *type, uint8_t value_type)
{
    ttr_value *value = &c->ops[c->ops_n - 1].field.value;
    value->type = value_type;
    value->hint = type->hint;
    value->text = (ttr_text){"", 0};
    c->ops[c->ops_n - 1].step.type = type;
    if (type->encoding >= ENCODING_UTF16LE)
        c->ops[c->ops_n - 1].step.load = type->encoding;
}

static bool has_wide_characters(const struct type *type)
{
    return type->encoding >= ENCODING_UTF16LE;
}

bool emit_string(struct compiler *c, const struct type *type)
{
    unsigned unit = type->bits == 32 ? 4 : type->bits == 16 ? 2 : 1;
    bool is_utf16 = type->encoding == ENCODING_UTF16LE || type->encoding == ENCODING_UTF16BE;
    if (unit != (has_wide_characters(type) ? (is_utf16 ? 2u : 4u) : 1u))
        return compiler_refuse(
            c, "its characters have %u bits, which does not match their encoding", type->bits);
    if (!emit_align(c, type->align > 3 ? type->align : 3))
        return false;
    enum step_code silent = unit == 4 ? STEP_STRING32 : unit == 2 ? STEP_STRING16 : STEP_STRING8;
    bool gives = emit_returns_fields(c);
    struct step *step = emit_moving(c, !gives      ? silent
                                       : unit == 1 ? FIELD_STRING8
                                                   : FIELD_STRING_WIDE);
    if (!step)
        return false;
    step->width = unit;
    if (gives)
        prepare_text(c, type, TTR_TYPE_TEXT);
    c->position = (struct position){.known = 3};
    return true;
}

bool emit_slot(struct compiler *c, const struct type *type, uint8_t *slot)
{
    const struct reference_use *reference_use = compiler_find_reference(c, &type->reference);
    if (!reference_use || !reference_use->has_target)
        return compiler_refuse(c, "its length or selector is missing");
    *slot = reference_use->slot;
    if (!reference_use->may_lack || reference_use->is_import)
        return true;
    struct step *step = emit_moving(c, STEP_REQUIRE_NUMBER);
    if (step)
        step->slot = reference_use->slot;
    return step != NULL;
}

void emit_label(struct compiler *c)
{
    c->label = c->ops_n;
}

/* Returns the last step if the next step can load the length instead: it saves a byte-aligned
 * length to this slot, and no jump leads to the next step. Otherwise returns NULL. */
static struct step *find_last_save(struct compiler *c, uint8_t slot)
{
    struct step *last = c->ops_n > 0 ? &c->ops[c->ops_n - 1].step : NULL;
    if (!last || c->label == c->ops_n || c->pending || last->code != STEP_SAVE ||
        last->slot != slot)
        return NULL;
    return last->load == LOAD_BITS || last->flags & STEP_MAY_BE_ABSENT ? NULL : last;
}

/* Turns a preceding STEP_SAVE of the slot into a STEP_COUNTED, which saves the length and skips the
 * data. Returns NULL without such a step. */
static struct step *merge_last_save(struct compiler *c, uint8_t slot)
{
    struct step *last = c->program == PROGRAM_RECORD_SIZE ? find_last_save(c, slot) : NULL;
    if (last) {
        last->code = STEP_COUNTED;
        last->jump = last->width;
    }
    return last;
}

/* Emits a step for data of variable length. If the step before it only saves the length, replaces
 * that step: the new step loads the length itself. */
static struct step *emit_counted(struct compiler *c, enum step_code code, uint8_t slot,
                                 bool is_fixed)
{
    const struct step *last =
        is_fixed || code == FIELD_TEXT_WIDE_COUNTED ? NULL : find_last_save(c, slot);
    struct step save = {0};
    if (last) {
        save = *last;
        c->pending = save.advance;
        c->ops_n--;
    }
    struct step *step = emit_moving(c, code);
    if (!step)
        return NULL;
    step->slot = slot;
    step->flags |= is_fixed ? STEP_FIXED : 0;
    if (last) {
        step->flags |= STEP_LOADS;
        step->load = save.load;
        step->jump = save.width;
    }
    return step;
}

/* Updates the position to that after a variable number of elements, which may be 0. `align` is log2
 * of the alignment of the first element. */
static void position_after_elements(struct position *position, const struct folded_element *each,
                                    unsigned align)
{
    struct position none = *position, some = *position;
    if (align)
        some = (struct position){.known = (uint8_t)align, .order = position->order};
    uint64_t step = each->stride | (each->stride - each->bits);
    unsigned known = step ? (unsigned)__builtin_ctzll(step) : some.known;
    some.known = known < some.known ? (uint8_t)known : some.known;
    some.residue &= (UINT32_C(1) << some.known) - 1;
    *position = position_join(none, some);
}

static bool emit_spins(struct compiler *c, const struct folded_element *each,
                       const struct emit_count *count)
{
    if (each->spins == 0)
        return true;
    struct step *step = emit_moving(c, STEP_COUNT_EMPTY);
    if (!step)
        return false;
    bool is_many = count->is_fixed && count->count > LAYOUT_EMPTY_ELEMENTS_MAX / each->spins;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = is_many ? LAYOUT_EMPTY_ELEMENTS_MAX + 1 : count->count;
    step->amount = is_many ? 1 : each->spins;
    step->slot = count->slot;
    return true;
}

bool emit_skip_elements(struct compiler *c, const struct folded_element *each,
                        const struct emit_count *count, unsigned align)
{
    bool fits =
        count->is_fixed && (each->stride == 0 || count->count <= COMPILE_BITS / each->stride);
    if (fits && !align) {
        uint64_t bits = count->count ? (count->count - 1) * each->stride + each->bits : 0;
        return add_pending_bits(c, bits) && emit_spins(c, each, count);
    }
    struct step *step = !count->is_fixed && !align ? merge_last_save(c, count->slot) : NULL;
    if (!step)
        step = emit_moving(c, STEP_SKIP_ELEMENTS);
    if (!step)
        return false;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = count->count;
    step->slot = count->slot;
    step->amount = each->stride;
    step->width = (uint32_t)(each->stride - each->bits);
    step->align = (uint8_t)align;
    step->member = c->member;
    position_after_elements(&c->position, each, align);
    return emit_spins(c, each, count);
}

/* Emits a check that the length of a UTF-16 or UTF-32 text is a multiple of 2 or 4 bytes. */
static bool emit_text_length_check(struct compiler *c, const struct type *type, uint8_t slot)
{
    struct step *step = emit_moving(c, STEP_CHECK_UNITS);
    if (!step)
        return false;
    step->slot = slot;
    step->amount = type->bits / 8;
    return true;
}

bool emit_bytes(struct compiler *c, const struct type *type)
{
    static const struct folded_element byte = {.bits = 8, .stride = 8};
    bool is_text = type->kind == TYPE_TEXT, is_inline = type->has_inline_length,
         is_counted = is_inline || type->reference.names_n > 0;
    struct emit_count count = {
        .count = type->count, .is_fixed = !is_counted, .slot = STEP_INLINE_SLOT};
    if (!(is_inline ? emit_inline_length(c, type) : emit_align(c, type->align)) ||
        !emit_order(c, ORDER_BYTES) ||
        (is_counted && !is_inline && !emit_slot(c, type, &count.slot)))
        return false;
    if (!emit_returns_fields(c))
        return (!is_counted || is_inline || !is_text || !has_wide_characters(type) ||
                emit_text_length_check(c, type, count.slot)) &&
               emit_skip_elements(c, &byte, &count, 0);
    if (type->count > COMPILE_BITS / 8)
        return compiler_refuse(c, "it is larger than 2^60 bits");
    bool is_wide_text = is_text && has_wide_characters(type);
    struct step *step = NULL;
    if (is_counted) {
        step = emit_counted(c,
                            is_wide_text ? FIELD_TEXT_WIDE_COUNTED
                            : is_text    ? FIELD_TEXT_COUNTED
                                         : FIELD_BLOB_COUNTED,
                            count.slot, false);
        position_after_elements(&c->position, &byte, 0);
    } else {
        step = emit_still(c,
                          is_wide_text ? FIELD_TEXT_WIDE
                          : is_text    ? FIELD_TEXT
                                       : FIELD_BLOB,
                          type->count * 8);
    }
    if (!step)
        return false;
    step->count = type->count;
    prepare_text(c, type, is_text ? TTR_TYPE_TEXT : TTR_TYPE_BYTES);
    return is_counted || add_pending_bits(c, type->count * 8);
}

/* --- Arrays of numbers --- */

bool emit_has_plain_elements(const struct type *element, const struct position *position,
                             const struct folded_element *each)
{
    if (!type_is_number(element) || element->kind == TYPE_BOOL || element->kind == TYPE_NULL ||
        each->stride % 8 || select_load(element, position) == LOAD_BITS)
        return false;
    enum step_code code = select_number_code(element, select_load(element, position));
    return code < FIELD_FLOAT;
}

static bool emit_elements_field(struct compiler *c, const struct type *type,
                                const struct folded_element *each, const struct emit_count *count,
                                unsigned align)
{
    struct step *step = emit_counted(c, FIELD_ELEMENTS, count->slot, count->is_fixed);
    if (!step)
        return false;
    ttr_value *value = &c->ops[c->ops_n - 1].field.value;
    *value = (ttr_value){.text = {"", 0}, .type = TTR_TYPE_ARRAY};
    step->type = type;
    step->count = count->count;
    step->amount = each->stride;
    step->width = (uint32_t)(each->stride - each->bits);
    step->align = (uint8_t)align;
    return true;
}

/* Emits the step that returns the first element, or (is_second) the one that returns all others. */
static bool emit_element_field(struct compiler *c, const struct type *element,
                               const struct folded_element *each, uint32_t is_second)
{
    struct position at_byte = {.known = 3};
    enum step_code code = select_number_code(element, select_load(element, &at_byte));
    struct step *step = emit_moving(c, (enum step_code)(code - FIELD_NUMBER + FIELD_ELEMENT));
    if (!step)
        return false;
    set_step_load(step, element, &at_byte);
    prepare_number(&c->ops[c->ops_n - 1].field.value, element);
    step->amount = each->stride;
    step->width = (uint32_t)(each->stride - each->bits);
    step->jump = is_second;
    return true;
}

bool emit_elements(struct compiler *c, const struct type *type, const struct folded_element *each,
                   const struct emit_count *count, unsigned align)
{
    ttr_field field = c->field;
    bool is_good = emit_elements_field(c, type, each, count, align);
    c->field.name = (ttr_text){"", 0};
    c->field.name_id = 0;
    c->field.choices = 0;
    c->field.depth++;
    is_good = is_good && emit_element_field(c, type->element, each, 0) &&
              emit_element_field(c, type->element, each, 1);
    c->field = field;
    if (count->is_fixed && !align)
        position_advance(&c->position,
                         count->count ? (count->count - 1) * each->stride + each->bits : 0);
    else
        position_after_elements(&c->position, each, align);
    return is_good;
}
