/* Types as field classes of CTF 2.
 *
 * A named type becomes an alias if it has neither roles nor locations, so that it means the same
 * everywhere. Another type with a used name is written in full. Locations are written from their
 * root. Field names are printed as readers show them, without the leading underscore of TSDL. If
 * two would become equal, all members of that structure keep their stored names.
 *
 * CTF 2 cannot express bitfields limited to a unit, lengths stored directly before the elements,
 * and text that starts inside a byte. For display (ctf2_print_indented), bitfields lose their unit,
 * and lengths become members: before the sequence if it is in a structure, else inside a new
 * structure with the sequence.
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_print.h"
#include "formats/ctf/metadata/json/ctf2_words.h"

void ctf2_begin_printed_object(struct ctf2_printer *printer, const char *type)
{
    buffer_add_byte(printer->json.to, 0x1e);
    json_begin_object(&printer->json);
    json_write_key(&printer->json, "type");
    json_write_string(&printer->json, type);
}

void ctf2_print_end(struct ctf2_printer *printer)
{
    json_end_object(&printer->json);
    buffer_add_byte(printer->json.to, '\n');
}

static void print_word_property(struct json *json, const char *key, const char *word)
{
    json_write_key(json, key);
    json_write_string(json, word);
}

static void print_number_property(struct json *json, const char *key, uint64_t number)
{
    json_write_key(json, key);
    json_write_u64(json, number);
}

void ctf2_print_fail_unsupported(struct ctf2_printer *printer, ttr_text name, const char *why)
{
    if (printer->status == TTR_OK)
        printer->status = fail(printer->error, TTR_E_UNSUPPORTED, NO_OFFSET,
                               "CTF 2 cannot express this: \"%.*s\" %s",
                               (int)(name.n < 80 ? name.n : 80), name.p ? name.p : "", why);
}

void ctf2_print_fail_memory(struct ctf2_printer *printer)
{
    if (printer->status == TTR_OK)
        printer->status = fail_memory(printer->error);
}

/* --- Names of structure members --- */

/* Returns true if all members of a structure have different names without their leading
 * underscore, so that they can be printed without it. */
static bool has_distinct_shown_names(struct ctf2_printer *printer, const struct type *type)
{
    struct ctf2_names names;
    bool is_same = true, differ = true;
    for (uint32_t i = 0; i < type->members_n && is_same; i++)
        is_same = type->members[i].shown.n == type->members[i].name.n;
    if (is_same)
        return true;
    if (!ctf2_names_init(&names, &printer->scratch, type->members_n)) {
        ctf2_print_fail_memory(printer);
        return false;
    }
    for (uint32_t i = 0; i < type->members_n && differ; i++)
        differ = ctf2_names_add(&names, &type->members[i].shown);
    return differ;
}

static void print_member_name(struct json *json, const struct type_member *member, bool is_shown)
{
    json_write_key(json, "name");
    json_write_text(json, is_shown ? member->shown.p : member->name.p,
                    is_shown ? member->shown.n : member->name.n);
}

/* --- Field locations --- */

/* Returns the structure that has a member of this name: `type` or, if it is an array, optional or
 * variant, a structure inside it. NULL if none has. */
static const struct type *find_struct_with_member(const struct type *type, ttr_text name)
{
    while (type &&
           (type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL))
        type = type->element;
    if (!type || type->kind == TYPE_STRUCT)
        return type && type_find_member(type, name) ? type : NULL;
    for (uint32_t i = 0; type->kind == TYPE_VARIANT && i < type->members_n; i++) {
        const struct type *found = find_struct_with_member(type->members[i].type, name);
        if (found)
            return found;
    }
    return NULL;
}

static void print_location(struct ctf2_printer *printer, const char *key,
                           const struct type_reference *reference)
{
    struct json *json = &printer->json;
    const struct type *at = printer->roots[reference->root];
    json_write_key(json, key);
    json_begin_object(json);
    print_word_property(json, "origin", ctf2_origins[reference->root]);
    json_write_key(json, "path");
    json_begin_array(json);
    for (uint32_t i = 0; i < reference->names_n; i++) {
        const struct type *around = at ? find_struct_with_member(at, reference->names[i]) : NULL;
        const struct type_member *member =
            around ? type_find_member(around, reference->names[i]) : NULL;
        if (!member) {
            ctf2_print_fail_unsupported(printer, reference->names[i],
                                        "is referred to and is not there");
            break;
        }
        bool is_shown = has_distinct_shown_names(printer, around);
        json_write_text(json, is_shown ? member->shown.p : member->name.p,
                        is_shown ? member->shown.n : member->name.n);
        at = member->type;
    }
    json_end_array(json);
    json_end_object(json);
}

/* --- Numbers: ranges, labels, roles --- */

static void print_range_end(struct json *json, uint64_t x, bool is_signed)
{
    if (is_signed)
        json_write_i64(json, (int64_t)x);
    else
        json_write_u64(json, x);
}

/* Prints ranges as [low, high] pairs into the JSON array that is open. */
static void print_ranges(struct json *json, const struct type_range *ranges, uint32_t n,
                         bool is_signed)
{
    for (uint32_t i = 0; i < n; i++) {
        json_begin_array(json);
        print_range_end(json, ranges[i].low, is_signed);
        print_range_end(json, ranges[i].high, is_signed);
        json_end_array(json);
    }
}

/* Link between labels of the same name. In JSON, all ranges of one name must be in one array. */
struct label_chain {
    uint32_t next; /* index of the next label of the same name, plus 1; 0 if this is the last */
    bool is_first;
};

static bool texts_are_equal(ttr_text a, ttr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Links the labels of equal name. Returns NULL if memory runs out. */
static struct label_chain *link_labels_of_equal_name(struct ctf2_printer *printer,
                                                     const struct type_labels *labels)
{
    struct pair_map last;
    struct label_chain *chain = arena_alloc(&printer->scratch, labels->n * sizeof *chain);
    bool is_done = chain != NULL;
    pair_map_init(&last, printer->description->alloc);
    for (uint32_t i = 0; i < labels->n && is_done; i++) {
        uint64_t hash = hash_bytes(labels->label[i].name.p, labels->label[i].name.n);
        uint32_t *before = pair_map_get(&last, hash, 0);
        bool is_again =
            before && texts_are_equal(labels->label[*before].name, labels->label[i].name);
        chain[i] = (struct label_chain){.is_first = !is_again};
        if (is_again)
            chain[*before].next = i + 1;
        is_done = pair_map_put(&last, hash, 0, i);
    }
    pair_map_free(&last);
    return is_done ? chain : NULL;
}

static void print_mappings(struct ctf2_printer *printer, const char *key,
                           const struct type_labels *labels)
{
    struct json *json = &printer->json;
    struct label_chain *chain = link_labels_of_equal_name(printer, labels);
    if (!chain) {
        ctf2_print_fail_memory(printer);
        return;
    }
    json_write_key(json, key);
    json_begin_object(json);
    for (uint32_t i = 0; i < labels->n; i++) {
        const struct type_label *label = &labels->label[i];
        if (!chain[i].is_first || label->ranges_n == 0)
            continue;
        json_write_key_text(json, label->name.p, label->name.n);
        json_begin_array(json);
        for (uint32_t at = i + 1; at; at = chain[at - 1].next)
            print_ranges(json, labels->label[at - 1].ranges, labels->label[at - 1].ranges_n,
                         labels->is_signed);
        json_end_array(json);
    }
    json_end_object(json);
}

/* Prints the role of a field, if CTF 2 has one for this structure and class. CTF 2 has no role for
 * the CPU, and roles of timestamps are allowed only if there is a clock. */
static void print_role(struct ctf2_printer *printer, const struct type *type)
{
    const struct ctf2_role *role =
        type->role ? ctf2_find_role((enum ctf_role)type->role, printer->root) : NULL;
    bool is_unsigned = type->kind == TYPE_UINT || type->kind == TYPE_VAR_UINT;
    if (!role || (role->needs_clock && !printer->has_clock) ||
        (role->role == CTF_ROLE_UUID && !printer->description->has_uuid))
        return;
    if (!role->is_for_blob && !is_unsigned) {
        ctf2_print_fail_unsupported(printer, (ttr_text){role->name, strlen(role->name)},
                                    "is not an unsigned integer");
        return;
    }
    json_write_key(&printer->json, "roles");
    json_begin_array(&printer->json);
    json_write_string(&printer->json, role->name);
    json_end_array(&printer->json);
}

static void print_integer_class(struct ctf2_printer *printer, const struct type *type)
{
    if (type->base)
        print_number_property(&printer->json, "preferred-display-base", type->base);
    if (type->labels)
        print_mappings(printer, type->kind == TYPE_FLAGS ? "flags" : "mappings", type->labels);
    print_role(printer, type);
}

static void print_fixed_length_class(struct ctf2_printer *printer, const struct type *type)
{
    struct json *json = &printer->json;
    if (type->unit && !printer->is_for_display)
        ctf2_print_fail_unsupported(printer, type->name, "is a bitfield that keeps to a unit");
    print_number_property(json, "length", type->bits);
    print_word_property(json, "byte-order", type->is_big_endian ? "big-endian" : "little-endian");
    if (type->is_reversed)
        print_word_property(json, "bit-order",
                            type->is_big_endian ? "first-to-last" : "last-to-first");
    if (type->align)
        print_number_property(json, "alignment", UINT64_C(1) << type->align);
    print_integer_class(printer, type);
}

/* --- Strings, blobs, arrays --- */

/* Prints the location of a length that was printed as a member of the same structure (display
 * only). */
static void print_length_location(struct ctf2_printer *printer)
{
    struct json *json = &printer->json;
    json_write_key(json, "length-field-location");
    json_begin_object(json);
    json_write_key(json, "path");
    json_begin_array(json);
    json_write_text(json, printer->length.p, printer->length.n);
    json_end_array(json);
    json_end_object(json);
    printer->length = (ttr_text){NULL, 0};
}

static void print_length(struct ctf2_printer *printer, const struct type *type)
{
    if (type->has_inline_length && printer->length.n)
        print_length_location(printer);
    else if (type->has_inline_length)
        ctf2_print_fail_unsupported(printer, type->name,
                                    "has its length right before its elements");
    else if (type->reference.names_n)
        print_location(printer, "length-field-location", &type->reference);
    else
        print_number_property(&printer->json, "length", type->count);
}

static void print_text_class(struct ctf2_printer *printer, const struct type *type)
{
    static const char *const words[] = {NULL,       NULL,       NULL,      "utf-16le",
                                        "utf-16be", "utf-32le", "utf-32be"};
    if (type->align != 3)
        ctf2_print_fail_unsupported(printer, type->name, "is text that is not aligned to bytes");
    if (type->kind == TYPE_TEXT)
        print_length(printer, type);
    if (words[type->encoding])
        print_word_property(&printer->json, "encoding", words[type->encoding]);
}

static void print_blob(struct ctf2_printer *printer, const struct type *type)
{
    if (type->align != 3)
        ctf2_print_fail_unsupported(printer, type->name, "is a blob that is not aligned to bytes");
    print_length(printer, type);
    if (type->media_type.n) {
        json_write_key(&printer->json, "media-type");
        json_write_text(&printer->json, type->media_type.p, type->media_type.n);
    }
    print_role(printer, type);
}

/* Returns the alignment to print. Structures of RFC v1.1 are aligned like the units of their
 * bitfields, headers like words. */
static uint8_t get_printed_align(const struct ctf2_printer *printer, const struct type *type)
{
    uint8_t widest = 0;
    for (uint32_t i = 0; i < type->members_n; i++)
        widest = type->members[i].type->align > widest ? type->members[i].type->align : widest;
    return printer->is_for_display && type->kind == TYPE_STRUCT && type->align > widest
               ? type->align
               : type->minimum_align;
}

static void print_minimum_align(struct ctf2_printer *printer, const struct type *type)
{
    const uint8_t align = get_printed_align(printer, type);
    if (align && !type->has_inline_length) /* if the length is stored directly before the elements,
                                              the alignment is that of the length */
        print_number_property(&printer->json, "minimum-alignment", UINT64_C(1) << align);
}

static void print_array(struct ctf2_printer *printer, const struct type *type)
{
    print_minimum_align(printer, type);
    print_length(printer, type);
    json_write_key(&printer->json, "element-field-class");
    ctf2_print_class(printer, type->element);
}

/* --- Structures, optionals, variants --- */

/* Chooses the name of a length member: the declared one, else the name of the sequence followed by
 * "_length", with a number if that name is used. */
static ttr_text choose_length_name(struct ctf2_printer *printer, struct ctf2_names *names,
                                   const struct type *type, ttr_text name)
{
    const size_t room = name.n + sizeof "_length_4294967295";
    ttr_text *made = arena_alloc(&printer->scratch, sizeof *made);
    char *text = arena_alloc(&printer->scratch, room);
    if (!made || !text) {
        ctf2_print_fail_memory(printer);
        return (ttr_text){"", 0};
    }
    *made = type->length_member;
    for (uint32_t i = 1; made->n == 0 || !ctf2_names_add(names, made); i++)
        *made =
            (ttr_text){text, (size_t)snprintf(text, room, i > 1 ? "%.*s_length_%u" : "%.*s_length",
                                              (int)name.n, name.p, i)};
    return *made;
}

/* Prints the length of a sequence as a member with the sequence's alignment (display only). */
static void print_length_member(struct ctf2_printer *printer, const struct type *type,
                                ttr_text name)
{
    struct json *json = &printer->json;
    struct type length = *type->length_type;
    length.name = (ttr_text){NULL, 0};
    length.align = type->minimum_align > length.align ? type->minimum_align : length.align;
    json_begin_object(json);
    json_write_key(json, "name");
    json_write_text(json, name.p, name.n);
    json_write_key(json, "field-class");
    ctf2_print_class(printer, &length);
    json_end_object(json);
    printer->length = name;
}

/* Display only: prints lengths that are stored directly before their elements as members. Returns
 * false if the structure has none, or they cannot be expressed. */
static bool print_inline_lengths(struct ctf2_printer *printer, const struct type *type,
                                 bool is_shown, struct ctf2_names *names)
{
    size_t n = 0;
    for (uint32_t i = 0; i < type->members_n; i++)
        n += type->members[i].type->has_inline_length;
    if (n == 0 || !printer->is_for_display)
        return false;
    if (!ctf2_names_init(names, &printer->scratch, type->members_n + n)) {
        ctf2_print_fail_memory(printer);
        return false;
    }
    for (uint32_t i = 0; i < type->members_n; i++)
        (void)ctf2_names_add(names, is_shown ? &type->members[i].shown : &type->members[i].name);
    return true;
}

static void print_structure(struct ctf2_printer *printer, const struct type *type)
{
    struct json *json = &printer->json;
    struct ctf2_names names;
    bool is_shown = has_distinct_shown_names(printer, type),
         has_lengths = print_inline_lengths(printer, type, is_shown, &names);
    print_minimum_align(printer, type);
    json_write_key(json, "member-classes");
    json_begin_array(json);
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *member = &type->members[i];
        if (has_lengths && member->type->has_inline_length)
            print_length_member(printer, member->type,
                                choose_length_name(printer, &names, member->type,
                                                   is_shown ? member->shown : member->name));
        json_begin_object(json);
        print_member_name(json, member, is_shown);
        json_write_key(json, "field-class");
        ctf2_print_class(printer, member->type);
        json_end_object(json);
    }
    json_end_array(json);
}

static void print_selector_ranges(struct ctf2_printer *printer, const struct type_range *ranges,
                                  uint32_t n, bool is_signed)
{
    json_write_key(&printer->json, "selector-field-ranges");
    json_begin_array(&printer->json);
    print_ranges(&printer->json, ranges, n, is_signed);
    json_end_array(&printer->json);
}

static void print_optional(struct ctf2_printer *printer, const struct type *type)
{
    print_location(printer, "selector-field-location", &type->reference);
    if (type->ranges_n)
        print_selector_ranges(printer, type->ranges, type->ranges_n, type->is_selector_signed);
    json_write_key(&printer->json, "field-class");
    ctf2_print_class(printer, type->element);
}

/* Prints a variant. Options that no selector value selects are dropped, since CTF 2 requires
 * ranges. No field value is lost. */
static void print_variant(struct ctf2_printer *printer, const struct type *type)
{
    struct json *json = &printer->json;
    bool is_shown = has_distinct_shown_names(printer, type), overlaps = false, is_empty = true;
    uint64_t value;
    if (ctf2_find_option_overlap(type, &printer->scratch, &overlaps, &value) != TTR_OK)
        ctf2_print_fail_memory(printer);
    print_location(printer, "selector-field-location", &type->reference);
    json_write_key(json, "options");
    json_begin_array(json);
    for (uint32_t i = 0; i < type->members_n; i++) {
        const struct type_member *option = &type->members[i];
        if (option->ranges_n == 0)
            continue;
        is_empty = false;
        json_begin_object(json);
        if (option->name.n)
            print_member_name(json, option, is_shown);
        print_selector_ranges(printer, option->ranges, option->ranges_n, type->is_selector_signed);
        json_write_key(json, "field-class");
        ctf2_print_class(printer, option->type);
        json_end_object(json);
    }
    json_end_array(json);
    if (overlaps || is_empty)
        ctf2_print_fail_unsupported(printer, type->name,
                                    overlaps ? "is a variant with a value that selects two options"
                                             : "is a variant that nothing selects");
}

/* --- Table of all classes --- */

struct class_word {
    /* word: name of the class if its size is fixed; dynamic: its name if another field contains
     * its length */
    const char *word, *dynamic;
    void (*put)(struct ctf2_printer *printer, const struct type *type);
};

static const struct class_word classes[TYPE_KIND_COUNT] = {
    [TYPE_BITS] = {"fixed-length-bit-array", NULL, print_fixed_length_class},
    [TYPE_BOOL] = {"fixed-length-boolean", NULL, print_fixed_length_class},
    [TYPE_UINT] = {"fixed-length-unsigned-integer", NULL, print_fixed_length_class},
    [TYPE_INT] = {"fixed-length-signed-integer", NULL, print_fixed_length_class},
    [TYPE_FLAGS] = {"fixed-length-bit-map", NULL, print_fixed_length_class},
    [TYPE_FLOAT] = {"fixed-length-floating-point-number", NULL, print_fixed_length_class},
    [TYPE_VAR_UINT] = {"variable-length-unsigned-integer", NULL, print_integer_class},
    [TYPE_VAR_INT] = {"variable-length-signed-integer", NULL, print_integer_class},
    [TYPE_STRING] = {"null-terminated-string", NULL, print_text_class},
    [TYPE_TEXT] = {"static-length-string", "dynamic-length-string", print_text_class},
    [TYPE_BLOB] = {"static-length-blob", "dynamic-length-blob", print_blob},
    [TYPE_STRUCT] = {"structure", NULL, print_structure},
    [TYPE_ARRAY] = {"static-length-array", NULL, print_array},
    [TYPE_SEQUENCE] = {"dynamic-length-array", "dynamic-length-array", print_array},
    [TYPE_OPTIONAL] = {"optional", NULL, print_optional},
    [TYPE_VARIANT] = {"variant", NULL, print_variant},
};

/* Reports whether a type is a UUID as TSDL stores it: an array of 16 bytes. */
static bool is_uuid_array(const struct type *type)
{
    return type->kind == TYPE_ARRAY && type->role == CTF_ROLE_UUID && type->count == 16 &&
           type->align == 3 && type->element->bits == 8;
}

static void print_class_body(struct ctf2_printer *printer, const struct type *type)
{
    struct json *json = &printer->json;
    static const char elements[] = "elements";
    bool is_blob = is_uuid_array(type);
    const struct class_word *class = &classes[is_blob ? TYPE_BLOB : type->kind];
    if (type->has_inline_length && printer->is_for_display &&
        printer->length.n ==
            /* the type is not a member of a structure, so print a structure that contains its
             * length and the sequence */
            0) {
        const ttr_text name = {elements, sizeof elements - 1};
        const struct type_member member = {.name = name, .shown = name, .type = type};
        print_class_body(printer,
                         &(struct type){.kind = TYPE_STRUCT, .members = &member, .members_n = 1});
        return;
    }
    json_begin_object(json);
    if (!class->word || printer->status != TTR_OK)
        ctf2_print_fail_unsupported(printer, type->name, "has no class");
    else {
        bool is_dynamic = class->dynamic && (type->reference.names_n || type->has_inline_length);
        print_word_property(json, "type", is_dynamic ? class->dynamic : class->word);
        class->put(printer, type);
    }
    json_end_object(json);
}

/* Returns true if the type has the same meaning wherever it is used. The nesting of types limits
 * the recursion. */
static bool is_context_free(const struct type *type)
{
    if (type->role || type->reference.names_n || type->has_inline_length)
        return false;
    if (type->element && !is_context_free(type->element))
        return false;
    for (uint32_t i = 0; i < type->members_n; i++)
        if (!is_context_free(type->members[i].type))
            return false;
    return true;
}

static bool is_alias_name(const struct ctf2_printer *printer, const struct type *type)
{
    return type->name.n &&
           pair_map_get(&printer->aliases, hash_bytes(type->name.p, type->name.n), (uintptr_t)type);
}

void ctf2_print_class(struct ctf2_printer *printer, const struct type *type)
{
    if (is_alias_name(printer, type))
        json_write_text(&printer->json, type->name.p, type->name.n);
    else
        print_class_body(printer, type);
}

/* Prints the alias fragment of a type, after the fragments of aliases that it uses. */
static void print_alias(struct ctf2_printer *printer, const struct type *type)
{
    uint64_t hash = hash_bytes(type->name.p, type->name.n);
    if (pair_map_get(&printer->names, hash, 0) || !is_context_free(type))
        return;
    ctf2_begin_printed_object(printer, "field-class-alias");
    json_write_key(&printer->json, "name");
    json_write_text(&printer->json, type->name.p, type->name.n);
    json_write_key(&printer->json, "field-class");
    print_class_body(printer, type);
    ctf2_print_end(printer);
    if (!pair_map_put(&printer->names, hash, 0, 1) ||
        !pair_map_put(&printer->aliases, hash, (uintptr_t)type, 1))
        ctf2_print_fail_memory(printer);
}

void ctf2_print_aliases(struct ctf2_printer *printer, const struct type *type)
{
    if (!type || is_alias_name(printer, type))
        return;
    if (type->element && !is_uuid_array(type))
        ctf2_print_aliases(printer, type->element);
    for (uint32_t i = 0; i < type->members_n; i++)
        ctf2_print_aliases(printer, type->members[i].type);
    if (type->name.n)
        print_alias(printer, type);
}
