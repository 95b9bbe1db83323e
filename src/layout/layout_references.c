/* References: finds the numbers that later lengths and selectors need, checks that they precede
 * their use, and assigns slots to them.
 *
 * The types are visited twice in stored order: the first pass gathers the references, the second
 * finds the numbers that they name. Slots are then allocated as in a linear-scan register
 * allocator. A slot is reused after the last use of its number, with two exceptions: an import,
 * which is stored before the record, and a number that a record may lack; its slot must keep that
 * state. */
#include <stdarg.h>
#include <stdio.h>

#include "layout/layout_compile.h"

static const char *const root_names[ROOT_COUNT] = {
    [ROOT_PACKET_HEADER] = "packet header",    [ROOT_PACKET_CONTEXT] = "packet context",
    [ROOT_EVENT_HEADER] = "event header",      [ROOT_COMMON_CONTEXT] = "common context",
    [ROOT_SPECIFIC_CONTEXT] = "event context", [ROOT_PAYLOAD] = "payload",
};

static bool texts_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Appends to a zero-terminated text in a buffer of `room` bytes; truncates the rest. */
static void append_bounded_text(char *to, size_t room, ttr_text text)
{
    size_t at = strlen(to), n = text.n < room - 1 - at ? text.n : room - 1 - at;
    memcpy(to + at, text.n ? text.p : "", n);
    to[at + n] = 0;
}

static void append_dotted_name(char *to, size_t room, ttr_text text)
{
    append_bounded_text(to, room, (ttr_text){".", 1});
    append_bounded_text(to, room, text);
}

bool compiler_refuse(struct compiler *c, const char *format, ...)
{
    char place[120] = "", text[280];
    append_bounded_text(place, sizeof place,
                        (ttr_text){root_names[c->root], strlen(root_names[c->root])});
    for (uint32_t i = 0; i < c->level; i++)
        append_dotted_name(place, sizeof place, c->names[i]->name);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)fail(c->error, TTR_E_MALFORMED, NO_OFFSET, "%s: %s", place, text);
    return false;
}

/* Formats a reference for messages, for example "packet context.cpu_id". */
static const char *get_reference_text(const struct type_reference *from, char *to, size_t room)
{
    to[0] = 0;
    append_bounded_text(to, room,
                        (ttr_text){root_names[from->root], strlen(root_names[from->root])});
    for (uint32_t i = 0; i < from->names_n; i++)
        append_dotted_name(to, room, from->names[i]);
    return to;
}

void compiler_enter_root(struct compiler *c, enum type_root root)
{
    c->root = root;
    c->level = c->nesting = 0;
    for (size_t i = 0; i < c->uses_n; i++)
        c->uses[i].matched = 0;
}

bool compiler_enter(struct compiler *c, const struct type_member *member)
{
    if (c->level > TYPE_DEPTH_MAX)
        return compiler_refuse(c, "structures nest deeper than %u levels", TYPE_DEPTH_MAX);
    for (size_t i = 0; i < c->uses_n; i++) {
        struct reference_use *reference_use = &c->uses[i];
        if (reference_use->from.root == c->root && reference_use->matched == c->level &&
            reference_use->from.names_n > c->level &&
            texts_equal(reference_use->from.names[c->level], member->name))
            reference_use->matched++;
    }
    c->names[c->level++] = member;
    return true;
}

void compiler_leave(struct compiler *c)
{
    c->level--;
    for (size_t i = 0; i < c->uses_n; i++)
        if (c->uses[i].matched > c->level)
            c->uses[i].matched = c->level;
}

bool compiler_visit(struct compiler *c, const struct type *type)
{
    if (++c->visits > COMPILE_VISITS)
        return compiler_refuse(c, "the description has too many fields");
    if (c->nesting > TYPE_DEPTH_MAX)
        return compiler_refuse(c, "types nest deeper than %u levels", TYPE_DEPTH_MAX);
    if (type->align > TYPE_ALIGN_MAX)
        return compiler_refuse(c, "an alignment of 2^%u bits exceeds the maximum of 2^%u",
                               type->align, TYPE_ALIGN_MAX);
    return true;
}

struct reference_use *compiler_find_target(struct compiler *c)
{
    for (size_t i = 0; i < c->uses_n; i++) {
        struct reference_use *reference_use = &c->uses[i];
        if (reference_use->from.root == c->root && reference_use->matched == c->level &&
            reference_use->from.names_n == c->level)
            return reference_use;
    }
    return NULL;
}

bool compiler_has_target_inside(const struct compiler *c)
{
    for (size_t i = 0; i < c->uses_n; i++)
        if (c->uses[i].from.root == c->root && c->uses[i].matched == c->level)
            return true;
    return false;
}

struct reference_use *compiler_find_reference(struct compiler *c,
                                              const struct type_reference *reference)
{
    for (size_t i = 0; i < c->uses_n; i++) {
        const struct type_reference *from = &c->uses[i].from;
        bool is_same = from->root == reference->root && from->names_n == reference->names_n;
        for (uint32_t k = 0; is_same && k < from->names_n; k++)
            is_same = texts_equal(from->names[k], reference->names[k]);
        if (is_same)
            return &c->uses[i];
    }
    return NULL;
}

static bool add_reference(struct compiler *c, const struct type_reference *reference)
{
    if (compiler_find_reference(c, reference))
        return true;
    if (c->uses_n == COMPILE_REFERENCES)
        return compiler_refuse(c, "more than %u lengths and selectors", COMPILE_REFERENCES);
    if ((unsigned)reference->root >= ROOT_COUNT)
        return compiler_refuse(c, "its length or selector names no root");
    if (!alloc_reserve(&c->spec->t->counted, (void **)&c->uses, &c->uses_capacity, c->uses_n + 1,
                       sizeof *c->uses)) {
        (void)fail_memory(c->error);
        return false;
    }
    c->uses[c->uses_n++] = (struct reference_use){.from = *reference, .first = UINT32_MAX};
    return true;
}

static bool is_length_type(const struct type *type)
{
    return type->kind == TYPE_SEQUENCE || type->kind == TYPE_TEXT || type->kind == TYPE_BLOB;
}

/* Returns true if the current member is inside an array. `array` is the visit number of that
 * array. */
static bool is_inside_array(const struct compiler *c, uint32_t array)
{
    for (uint32_t i = 0; i < c->loops; i++)
        if (c->arrays[i] == array)
            return true;
    return false;
}

/* Checks the reference of a length or selector: its target must be a number before this type, of a
 * suitable type and at most 64 bits. Fails with a message otherwise. */
static bool check_reference(struct compiler *c, const struct type *type)
{
    struct reference_use *reference_use = compiler_find_reference(c, &type->reference);
    enum type_root root = reference_use->from.root;
    const char *role = is_length_type(type) ? "length" : "selector";
    char text[120];
    get_reference_text(&reference_use->from, text, sizeof text);
    if (!c->spec->root[root] && !c->spec->outer[root])
        return compiler_refuse(c, "its %s is %s, but the record has no %s", role, text,
                               root_names[root]);
    if (reference_use->is_no_number)
        return compiler_refuse(c, "its %s is %s, which is not a number", role, text);
    if (!reference_use->has_target)
        return compiler_refuse(c, "its %s is %s, which is not before it", role, text);
    if (reference_use->is_wide)
        return compiler_refuse(c, "its %s is %s, which has more than 64 bits", role, text);
    if (is_length_type(type) && reference_use->is_signed)
        return compiler_refuse(c, "its length is %s, which is signed; it must be unsigned", text);
    if (is_length_type(type) && reference_use->is_bool)
        return compiler_refuse(
            c, "its length is %s, which is true or false; it must be an unsigned number", text);
    reference_use->last = c->index;
    /* If the number is in an array and this type is not, an empty array leaves the number
     * undefined. */
    reference_use->may_lack |= reference_use->array && !is_inside_array(c, reference_use->array);
    return true;
}

/* If references name the current number, records its properties in them. */
static void record_reference_target(struct compiler *c, const struct type *type)
{
    struct reference_use *reference_use = compiler_find_target(c);
    if (!reference_use)
        return;
    bool is_variable = type->kind == TYPE_VAR_UINT || type->kind == TYPE_VAR_INT;
    bool is_number =
        (type_is_number(type) && type->kind != TYPE_FLOAT && type->kind != TYPE_NULL) ||
        is_variable;
    reference_use->is_no_number |= !is_number;
    reference_use->is_signed |= type->kind == TYPE_INT || type->kind == TYPE_VAR_INT;
    reference_use->is_bool |= type->kind == TYPE_BOOL;
    reference_use->is_wide |= is_number && !is_variable && type->bits > 64;
    reference_use->may_lack |= c->conditions > 0;
    uint32_t first = c->loops ? c->arrays[0] : c->index;
    reference_use->array = c->loops ? c->arrays[c->loops - 1] : 0;
    reference_use->first = first < reference_use->first ? first : reference_use->first;
    reference_use->last = reference_use->last > c->index ? reference_use->last : c->index;
    reference_use->has_target = true;
    reference_use->is_import = !c->spec->root[c->root];
}

static bool visit_type(struct compiler *c, const struct type *type);

static bool visit_members(struct compiler *c, const struct type *type)
{
    for (uint32_t i = 0; i < type->members_n; i++) {
        /* The path of a reference has no name for the option of a variant. */
        bool is_level = type->kind == TYPE_STRUCT;
        if (is_level && !compiler_enter(c, &type->members[i]))
            return false;
        if (!visit_type(c, type->members[i].type))
            return false;
        if (is_level)
            compiler_leave(c);
    }
    return true;
}

/* Elements are decoded repeatedly. Slots used in an array therefore stay allocated until the
 * outermost array ends. */
static bool visit_element(struct compiler *c, const struct type *type)
{
    c->arrays[c->loops++] = c->index;
    if (!visit_type(c, type->element))
        return false;
    if (--c->loops == 0)
        for (size_t i = 0; i < c->uses_n; i++)
            if (c->uses[i].last >= c->arrays[0] && c->uses[i].has_target)
                c->uses[i].last = c->index;
    return true;
}

/* Visits the members or elements of a type. */
static bool visit_contents(struct compiler *c, const struct type *type)
{
    bool is_good = true;
    switch (type->kind) {
    case TYPE_STRUCT:
        if (c->is_finding && compiler_find_target(c))
            compiler_find_target(c)->is_no_number = true;
        return visit_members(c, type);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return visit_element(c, type);
    case TYPE_VARIANT:
        c->conditions++;
        is_good = visit_members(c, type);
        c->conditions--;
        return is_good;
    case TYPE_OPTIONAL:
        c->conditions++;
        is_good = visit_type(c, type->element);
        c->conditions--;
        return is_good;
    default:
        if (c->is_finding)
            record_reference_target(c, type);
        return true;
    }
}

static bool visit_type(struct compiler *c, const struct type *type)
{
    if (!compiler_visit(c, type))
        return false;
    c->index++;
    /* Another layout decodes a root that is not in spec->root. It is searched for numbers only;
     * that layout checks its references. */
    bool is_ours = c->spec->root[c->root] != NULL;
    if (is_ours && type->reference.names_n &&
        !(c->is_finding ? check_reference(c, type) : add_reference(c, &type->reference)))
        return false;
    c->nesting++;
    bool is_good = visit_contents(c, type);
    c->nesting--;
    return is_good;
}

static bool visit_roots(struct compiler *c, bool is_finding)
{
    c->is_finding = is_finding;
    c->index = c->loops = c->conditions = 0;
    for (int root = 0; root < ROOT_COUNT; root++) {
        const struct type *type = c->spec->root[root] ? c->spec->root[root]
                                  : is_finding        ? c->spec->outer[root]
                                                      : NULL;
        compiler_enter_root(c, (enum type_root)root);
        /* Another layout decodes a root that is not in spec->root. It is visited only if a
         * reference names one of its members. */
        bool is_needed = c->spec->root[root] || compiler_has_target_inside(c);
        if (type && is_needed && !visit_type(c, type))
            return false;
    }
    return true;
}

static bool allocate_slot(struct compiler *c, struct reference_use *reference_use,
                          uint32_t *busy_until, uint32_t now)
{
    bool is_lasting = reference_use->is_import || reference_use->may_lack;
    for (uint8_t slot = 0; slot < LAYOUT_SLOTS_MAX; slot++) {
        if (busy_until[slot] > now)
            continue;
        busy_until[slot] = is_lasting ? UINT32_MAX : reference_use->last + 1;
        reference_use->slot = slot;
        if (reference_use->may_lack && !reference_use->is_import)
            c->layout->absent |= UINT32_C(1) << slot;
        return true;
    }
    char text[120];
    return compiler_refuse(c, "%s is one of more than %u lengths and selectors needed at a time",
                           get_reference_text(&reference_use->from, text, sizeof text),
                           LAYOUT_SLOTS_MAX);
}

/* Returns the use that gets the next slot. Numbers of other layouts and numbers that a record may
 * lack come first, then the others by first visit. Returns NULL when all uses have a slot. */
static struct reference_use *find_next_unallocated_use(struct compiler *c, const bool *is_done)
{
    struct reference_use *best = NULL;
    uint32_t best_first = UINT32_MAX;
    for (size_t i = 0; i < c->uses_n; i++) {
        struct reference_use *reference_use = &c->uses[i];
        uint32_t first =
            reference_use->is_import || reference_use->may_lack ? 0 : reference_use->first;
        if (!is_done[i] && reference_use->has_target && (!best || first < best_first)) {
            best = reference_use;
            best_first = first;
        }
    }
    return best;
}

static bool allocate_slots(struct compiler *c)
{
    uint32_t busy_until[LAYOUT_SLOTS_MAX] = {0};
    bool is_done[COMPILE_REFERENCES] = {false};
    for (struct reference_use *reference_use;
         (reference_use = find_next_unallocated_use(c, is_done)) != NULL;) {
        is_done[reference_use - c->uses] = true;
        if (!allocate_slot(
                c, reference_use, busy_until,
                reference_use->is_import || reference_use->may_lack ? 0 : reference_use->first))
            return false;
        c->layout->imports_n += reference_use->is_import;
    }
    return true;
}

static bool list_imports(struct compiler *c)
{
    struct layout_import *imports =
        arena_alloc(c->spec->arena, (c->layout->imports_n + 1) * sizeof *imports);
    if (!imports) {
        (void)fail_memory(c->error);
        return false;
    }
    uint32_t n = 0;
    for (size_t i = 0; i < c->uses_n; i++)
        if (c->uses[i].is_import)
            imports[n++] = (struct layout_import){.from = c->uses[i].from, .slot = c->uses[i].slot};
    c->layout->imports = imports;
    return true;
}

bool compile_references(struct compiler *c)
{
    return visit_roots(c, false) && visit_roots(c, true) && allocate_slots(c) && list_imports(c);
}
