/* Steps of values: which step and which load a type takes, and the field that is prepared for it.
 *
 * Numbers of 8, 16, 32 and 64 bits that lie at bytes for sure are loaded at once; all others are
 * read bit by bit.  A number that is somebody's length or selector is saved behind the field it
 * gives. */
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

/* Passes over bits of a fixed field. */
static bool emit_pass(struct compiler *c, uint64_t bits)
{
    if (bits > COMPILE_BITS - c->pending)
        return compiler_refuse(c, "with it the record is larger than 2^60 bits");
    c->pending += bits;
    place_pass(&c->place, bits);
    return true;
}

bool emit_align(struct compiler *c, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1;
    if (c->place.known >= log2)
        return emit_pass(c, (0 - (uint64_t)c->place.residue) & mask);
    struct step *step = emit_moving(c, STEP_ALIGN);
    if (!step)
        return false;
    step->amount = mask;
    c->place.known = (uint8_t)log2;
    c->place.residue = 0;
    return true;
}

bool emit_mixed(struct compiler *c)
{
    bool is_known = c->place.order == ORDER_LE || c->place.order == ORDER_BE;
    if (is_known && !place_is_at_byte(&c->place)) {
        struct step *step = emit_moving(c, STEP_MIXED);
        if (!step)
            return false;
        step->order = c->place.order;
    }
    c->place.order = ORDER_ANY;
    return true;
}

/* Makes sure that a field of a byte order (or of whole bytes) may begin here. */
static bool emit_order(struct compiler *c, enum order order)
{
    bool is_first = c->place.order == ORDER_START && order != ORDER_BYTES;
    bool is_safe = place_is_at_byte(&c->place) || c->place.order == order || is_first;
    bool is_known = c->place.known >= 3 && (c->place.order != ORDER_ANY || order == ORDER_BYTES);
    if (!is_safe && is_known)
        return compiler_refuse(
            c,
            order == ORDER_BYTES
                ? "it must begin at a whole byte, but does inside of one"
                : "it begins inside of a byte whose other bits are stored in the other byte order");
    if (!is_safe) {
        if (!emit_mixed(c))
            return false;
        struct step *step = emit_moving(c, STEP_ORDER);
        if (!step)
            return false;
        step->order = (uint8_t)order;
    }
    if (order == ORDER_BYTES && c->place.known < 3)
        c->place = (struct place){.known = 3};
    c->place.order = order == ORDER_BYTES ? (uint8_t)ORDER_ANY : (uint8_t)order;
    return true;
}

/* --- Numbers --- */

/* A gcc bitfield does not cross its unit. */
static bool emit_unit(struct compiler *c, const struct type *type)
{
    bool is_power = (type->unit & (type->unit - 1)) == 0;
    if (is_power && c->place.known >= (unsigned)__builtin_ctz(type->unit)) {
        uint32_t used = c->place.residue % type->unit;
        return !used || type->bits <= type->unit - used || emit_pass(c, type->unit - used);
    }
    struct place next = {
        .known = (uint8_t)(__builtin_ctz(type->unit) < 15 ? __builtin_ctz(type->unit) : 15),
        .order = c->place.order};
    struct step *step = emit_moving(c, STEP_UNIT);
    if (!step)
        return false;
    step->amount = type->unit;
    step->width = type->bits;
    c->place = place_join(c->place, next);
    return true;
}

static bool has_sign(const struct type *type)
{
    return type->kind == TYPE_INT;
}

/* How a number that begins at a place is read. */
static enum load load_of(const struct type *type, const struct place *place)
{
    bool is_big = type->is_big_endian;
    if (!place_is_at_byte(place) || type->is_reversed)
        return LOAD_BITS;
    switch (type->bits) {
    case 8:
        return has_sign(type) ? LOAD_S8 : LOAD_U8;
    case 16:
        return has_sign(type) ? (is_big ? LOAD_S16BE : LOAD_S16LE)
               : is_big       ? LOAD_U16BE
                              : LOAD_U16LE;
    case 32:
        return has_sign(type) ? (is_big ? LOAD_S32BE : LOAD_S32LE)
               : is_big       ? LOAD_U32BE
                              : LOAD_U32LE;
    case 64:
        return is_big ? LOAD_U64BE : LOAD_U64LE;
    default:
        return LOAD_BITS;
    }
}

static void set_load(struct step *step, const struct type *type, const struct place *place)
{
    step->type = type;
    step->load = (uint8_t)load_of(type, place);
    step->width = type->bits;
    step->flags |=
        (uint8_t)((has_sign(type) ? STEP_SIGNED : 0u) | (type->is_reversed ? STEP_REVERSED : 0u) |
                  (type->is_big_endian ? STEP_BIG : 0u));
}

static bool is_integer(const struct type *type)
{
    return type->kind == TYPE_UINT || type->kind == TYPE_INT || type->kind == TYPE_FLAGS;
}

static enum step_code code_of(const struct type *type, enum load load)
{
    bool has_labels = type->labels && is_integer(type);
    if (type->kind == TYPE_BOOL)
        return GIVE_BOOL;
    if (type->kind == TYPE_FLOAT && load == LOAD_U32LE)
        return GIVE_F32LE;
    if (type->kind == TYPE_FLOAT && load == LOAD_U32BE)
        return GIVE_F32BE;
    if (type->kind == TYPE_FLOAT && load != LOAD_U64LE && load != LOAD_U64BE)
        return GIVE_FLOAT;
    if (type->bits > 64)
        return GIVE_WIDE;
    if (has_labels)
        return type->kind == TYPE_FLAGS ? GIVE_FLAGS : GIVE_ENUM;
    return (enum step_code)(GIVE_NUMBER + load);
}

/* The value's type, meaning and width, as far as they do not depend on its bits. */
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
                                          : type->base; /* bits mean no amount */
    value->text = (ttr_text){"", 0};
}

/* Bits that mean nothing. */
static bool give_null(struct compiler *c, const struct type *type)
{
    struct step *step = emit_still(c, GIVE_AS_IT_IS, type->bits);
    if (!step)
        return false;
    step->type = type;
    c->ops[c->ops_n - 1].field.value =
        (ttr_value){.text = {"", 0}, .type = TTR_TYPE_NULL, .hint = type->hint};
    return true;
}

static bool give_number(struct compiler *c, const struct type *type)
{
    if (type->kind == TYPE_NULL)
        return give_null(c, type);
    enum load load = load_of(type, &c->place);
    enum step_code code = code_of(type, load);
    bool has_table = code == GIVE_ENUM || code == GIVE_FLAGS;
    const void *table = has_table ? compile_labels(c, type) : NULL;
    struct step *step = has_table && !table ? NULL : emit_still(c, code, type->bits);
    if (!step)
        return false;
    set_load(step, type, &c->place);
    step->table = table;
    prepare_number(&c->ops[c->ops_n - 1].field.value, type);
    return true;
}

/* Saves the number just passed over, which began at a place. */
static bool save_number(struct compiler *c, const struct type *type, const struct place *begin,
                        uint8_t slot, bool may_lack)
{
    struct step *step = emit_moving(c, STEP_SAVE);
    if (!step)
        return false;
    set_load(step, type, begin);
    step->slot = slot;
    step->flags |= may_lack ? STEP_MAY_LACK : 0;
    return true;
}

/* Moves to where a number begins. */
static bool begin_number(struct compiler *c, const struct type *type)
{
    if (type->bits == 0)
        return compiler_refuse(c, "a number of no bits");
    return emit_align(c, type->align) && (!type->unit || emit_unit(c, type)) &&
           emit_order(c, type_order(type));
}

bool emit_number(struct compiler *c, const struct type *type)
{
    if (!begin_number(c, type) || (emit_gives(c) && !give_number(c, type)))
        return false;
    struct place begin = c->place;
    const struct use *use = compiler_target(c);
    return emit_pass(c, type->bits) &&
           (!use || save_number(c, type, &begin, use->slot, use->may_lack));
}

bool emit_inline_length(struct compiler *c, const struct type *type)
{
    const struct type *length = type->length_type;
    if (!length || (length->kind != TYPE_UINT && length->kind != TYPE_BITS) || length->bits > 64)
        return compiler_refuse(
            c, "the length of a sequence must be an unsigned number of at most 64 bits");
    if (!compiler_visit(c, length) || !emit_align(c, type->minimum_align) ||
        !begin_number(c, length))
        return false;
    struct place begin = c->place;
    return emit_pass(c, length->bits) && save_number(c, length, &begin, STEP_INLINE_SLOT, false);
}

bool emit_leb(struct compiler *c, const struct type *type)
{
    if (!emit_align(c, type->align > 3 ? type->align : 3))
        return false;
    if (emit_gives(c)) {
        const void *table = type->labels ? compile_labels(c, type) : NULL;
        struct step *step = type->labels && !table ? NULL : emit_still(c, GIVE_LEB, 0);
        if (!step)
            return false;
        step->type = type;
        step->table = table;
        prepare_number(&c->ops[c->ops_n - 1].field.value, type);
    }
    const struct use *use = compiler_target(c);
    struct step *step = emit_moving(c, use ? STEP_LEB_SAVE : STEP_LEB);
    if (!step)
        return false;
    step->type = type;
    step->slot = use ? use->slot : 0;
    step->flags |= use && use->may_lack ? STEP_MAY_LACK : 0;
    c->place = (struct place){.known = 3};
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

static bool is_wide(const struct type *type)
{
    return type->encoding >= ENCODING_UTF16LE;
}

bool emit_string(struct compiler *c, const struct type *type)
{
    unsigned unit = type->bits == 32 ? 4 : type->bits == 16 ? 2 : 1;
    bool is_utf16 = type->encoding == ENCODING_UTF16LE || type->encoding == ENCODING_UTF16BE;
    if (unit != (is_wide(type) ? (is_utf16 ? 2u : 4u) : 1u))
        return compiler_refuse(
            c, "its characters have %u bits, which does not go with their encoding", type->bits);
    if (!emit_align(c, type->align > 3 ? type->align : 3))
        return false;
    enum step_code silent = unit == 4 ? STEP_STRING32 : unit == 2 ? STEP_STRING16 : STEP_STRING8;
    bool gives = emit_gives(c);
    struct step *step = emit_moving(c, !gives      ? silent
                                       : unit == 1 ? GIVE_STRING8
                                                   : GIVE_STRING_WIDE);
    if (!step)
        return false;
    step->width = unit;
    if (gives)
        prepare_text(c, type, TTR_TYPE_TEXT);
    c->place = (struct place){.known = 3};
    return true;
}

bool emit_slot(struct compiler *c, const struct type *type, uint8_t *slot)
{
    const struct use *use = compiler_use(c, &type->reference);
    if (!use || !use->has_target)
        return compiler_refuse(c, "nothing says its length or which of it is chosen");
    *slot = use->slot;
    if (!use->may_lack || use->is_import)
        return true;
    struct step *step = emit_moving(c, STEP_REQUIRE);
    if (step)
        step->slot = use->slot;
    return step != NULL;
}

void emit_label(struct compiler *c)
{
    c->label = c->ops_n;
}

/* The step just before where it saves a length of whole bytes to a slot; what needs it at once can
 * do that itself. */
static struct step *last_save(struct compiler *c, uint8_t slot)
{
    struct step *last = c->ops_n > 0 ? &c->ops[c->ops_n - 1].step : NULL;
    if (!last || c->label == c->ops_n || c->pending || last->code != STEP_SAVE ||
        last->slot != slot)
        return NULL;
    return last->load == LOAD_BITS || last->flags & STEP_MAY_LACK ? NULL : last;
}

/* Saving and passing over in one. */
static struct step *grow_save(struct compiler *c, uint8_t slot)
{
    struct step *last = c->program == PROGRAM_MEASURE ? last_save(c, slot) : NULL;
    if (last) {
        last->code = STEP_COUNTED;
        last->jump = last->width;
    }
    return last;
}

/* A step that gives what has a length; where that was just saved, this step does it instead. */
static struct step *emit_counted(struct compiler *c, enum step_code code, uint8_t slot,
                                 bool is_fixed)
{
    const struct step *last = is_fixed || code == GIVE_TEXT_WIDE_TAKEN ? NULL : last_save(c, slot);
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

/* What is known behind elements that may be none, from where the first would begin. */
static void place_behind(struct place *place, const struct fold_element *each, unsigned align)
{
    struct place none = *place, some = *place;
    if (align)
        some = (struct place){.known = (uint8_t)align, .order = place->order};
    uint64_t step = each->stride | (each->stride - each->bits);
    unsigned known = step ? (unsigned)__builtin_ctzll(step) : some.known;
    some.known = known < some.known ? (uint8_t)known : some.known;
    some.residue &= (UINT32_C(1) << some.known) - 1;
    *place = place_join(none, some);
}

static bool emit_spins(struct compiler *c, const struct fold_element *each,
                       const struct emit_count *count)
{
    if (each->spins == 0)
        return true;
    struct step *step = emit_moving(c, STEP_SPINS);
    if (!step)
        return false;
    bool is_many = count->is_fixed && count->count > LAYOUT_EMPTY_ELEMENTS_MAX / each->spins;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = is_many ? LAYOUT_EMPTY_ELEMENTS_MAX + 1 : count->count;
    step->amount = is_many ? 1 : each->spins;
    step->slot = count->slot;
    return true;
}

bool emit_take(struct compiler *c, const struct fold_element *each, const struct emit_count *count,
               unsigned align)
{
    bool fits =
        count->is_fixed && (each->stride == 0 || count->count <= COMPILE_BITS / each->stride);
    if (fits && !align) {
        uint64_t bits = count->count ? (count->count - 1) * each->stride + each->bits : 0;
        return emit_pass(c, bits) && emit_spins(c, each, count);
    }
    struct step *step = !count->is_fixed && !align ? grow_save(c, count->slot) : NULL;
    if (!step)
        step = emit_moving(c, STEP_TAKE);
    if (!step)
        return false;
    step->flags |= count->is_fixed ? STEP_FIXED : 0;
    step->count = count->count;
    step->slot = count->slot;
    step->amount = each->stride;
    step->width = (uint32_t)(each->stride - each->bits);
    step->align = (uint8_t)align;
    step->member = c->member;
    place_behind(&c->place, each, align);
    return emit_spins(c, each, count);
}

/* UTF-16 and UTF-32 come in units of 2 and 4 bytes. */
static bool emit_whole(struct compiler *c, const struct type *type, uint8_t slot)
{
    struct step *step = emit_moving(c, STEP_WHOLE);
    if (!step)
        return false;
    step->slot = slot;
    step->amount = type->bits / 8;
    return true;
}

bool emit_bytes(struct compiler *c, const struct type *type)
{
    static const struct fold_element byte = {.bits = 8, .stride = 8};
    bool is_text = type->kind == TYPE_TEXT, is_inline = type->has_inline_length,
         is_counted = is_inline || type->reference.names_n > 0;
    struct emit_count count = {
        .count = type->count, .is_fixed = !is_counted, .slot = STEP_INLINE_SLOT};
    if (!(is_inline ? emit_inline_length(c, type) : emit_align(c, type->align)) ||
        !emit_order(c, ORDER_BYTES) ||
        (is_counted && !is_inline && !emit_slot(c, type, &count.slot)))
        return false;
    if (!emit_gives(c))
        return (!is_counted || is_inline || !is_text || !is_wide(type) ||
                emit_whole(c, type, count.slot)) &&
               emit_take(c, &byte, &count, 0);
    if (type->count > COMPILE_BITS / 8)
        return compiler_refuse(c, "it is larger than 2^60 bits");
    bool is_wide_text = is_text && is_wide(type);
    struct step *step = NULL;
    if (is_counted) {
        step = emit_counted(c,
                            is_wide_text ? GIVE_TEXT_WIDE_TAKEN
                            : is_text    ? GIVE_TEXT_TAKEN
                                         : GIVE_BLOB_TAKEN,
                            count.slot, false);
        place_behind(&c->place, &byte, 0);
    } else {
        step = emit_still(c,
                          is_wide_text ? GIVE_TEXT_WIDE
                          : is_text    ? GIVE_TEXT
                                       : GIVE_BLOB,
                          type->count * 8);
    }
    if (!step)
        return false;
    step->count = type->count;
    prepare_text(c, type, is_text ? TTR_TYPE_TEXT : TTR_TYPE_BYTES);
    return is_counted || emit_pass(c, type->count * 8);
}

/* --- Arrays of numbers --- */

bool emit_is_plain(const struct type *element, const struct place *place,
                   const struct fold_element *each)
{
    if (!type_is_number(element) || element->kind == TYPE_BOOL || element->kind == TYPE_NULL ||
        each->stride % 8 || load_of(element, place) == LOAD_BITS)
        return false;
    enum step_code code = code_of(element, load_of(element, place));
    return code < GIVE_FLOAT;
}

static bool give_elements(struct compiler *c, const struct type *type,
                          const struct fold_element *each, const struct emit_count *count,
                          unsigned align)
{
    struct step *step = emit_counted(c, GIVE_ELEMENTS, count->slot, count->is_fixed);
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

/* One of the two steps that give the elements. */
static bool give_element(struct compiler *c, const struct type *element,
                         const struct fold_element *each, uint32_t is_second)
{
    struct place at_byte = {.known = 3};
    enum step_code code = code_of(element, load_of(element, &at_byte));
    struct step *step = emit_moving(c, (enum step_code)(code - GIVE_NUMBER + GIVE_ELEMENT));
    if (!step)
        return false;
    set_load(step, element, &at_byte);
    prepare_number(&c->ops[c->ops_n - 1].field.value, element);
    step->amount = each->stride;
    step->width = (uint32_t)(each->stride - each->bits);
    step->jump = is_second;
    return true;
}

bool emit_elements(struct compiler *c, const struct type *type, const struct fold_element *each,
                   const struct emit_count *count, unsigned align)
{
    ttr_field field = c->field;
    bool is_good = give_elements(c, type, each, count, align);
    c->field.name = (ttr_text){"", 0};
    c->field.name_id = 0;
    c->field.choices = 0;
    c->field.depth++;
    is_good = is_good && give_element(c, type->element, each, 0) &&
              give_element(c, type->element, each, 1);
    c->field = field;
    if (count->is_fixed && !align)
        place_pass(&c->place, count->count ? (count->count - 1) * each->stride + each->bits : 0);
    else
        place_behind(&c->place, each, align);
    return is_good;
}
