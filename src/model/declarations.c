/* Declarations: the event classes of a trace, and an iteration over their declared fields. Left
 * out: packet headers, which are not fields of events. */
#include <string.h>

#include <tracetta/event_class.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/status.h"
#include "model/input.h"
#include "model/type.h"

#define DEPTH_MAX 48u /* nesting depth of declared fields; larger than TYPE_DEPTH_MAX */
#define SHOWN_MAX 8u  /* display names per reference */

/* Iteration state, stored in ttr_field_declarations.state. */
struct declaration_iter {
    uint32_t root; /* next root to enter */
    uint32_t depth, given;
    uint8_t group;
    /* type of the number that has the labels returned next; NULL = no labels to return */
    const struct type *number;
    uint32_t label, label_range;
    /* selector ranges of the last field, an option of a variant, that are still to be returned */
    const struct type_range *selector;
    uint32_t selector_n, selector_at;
    ttr_text selector_name;
    ttr_text shown[SHOWN_MAX]; /* path of the length or selector field of the last returned field:
                                  displayed names */
    struct frame {
        const struct type *type;
        uint32_t at; /* index in `type` of the next member or element */
    } frame[DEPTH_MAX];
};

_Static_assert(sizeof(struct declaration_iter) <= sizeof(((ttr_field_declarations *)0)->state),
               "a walk fits");
_Static_assert(sizeof(((ttr_event_class *)0)->internal) == sizeof(((struct event_class *)0)->root),
               "all roots");

bool ttr_reader_class(ttr_reader *reader, size_t index, size_t i, ttr_event_class *about)
{
    size_t size = about->size;
    struct input *in = size >= sizeof *about ? reader_get_input(reader, index) : NULL;
    struct event_class class = {.id = 0};
    uint64_t events = 0;
    if (!in || !in->format->description ||
        !in->format->description->describe(in, i, &class, &events))
        return false;
    *about = (ttr_event_class){.size = size,
                               .name = class.name,
                               .id = class.id,
                               .stream = class.stream_id,
                               .stream_name = class.stream_name,
                               .emf_uri = class.emf_uri,
                               .message = class.message,
                               .description = class.description,
                               .log_level = class.log_level,
                               .has_log_level = class.has_log_level,
                               .level = class.level,
                               .events = events,
                               .version = class.version,
                               .has_version = class.has_version};
    for (size_t k = 0; k < ROOT_COUNT; k++)
        about->internal[k] = class.root[k];
    return true;
}

ttr_status ttr_reader_metadata(ttr_reader *reader, size_t index, const char *language,
                               ttr_text *text, ttr_error *error)
{
    if (!reader || !text)
        return fail_null(error, "ttr_reader_metadata", reader ? "text" : "reader");
    struct input *in = reader_get_input(reader, index);
    ttr_report report = {.size = sizeof report};
    *text = (ttr_text){"", 0};
    if (!in && !ttr_reader_report(reader, index, &report))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "ttr_reader_metadata: report %zu does not exist", index);
    if (!in || !in->format->description || !in->format->description->print)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "this trace has no metadata to print");
    buffer_clear(&in->description);
    ttr_status status = in->format->description->print(in, language, &in->description, error);
    if (status == TTR_OK && in->description.failed)
        status = fail_memory(error);
    if (status == TTR_OK && in->description.n)
        *text = (ttr_text){(const char *)in->description.bytes, in->description.n};
    return status;
}

void ttr_field_declarations_begin(const ttr_event_class *about,
                                  ttr_field_declarations *declaration_iter)
{
    *declaration_iter = (ttr_field_declarations){.internal = {NULL}};
    for (size_t i = 0; i < ROOT_COUNT; i++)
        declaration_iter->internal[i] = about->internal[i];
}

static uint8_t get_value_type(const struct type *type)
{
    static const uint8_t types[TYPE_KIND_COUNT] = {
        [TYPE_BITS] = TTR_TYPE_UINT,     [TYPE_BOOL] = TTR_TYPE_BOOL,
        [TYPE_UINT] = TTR_TYPE_UINT,     [TYPE_INT] = TTR_TYPE_INT,
        [TYPE_FLAGS] = TTR_TYPE_UINT,    [TYPE_FLOAT] = TTR_TYPE_FLOAT,
        [TYPE_VAR_UINT] = TTR_TYPE_UINT, [TYPE_VAR_INT] = TTR_TYPE_INT,
        [TYPE_STRING] = TTR_TYPE_TEXT,   [TYPE_TEXT] = TTR_TYPE_TEXT,
        [TYPE_BLOB] = TTR_TYPE_BYTES,    [TYPE_STRUCT] = TTR_TYPE_STRUCT,
        [TYPE_ARRAY] = TTR_TYPE_ARRAY,   [TYPE_SEQUENCE] = TTR_TYPE_ARRAY,
    };
    return types[type->kind < TYPE_KIND_COUNT ? type->kind : TYPE_NONE];
}

static uint8_t get_type_display(const struct type *type)
{
    if (type->kind == TYPE_FLAGS)
        return TTR_DISPLAY_FLAGS;
    return type->labels && type->kind != TYPE_BITS ? TTR_DISPLAY_ENUM : type->hint;
}

static uint8_t get_root_group(enum type_root root)
{
    static const uint8_t groups[ROOT_COUNT] = {TTR_GROUP_PACKET,  TTR_GROUP_PACKET,
                                               TTR_GROUP_HEADER,  TTR_GROUP_COMMON,
                                               TTR_GROUP_CONTEXT, TTR_GROUP_PAYLOAD};
    return groups[root];
}

static const struct type_member *find_member(const struct type *type, ttr_text name)
{
    while (type &&
           (type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL))
        type = type->element;
    bool has_members = type && (type->kind == TYPE_STRUCT || type->kind == TYPE_VARIANT);
    for (uint32_t i = 0; has_members && i < type->members_n; i++)
        if (type->members[i].name.n == name.n &&
            memcmp(type->members[i].name.p, name.p, name.n) == 0)
            return &type->members[i];
    return NULL;
}

/* Returns the names of a reference as displayed, which may differ from the names stored in the
 * declaration. Returns the stored names if there are more than SHOWN_MAX. */
static const ttr_text *reference_display_names(const ttr_field_declarations *declarations,
                                               struct declaration_iter *declaration_iter,
                                               const struct type_reference *reference)
{
    const struct type *type = reference->names_n ? declarations->internal[reference->root] : NULL;
    if (reference->names_n > SHOWN_MAX)
        return reference->names;
    for (uint32_t i = 0; i < reference->names_n; i++) {
        const struct type_member *member = find_member(type, reference->names[i]);
        declaration_iter->shown[i] =
            member && member->shown.p ? member->shown : reference->names[i];
        type = member ? member->type : NULL;
    }
    return declaration_iter->shown;
}

static void describe_member(const struct declaration_iter *declaration_iter,
                            const struct type_member *member, const struct type *type,
                            ttr_field_declaration *declaration)
{
    static const ttr_text nameless = {"", 0};
    bool has_length =
        type->kind == TYPE_ARRAY || type->kind == TYPE_TEXT || type->kind == TYPE_BLOB;
    bool has_reference = type->reference.names_n > 0;
    *declaration = (ttr_field_declaration){
        .name = !member           ? nameless
                : member->shown.p ? member->shown
                                  : member->name,
        .depth = (uint16_t)(declaration_iter->depth - 1),
        .group = declaration_iter->group,
        .type = get_value_type(type),
        .choice = type->kind == TYPE_OPTIONAL  ? TTR_CHOICE_OPTIONAL
                  : type->kind == TYPE_VARIANT ? TTR_CHOICE_VARIANT
                                               : TTR_CHOICE_NONE,
        .hint = get_type_display(type),
        .base = type->base,
        .is_big_endian = type->is_big_endian,
        .is_technical = type->role != 0,
        .has_count = has_length && !has_reference && !type->has_inline_length,
        .has_inline_length = type->has_inline_length,
        .bits = type->bits,
        .align = UINT32_C(1) << (type->align < 31 ? type->align : 31),
        .count = has_length && !has_reference ? type->count : 0,
        .reference_n = type->reference.names_n,
        .reference_group = has_reference ? get_root_group(type->reference.root) : 0,
    };
    if (!declaration->name.p)
        declaration->name = nameless;
}

/* Returns the next member or element type of the innermost frame; NULL after the last. */
static const struct type *get_element_type(struct frame *frame, const struct type_member **member)
{
    const struct type *type = frame->type;
    *member = NULL;
    if (type->kind == TYPE_STRUCT || type->kind == TYPE_VARIANT) {
        if (frame->at == type->members_n)
            return NULL;
        *member = &type->members[frame->at++];
        return (*member)->type;
    }
    return frame->at++ == 0 ? type->element : NULL;
}

static bool has_inner_types(const struct type *type)
{
    return type->kind == TYPE_STRUCT || type->kind == TYPE_VARIANT || type->kind == TYPE_ARRAY ||
           type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL;
}

/* Starts the next root that the class declares. Returns false if there is none. */
static bool enter_root(ttr_field_declarations *declarations,
                       struct declaration_iter *declaration_iter)
{
    for (uint32_t root = declaration_iter->root ? declaration_iter->root : ROOT_PACKET_CONTEXT;
         root < ROOT_COUNT; root++) {
        const struct type *type = declarations->internal[root];
        if (!type)
            continue;
        declaration_iter->root = root + 1;
        declaration_iter->group = get_root_group((enum type_root)root);
        declaration_iter->depth = 1;
        declaration_iter->frame[0] = (struct frame){.type = type};
        return true;
    }
    declaration_iter->root = ROOT_COUNT;
    return false;
}

static void set_label_ranges(struct declaration_iter *declaration_iter, const struct type *around,
                             const struct type_member *member, const struct type *type)
{
    bool is_option = member && around->kind == TYPE_VARIANT;
    declaration_iter->number = type->labels && (get_type_display(type) == TTR_DISPLAY_ENUM ||
                                                get_type_display(type) == TTR_DISPLAY_FLAGS)
                                   ? type
                                   : NULL;
    declaration_iter->label = declaration_iter->label_range = declaration_iter->selector_at = 0;
    declaration_iter->selector = is_option                     ? member->ranges
                                 : type->kind == TYPE_OPTIONAL ? type->ranges
                                                               : NULL;
    declaration_iter->selector_n = is_option                     ? member->ranges_n
                                   : type->kind == TYPE_OPTIONAL ? type->ranges_n
                                                                 : 0;
    declaration_iter->selector_name = is_option ? member->name : (ttr_text){"", 0};
}

bool ttr_field_declarations_next(ttr_field_declarations *declarations,
                                 ttr_field_declaration *declaration)
{
    struct declaration_iter *declaration_iter =
        (struct declaration_iter *)(void *)declarations->state;
    const struct type_member *member;
    while (declaration_iter->given < TTR_FIELD_DECLARATIONS_MAX) {
        if (declaration_iter->depth == 0 && !enter_root(declarations, declaration_iter))
            return false;
        struct frame *frame = &declaration_iter->frame[declaration_iter->depth - 1];
        const struct type *type = get_element_type(frame, &member);
        if (!type) {
            declaration_iter->depth--;
            continue;
        }
        describe_member(declaration_iter, member, type, declaration);
        declaration->reference =
            reference_display_names(declarations, declaration_iter, &type->reference);
        set_label_ranges(declaration_iter, frame->type, member, type);
        if (has_inner_types(type) && declaration_iter->depth < DEPTH_MAX)
            declaration_iter->frame[declaration_iter->depth++] = (struct frame){.type = type};
        declaration_iter->given++;
        return true;
    }
    return false;
}

bool ttr_field_declarations_label(ttr_field_declarations *declarations, ttr_label *label)
{
    struct declaration_iter *declaration_iter =
        (struct declaration_iter *)(void *)declarations->state;
    const struct type_labels *labels =
        declaration_iter->number ? declaration_iter->number->labels : NULL;
    while (labels && declaration_iter->label < labels->n &&
           declaration_iter->label_range == labels->label[declaration_iter->label].ranges_n) {
        declaration_iter->label++;
        declaration_iter->label_range = 0;
    }
    if (!labels || declaration_iter->label == labels->n)
        return false;
    const struct type_label *at = &labels->label[declaration_iter->label];
    const struct type_range *range = &at->ranges[declaration_iter->label_range++];
    *label = (ttr_label){at->name, range->low, range->high};
    return true;
}

bool ttr_field_declarations_selector(ttr_field_declarations *declarations, ttr_label *label)
{
    struct declaration_iter *declaration_iter =
        (struct declaration_iter *)(void *)declarations->state;
    if (declaration_iter->selector_at == declaration_iter->selector_n)
        return false;
    const struct type_range *range = &declaration_iter->selector[declaration_iter->selector_at++];
    *label = (ttr_label){declaration_iter->selector_name, range->low, range->high};
    return true;
}
