/* Field locations of CTF 2: from "origin" and "path" to the list of names that lead from a root to
 * a number (struct type_reference).
 *
 * A field may only depend on fields decoded before it, so its location is resolved while its root
 * is being built. At that time each type on the path is either open (it contains the field itself;
 * struct ctf2_frame) or complete. Rules for one step of the path:
 *   open structure                    the open member leads to the next open type; any other member
 *                                     must be complete
 *   open array, optional, variant     leads to the type that is being built inside
 *   complete structure                leads to the member of that name
 *   complete optional, variant        leads to every option
 *   complete array                    is an error: it has no current element
 *
 * A relative path starts at the structure that contains the field; null leads one structure up. A
 * path through a complete variant may find one field per option; all must be of one kind (enum
 * ctf2_target).
 *
 * Invariant: the result contains only names of structure members; options and optionals are
 * transparent. Cost: O(number of types visited), counted by ctf2_count_work, because aliases can
 * repeat a search. */
#include <stdio.h>

#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

/* State of the resolution of one field location. */
struct location_search {
    struct ctf2_parser *parser;
    const struct json_value *json;
    const struct type_reference *reference;
    unsigned found;
};

/* Formats the location for messages: "a.b.c". */
static void format_location(const struct type_reference *reference, uint32_t n, char *to,
                            size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < n && used < size; i++) {
        int added =
            snprintf(to + used, size - used, "%s%.40s", i ? "." : "", reference->names[i].p);
        used += added > 0 ? (size_t)added : 0;
    }
}

/* Reports an error at the n-th name of the path. */
static ttr_status fail_location(const struct location_search *search, uint32_t n, const char *why)
{
    char names[90];
    format_location(search->reference, n, names, sizeof names);
    return ctf2_fail(search->parser, search->json, "%s of the %s %s", names[0] ? names : "the root",
                     ctf2_origins[search->reference->root], why);
}

static ttr_status find_member_in_type(struct location_search *search, const struct type *type,
                                      uint32_t at);

static ttr_status find_member_in_struct(struct location_search *search, const struct type *type,
                                        uint32_t at)
{
    if (at == search->reference->names_n)
        return fail_location(search, at, "is a structure, expected a number");
    const struct type_member *member = type_find_member(type, search->reference->names[at]);
    if (!member)
        return fail_location(search, at + 1, "is not there");
    return find_member_in_type(search, member->type, at + 1);
}

static ttr_status find_member_in_options(struct location_search *search, const struct type *type,
                                         uint32_t at)
{
    for (uint32_t i = 0; i < type->members_n; i++) {
        ttr_status status = find_member_in_type(search, type->members[i].type, at);
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

static unsigned get_target_kind_of_type(const struct type *type)
{
    switch (type->kind) {
    case TYPE_UINT:
    case TYPE_VAR_UINT:
        return CTF2_TARGET_UINT;
    case TYPE_INT:
    case TYPE_VAR_INT:
        return CTF2_TARGET_INT;
    case TYPE_BOOL:
        return CTF2_TARGET_BOOL;
    default:
        return 0;
    }
}

/* Follows the names of the path, from number `at` on, through the members of a complete type. The
 * nesting of types limits the recursion. */
static ttr_status find_member_in_type(struct location_search *search, const struct type *type,
                                      uint32_t at)
{
    ttr_status status = ctf2_count_work(search->parser, search->json, 1 + type->members_n);
    if (status != TTR_OK)
        return status;
    switch (type->kind) {
    case TYPE_STRUCT:
        return find_member_in_struct(search, type, at);
    case TYPE_OPTIONAL:
        return find_member_in_type(search, type->element, at);
    case TYPE_VARIANT:
        return find_member_in_options(search, type, at);
    case TYPE_ARRAY:
    case TYPE_SEQUENCE:
        return fail_location(search, at, "is an array that is over: it has no current element");
    default:
        break;
    }
    if (at < search->reference->names_n)
        return fail_location(search, at, "is not a structure and has no members");
    unsigned target = get_target_kind_of_type(type);
    if (!target)
        return fail_location(search, at, "is neither a number without fraction nor a boolean");
    search->found |= target;
    return TTR_OK;
}

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* Follows the path through the open structures and arrays until it enters a complete type. */
static ttr_status find_location_in_open_types(struct location_search *search,
                                              const struct ctf2_build *build)
{
    const struct type_reference *reference = search->reference;
    uint32_t at = 0;
    for (unsigned level = 0; level < build->depth && at < reference->names_n; level++) {
        const struct ctf2_frame *frame = &build->frames[level];
        if (frame->kind != TYPE_STRUCT)
            continue;
        if (!texts_are_equal(frame->open, reference->names[at])) {
            const struct type done = {
                .kind = TYPE_STRUCT, .members = frame->done, .members_n = frame->done_n};
            return find_member_in_struct(search, &done, at);
        }
        at++;
    }
    return fail_location(search, at, "is or holds the field that depends on it");
}

static ttr_status find_location_in_root(struct location_search *search,
                                        const struct ctf2_build *build)
{
    enum type_root root = search->reference->root;
    if (root == build->root)
        return find_location_in_open_types(search, build);
    if (root > build->root)
        return ctf2_fail(search->parser, search->json, "the %s is decoded later than the %s",
                         ctf2_origins[root], ctf2_origins[build->root]);
    if (!build->roots[root])
        return ctf2_fail(search->parser, search->json, "there is no %s", ctf2_origins[root]);
    return find_member_in_type(search, build->roots[root], 0);
}

/* Stores the names of the incomplete members that lead to the structure of the field: the start of
 * relative paths. Returns the number of names. */
static uint32_t collect_open_member_names(const struct ctf2_build *build, ttr_text *names)
{
    unsigned innermost = build->depth;
    while (innermost > 0 && build->frames[innermost - 1].kind != TYPE_STRUCT)
        innermost--;
    uint32_t n = 0;
    for (unsigned level = 0; level + 1 < innermost; level++)
        if (build->frames[level].kind == TYPE_STRUCT)
            names[n++] = build->frames[level].open;
    return n;
}

/* Appends a path to `names`. The element null removes the last name: the path continues in the
 * enclosing structure. */
static ttr_status append_location_path(struct ctf2_build *build, const struct json_value *first,
                                       ttr_text *names, uint32_t *n)
{
    for (const struct json_value *step = first; step; step = step->next) {
        ttr_status status = TTR_OK;
        if (step->token.kind == JSON_TEXT)
            status = ctf2_get_text(build->parser, step, &names[(*n)++]);
        else if (step->token.kind != JSON_NULL)
            return ctf2_fail(build->parser, step, "expected a name or null, found %s",
                             json_kind_text(step->token.kind));
        else if (!step->next)
            return ctf2_fail(build->parser, step, "a path must not end with null");
        else if (*n > 0)
            --*n;
        else if (!build->is_definition)
            return ctf2_fail(build->parser, step, "there is no structure around the root");
        if (status != TTR_OK)
            return status;
    }
    return TTR_OK;
}

/* Parsed syntax of a location: origin of its path, if declared, and its first step. */
struct location_syntax {
    bool has_origin;
    enum type_root origin;
    const struct json_value *first;
    size_t steps;
};

static bool read_origin_name(const struct json_value *json, struct location_syntax *form)
{
    for (unsigned i = 0; i < ROOT_COUNT; i++)
        if (json_text_equals(json, ctf2_origins[i])) {
            form->origin = (enum type_root)i;
            form->has_origin = true;
            return true;
        }
    return false;
}

/* Reads a location of the release candidate, which is one array of the origin and the path. */
static ttr_status read_rc7_location(struct ctf2_parser *parser, const struct json_value *json,
                                    struct location_syntax *form)
{
    ctf2_report_rc7_syntax(parser, json, "a location that is an array");
    *form = (struct location_syntax){.first = json->first, .steps = json->count};
    if (json->first && read_origin_name(json->first, form)) {
        form->first = json->first->next;
        form->steps--;
    }
    return TTR_OK;
}

static ttr_status read_location_form(struct ctf2_parser *parser, const struct json_value *json,
                                     struct location_syntax *form)
{
    static const struct ctf2_property_set properties = {
        "a field location", CTF2_SET(ORIGIN) | CTF2_SET(PATH), CTF2_SET(PATH)};
    struct ctf2_object object;
    if (json->token.kind == JSON_ARRAY)
        return read_rc7_location(parser, json, form);
    *form = (struct location_syntax){.first = NULL};
    ttr_status status = ctf2_read_object(parser, json, &properties, &object);
    if (status == TTR_OK && object.at[CTF2_ORIGIN] &&
        !read_origin_name(object.at[CTF2_ORIGIN], form))
        return ctf2_fail(parser, object.at[CTF2_ORIGIN],
                         "expected the name of a root, such as \"event-record-payload\"");
    if (status == TTR_OK)
        status = ctf2_expect_kind(parser, object.at[CTF2_PATH], JSON_ARRAY);
    if (status != TTR_OK)
        return status;
    form->first = object.at[CTF2_PATH]->first;
    form->steps = object.at[CTF2_PATH]->count;
    return TTR_OK;
}

ttr_status ctf2_get_location(struct ctf2_build *build, const struct json_value *json,
                             struct type_reference *reference, unsigned *found)
{
    struct ctf2_parser *parser = build->parser;
    struct location_syntax form;
    *found = 0;
    build->is_contextual = true;
    ttr_status status = read_location_form(parser, json, &form);
    if (status != TTR_OK)
        return status;
    if (form.steps == 0)
        return ctf2_fail(parser, json, "a path must not be empty");
    ttr_text *names = ctf2_alloc(parser, form.steps + build->depth, sizeof *names);
    if (!names)
        return TTR_E_NOMEM;
    uint32_t n = form.has_origin ? 0 : collect_open_member_names(build, names);
    status = append_location_path(build, form.first, names, &n);
    if (status != TTR_OK || build->is_definition)
        return status;
    *reference = (struct type_reference){
        .names = names, .names_n = n, .root = form.has_origin ? form.origin : build->root};
    struct location_search search = {.parser = parser, .json = json, .reference = reference};
    status = find_location_in_root(&search, build);
    *found = search.found;
    return status;
}
