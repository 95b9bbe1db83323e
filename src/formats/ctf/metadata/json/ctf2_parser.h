/* Parser of CTF 2 metadata (CTF2-SPEC-2.0): declarations shared by its files.
 *
 * The text is a sequence of JSON objects (fragments), each after a byte 0x1E (RFC 7464):
 *   preamble | field-class-alias | trace-class | clock-class | data-stream-class |
 *   event-record-class
 *
 * Each fragment is parsed into a tree (base/json_tree.h) in scratch memory, checked, and then added
 * to the description completely or not at all. Fragments refer only to earlier ones.
 * ctf2_read_object checks each object against the sets of its permitted and required properties, so
 * that all parsers treat unknown and repeated properties alike.
 *
 * Ownership: struct ctf2_parser lives for one call of ctf2_parse; struct ctf2_state holds what
 * later texts need, in the description's arena. All functions report errors with their position in
 * the text. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PARSER_H
#define TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PARSER_H

#include "base/json_tree.h"
#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/metadata/json/ctf2_words.h"

/* All properties that occur in fragments, sorted by name. */
#define CTF2_PROPERTIES(X)                                                   \
    X(ACCURACY, "accuracy")                                                  \
    X(ALIGNMENT, "alignment")                                                \
    X(ATTRIBUTES, "attributes")                                              \
    X(BIT_ORDER, "bit-order")                                                \
    X(BYTE_ORDER, "byte-order")                                              \
    X(CYCLES, "cycles")                                                      \
    X(DATA_STREAM_CLASS_ID, "data-stream-class-id")                          \
    X(DEFAULT_CLOCK_CLASS_ID, "default-clock-class-id")                      \
    X(DEFAULT_CLOCK_CLASS_NAME, "default-clock-class-name") /* RC 7 */       \
    X(DESCRIPTION, "description")                                            \
    X(ELEMENT_FIELD_CLASS, "element-field-class")                            \
    X(ENCODING, "encoding")                                                  \
    X(ENVIRONMENT, "environment")                                            \
    X(COMMON_CONTEXT_FIELD_CLASS, "event-record-common-context-field-class") \
    X(HEADER_FIELD_CLASS, "event-record-header-field-class")                 \
    X(EXTENSIONS, "extensions")                                              \
    X(FIELD_CLASS, "field-class")                                            \
    X(FLAGS, "flags")                                                        \
    X(FREQUENCY, "frequency")                                                \
    X(ID, "id")                                                              \
    X(LENGTH, "length")                                                      \
    X(LENGTH_FIELD_LOCATION, "length-field-location")                        \
    X(MAPPINGS, "mappings")                                                  \
    X(MEDIA_TYPE, "media-type")                                              \
    X(MEMBER_CLASSES, "member-classes")                                      \
    X(MINIMUM_ALIGNMENT, "minimum-alignment")                                \
    X(NAME, "name")                                                          \
    X(NAMESPACE, "namespace")                                                \
    X(OFFSET_FROM_ORIGIN, "offset-from-origin")                              \
    X(OPTIONS, "options")                                                    \
    X(ORIGIN, "origin")                                                      \
    X(PACKET_CONTEXT_FIELD_CLASS, "packet-context-field-class")              \
    X(PACKET_HEADER_FIELD_CLASS, "packet-header-field-class")                \
    X(PATH, "path")                                                          \
    X(PAYLOAD_FIELD_CLASS, "payload-field-class")                            \
    X(PRECISION, "precision")                                                \
    X(PREFERRED_DISPLAY_BASE, "preferred-display-base")                      \
    X(ROLES, "roles")                                                        \
    X(SECONDS, "seconds")                                                    \
    X(SELECTOR_FIELD_LOCATION, "selector-field-location")                    \
    X(SELECTOR_FIELD_RANGES, "selector-field-ranges")                        \
    X(SPECIFIC_CONTEXT_FIELD_CLASS, "specific-context-field-class")          \
    X(TYPE, "type")                                                          \
    X(UID, "uid")                                                            \
    X(USER_ATTRIBUTES, "user-attributes") /* RC 7 */                         \
    X(UUID, "uuid")                                                          \
    X(VERSION, "version")

enum ctf2_property {
#define X(name, text) CTF2_##name,
    CTF2_PROPERTIES(X)
#undef X
        CTF2_PROPERTY_COUNT
};

/* a set of properties is a bit mask; sets are combined by | */
#define CTF2_SET(name) (UINT64_C(1) << CTF2_##name)

/* A field class with a name. All uses share `type`. If the class contains roles or locations,
 * their meaning depends on the use, so a new type is built from `json` for each use. */
struct ctf2_alias {
    ttr_text name;
    uint64_t hash;
    /* type that all uses share; NULL if a type is built for each use */
    const struct type *type;
    /* JSON of the class, copied into the description's arena */
    const struct json_value *json;
    /* number of JSON values in `json`, which is the cost of building a type from it */
    uint64_t nodes;
    /* number of types in the class, counting each use of other aliases */
    uint64_t size;
    unsigned height; /* levels of nested types in the class */
};

/* State of the parser that is kept between calls of ctf2_parse, as live traces receive metadata in
 * several texts. */
struct ctf2_state {
    bool has_preamble, has_trace_class;
    /* hash table of aliases with open addressing; slots_n is a power of two, or 0 */
    struct ctf2_alias **slots;
    size_t slots_n, aliases_n;
    /* work done so far: types built for aliases, and steps to resolve locations. ctf2_count_work
     * limits it. */
    uint64_t expansions;
};

struct ctf2_parser {
    struct ctf_description *description;
    struct ctf2_state *state;
    const struct ctf_text *text;
    struct arena scratch; /* memory of the current fragment; freed after it */
    ttr_error *error;
    /* type of the current fragment ("clock-class"), for messages */
    const char *fragment;
    /* JSON value that uses the alias being built, for messages; NULL if no alias is being built */
    const struct json_value *alias_use;
};

/* A JSON object and its properties, which can be accessed by number. */
struct ctf2_object {
    const struct json_value *json;
    /* value of each property; NULL if the object does not have it */
    const struct json_value *at[CTF2_PROPERTY_COUNT];
};

/* Properties that a kind of object may have and must have. */
struct ctf2_property_set {
    const char *what; /* name of the kind of object in messages: "a clock class" */
    uint64_t may, must;
};

/* One open class on the path from the root to the class being built. */
struct ctf2_frame {
    uint8_t kind;                   /* kind of the type: TYPE_STRUCT, TYPE_ARRAY, ... */
    const struct type_member *done; /* TYPE_STRUCT: array of the members that are complete */
    uint32_t done_n;
    ttr_text open; /* TYPE_STRUCT: name of the member that is being built */
};

/* State while one root (such as a payload) is built, or the definition of an alias is checked. */
struct ctf2_build {
    struct ctf2_parser *parser;
    /* structures that are decoded before this one (such as the packet header), indexed by enum
     * type_root; NULL if absent */
    const struct type *const *roots;
    enum type_root root;
    const struct ctf_clock *clock; /* default clock of the stream class; NULL if it has none */
    /* true if the definition of an alias is being checked: roles and locations are not resolved */
    bool is_definition;
    bool is_contextual; /* true if the class contains roles or locations */
    /* depth: number of classes that contain the current one; deepest: maximum so far */
    unsigned depth, deepest;
    uint64_t size; /* number of types built so far */
    struct ctf2_frame frames[TYPE_DEPTH_MAX + 1];
};

/* --- Objects and scalars (ctf2_object.c) --- */

/* Reports an error at an offset in the text and returns `status`. */
TTR_MUST ttr_status ctf2_fail_text(struct ctf2_parser *parser, ttr_status status, uint64_t offset,
                                   const char *format, ...) TTR_PRINTF(4, 5);

/* Reports an error at a JSON value, showing line, column, the path to the value, and the text.
 * Returns TTR_E_MALFORMED. */
TTR_MUST ttr_status ctf2_fail(struct ctf2_parser *parser, const struct json_value *at,
                              const char *format, ...) TTR_PRINTF(3, 4);

/* Like ctf2_fail, but returns `status`: TTR_E_LIMIT or TTR_E_UNSUPPORTED. */
TTR_MUST ttr_status ctf2_fail_with_status(struct ctf2_parser *parser, ttr_status status,
                                          const struct json_value *at, const char *format, ...)
    TTR_PRINTF(4, 5);

/* Emits a diagnostic at a JSON value. Long texts are truncated. */
void ctf2_add_diagnostic(struct ctf2_parser *parser, ttr_severity severity,
                         const struct json_value *at, const char *code, const char *format, ...)
    TTR_PRINTF(5, 6);

/* Allocates zeroed memory in the description's arena. Returns NULL and sets the error if memory is
 * out. */
void *ctf2_alloc(struct ctf2_parser *parser, size_t count, size_t size);

/* Looks up the properties of an object. Fails on repeated or missing properties, and if attributes
 * or extensions are not objects. Unknown properties get a diagnostic and are skipped. */
TTR_MUST ttr_status ctf2_read_object(struct ctf2_parser *parser, const struct json_value *json,
                                     const struct ctf2_property_set *properties,
                                     struct ctf2_object *object);

/* Read scalar properties. An absent property (NULL) leaves the target unchanged. */
TTR_MUST ttr_status ctf2_get_text(struct ctf2_parser *parser, const struct json_value *json,
                                  ttr_text *text);
TTR_MUST ttr_status ctf2_get_u64(struct ctf2_parser *parser, const struct json_value *json,
                                 uint64_t *x);
TTR_MUST ttr_status ctf2_get_i64(struct ctf2_parser *parser, const struct json_value *json,
                                 int64_t *x);
TTR_MUST ttr_status ctf2_get_uuid(struct ctf2_parser *parser, const struct json_value *json,
                                  uint8_t *uuid, bool *has_uuid);

/* Reads an alignment in bits, which must be a power of two. Sets *log2 to its binary logarithm, at
 * most TYPE_ALIGN_MAX. */
TTR_MUST ttr_status ctf2_get_align(struct ctf2_parser *parser, const struct json_value *json,
                                   uint8_t *log2);

/* Reads a string that must be one of `words` (terminated by NULL), and sets `*index` to its
 * position among them. */
TTR_MUST ttr_status ctf2_get_word(struct ctf2_parser *parser, const struct json_value *json,
                                  const char *const *words, unsigned *index);

/* Fails if the kind of the JSON value is not `kind`. */
TTR_MUST ttr_status ctf2_expect_kind(struct ctf2_parser *parser, const struct json_value *json,
                                     unsigned kind);

/* Emits a diagnostic that the text uses the syntax of the release candidate; only the first call
 * per text does. */
void ctf2_report_rc7_syntax(struct ctf2_parser *parser, const struct json_value *at,
                            const char *what);

/* --- Attributes of tracers (ctf2_attributes.c) --- */

/* Returns the attributes of a fragment as JSON text without blanks; "" if it has none. */
TTR_MUST ttr_status ctf2_get_attributes(struct ctf2_parser *parser,
                                        const struct ctf2_object *object, ttr_text *text);

/* Reads log level and EMF URI from LTTng's or Babeltrace's attributes of an event class. */
TTR_MUST ttr_status ctf2_get_event_attributes(struct ctf2_parser *parser,
                                              const struct ctf2_object *object,
                                              struct ctf_event_class *event);

/* --- Integer ranges and labels (ctf2_ranges.c) --- */

enum ctf2_sign {
    CTF2_UNSIGNED,
    CTF2_SIGNED,
    /* the sign is not known yet: the number may be in the range of either uint64_t or int64_t */
    CTF2_ANY_SIGN
};

struct ctf2_ranges {
    struct type_range *range;
    uint32_t n;
};

/* Reads a non-empty set of integer ranges: [[low, high], ...]. `sign`: whether the numbers must
 * fit in uint64_t, int64_t, or one of the two. Numbers that do not fit are an error; if `clips`,
 * the ranges are cut to those that fit. */
TTR_MUST ttr_status ctf2_get_ranges(struct ctf2_parser *parser, const struct json_value *json,
                                    enum ctf2_sign sign, bool clips, struct ctf2_ranges *ranges);

/* Reads named ranges: {"name": [[low, high], ...], ...}. `*labels` is NULL if all are empty. */
TTR_MUST ttr_status ctf2_get_labels(struct ctf2_parser *parser, const struct json_value *json,
                                    enum ctf2_sign sign, bool clips,
                                    const struct type_labels **labels);

/* Fails if two options of a variant have a selector value in common. */
TTR_MUST ttr_status ctf2_check_options(struct ctf2_parser *parser, const struct json_value *json,
                                       const struct type *variant);

/* --- Field locations (ctf2_location.c) --- */

/* Kinds of fields that a location may refer to; combined as a bit set. */
enum ctf2_target { CTF2_TARGET_UINT = 1, CTF2_TARGET_INT = 2, CTF2_TARGET_BOOL = 4 };

/* Resolves the location of a length or selector to a list of names. `*found` is the set of kinds of
 * the fields it refers to (enum ctf2_target). In the definition of an alias only the syntax is
 * checked, and `*found` is 0. */
TTR_MUST ttr_status ctf2_get_location(struct ctf2_build *build, const struct json_value *json,
                                      struct type_reference *reference, unsigned *found);

/* --- Roles of fields (ctf2_roles.c) --- */

/* Sets the roles of a number or blob. Fails if the root or the class does not permit a role. */
TTR_MUST ttr_status ctf2_get_roles(struct ctf2_build *build, const struct json_value *json,
                                   struct type *type);

/* --- Field classes (ctf2_class.c) --- */

/* Builds a type from a field class object, or from the name of an alias. */
TTR_MUST ttr_status ctf2_build_class(struct ctf2_build *build, const struct json_value *json,
                                     const struct type **type);

/* --- Field classes with names (ctf2_alias.c) --- */

/* Returns the alias of that name, or NULL. */
const struct ctf2_alias *ctf2_find_alias(const struct ctf2_state *state, const char *name,
                                         size_t n);

/* Processes a field-class-alias fragment. */
TTR_MUST ttr_status ctf2_add_alias(struct ctf2_parser *parser, const struct ctf2_object *object);

/* Counts `work` steps of building types and resolving locations. Fails with TTR_E_LIMIT if there
 * are too many for one description, because a small text can cause many by aliases of aliases. */
TTR_MUST ttr_status ctf2_count_work(struct ctf2_parser *parser, const struct json_value *at,
                                    uint64_t work);

#endif
