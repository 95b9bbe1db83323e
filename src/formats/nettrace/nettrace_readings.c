/* How payloads of a type are read: compiled when somebody looks at fields of it first, since most
 * types of a trace have no events.
 *
 * Metadata of V3 to V5 may lie: a boolean of four bytes may have one, a byte may have four.  A type
 * with such fields has a reading for each way to lie; which one holds is seen by the size of each
 * payload, and only those are compiled that somebody asked for. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

enum { LIE_BOOLEAN = 1, LIE_BYTE = 2 };

static const struct type *lie_of(struct nettrace_reader *reader, const struct type *type,
                                 unsigned lie);

static const struct type *lying_struct(struct nettrace_reader *reader, const struct type *type,
                                       unsigned lie)
{
    struct type *copy = arena_take(&reader->arena, sizeof *copy);
    struct type_member *members =
        copy ? arena_take(&reader->arena, type->members_n ? type->members_n * sizeof *members : 1)
             : NULL;
    if (!members)
        return NULL;
    for (uint32_t i = 0; i < type->members_n; i++) {
        members[i] = type->members[i];
        members[i].type = lie_of(reader, type->members[i].type, lie);
        if (!members[i].type)
            return NULL;
    }
    *copy = *type;
    copy->members = members;
    return copy;
}

static const struct type *lying_array(struct nettrace_reader *reader, const struct type *type,
                                      unsigned lie)
{
    struct type *copy = arena_take(&reader->arena, sizeof *copy);
    const struct type *element = copy ? lie_of(reader, type->element, lie) : NULL;
    if (!element)
        return NULL;
    *copy = *type;
    copy->element = element;
    return copy;
}

/* A type as it is where its metadata lie; NULL when memory is out.  As deep as metadata nest at
 * most. */
static const struct type *lie_of(struct nettrace_reader *reader, const struct type *type,
                                 unsigned lie)
{
    static const struct type boolean8 = {.kind = TYPE_BOOL, .bits = 8, .align = 3};
    if (type == clr_plain_type(NETTRACE_BOOLEAN))
        return lie & LIE_BOOLEAN ? &boolean8 : type;
    if (type == clr_plain_type(NETTRACE_U8))
        return lie & LIE_BYTE ? clr_plain_type(NETTRACE_U32) : type;
    if (type->kind == TYPE_STRUCT)
        return lying_struct(reader, type, lie);
    return type->kind == TYPE_SEQUENCE ? lying_array(reader, type, lie) : type;
}

/* Whether a value of a type, or one in it, has a role.  As deep as metadata nest at most. */
static bool has_roles(const struct type *type)
{
    bool has = type->role != NETTRACE_ROLE_NONE || (type->element && has_roles(type->element));
    for (uint32_t i = 0; i < type->members_n && !has; i++)
        has = has_roles(type->members[i].type);
    return has;
}

/* Where all that is shown otherwise are members of the payload itself, whose fields are one each: a
 * bit for each such. */
static bool find_shown(const struct type *root, uint64_t *shown)
{
    *shown = 0;
    for (uint32_t i = 0; i < root->members_n; i++) {
        const struct type *type = root->members[i].type;
        if (i >= 64 || type->element || type->members_n || type->role >= NETTRACE_ROLE_TEXT16)
            return false;
        *shown |= (uint64_t)(type->role != NETTRACE_ROLE_NONE) << i;
    }
    return true;
}

/* Compiles a reading; NULL where that cannot be, which is told. */
static const struct layout *compile(const struct nettrace_type *type, unsigned lie)
{
    struct nettrace_reader *reader = type->reader;
    const struct type *root =
        lie ? lie_of(reader, type->readings->root, lie) : type->readings->root;
    struct layout_spec spec = {.t = reader->t,
                               .arena = &reader->arena,
                               .root = {[ROOT_PAYLOAD] = root},
                               .shows_hidden = true};
    ttr_error error = {0};
    const struct layout *layout = root ? layout_compile(&spec, &error) : NULL;
    if (!root || error.status == TTR_E_NOMEM)
        reader->is_out_of_memory = true; /* told by the next read */
    else if (!layout)
        input_note(reader->in, TTR_NOTE_ODD, type->readings->offset, "nettrace.bad-metadata",
                   "the fields of \"%s\" cannot be decoded: %s",
                   ttr_text_get(reader->t, type->name).p, error.text);
    return layout;
}

static const struct layout *reading(const struct nettrace_type *type, unsigned lie)
{
    struct nettrace_readings *readings = type->readings;
    if (NETTRACE_UNLIKELY(!(readings->tried >> lie & 1))) {
        readings->tried |= (uint8_t)(1u << lie);
        readings->layout[lie] = compile(type, lie);
        readings->is_plain =
            readings->layout[0] && type->kind != TTR_KIND_SAMPLE &&
            (!has_roles(readings->root) || find_shown(readings->root, &readings->shown));
    }
    return readings->layout[lie];
}

/* Whether a reading ends exactly where the payload does. */
static bool fits(const struct layout *layout, const ttr_event *event)
{
    struct layout_run run = {.bits =
                                 bits_over(event->payload, 0, (uint64_t)event->payload_size * 8)};
    return layout_measure(layout, &run) == LAYOUT_FINE && run.bits.at == run.bits.end;
}

const struct layout *nettrace_reading_of(const struct nettrace_type *type, const ttr_event *event)
{
    const struct layout *first = type->readings->root ? reading(type, 0) : NULL;
    if (NETTRACE_LIKELY(!type->readings->could_lie) || !first || fits(first, event))
        return first;
    for (unsigned lie = 1; lie < NETTRACE_LIES; lie++) {
        const struct layout *other =
            (lie & type->readings->could_lie) == lie ? reading(type, lie) : NULL;
        if (other && fits(other, event))
            return other;
    }
    return first;
}
