/* Layouts of payloads. A layout is compiled when a field of its type is first read, since most
 * types of a trace have no events.
 *
 * Metadata of V3 to V5 may be wrong (NET-LIE-1): a boolean declared with four bytes may have one, a
 * byte may have four. An array may have no count of its own, but that of an earlier field
 * (NET-LIE-2). A type with such fields has up to eight layouts. The size of each payload shows
 * which one is right. Only the layouts that are needed are compiled. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

enum { LAYOUT_BOOLEAN8 = 1, LAYOUT_BYTE32 = 2, LAYOUT_EARLIER_COUNT = 4 };

static const struct type *make_misdeclared_type(struct nettrace_reader *reader,
                                                const struct type *type, unsigned layout_index);

/* Returns the last of the first n members that may be the number of elements of an array: an
 * unsigned number with "Count" in its name. Returns NULL if there is none. */
static const struct type_member *find_count_member(const struct type_member *members, uint32_t n)
{
    static const char word[] = "Count";
    for (uint32_t i = n; i-- > 0;) {
        const ttr_text name = members[i].name;
        if (members[i].type->kind == TYPE_UINT && name.n >= sizeof word - 1 &&
            memmem(name.p, name.n, word, sizeof word - 1))
            return &members[i];
    }
    return NULL;
}

static bool may_lack_count_member(const struct type *type)
{
    return type->kind == TYPE_SEQUENCE && type->has_inline_length;
}

/* Returns an array type with the number of elements in an earlier member. Returns NULL if memory
 * is out. */
static const struct type *make_counted_array(struct nettrace_reader *reader,
                                             const struct type *type,
                                             const struct type_member *count)
{
    struct type *copy = arena_alloc(&reader->arena, sizeof *copy);
    ttr_text *name = arena_alloc(&reader->arena, sizeof *name);
    if (!copy || !name)
        return NULL;
    *name = count->name;
    *copy = *type;
    copy->has_inline_length = false;
    copy->length_type = NULL;
    copy->reference = (struct type_reference){.names = name, .names_n = 1, .root = ROOT_PAYLOAD};
    return copy;
}

/* Returns a copy of a payload type in which the numbers of array elements are earlier members.
 * Returns NULL if memory runs out. */
static const struct type *make_counted_root(struct nettrace_reader *reader, const struct type *root)
{
    struct type *copy = arena_alloc(&reader->arena, sizeof *copy);
    struct type_member *members =
        arena_alloc(&reader->arena, root->members_n ? root->members_n * sizeof *members : 1);
    if (!copy || !members)
        return NULL;
    for (uint32_t i = 0; i < root->members_n; i++) {
        members[i] = root->members[i];
        const struct type_member *count =
            may_lack_count_member(members[i].type) ? find_count_member(members, i) : NULL;
        if (count && !(members[i].type = make_counted_array(reader, members[i].type, count)))
            return NULL;
    }
    *copy = *root;
    copy->members = members;
    return copy;
}

uint8_t nettrace_get_earlier_count_bit(const struct type *root)
{
    for (uint32_t i = 0; root && i < root->members_n; i++)
        if (may_lack_count_member(root->members[i].type) && find_count_member(root->members, i))
            return LAYOUT_EARLIER_COUNT;
    return 0;
}

static const struct type *make_misdeclared_struct(struct nettrace_reader *reader,
                                                  const struct type *type, unsigned layout_index)
{
    struct type *copy = arena_alloc(&reader->arena, sizeof *copy);
    struct type_member *members =
        copy ? arena_alloc(&reader->arena, type->members_n ? type->members_n * sizeof *members : 1)
             : NULL;
    if (!members)
        return NULL;
    for (uint32_t i = 0; i < type->members_n; i++) {
        members[i] = type->members[i];
        members[i].type = make_misdeclared_type(reader, type->members[i].type, layout_index);
        if (!members[i].type)
            return NULL;
    }
    *copy = *type;
    copy->members = members;
    return copy;
}

static const struct type *make_misdeclared_array(struct nettrace_reader *reader,
                                                 const struct type *type, unsigned layout_index)
{
    struct type *copy = arena_alloc(&reader->arena, sizeof *copy);
    const struct type *element =
        copy ? make_misdeclared_type(reader, type->element, layout_index) : NULL;
    if (!element)
        return NULL;
    *copy = *type;
    copy->element = element;
    return copy;
}

/* Returns a copy of a type with the sizes of booleans and bytes in layout `layout_index`; NULL if
 * memory runs out. Recursive; the metadata parser limits the depth. */
static const struct type *make_misdeclared_type(struct nettrace_reader *reader,
                                                const struct type *type, unsigned layout_index)
{
    static const struct type boolean8 = {.kind = TYPE_BOOL, .bits = 8, .align = 3};
    if (type == clr_get_type_of_code(NETTRACE_BOOLEAN))
        return layout_index & LAYOUT_BOOLEAN8 ? &boolean8 : type;
    if (type == clr_get_type_of_code(NETTRACE_U8))
        return layout_index & LAYOUT_BYTE32 ? clr_get_type_of_code(NETTRACE_U32) : type;
    if (type->kind == TYPE_STRUCT)
        return make_misdeclared_struct(reader, type, layout_index);
    return type->kind == TYPE_SEQUENCE ? make_misdeclared_array(reader, type, layout_index) : type;
}

/* Returns true if a type, or a type inside it, has a role: its values are converted before they
 * are returned. */
static bool type_has_roles(const struct type *type)
{
    bool has = type->role != NETTRACE_ROLE_NONE || (type->element && type_has_roles(type->element));
    for (uint32_t i = 0; i < type->members_n && !has; i++)
        has = type_has_roles(type->members[i].type);
    return has;
}

/* Sets bit i of `converted` if values of member i are converted. Returns true if these bits are
 * sufficient: each converted value is a member of the payload itself and exactly one field. */
static bool find_converted_members(const struct type *root, uint64_t *converted)
{
    *converted = 0;
    for (uint32_t i = 0; i < root->members_n; i++) {
        const struct type *type = root->members[i].type;
        if (i >= 64 || type->element || type->members_n || type->role >= NETTRACE_ROLE_TEXT16)
            return false;
        *converted |= (uint64_t)(type->role != NETTRACE_ROLE_NONE) << i;
    }
    return true;
}

/* Compiles one layout of a payload. If this fails, reports a diagnostic and returns NULL. */
static const struct layout *compile_layout(const struct nettrace_type *type, unsigned layout_index)
{
    struct nettrace_reader *reader = type->reader;
    const struct type *root = type->layouts->root;
    if (layout_index)
        root = make_misdeclared_type(reader, root, layout_index);
    if (layout_index & LAYOUT_EARLIER_COUNT && root)
        root = make_counted_root(reader, root);
    struct layout_spec spec = {.t = reader->t,
                               .arena = &reader->arena,
                               .root = {[ROOT_PAYLOAD] = root},
                               .shows_hidden = true};
    ttr_error error = {0};
    const struct layout *layout = root ? layout_compile(&spec, &error) : NULL;
    if (!root || error.status == TTR_E_NOMEM)
        reader->is_out_of_memory = true; /* the next read returns the error */
    else if (!layout)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, type->layouts->offset,
                             "nettrace.bad-metadata", "the fields of \"%s\" cannot be decoded: %s",
                             ttr_text_get(reader->t, type->name).p, error.text);
    return layout;
}

static const struct layout *find_or_compile_layout(const struct nettrace_type *type,
                                                   unsigned layout_index)
{
    struct nettrace_layouts *layouts = type->layouts;
    if (NETTRACE_UNLIKELY(!(layouts->tried >> layout_index & 1))) {
        layouts->tried |= (uint8_t)(1u << layout_index);
        layouts->layout[layout_index] = compile_layout(type, layout_index);
        layouts->is_plain = layouts->layout[0] && type->kind != TTR_KIND_SAMPLE &&
                            (!type_has_roles(layouts->root) ||
                             find_converted_members(layouts->root, &layouts->converted));
    }
    return layouts->layout[layout_index];
}

/* Returns true if the last field of a layout ends at the end of the event's payload. */
static bool layout_ends_with_payload(const struct layout *layout, const ttr_event *event)
{
    struct layout_cursor run = {
        .bits = bits_init(event->payload, 0, (uint64_t)event->payload_size * 8)};
    return layout_find_record_end(layout, &run) == LAYOUT_OK && run.bits.at == run.bits.end;
}

const struct layout *nettrace_get_event_layout(const struct nettrace_type *type,
                                               const ttr_event *event)
{
    const struct layout *first = type->layouts->root ? find_or_compile_layout(type, 0) : NULL;
    if (NETTRACE_LIKELY(!type->layouts->could_lie) || !first ||
        layout_ends_with_payload(first, event))
        return first;
    for (unsigned layout_index = 1; layout_index < NETTRACE_LAYOUTS_MAX; layout_index++) {
        const struct layout *other = (layout_index & type->layouts->could_lie) == layout_index
                                         ? find_or_compile_layout(type, layout_index)
                                         : NULL;
        if (other && layout_ends_with_payload(other, event))
            return other;
    }
    return first;
}

bool nettrace_fields_end_with_payload(const struct nettrace_type *type, const uint8_t *payload,
                                      uint32_t n)
{
    const ttr_event event = {.payload = payload, .payload_size = n};
    if (!type->layouts->root || type->has_locations)
        return true;
    const struct layout *layout = nettrace_get_event_layout(type, &event);
    return !layout || layout_ends_with_payload(layout, &event);
}
