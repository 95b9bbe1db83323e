/* Reader of the CTF conventions: replaces field types by the types that they represent
 * (ctf_conventions.h), before any layout is compiled. The bits that they describe stay the same.
 * Finds attributes in the specific context (v1.1: at the start of the payload) and copies them into
 * events.
 *
 * Order of calls: ctf_conventions_prepare after metadata was parsed;
 * ctf_conventions_find_attributes once per event class; ctf_conventions_set_attributes per event.
 *
 * A trace may declare the CTF conventions but not follow them. Types that do not match the rules
 * are left unchanged. */
#include "formats/ctf/conventions/ctf_conventions.h"

#include "base/bit_cursor.h"
#include "base/status.h"

#define WRAPPER_ELEMENTS "elements"
#define LENGTH_BITS 32u

/* --- Replacement of field types --- */

struct replacer {
    struct ctf_description *description;
    /* Maps a pair (type, use) to the index of the replacement in `type`. use 0: field type; 1:
     * context or payload; 2: context or payload with attributes; other values: role of a number
     * that is hidden */
    struct pair_map done;
    const struct type **type;
    size_t n, capacity;
    unsigned depth;
    bool failed;
};

static const struct type *replace_member(struct replacer *replacer, const struct type *type);

static bool text_equals(ttr_text text, const char *expected)
{
    return text.n == strlen(expected) && memcmp(text.p, expected, text.n) == 0;
}

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static void *alloc_in_arena(struct replacer *replacer, size_t size)
{
    void *block = arena_alloc(&replacer->description->arena, size);
    replacer->failed |= !block;
    return block;
}

static struct type *copy_type(struct replacer *replacer, const struct type *type)
{
    struct type *copy = alloc_in_arena(replacer, sizeof *copy);
    if (copy)
        *copy = *type;
    return copy;
}

/* Returns true if label i of an enumeration has this name and only this value. */
static bool has_label(const struct type *type, uint32_t i, const char *name, uint64_t value)
{
    const struct type_label *label = &type->labels->label[i];
    return text_equals(label->name, name) && label->ranges_n == 1 &&
           label->ranges[0].low == value && label->ranges[0].high == value;
}

static const struct type *replace_number(struct replacer *replacer, const struct type *type)
{
    uint32_t labels_n =
        type->labels && type->bits == 8 && type->kind == TYPE_UINT ? type->labels->n : 0;
    bool is_bool = labels_n == 2 && has_label(type, 0, "false", 0) && has_label(type, 1, "true", 1);
    bool is_absent = labels_n == 1 && has_label(type, 0, "absent", 0),
         is_null = is_absent || (labels_n == 1 && has_label(type, 0, "null", 0));
    if (!is_bool && !is_null && (type->base != 16 || type->labels))
        return type;
    struct type *copy = copy_type(replacer, type);
    if (!copy)
        return type;
    copy->labels = NULL;
    copy->base = 10;
    copy->kind = is_bool ? TYPE_BOOL : is_null ? TYPE_NULL : type->kind;
    copy->hint = is_absent            ? TTR_DISPLAY_ABSENT
                 : is_bool || is_null ? TTR_DISPLAY_NONE
                                      : TTR_DISPLAY_POINTER;
    return copy;
}

/* Shortens a reference path: drops the names of "elements" structs, since replace_struct replaces
 * such a struct by its content. */
static void replace_reference(struct replacer *replacer, struct type *type)
{
    struct type_reference *reference = &type->reference;
    ttr_text *names =
        reference->names_n ? alloc_in_arena(replacer, reference->names_n * sizeof *names) : NULL;
    uint32_t n = 0;
    if (!names)
        return;
    for (uint32_t i = 0; i < reference->names_n; i++)
        if (!text_equals(reference->names[i], WRAPPER_ELEMENTS) &&
            !text_equals(reference->names[i], "_" WRAPPER_ELEMENTS))
            names[n++] = reference->names[i];
    reference->names = names;
    reference->names_n = n;
}

static bool is_hexadecimal_byte(const struct type *type)
{
    return type->kind == TYPE_UINT && type->bits == 8 && type->base == 16 && type->align == 3 &&
           !type->labels;
}

/* Replaces an array or sequence; a sequence of hexadecimal bytes becomes a byte string. `length`:
 * type of its length field; NULL = unknown. */
static const struct type *replace_array(struct replacer *replacer, const struct type *type,
                                        const struct type *length)
{
    struct type *copy = copy_type(replacer, type);
    if (!copy)
        return type;
    bool is_bytes = type->kind == TYPE_SEQUENCE && length && length->bits == LENGTH_BITS &&
                    is_hexadecimal_byte(type->element);
    replace_reference(replacer, copy);
    if (is_bytes)
        copy->kind = TYPE_BLOB;
    copy->element = is_bytes ? NULL : replace_member(replacer, type->element);
    return copy;
}

/* Returns true if member i is the length of the next member. */
static bool is_length_of_next(const struct type *type, uint32_t i)
{
    if (i + 1 >= type->members_n || type->members[i].type->kind != TYPE_UINT)
        return false;
    const struct type *next = type->members[i + 1].type;
    bool is_counted = next->kind == TYPE_SEQUENCE || next->kind == TYPE_BLOB;
    return is_counted && !next->has_inline_length && next->reference.names_n &&
           texts_are_equal(next->reference.names[next->reference.names_n - 1],
                           type->members[i].name);
}

static const struct type *replace_value(struct replacer *replacer, const struct type *type,
                                        const struct type *length)
{
    switch (type->kind) {
    case TYPE_SEQUENCE:
        return replace_array(replacer, type, type->has_inline_length ? type->length_type : length);
    case TYPE_ARRAY:
        return replace_array(replacer, type, NULL);
    case TYPE_BLOB: {
        struct type *copy = copy_type(replacer, type);
        if (copy)
            replace_reference(replacer, copy);
        return copy ? copy : type;
    }
    default:
        return replace_member(replacer, type);
    }
}

static ttr_text unescape_name(struct replacer *replacer, ttr_text name)
{
    struct buffer plain;
    buffer_init(&plain, replacer->description->alloc);
    ctf_name_unescape(&plain, name);
    const char *ctx =
        plain.failed ? NULL : arena_copy(&replacer->description->arena, plain.bytes, plain.n);
    ttr_text text = {ctx ? ctx : "", ctx ? plain.n : 0};
    replacer->failed |= !ctx;
    buffer_free(&plain);
    return text;
}

/* Returns the earlier replacement of a type; NULL if it was not replaced yet. */
static const struct type *find_replacement(const struct replacer *replacer, const struct type *type,
                                           unsigned use)
{
    const uint32_t *index = pair_map_get(&replacer->done, (uintptr_t)type, use);
    return index ? replacer->type[*index] : NULL;
}

static const struct type *add_replacement(struct replacer *replacer, const struct type *type,
                                          unsigned use, const struct type *became)
{
    if (replacer->n >= UINT32_MAX ||
        !alloc_reserve(replacer->description->alloc, (void **)&replacer->type, &replacer->capacity,
                       replacer->n + 1, sizeof *replacer->type) ||
        !pair_map_put(&replacer->done, (uintptr_t)type, use, (uint32_t)replacer->n)) {
        replacer->failed = true;
        return became;
    }
    replacer->type[replacer->n++] = became;
    return became;
}

/* Returns a copy of a number with a role, which hides the number from field iteration; its bits
 * remain in the record. */
static const struct type *hide_number(struct replacer *replacer, const struct type *type,
                                      unsigned role)
{
    const struct type *known = find_replacement(replacer, type, role);
    struct type *copy = known ? NULL : copy_type(replacer, type);
    if (!copy)
        return known ? known : type;
    copy->role = (uint16_t)role;
    return add_replacement(replacer, type, role, copy);
}

static enum ctf_attribute find_attribute_by_name(ttr_text name)
{
    unsigned i = 0;
    while (i < CTF_ATTRIBUTE_COUNT && !text_equals(name, ctf_attribute_names[i]))
        i++;
    return (enum ctf_attribute)i;
}

static const struct type *replace_members(struct replacer *replacer, const struct type *type,
                                          bool has_attributes)
{
    struct type *copy = copy_type(replacer, type);
    struct type_member *members = alloc_in_arena(replacer, type->members_n * sizeof *members + 1);
    if (!copy || !members)
        return type;
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *member = &type->members[i];
        enum ctf_attribute attribute =
            has_attributes ? find_attribute_by_name(member->shown) : CTF_ATTRIBUTE_COUNT;
        members[i] = *member;
        members[i].shown = unescape_name(replacer, member->shown);
        if (attribute != CTF_ATTRIBUTE_COUNT)
            members[i].type = hide_number(replacer, member->type, CTF_ROLE_ATTRIBUTE + attribute);
        else if (is_length_of_next(type, i))
            members[i].type = hide_number(replacer, member->type, CTF_ROLE_HIDDEN);
        else
            members[i].type = replace_value(
                replacer, member->type,
                i && is_length_of_next(type, i - 1) ? type->members[i - 1].type : NULL);
    }
    copy->members = members;
    return copy;
}

static const struct type *replace_with_hint(struct replacer *replacer, const struct type *type,
                                            uint8_t hint)
{
    struct type *copy = copy_type(replacer, type);
    if (copy)
        copy->hint = hint;
    return copy ? copy : type;
}

static const struct type *replace_struct(struct replacer *replacer, const struct type *type)
{
    const struct type_member *first = type->members;
    if (type->members_n == 1 && text_equals(first->shown, "koid") &&
        (first->type->kind == TYPE_UINT || first->type->kind == TYPE_INT))
        return replace_with_hint(replacer, first->type, TTR_DISPLAY_KOID);
    if (type->members_n == 1 && text_equals(first->shown, "number") &&
        first->type->kind == TYPE_STRING)
        return replace_with_hint(replacer, first->type, TTR_DISPLAY_DECIMAL);
    if (type->members_n != 2 || !text_equals(first[1].shown, WRAPPER_ELEMENTS) ||
        !is_length_of_next(type, 0))
        return replace_members(replacer, type, false);
    /* `type` is an element of an array of arrays. Its first member is the length of the inner
     * array and becomes the length field of that array. */
    struct type *copy = copy_type(replacer, replace_value(replacer, first[1].type, first->type));
    if (!copy)
        return type;
    copy->reference = (struct type_reference){.names = NULL};
    copy->has_inline_length = true;
    copy->length_type = first->type;
    return copy;
}

static const struct type *replace_type(struct replacer *replacer, const struct type *type)
{
    switch (type->kind) {
    case TYPE_UINT:
    case TYPE_INT:
        return replace_number(replacer, type);
    case TYPE_STRUCT:
        return replace_struct(replacer, type);
    case TYPE_SEQUENCE:
    case TYPE_ARRAY:
    case TYPE_BLOB:
        return replace_value(replacer, type, NULL);
    default:
        return type;
    }
}

static const struct type *replace_member(struct replacer *replacer, const struct type *type)
{
    const struct type *known = find_replacement(replacer, type, 0);
    if (known || replacer->failed || replacer->depth > TYPE_DEPTH_MAX)
        return known ? known : type;
    replacer->depth++;
    const struct type *became = replace_type(replacer, type);
    replacer->depth--;
    return add_replacement(replacer, type, 0, became);
}

/* Replaces the members of a specific context or payload, the root of a type tree. has_attributes:
 * the members may be attributes. */
static const struct type *replace_root(struct replacer *replacer, const struct type *type,
                                       bool has_attributes)
{
    if (!type || type->kind != TYPE_STRUCT)
        return type;
    const struct type *known = find_replacement(replacer, type, 1u + has_attributes);
    return known ? known
                 : add_replacement(replacer, type, 1u + has_attributes,
                                   replace_members(replacer, type, has_attributes));
}

/* Hides the event size of v1.1 events, which only the skipping of damaged events needs. */
static void hide_event_size(struct replacer *replacer, struct ctf_stream_class *stream)
{
    const struct type *context = stream->event_context;
    if (!stream->rfc_has_event_size || !context || context->members_n != 1 ||
        context->members[0].type->role)
        return;
    struct type *copy = copy_type(replacer, context);
    struct type_member *member = alloc_in_arena(replacer, sizeof *member);
    if (!copy || !member)
        return;
    *member = context->members[0];
    member->type = hide_number(replacer, member->type, CTF_ROLE_HIDDEN);
    copy->members = member;
    stream->event_context = copy;
}

ttr_status ctf_conventions_prepare(struct ctf_description *description, ttr_error *error)
{
    struct replacer replacer = {.description = description};
    bool is_rfc = description->version == CTF_RFC_1_1;
    if (!ctf_uses_conventions(description))
        return TTR_OK;
    pair_map_init(&replacer.done, description->alloc);
    for (size_t i = 0; i < description->streams_n; i++) {
        hide_event_size(&replacer, description->streams[i]);
        for (size_t k = 0; k < description->streams[i]->events_n; k++) {
            struct ctf_event_class *event = description->streams[i]->events[k];
            if (event->are_conventions_prepared)
                continue;
            event->context = replace_root(&replacer, event->context, true);
            event->payload = replace_root(&replacer, event->payload, is_rfc);
            event->are_conventions_prepared = true;
        }
    }
    pair_map_free(&replacer.done);
    alloc_free(description->alloc, replacer.type, replacer.capacity, sizeof *replacer.type);
    return replacer.failed ? fail_memory(error) : TTR_OK;
}

/* --- Attributes --- */

bool ctf_is_listed_class(const struct ctf_event_class *event)
{
    size_t n = strlen(CTF_CONVENTIONS_LISTED);
    return event->name.n == n && memcmp(event->name.p, CTF_CONVENTIONS_LISTED, n) == 0;
}

ttr_id ctf_intern_unescaped(ttr *t, ttr_text escaped, bool *failed)
{
    struct buffer plain;
    if (!ctf_has_escapes(escaped)) {
        ttr_id id = escaped.n ? ttr_text_add(t, escaped.p, escaped.n) : 0;
        *failed |= escaped.n && !id;
        return id;
    }
    buffer_init(&plain, &t->counted);
    ctf_name_unescape(&plain, escaped);
    ttr_id id = plain.failed || plain.n == 0 ? 0 : ttr_text_add(t, plain.bytes, plain.n);
    *failed |= plain.failed || (plain.n && !id);
    buffer_free(&plain);
    return id;
}

/* Parses a label as a decimal number of 32 bits. Returns false if it is not one. */
static bool parse_label_number(ttr_text label, uint32_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < label.n && value <= UINT32_MAX; i++) {
        if (label.p[i] < '0' || label.p[i] > '9')
            return false;
        value = 10 * value + (uint64_t)(label.p[i] - '0');
    }
    *number = value <= UINT32_MAX ? (uint32_t)value : 0;
    return label.n > 0 && value <= UINT32_MAX;
}

/* Stores an attribute that is the same for all events of the class; its value is the label of the
 * enumeration `type`. */
static void set_constant_attribute(ttr *t, const struct type *type,
                                   struct ctf_conventions_attributes *attributes)
{
    const struct type_label *label =
        type->labels && type->labels->n ? &type->labels->label[0] : NULL;
    if (!label || label->ranges_n == 0)
        return;
    switch (type->role - CTF_ROLE_ATTRIBUTE) {
    case CTF_ATTRIBUTE_KIND:
        attributes->kind = (uint8_t)label->ranges[0].low;
        break;
    case CTF_ATTRIBUTE_CATEGORY:
        attributes->category = ctf_intern_unescaped(t, label->name, &attributes->failed);
        break;
    case CTF_ATTRIBUTE_PROVIDER:
        attributes->provider = ctf_intern_unescaped(t, label->name, &attributes->failed);
        break;
    case CTF_ATTRIBUTE_EVENT_ID:
        attributes->has_number = parse_label_number(label->name, &attributes->number);
        break;
    default:
        (void)parse_label_number(label->name, &attributes->version);
    }
}

/* Adds the position of an attribute that starts `bit` bits after the start of its context. Returns
 * its size in bits, or 0 if the size varies, so that the offsets of later attributes are not fixed.
 */
static uint64_t add_attribute_pos(const struct type *type, uint64_t bit,
                                  struct ctf_conventions_attributes *attributes)
{
    bool is_id = (type->kind == TYPE_ARRAY || type->kind == TYPE_BLOB) && type->count == 16 &&
                 !type->reference.names_n && (!type->element || type->element->bits == 8);
    bool is_number = type->kind == TYPE_UINT && type->bits <= 64 &&
                     (type->bits & (type->bits - 1)) == 0 && type->bits >= 8 && !type->is_reversed;
    bool is_string = type->kind == TYPE_STRING && type->bits == 8;
    uint64_t bits = is_number ? type->bits : is_id ? 128 : 0;
    if ((!bits && !is_string) || (bit & 7) || bit / 8 > UINT16_MAX)
        return 0;
    struct ctf_attribute_pos pos = {.at = (uint16_t)(bit / 8),
                                    .bytes = is_string ? 1 : (uint8_t)(bits / 8),
                                    .is_big_endian = type->is_big_endian,
                                    .attribute = (uint8_t)(type->role - CTF_ROLE_ATTRIBUTE)};
    if (pos.attribute > CTF_ATTRIBUTE_LAST_CONSTANT && attributes->n < CTF_ATTRIBUTE_COUNT &&
        is_string == (pos.attribute == CTF_ATTRIBUTE_NAME))
        attributes->pos[attributes->n++] = pos;
    if (attributes->bytes < (uint32_t)pos.at + pos.bytes)
        attributes->bytes = (uint32_t)pos.at + pos.bytes;
    return bits;
}

/* Stores the size in bits of the common context, which precedes the attributes. Returns false if
 * the context contains anything but numbers: its size then varies, and attributes have no fixed
 * offsets. */
static bool skip_common_context(const struct type *type,
                                struct ctf_conventions_attributes *attributes)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; type && i < type->members_n; i++) {
        const struct type *member = type->members[i].type;
        uint64_t mask = (UINT64_C(1) << member->align) - 1;
        if (member->kind != TYPE_UINT && member->kind != TYPE_INT)
            return false;
        bits = ((bits + mask) & ~mask) + member->bits;
    }
    attributes->context_align = type ? type->align : 0;
    attributes->context_bits = (uint32_t)bits;
    return bits < UINT32_MAX;
}

ttr_status ctf_conventions_find_attributes(const struct ctf_description *description, ttr *t,
                                           const struct ctf_event_class *event,
                                           struct ctf_conventions_attributes *attributes,
                                           ttr_error *error)
{
    const struct type *type = description->version == CTF_RFC_1_1 ? event->payload : event->context;
    uint64_t bit = 0;
    *attributes = (struct ctf_conventions_attributes){
        .kind = TTR_KIND_INSTANT,
        .level = (uint8_t)(event->has_log_level ? ctf_convert_log_level(event->log_level) : 0)};
    size_t unnamed_n = strlen(CTF_CONVENTIONS_UNNAMED);
    bool is_unnamed = event->name.n >= unnamed_n &&
                      memcmp(event->name.p, CTF_CONVENTIONS_UNNAMED, unnamed_n) == 0;
    attributes->name = is_unnamed ? 0 : ctf_intern_unescaped(t, event->name, &attributes->failed);
    attributes->align = type ? type->align : 0;
    bool is_fixed = skip_common_context(event->stream->event_context, attributes);
    for (uint32_t i = 0; type && i < type->members_n; i++) {
        const struct type *member = type->members[i].type;
        unsigned attribute = (unsigned)member->role - CTF_ROLE_ATTRIBUTE;
        if (member->role < CTF_ROLE_ATTRIBUTE || attribute >= CTF_ATTRIBUTE_COUNT)
            break; /* this field is not an attribute, and attributes come first */
        if (attribute <= CTF_ATTRIBUTE_LAST_CONSTANT)
            set_constant_attribute(t, member, attributes);
        uint64_t mask = (UINT64_C(1) << member->align) - 1, bits = 0;
        bit = (bit + mask) & ~mask;
        if (is_fixed)
            bits = add_attribute_pos(member, bit, attributes);
        is_fixed = bits > 0;
        bit += bits;
    }
    attributes->is_names = attributes->kind == CTF_KIND_NAMES;
    attributes->is_listed = ctf_is_listed_class(event);
    return attributes->failed ? fail_memory(error) : TTR_OK;
}

static uint64_t load_attribute(const struct ctf_attribute_pos *pos, const uint8_t *p)
{
    switch (pos->bytes) {
    case 1:
        return *p;
    case 2:
        return pos->is_big_endian ? load_u16be(p) : load_u16le(p);
    case 4:
        return pos->is_big_endian ? load_u32be(p) : load_u32le(p);
    default:
        return pos->is_big_endian ? load_u64be(p) : load_u64le(p);
    }
}

void ctf_conventions_set_number(enum ctf_attribute attribute, uint64_t number,
                                struct ctf_conventions_threads *threads, ttr_event *event)
{
    switch (attribute) {
    case CTF_ATTRIBUTE_PID:
    case CTF_ATTRIBUTE_TID:
    case CTF_ATTRIBUTE_OTHER_PID:
    case CTF_ATTRIBUTE_OTHER_TID:
        threads->number[attribute] = number;
        threads->has_attribute[attribute] = true;
        break;
    case CTF_ATTRIBUTE_CPU:
        event->cpu = (uint32_t)number;
        event->flags |= TTR_EVENT_HAS_CPU;
        break;
    case CTF_ATTRIBUTE_DURATION:
        event->duration = number;
        break;
    case CTF_ATTRIBUTE_LINK:
        event->link = number;
        break;
    case CTF_ATTRIBUTE_TAG:
        event->tag = (uint16_t)number;
        break;
    case CTF_ATTRIBUTE_FLAGS:
        event->flags |= (uint8_t)number & (uint8_t) ~(TTR_EVENT_RAW | TTR_EVENT_HAS_CPU);
        break;
    case CTF_ATTRIBUTE_LEVEL:
        event->level = (uint8_t)number;
        break;
    case CTF_ATTRIBUTE_OPCODE:
        event->opcode = (uint8_t)number;
        break;
    case CTF_ATTRIBUTE_KEYWORD:
        event->keyword = number;
        break;
    case CTF_ATTRIBUTE_SEQUENCE:
        event->sequence = (uint32_t)number;
        break;
    default:
        break;
    }
}

/* Returns the thread of a pid and tid, or of one of them if the other is unknown. Returns 0 if both
 * are unknown and, with *failed set, if memory runs out. */
static ttr_id find_thread_of_attributes(const struct ctf_conventions_threads *threads,
                                        enum ctf_attribute pid, ttr *t, uint16_t source,
                                        bool *failed)
{
    uint64_t process = threads->number[pid], thread = threads->number[pid + 1];
    if (!threads->has_attribute[pid] && !threads->has_attribute[pid + 1])
        return 0;
    ttr_id id = !threads->has_attribute[pid + 1] ? context_process_thread(t, source, process)
                : threads->has_attribute[pid]    ? context_thread(t, source, process, thread)
                                                 : context_thread_by_tid(t, source, thread);
    *failed |= !id;
    return id;
}

bool ctf_conventions_set_event_threads(const struct ctf_conventions_threads *threads, ttr *t,
                                       uint16_t source, ttr_event *event)
{
    bool failed = false;
    event->thread = find_thread_of_attributes(threads, CTF_ATTRIBUTE_PID, t, source, &failed);
    if (threads->has_attribute[CTF_ATTRIBUTE_OTHER_PID] ||
        threads->has_attribute[CTF_ATTRIBUTE_OTHER_TID])
        event->link =
            find_thread_of_attributes(threads, CTF_ATTRIBUTE_OTHER_PID, t, source, &failed);
    return !failed;
}

/* Sets the event's name from its name attribute, a string at `p` that ends before `end`. Returns
 * false if memory runs out. */
static bool set_event_name(ttr *t, const uint8_t *p, const uint8_t *end, ttr_event *event)
{
    const uint8_t *zero = memchr(p, 0, (size_t)(end - p));
    bool failed = false;
    event->name =
        zero ? ctf_intern_unescaped(t, (ttr_text){(const char *)p, (size_t)(zero - p)}, &failed)
             : 0;
    return !failed;
}

static bool set_text_or_uuid(ttr *t, const struct ctf_attribute_pos *pos, const uint8_t *p,
                             const uint8_t *end, ttr_event *event)
{
    switch (pos->attribute) {
    case CTF_ATTRIBUTE_ACTIVITY:
        event->activity = pos->bytes == 16 ? p : NULL;
        break;
    case CTF_ATTRIBUTE_RELATED:
        event->related = pos->bytes == 16 ? p : NULL;
        break;
    default:
        return set_event_name(t, p, end, event);
    }
    return true;
}

bool ctf_conventions_set_attributes(const struct ctf_conventions_attributes *attributes, ttr *t,
                                    uint16_t source, const struct bits *bits, ttr_event *event)
{
    uint64_t context_mask = (UINT64_C(1) << attributes->context_align) - 1,
             mask = (UINT64_C(1) << attributes->align) - 1;
    uint64_t begin =
        (((bits->at + context_mask) & ~context_mask) + attributes->context_bits + mask) & ~mask;
    const uint8_t *body = bits->base + (begin >> 3);
    size_t n = begin < bits->end ? (size_t)((bits->end - begin) >> 3) : 0;
    struct ctf_conventions_threads threads = {.has_attribute = {false}};
    bool is_fine = true;
    if (n < attributes->bytes || (begin & 7))
        /* the event is cut off in its attributes; the decoder of its fields reports that */
        return true;
    for (uint32_t i = 0; i < attributes->n; i++) {
        const struct ctf_attribute_pos *pos = &attributes->pos[i];
        if (pos->attribute >= CTF_ATTRIBUTE_ACTIVITY)
            is_fine = set_text_or_uuid(t, pos, body + pos->at, body + n, event) && is_fine;
        else
            ctf_conventions_set_number((enum ctf_attribute)pos->attribute,
                                       load_attribute(pos, body + pos->at), &threads, event);
    }
    return (attributes->is_listed ||
            ctf_conventions_set_event_threads(&threads, t, source, event)) &&
           is_fine;
}

bool ctf_conventions_set_thread_names(struct input *in, const ttr_event *event)
{
    ttr *t = in->base.t;
    ttr_fields fields;
    ttr_field field;
    bool is_fine = true;
    if (!event->thread)
        return true;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        if (field.value.type != TTR_TYPE_TEXT || field.depth)
            continue;
        const bool is_of_process = text_equals(field.name, "process");
        if (!is_of_process && !text_equals(field.name, "thread"))
            continue;
        const struct rename what = {.thread = event->thread,
                                    .is_of_process = is_of_process,
                                    .name =
                                        ttr_text_add(t, field.value.text.p, field.value.text.n)};
        is_fine = is_fine && (what.name || field.value.text.n == 0) &&
                  input_add_name_change(in, &what, event->time);
    }
    return is_fine;
}
