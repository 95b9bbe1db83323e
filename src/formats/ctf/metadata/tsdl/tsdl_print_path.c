/* Paths to lengths and selectors in TSDL, and the labels that select options.
 *
 * A reference of the description does not name the variant options that it leads through, but a
 * path in TSDL does. So a field that is in several options of one variant cannot be referred to
 * from outside of the variant. */
#include <inttypes.h>
#include <string.h>

#include "formats/ctf/metadata/tsdl/tsdl_print.h"

#define INDEX_FROM 32u /* structures with at least this many members get an index */
#define RANGES_MAX \
    64u /* if an optional has more ranges than this, the ranges of its absence are not printed */

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Returns a root that the current field may refer to; NULL if it may not. */
static const struct type *get_root_type(const struct tsdl_printer *p, enum type_root root)
{
    switch (root) {
    case ROOT_PACKET_HEADER:
        return p->description->packet_header;
    case ROOT_PACKET_CONTEXT:
        return p->stream ? p->stream->packet_context : NULL;
    case ROOT_EVENT_HEADER:
        return p->stream ? p->stream->event_header : NULL;
    case ROOT_COMMON_CONTEXT:
        return p->stream ? p->stream->event_context : NULL;
    case ROOT_SPECIFIC_CONTEXT:
        return p->event ? p->event->context : NULL;
    default:
        return p->event ? p->event->payload : NULL;
    }
}

/* State while a path of member names is followed from a structure downwards. */
struct path_walk {
    const struct type *type; /* type that the names so far lead to */
    enum type_root root;
    bool is_top, is_in_array;
    const ttr_text *names; /* names that remain to be followed */
    uint32_t names_n;
    bool prints;
    /* member that the first name denotes; NULL if not known */
    const struct type_member *first;
};

static void print_path_step(struct tsdl_printer *p, const struct path_walk *way, bool is_first,
                            ttr_text word)
{
    if (!way->prints)
        return;
    tsdl_print_format(p, "%s", is_first ? "" : ".");
    tsdl_print_text(p, word);
}

/* Returns true if a member of that name can be reached without entering another member: only
 * through variant options and arrays. */
static bool leads_to_member(const struct type *type, ttr_text name, unsigned depth)
{
    if (type->kind == TYPE_STRUCT)
        return type_find_member(type, name) != NULL;
    if (type->kind == TYPE_OPTIONAL)
        return depth < PRINT_DEPTH && leads_to_member(type->element, name, depth + 1);
    for (uint32_t i = 0; type->kind == TYPE_VARIANT && depth < PRINT_DEPTH && i < type->members_n;
         i++)
        if (leads_to_member(type->members[i].type, name, depth + 1))
            return true;
    return false;
}

/* Enters the variant option that leads to the next name. Fails if several options do. */
static bool enter_only_option(struct tsdl_printer *p, struct path_walk *way)
{
    const struct type *type = way->type;
    const struct type_member *option = NULL;
    ttr_text word = {"present", 7};
    way->type = type->element;
    for (uint32_t i = 0; type->kind == TYPE_VARIANT && i < type->members_n; i++) {
        if (!leads_to_member(type->members[i].type, way->names[0], 0))
            continue;
        if (option)
            return tsdl_print_fail_unsupported(p, "path to a field that is in several options");
        option = &type->members[i];
        way->type = option->type;
    }
    if (!way->type || (option && !tsdl_choose_member_word(p, type, option, &word)))
        return way->type || tsdl_print_fail_unsupported(p, "path to such a field");
    print_path_step(p, way, false, word);
    return true;
}

/* Follows all names of the path, through structures and options. */
static bool follow_path(struct tsdl_printer *p, struct path_walk *way)
{
    for (bool is_first = true; way->names_n > 0; is_first = false) {
        while (way->type->kind == TYPE_VARIANT || way->type->kind == TYPE_OPTIONAL)
            if (!enter_only_option(p, way))
                return false;
        const struct type_member *member = way->first;
        if (!member && way->type->kind == TYPE_STRUCT)
            member = type_find_member(way->type, way->names[0]);
        way->first = NULL;
        struct tsdl_spot spot = {way->type, way->root, way->is_top, way->is_in_array};
        ttr_text word;
        if (!member)
            return tsdl_print_fail_unsupported(p, "path into the elements of an array");
        if (!tsdl_choose_root_word(p, &spot, member, &word))
            return false;
        print_path_step(p, way, is_first, word);
        way->type = member->type;
        way->is_top = false;
        way->names++;
        way->names_n--;
    }
    return true;
}

bool tsdl_index_members(struct tsdl_printer *p, struct tsdl_print_frame *frame)
{
    const struct type *type = frame->type;
    if (type->members_n < INDEX_FROM)
        return true;
    frame->scope = ++p->scopes_n;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!tsdl_names_add(&p->members, &p->arena, frame->scope, type->members[i].name,
                            &type->members[i]))
            return tsdl_print_fail_memory(p);
    return true;
}

/* Returns the member of an enclosing structure with this name if it precedes the current one; else
 * NULL. */
static const struct type_member *find_earlier_member(const struct tsdl_printer *p,
                                                     const struct tsdl_print_frame *frame,
                                                     ttr_text name)
{
    const struct type_member *member = NULL;
    if (frame->scope)
        member = tsdl_names_find(&p->members, frame->scope, name);
    else if (frame->type->kind == TYPE_STRUCT)
        member = type_find_member(frame->type, name);
    return member && member < frame->type->members + frame->member ? member : NULL;
}

/* Returns the innermost enclosing structure from which the reference leads to a field before the
 * current one; NULL if there is none. */
static const struct tsdl_print_frame *find_frame_of_reference(
    const struct tsdl_printer *p, const struct type_reference *reference)
{
    for (uint32_t i = p->frames_n; i-- > 0;) {
        const struct tsdl_print_frame *frame = &p->frames[i];
        if (frame->type->kind != TYPE_STRUCT || frame->names_n >= reference->names_n)
            continue;
        uint32_t same = 0;
        while (same < frame->names_n && texts_are_equal(p->names[same], reference->names[same]))
            same++;
        if (same == frame->names_n && find_earlier_member(p, frame, reference->names[same]))
            return frame;
    }
    return NULL;
}

/* Returns true if a structure inside `frame` has an earlier field of the same name: a relative
 * path would lead to that field. */
static bool is_hidden_by_inner_frame(const struct tsdl_printer *p,
                                     const struct tsdl_print_frame *frame, ttr_text name)
{
    for (const struct tsdl_print_frame *inner = frame + 1; inner < p->frames + p->frames_n; inner++)
        if (find_earlier_member(p, inner, name))
            return true;
    return false;
}

/* Finds the start of the path of a reference, seen from the current position: an enclosing
 * structure or a root. `*prefix`: text to print before the names, such as
 * "stream.packet.context.". */
static bool start_path_from_root(struct tsdl_printer *p, const struct type_reference *reference,
                                 struct path_walk *way, const char **prefix)
{
    static const char *const prefixes[ROOT_COUNT] = {
        "trace.packet.header.",  "stream.packet.context.", "stream.event.header.",
        "stream.event.context.", "event.context.",         "event.fields."};
    const struct tsdl_print_frame *frame =
        reference->root == p->root ? find_frame_of_reference(p, reference) : NULL;
    bool is_relative =
        frame && !is_hidden_by_inner_frame(p, frame, reference->names[frame->names_n]);
    *prefix = is_relative ? "" : prefixes[reference->root];
    uint32_t skipped = is_relative ? frame->names_n : 0;
    *way = (struct path_walk){
        .type = is_relative ? frame->type : get_root_type(p, reference->root),
        .root = reference->root,
        .is_top = !is_relative || frame == p->frames,
        .is_in_array = is_relative && frame->arrays > 0,
        .names = reference->names + skipped,
        .names_n = reference->names_n - skipped,
        .first = is_relative ? find_earlier_member(p, frame, reference->names[skipped]) : NULL};
    return way->type && way->names_n ? true
                                     : tsdl_print_fail_unsupported(p, "path to such a field");
}

bool tsdl_print_reference(struct tsdl_printer *p, const struct type_reference *reference)
{
    struct path_walk way;
    const char *prefix;
    if (!start_path_from_root(p, reference, &way, &prefix))
        return false;
    way.prints = true;
    tsdl_print_format(p, "%s", prefix);
    return follow_path(p, &way);
}

/* Makes the label the identifier of the option if both differ only by a leading underscore, as in
 * LTTng's contexts of applications. Babeltrace requires them to be equal. */
static bool use_label_as_option_identifier(struct tsdl_printer *p, const struct type_member *option,
                                           ttr_text label)
{
    bool is_longer = label.n == option->shown.n + 1 && label.p[0] == '_' &&
                     texts_are_equal((ttr_text){label.p + 1, option->shown.n}, option->shown);
    if (p->description->version == CTF_1_8 || !is_longer || !tsdl_is_identifier(label) ||
        tsdl_names_find(&p->options, 0, (ttr_text){(const char *)&option, sizeof option}))
        return true;
    const struct type_member **key = arena_alloc(&p->arena, sizeof *key);
    ttr_text *word = arena_alloc(&p->arena, sizeof *word);
    if (!key || !word)
        return tsdl_print_fail_memory(p);
    *key = option;
    *word = label;
    return tsdl_names_add(&p->options, &p->arena, 0, (ttr_text){(const char *)key, sizeof *key},
                          word) ||
           tsdl_print_fail_memory(p);
}

/* Agreement between the labels of a selector and the options of a variant. */
struct label_match {
    bool does; /* true if the labels have the same ranges as the options */
    /* true if each label also has the identifier of its option as name */
    bool has_words;
};

static bool match_labels_to_options(struct tsdl_printer *p, const struct type *selector,
                                    const struct type *user, struct label_match *fit)
{
    struct type_member *words = arena_alloc(&p->arena, user->members_n * sizeof *words);
    struct tsdl_type variant = {.type = *user}, tag = {.type = *selector};
    if (!words)
        return tsdl_print_fail_memory(p);
    variant.type.members = words;
    *fit = (struct label_match){true, true};
    for (uint32_t i = 0; i < user->members_n; i++) {
        words[i] = user->members[i];
        if (!tsdl_choose_member_word(p, user, &user->members[i], &words[i].name))
            return false;
    }
    for (uint32_t i = 0; i < user->members_n && fit->does; i++) {
        const struct type_member *option = &user->members[i];
        const struct type_label *labels[3];
        char *escaped = arena_alloc(&p->arena, words[i].name.n + 2);
        if (!escaped)
            return tsdl_print_fail_memory(p);
        uint32_t labels_n = tsdl_find_option_labels(&variant, &tag, words[i].name, escaped, labels),
                 n = 0;
        for (uint32_t k = 0; k < labels_n && fit->does; k++) {
            size_t size = labels[k]->ranges_n * sizeof *option->ranges;
            fit->does = option->ranges_n - n >= labels[k]->ranges_n &&
                        memcmp(option->ranges + n, labels[k]->ranges, size) == 0;
            n += labels[k]->ranges_n;
        }
        fit->does &= n == option->ranges_n;
        ttr_text word = words[i].name;
        if (labels_n == 1 && fit->does &&
            (!use_label_as_option_identifier(p, option, labels[0]->name) ||
             !tsdl_choose_member_word(p, user, option, &word)))
            return false;
        fit->has_words &= texts_are_equal(word, labels_n == 1 ? labels[0]->name : option->shown);
    }
    return true;
}

static bool is_same_reference(const struct type_reference *a, const struct type_reference *b)
{
    bool is_same_one = a->root == b->root && a->names_n == b->names_n;
    for (uint32_t i = 0; is_same_one && i < a->names_n; i++)
        is_same_one = texts_are_equal(a->names[i], b->names[i]);
    return is_same_one;
}

static bool is_same_ranges(const struct type_range *a, uint32_t a_n, const struct type_range *b,
                           uint32_t b_n)
{
    return a_n == b_n && (a_n == 0 || memcmp(a, b, a_n * sizeof *a) == 0);
}

/* Returns true if two variants or optionals require the same enumeration of their selector. */
static bool need_same_enumeration(const struct type *a, const struct type *b)
{
    bool is_same_one = a->kind == b->kind && a->members_n == b->members_n &&
                       is_same_ranges(a->ranges, a->ranges_n, b->ranges, b->ranges_n);
    for (uint32_t i = 0; is_same_one && i < a->members_n; i++)
        is_same_one = texts_are_equal(a->members[i].shown, b->members[i].shown) &&
                      is_same_ranges(a->members[i].ranges, a->members[i].ranges_n,
                                     b->members[i].ranges, b->members[i].ranges_n);
    return is_same_one;
}

/* Returns true if a required enumeration is in the current trace, stream or event, each of which
 * has its own roots. */
static bool is_enumeration_required_in_root(const struct tsdl_printer *p,
                                            const struct tsdl_need *need, enum type_root root)
{
    return need->reference->root == root &&
           (root == ROOT_PACKET_HEADER || need->stream == p->stream) &&
           (root < ROOT_SPECIFIC_CONTEXT || need->event == p->event);
}

/* Limits a range to the values of an integer type. Returns false if no value is left. */
static bool clip_range_to_type(const struct type *type, struct type_range range,
                               struct type_range *left)
{
    *left = range;
    if (type->bits >= 64)
        return true;
    if (type->kind != TYPE_INT) {
        uint64_t most = (UINT64_C(1) << type->bits) - 1;
        left->high = range.high < most ? range.high : most;
        return range.low <= most;
    }
    int64_t most = (int64_t)((UINT64_C(1) << (type->bits - 1)) - 1), least = -most - 1;
    int64_t low = (int64_t)range.low, high = (int64_t)range.high;
    left->low = (uint64_t)(low > least ? low : least);
    left->high = (uint64_t)(high < most ? high : most);
    return low <= most && high >= least;
}

bool tsdl_require_enumeration(struct tsdl_printer *p, const struct type *user)
{
    struct path_walk way;
    const char *prefix;
    struct label_match fit = {false, false};
    if (!start_path_from_root(p, &user->reference, &way, &prefix) || !follow_path(p, &way))
        return false;
    const struct type *selector = way.type;
    bool has_labels = selector->labels && selector->kind != TYPE_FLAGS;
    if (has_labels && user->kind == TYPE_VARIANT &&
        !match_labels_to_options(p, selector, user, &fit))
        return false;
    if (fit.does && (fit.has_words || p->description->version == CTF_1_8))
        return true;
    if (has_labels && !fit.does)
        return tsdl_print_fail_unsupported(
            p, "selection by other values than the labels of the selector have");
    if (selector->kind < TYPE_BITS || selector->kind > TYPE_FLAGS || selector->bits > 64 ||
        user->ranges_n > RANGES_MAX)
        return tsdl_print_fail_unsupported(p, "selection by such a field");
    for (const struct tsdl_need *need = p->need; need; need = need->next)
        if (is_enumeration_required_in_root(p, need, user->reference.root) &&
            is_same_reference(need->reference, &user->reference))
            return fit.does || need_same_enumeration(need->user, user) ||
                   tsdl_print_fail_unsupported(
                       p, "two ways of selecting by one number without labels");
    struct tsdl_need *need = arena_alloc(&p->arena, sizeof *need);
    if (!need)
        return tsdl_print_fail_memory(p);
    *need = (struct tsdl_need){p->need, &user->reference, p->stream, p->event, user};
    p->need = need;
    return true;
}

const struct tsdl_need *tsdl_find_required_enumeration(const struct tsdl_printer *p)
{
    struct type_reference here = {.names = p->names, .names_n = p->names_n, .root = p->root};
    for (const struct tsdl_need *need = p->need; need; need = need->next)
        if (is_enumeration_required_in_root(p, need, p->root) &&
            is_same_reference(need->reference, &here))
            return need;
    return NULL;
}

static void print_label_value(struct tsdl_printer *p, bool is_signed, uint64_t value)
{
    if (is_signed)
        tsdl_print_format(p, "%s%" PRIu64, (int64_t)value < 0 ? "-" : "",
                          (int64_t)value < 0 ? 0 - value : value);
    else
        tsdl_print_format(p, "%" PRIu64, value);
}

/* Prints a label as `name = 1 ... 3`, once per range. Drops values that the integer cannot have. */
static void print_label(struct tsdl_printer *p, const struct type *type, ttr_text name,
                        const struct type_range *ranges, uint32_t n)
{
    bool is_signed = type->kind == TYPE_INT;
    struct type_range range;
    for (uint32_t i = 0; i < n; i++) {
        if (!clip_range_to_type(type, ranges[i], &range))
            continue;
        tsdl_print_line_break(p);
        if (tsdl_is_identifier(name))
            tsdl_print_text(p, name);
        else
            tsdl_print_string(p, name);
        tsdl_print_format(p, " = ");
        print_label_value(p, is_signed, range.low);
        if (range.high != range.low) {
            tsdl_print_format(p, " ... ");
            print_label_value(p, is_signed, range.high);
        }
        tsdl_print_format(p, ",");
    }
}

/* Maps a signed or unsigned number to an unsigned number such that the order is kept. */
static uint64_t map_to_unsigned_order(const struct type *type, uint64_t value)
{
    return type->kind == TYPE_INT ? value ^ UINT64_C(1) << 63 : value;
}

/* Prints a label "absent" for all values outside of the ranges. */
static void print_complement_of_ranges(struct tsdl_printer *p, const struct type *type,
                                       const struct type_range *ranges, uint32_t n)
{
    const ttr_text name = {"absent", 6};
    uint64_t from = 0;
    for (bool goes_on = true; goes_on;) {
        uint64_t next = UINT64_MAX, end = UINT64_MAX;
        goes_on = false;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t low = map_to_unsigned_order(type, ranges[i].low),
                     high = map_to_unsigned_order(type, ranges[i].high);
            bool is_nearest = high >= from && (!goes_on || low < next);
            next = is_nearest ? low : next;
            end = is_nearest ? high : end;
            goes_on |= is_nearest;
        }
        if (!goes_on || next > from) {
            uint64_t last = goes_on ? next - 1 : UINT64_MAX;
            print_label(p, type, name,
                        &(struct type_range){map_to_unsigned_order(type, from),
                                             map_to_unsigned_order(type, last)},
                        1);
        }
        goes_on &= end < UINT64_MAX;
        from = end + 1;
    }
}

/* Prints the labels that the type declares. If a label selects an option, prints the identifier of
 * the option instead. */
static bool print_own_labels(struct tsdl_printer *p, const struct type *type,
                             const struct type *user)
{
    for (uint32_t i = 0; i < type->labels->n; i++) {
        const struct type_label *label = &type->labels->label[i];
        ttr_text word = label->name;
        for (uint32_t k = 0; user && k < user->members_n; k++)
            if (texts_are_equal(user->members[k].shown, label->name) &&
                !tsdl_choose_member_word(p, user, &user->members[k], &word))
                return false;
        print_label(p, type, word, label->ranges, label->ranges_n);
    }
    return true;
}

bool tsdl_print_labels(struct tsdl_printer *p, const struct type *type,
                       const struct tsdl_need *need)
{
    const struct type *user = need ? need->user : NULL;
    const struct type_range any = {
        1, UINT64_MAX}; /* a boolean selector: every value but 0 selects the optional */
    bool is_truth = user && user->ranges_n == 0;
    tsdl_print_format(p, " {");
    p->indent++;
    bool has_own = type->labels && type->kind != TYPE_FLAGS;
    if (has_own && !print_own_labels(p, type, user))
        return false;
    for (uint32_t i = 0; !has_own && user && user->kind == TYPE_VARIANT && i < user->members_n;
         i++) {
        ttr_text word;
        if (!tsdl_choose_member_word(p, user, &user->members[i], &word))
            return false;
        print_label(p, type, word, user->members[i].ranges, user->members[i].ranges_n);
    }
    if (user && user->kind == TYPE_OPTIONAL) {
        const struct type_range *ranges = is_truth ? &any : user->ranges;
        uint32_t n = is_truth ? 1 : user->ranges_n;
        print_label(p, type, (ttr_text){"present", 7}, ranges, n);
        print_complement_of_ranges(p, type, ranges, n);
    }
    p->indent--;
    tsdl_print_line_break(p);
    tsdl_print_format(p, "}");
    return true;
}
