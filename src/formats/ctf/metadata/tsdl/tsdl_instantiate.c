/* Instantiation of declared types as roots of packets and events (CTF 1.8.3 sections 5 and 6):
 * references become paths, names become roles. This is the second step of the resolver
 * (tsdl_types.h).
 *
 * instantiate_type visits the declared type in decoding order, with a stack of frames from the root
 * to the current member:
 *   root struct -> frame 0 -> member struct -> frame 1 -> variant -> frame 2 -> sequence
 *
 * A reference is resolved in this order (find_target):
 *   - An absolute path ("stream.event.context.x") starts at the root that it names. If that is the
 *     root being instantiated, follow_path_in_current_root resolves it.
 *   - A reference with an owner (known from its declaration) starts at that structure.
 *   - Otherwise the path starts at the innermost frame with an earlier member of its first name.
 *
 * The target must be decoded before the field that refers to it: a member before the current one in
 * some frame, or part of an earlier root. The result is a list of names from a root (struct
 * type_reference). A type with references is copied with its enclosing structures; any other type
 * is shared.
 *
 * Roles: in packet headers, packet contexts and event headers, field names imply roles (5.1, 5.2,
 * 6.1). Timestamps without a clock use the only clock of the trace (8).
 *
 * Cost: O(fields of the root), bounded by TSDL_FIELDS_MAX. Recursion is bounded by TSDL_DEPTH_MAX.
 */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"

#define PATH_MAX_NAMES (TYPE_DEPTH_MAX + 2u)

#define IS(text, word) ((text).n == sizeof(word) - 1 && memcmp((text).p, (word), (text).n) == 0)

/* A structure or variant that contains the current type, on the path from the root. */
struct frame {
    const struct tsdl_type *type; /* the declared type */
    /* index of the member that is being instantiated; all before it are complete */
    uint32_t member;
    uint32_t names_n; /* number of names that lead from the root to this frame */
};

struct instantiation {
    struct tsdl_resolver *resolver;
    const struct tsdl_root_position *place;
    struct frame frames[PATH_MAX_NAMES];
    uint32_t frames_n;
    ttr_text names[PATH_MAX_NAMES];
    uint32_t names_n;
    uint32_t arrays; /* number of arrays that contain this frame */
    /* true if every type must be copied, because field names imply roles in this root */
    bool marks_roles;
    const struct ctf_clock
        /* clock of timestamps that are not mapped to one; NULL if the trace has several clocks */
        *clock;
};

uint32_t tsdl_find_option_labels(const struct tsdl_type *variant, const struct tsdl_type *tag,
                                 ttr_text name, char *escaped, const struct type_label *labels[3])
{
    uint32_t n = 0;
    ttr_text bare = {name.p + 1, name.n - 1}, longer = {escaped + 1, name.n + 1};
    escaped[0] = escaped[1] = '_';
    memcpy(escaped + 2, name.p, name.n);
    if ((labels[n] = tsdl_find_label(tag, name)))
        n++;
    if (name.n && name.p[0] == '_' && tsdl_find_member(variant, bare) < 0 &&
        (labels[n] = tsdl_find_label(tag, bare)))
        n++;
    if (tsdl_find_member(variant, longer) < 0 &&
        tsdl_find_member(variant, (ttr_text){escaped, name.n + 2}) < 0 &&
        (labels[n] = tsdl_find_label(tag, longer)))
        n++;
    return n;
}

static bool is_integer_type(const struct type *type)
{
    return type->kind == TYPE_UINT || type->kind == TYPE_INT;
}

/* Fails if an option of the variant has no label in the tag's enumeration. */
static bool check_variant_tag(struct tsdl_resolver *resolver, const struct tsdl_type *tag,
                              const struct tsdl_type *variant, size_t at)
{
    const struct type_label *labels[3];
    for (uint32_t i = 0; i < variant->type.members_n; i++) {
        ttr_text name = variant->type.members[i].name;
        char *escaped = tsdl_tree_alloc(resolver->reading, name.n + 2);
        if (!escaped || tsdl_find_option_labels(variant, tag, name, escaped, labels))
            return escaped != NULL;
    }
    return tsdl_fail(resolver->reading, at, "no label of this tag names an option of the variant");
}

bool tsdl_check_target(struct tsdl_resolver *resolver, const struct tsdl_type *target,
                       const struct tsdl_type *user, size_t at)
{
    const struct type *type = &target->type;
    if (user->type.kind != TYPE_VARIANT)
        return (type->kind == TYPE_UINT && type->bits <= 64) ||
               tsdl_fail(resolver->reading, at,
                         "a length is an unsigned integer of at most 64 bits; this field is none");
    if (!is_integer_type(type) || !type->labels)
        return tsdl_fail(resolver->reading, at,
                         "the tag of a variant is an enumeration; this field is none");
    return check_variant_tag(resolver, target, user, at);
}

/* Removes and returns the first name of a path "a.b.c". */
static ttr_text pop_path_name(ttr_text *path)
{
    const char *point = memchr(path->p, '.', path->n);
    size_t n = point ? (size_t)(point - path->p) : path->n;
    ttr_text name = {path->p, n};
    path->p += point ? n + 1 : n;
    path->n -= point ? n + 1 : n;
    return name;
}

const struct tsdl_type *tsdl_resolve_path(const struct tsdl_type *from, ttr_text path,
                                          ttr_text *names, uint32_t *names_n)
{
    while (path.n) {
        int64_t i =
            from->type.kind == TYPE_STRUCT ? tsdl_find_member(from, pop_path_name(&path)) : -1;
        if (i < 0 || (names && *names_n == PATH_MAX_NAMES))
            return NULL;
        if (names)
            names[(*names_n)++] = from->type.members[i].name;
        from = tsdl_get_model_type(from->type.members[i].type);
    }
    return from;
}

/* Returns true if the first name of a path is a member of this frame that precedes the current
 * member. */
static bool is_earlier_in_frame(const struct frame *frame, ttr_text path)
{
    int64_t i = frame->type->type.kind == TYPE_STRUCT
                    ? tsdl_find_member(frame->type, pop_path_name(&path))
                    : -1;
    return i >= 0 && (uint64_t)i < frame->member;
}

/* Sets an error about a reference; shows its position if it is in the current text. */
static bool fail_reference(const struct instantiation *p, const struct tsdl_type *user,
                           const char *why)
{
    const struct tsdl_reference *reference = &user->reference;
    bool is_here = reference->reading == p->resolver->state->readings_n;
    return tsdl_fail(p->resolver->reading, is_here ? reference->at : p->place->at,
                     "the %s '%.*s' %s", user->type.kind == TYPE_VARIANT ? "tag" : "length",
                     reference->path.n < 80 ? (int)reference->path.n : 80, reference->path.p, why);
}

/* Resolves a relative reference. The search starts in the structure that declared the referenced
 * field; else in the innermost frame with an earlier member of that name. */
static const struct tsdl_type *follow_relative_reference(struct instantiation *p,
                                                         const struct tsdl_type *user,
                                                         ttr_text *names, uint32_t *names_n)
{
    const struct tsdl_reference *reference = &user->reference;
    for (uint32_t i = p->frames_n; i-- > 0;) {
        const struct frame *frame = &p->frames[i];
        bool is_it = reference->owner ? frame->type->origin == reference->owner->origin
                                      : is_earlier_in_frame(frame, reference->path);
        if (!is_it)
            continue;
        memcpy(names, p->names, frame->names_n * sizeof *names);
        *names_n = frame->names_n;
        const struct tsdl_type *target =
            tsdl_resolve_path(frame->type, reference->path, names, names_n);
        if (target)
            return target;
    }
    (void)fail_reference(p, user, "is not an earlier field");
    return NULL;
}

static const struct {
    char prefix[24];
    enum type_root root;
} root_prefixes[] = {
    {"trace.packet.header.", ROOT_PACKET_HEADER}, {"stream.packet.context.", ROOT_PACKET_CONTEXT},
    {"stream.event.header.", ROOT_EVENT_HEADER},  {"stream.event.context.", ROOT_COMMON_CONTEXT},
    {"event.context.", ROOT_SPECIFIC_CONTEXT},    {"event.fields.", ROOT_PAYLOAD},
};

/* Returns a root that was instantiated before the current one, such as the packet header; NULL
 * otherwise. */
static const struct type *get_root_type(const struct instantiation *p, enum type_root root)
{
    const struct ctf_stream_class *stream = p->place->stream;
    const struct ctf_event_class *event = p->place->event;
    if (root >= p->place->root)
        return NULL;
    switch (root) {
    case ROOT_PACKET_HEADER:
        return p->resolver->description->packet_header;
    case ROOT_PACKET_CONTEXT:
        return stream ? stream->packet_context : NULL;
    case ROOT_EVENT_HEADER:
        return stream ? stream->event_header : NULL;
    case ROOT_COMMON_CONTEXT:
        return stream ? stream->event_context : NULL;
    case ROOT_SPECIFIC_CONTEXT:
        return event ? event->context : NULL;
    default:
        return NULL;
    }
}

/* Resolves an absolute path in the root that is being instantiated. Each name must first be that
 * of the current member of a frame; the first name that differs must be an earlier member of its
 * frame. */
static const struct tsdl_type *follow_path_in_current_root(const struct instantiation *p,
                                                           ttr_text path, ttr_text *names,
                                                           uint32_t *names_n)
{
    for (uint32_t i = 0; i < p->frames_n && path.n; i++) {
        const struct frame *frame = &p->frames[i];
        ttr_text rest = path;
        int64_t member = tsdl_find_member(frame->type, pop_path_name(&rest));
        if (member < 0 || (uint64_t)member > frame->member)
            return NULL;
        if ((uint64_t)member < frame->member) {
            memcpy(names, p->names, frame->names_n * sizeof *names);
            *names_n = frame->names_n;
            return tsdl_resolve_path(frame->type, path, names, names_n);
        }
        path = rest;
    }
    return NULL;
}

static const struct tsdl_type *follow_absolute_reference(struct instantiation *p,
                                                         const struct tsdl_type *user, size_t which,
                                                         ttr_text *names, uint32_t *names_n)
{
    ttr_text path = user->reference.path;
    size_t prefix_n = strlen(root_prefixes[which].prefix);
    path.p += prefix_n;
    path.n -= prefix_n;
    const struct type *from = get_root_type(p, root_prefixes[which].root);
    const struct tsdl_type *target =
        root_prefixes[which].root == p->place->root
            ? follow_path_in_current_root(p, path, names, names_n)
        : from ? tsdl_resolve_path(tsdl_get_model_type(from), path, names, names_n)
               : NULL;
    if (!target)
        (void)fail_reference(p, user, "is not an earlier field");
    return target;
}

/* Finds the field that contains the length or tag of `user`, and stores the path to it in `to`. */
static const struct tsdl_type *find_target(struct instantiation *p, const struct tsdl_type *user,
                                           struct tsdl_type *to)
{
    const ttr_text path = user->reference.path;
    size_t which = 0, roots_n = sizeof root_prefixes / sizeof *root_prefixes;
    ttr_text names[PATH_MAX_NAMES];
    uint32_t names_n = 0;
    while (which < roots_n &&
           (path.n <= strlen(root_prefixes[which].prefix) ||
            memcmp(path.p, root_prefixes[which].prefix, strlen(root_prefixes[which].prefix)) != 0))
        which++;
    const struct tsdl_type *target =
        which < roots_n ? follow_absolute_reference(p, user, which, names, &names_n)
                        : follow_relative_reference(p, user, names, &names_n);
    size_t at = user->reference.reading == p->resolver->state->readings_n ? user->reference.at
                                                                          : p->place->at;
    if (!target || !tsdl_check_target(p->resolver, target, user, at))
        return NULL;
    ttr_text *kept = tsdl_alloc(p->resolver, names_n * sizeof *kept);
    if (!kept)
        return NULL;
    memcpy(kept, names, names_n * sizeof *kept);
    to->type.reference = (struct type_reference){.names = kept,
                                                 .names_n = names_n,
                                                 .root = which < roots_n ? root_prefixes[which].root
                                                                         : p->place->root};
    return target;
}

/* Sets the ranges of tag values that select a variant option, from the labels of the tag. */
static bool set_option_ranges(struct instantiation *p, const struct tsdl_type *variant,
                              const struct tsdl_type *tag, struct type_member *option,
                              char *escaped)
{
    const struct type_label *labels[3];
    uint32_t labels_n = tsdl_find_option_labels(variant, tag, option->name, escaped, labels), n = 0;
    for (uint32_t i = 0; i < labels_n; i++)
        n += labels[i]->ranges_n;
    option->ranges_n = n;
    option->ranges = labels_n ? labels[0]->ranges : NULL;
    if (labels_n < 2)
        return true;
    struct type_range *ranges = tsdl_alloc(p->resolver, n * sizeof *ranges);
    option->ranges = ranges;
    for (uint32_t i = 0; ranges && i < labels_n; i++) {
        memcpy(ranges, labels[i]->ranges, labels[i]->ranges_n * sizeof *ranges);
        ranges += labels[i]->ranges_n;
    }
    return option->ranges != NULL;
}

static bool set_options_ranges(struct instantiation *p, struct tsdl_type *variant,
                               struct type_member *options, const struct tsdl_type *tag)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < variant->type.members_n; i++)
        longest = options[i].name.n > longest ? options[i].name.n : longest;
    char *escaped = tsdl_tree_alloc(p->resolver->reading, longest + 2);
    if (!escaped)
        return false;
    for (uint32_t i = 0; i < variant->type.members_n; i++)
        if (!set_option_ranges(p, variant, tag, &options[i], escaped))
            return false;
    variant->type.is_selector_signed = tag->type.labels->is_signed;
    return true;
}

/* Maps a timestamp without a clock to the only clock of the trace. If the trace has no clock, the
 * timestamp counts nanoseconds (section 8). */
static bool map_timestamp_to_only_clock(struct instantiation *p, struct tsdl_type *type)
{
    struct ctf_description *description = p->resolver->description;
    if (type->type.clock)
        return true;
    if (description->clocks_n > 1)
        return tsdl_fail(p->resolver->reading, p->place->at,
                         "a timestamp in here names no clock, and there are %zu of them",
                         description->clocks_n);
    if (description->clocks_n == 0) {
        struct ctf_clock *clock = ctf_add_clock(description);
        if (!clock)
            return tsdl_fail_memory(p->resolver->reading);
        clock->id = clock->name = (ttr_text){"default", 7};
    }
    type->type.clock = type->clock = p->clock = description->clocks[0];
    return true;
}

/* Sets the role that a member's name implies. Fails if its type cannot have that role. */
static bool set_member_role(struct instantiation *p, const struct type_member *member,
                            enum ctf_role role)
{
    struct tsdl_type *type = tsdl_get_model_type(member->type);
    const struct type *element = type->type.element;
    struct tsdl_reading *reading = p->resolver->reading;
    bool is_nested = p->frames_n > 1,
         is_number = type->type.kind == TYPE_UINT && type->type.bits <= 64;
    if (role == CTF_ROLE_UUID) {
        bool is_bytes = type->type.kind == TYPE_ARRAY && type->type.count == 16 &&
                        element->kind == TYPE_UINT && element->bits == 8 && element->align == 3 &&
                        !element->labels;
        if (!is_bytes && (type->type.kind != TYPE_TEXT || type->type.count != 16))
            return tsdl_fail(
                reading, p->place->at,
                "'uuid' in a packet header is an array of 16 unsigned integers of 8 bits");
    } else if (!is_number) {
        if (is_nested || role == CTF_ROLE_CPU)
            return true;
        return tsdl_fail(reading, p->place->at,
                         "'%.*s' in here is an unsigned integer of at most 64 bits",
                         (int)member->name.n, member->name.p);
    }
    if (role == CTF_ROLE_MAGIC && (type->type.bits != 32 || p->frames[0].member != 0))
        return tsdl_fail(reading, p->place->at,
                         "'magic' in a packet header comes first and has 32 bits");
    type->type.role = (uint16_t)role;
    bool is_time =
        role == CTF_ROLE_TIME || role == CTF_ROLE_TIME_BEGIN || role == CTF_ROLE_TIME_END;
    return !is_time || map_timestamp_to_only_clock(p, type);
}

static const struct type *instantiate_type(struct instantiation *p, const struct tsdl_type *from);

/* Instantiates the members of a structure, or the options of a variant. */
static bool instantiate_members(struct instantiation *p, const struct tsdl_type *from,
                                struct type_member *members)
{
    bool is_structure = from->type.kind == TYPE_STRUCT;
    struct frame *frame = &p->frames[p->frames_n++];
    *frame = (struct frame){.type = from, .names_n = p->names_n};
    for (uint32_t i = 0; i < from->type.members_n; i++) {
        frame->member = i;
        if (is_structure)
            p->names[p->names_n++] = members[i].name;
        members[i].type = instantiate_type(p, tsdl_get_model_type(from->type.members[i].type));
        p->names_n = frame->names_n;
        if (!members[i].type)
            return false;
        bool is_top = p->frames_n == 1,
             is_marked = p->marks_roles && is_structure && p->arrays == 0;
        enum ctf_role role =
            is_marked ? tsdl_find_role(p->place->root, is_top, &members[i]) : CTF_ROLE_NONE;
        if (role && !set_member_role(p, &members[i], role))
            return false;
    }
    p->frames_n--;
    return true;
}

static bool open_compound_frame(struct instantiation *p, const struct tsdl_type *from,
                                struct tsdl_type *to)
{
    const struct tsdl_type *tag = NULL;
    struct type_member *members = tsdl_alloc(p->resolver, from->type.members_n * sizeof *members);
    if (!members)
        return false;
    if (from->type.members_n)
        memcpy(members, from->type.members, from->type.members_n * sizeof *members);
    to->type.members = members;
    if (from->type.kind == TYPE_VARIANT) {
        if (!from->reference.path.n)
            return tsdl_fail(p->resolver->reading, p->place->at, "a variant in here has no tag");
        tag = find_target(p, from, to);
        if (!tag || !set_options_ranges(p, to, members, tag))
            return false;
    }
    return instantiate_members(p, from, members);
}

/* Returns the instantiated type: the declared type itself, or a copy if it has references or gets a
 * role. */
static const struct type *instantiate_type(struct instantiation *p, const struct tsdl_type *from)
{
    if (!from->has_references && !p->marks_roles)
        return &from->type;
    struct tsdl_type *to = tsdl_alloc(p->resolver, sizeof *to);
    if (!to)
        return NULL;
    *to = *from;
    if (from->type.kind == TYPE_STRUCT || from->type.kind == TYPE_VARIANT)
        return open_compound_frame(p, from, to) ? &to->type : NULL;
    if (from->reference.path.n && !find_target(p, from, to))
        return NULL;
    if (from->type.element) {
        p->arrays++;
        to->type.element = instantiate_type(p, tsdl_get_model_type(from->type.element));
        p->arrays--;
        if (!to->type.element)
            return NULL;
    }
    return &to->type;
}

bool tsdl_instantiate_root(struct tsdl_resolver *resolver, const struct tsdl_root_position *place,
                           const struct tsdl_type *from, const struct type **root)
{
    struct instantiation p = {.resolver = resolver, .place = place};
    if (from->type.kind != TYPE_STRUCT)
        return tsdl_fail(resolver->reading, place->at, "expected a structure");
    uint64_t most = TSDL_FIELDS_FREE + TSDL_FIELDS_PER_BYTE * resolver->state->text_n;
    resolver->state->fields_n += from->fields;
    if (from->fields > TSDL_FIELDS_MAX || resolver->state->fields_n > most) {
        resolver->reading->status =
            fail(resolver->reading->error, TTR_E_LIMIT,
                 ctf_compute_text_offset(resolver->reading->text, place->at),
                 "%s: %u fields in one structure, %llu in all: too many for so little text",
                 resolver->reading->text->file, from->fields,
                 (unsigned long long)resolver->state->fields_n);
        return false;
    }
    p.marks_roles = place->root <= ROOT_EVENT_HEADER;
    const struct type *type = instantiate_type(&p, from);
    if (!type)
        return false;
    if (from->other_clock || (p.clock && from->clock && p.clock != from->clock))
        return tsdl_fail(resolver->reading, place->at,
                         "numbers in here are mapped to two clocks: a stream has one");
    const struct ctf_clock *clock = p.clock ? p.clock : from->clock;
    if (clock && place->stream) {
        if (place->stream->clock && place->stream->clock != clock)
            return tsdl_fail(resolver->reading, place->at,
                             "a stream has one clock: '%.*s' and '%.*s' are two",
                             (int)place->stream->clock->name.n, place->stream->clock->name.p,
                             (int)clock->name.n, clock->name.p);
        place->stream->clock = clock;
    }
    *root = type;
    return true;
}
