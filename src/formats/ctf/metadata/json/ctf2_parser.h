/* The parser of CTF 2 metadata (CTF2-SPEC-2.0), as its parts see it.
 *
 * The text is a sequence of JSON objects, the fragments, each behind a byte 0x1E (RFC 7464):
 *   preamble | field-class-alias | trace-class | clock-class | data-stream-class |
 * event-record-class Each fragment is read as a tree (base/jsontree.h) into scratch memory,
 * checked, and added to the description as a whole or not at all; what comes later refers to what
 * came before.  Objects are opened by a mask of the properties they may and must have, so that
 * unknown and repeated ones are found in one place.
 * Ownership: struct ctf2_parser lives for one call of ctf2_parse; struct ctf2_state is what later
 * texts need, in the description's arena.  Everything here fails with the place in the text filled
 * in. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PARSER_H
#define TRACETTA_FORMATS_CTF_METADATA_JSON_CTF2_PARSER_H

#include "base/jsontree.h"
#include "formats/ctf/description/ctf_description.h"
#include "formats/ctf/metadata/json/ctf2_words.h"

/* Every property of any object, in the order of their names. */
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

/* A set of properties. */
#define CTF2_SET(name) (UINT64_C(1) << CTF2_##name)

/* A field class that has a name.  Where its meaning depends on where it is used (roles, locations),
 * `json` is built anew for each use; else `type` is shared by all. */
struct ctf2_alias {
    ttr_text name;
    uint64_t hash;
    const struct type *type;       /* NULL: use json */
    const struct json_value *json; /* in the description's arena */
    uint64_t nodes;                /* of json: what a use costs */
    uint64_t size;                 /* types in all, each use of another alias counted */
    unsigned height;               /* levels of nesting */
};

/* What outlives one text. */
struct ctf2_state {
    bool has_preamble, has_trace_class;
    struct ctf2_alias **slots; /* open addressing by hash; a power of two, or none */
    size_t slots_n, aliases_n;
    uint64_t expansions; /* work done for aliases and locations, bounded */
};

struct ctf2_parser {
    struct ctf_description *description;
    struct ctf2_state *state;
    const struct ctf_text *text;
    struct arena scratch; /* for one fragment */
    ttr_error *error;
    const char *fragment;               /* its type, for messages */
    const struct json_value *alias_use; /* while an alias is built: where it is used */
};

/* An object taken apart. */
struct ctf2_object {
    const struct json_value *json;
    const struct json_value *at[CTF2_PROPERTY_COUNT]; /* NULL = absent */
};

/* What an object may and must have. */
struct ctf2_shape {
    const char *what; /* for messages: "a clock class" */
    uint64_t may, must;
};

/* One level that is open while field classes are built. */
struct ctf2_frame {
    uint8_t kind;                   /* TYPE_STRUCT, TYPE_ARRAY, ... */
    const struct type_member *done; /* STRUCT: members before the open one */
    uint32_t done_n;
    ttr_text open; /* STRUCT: name of the open one */
};

/* One root being built, or the definition of an alias. */
struct ctf2_build {
    struct ctf2_parser *parser;
    const struct type *const *roots; /* those before this one; NULL = absent */
    enum type_root root;
    const struct ctf_clock *clock; /* the stream's, or NULL */
    bool is_definition;            /* of an alias: roles and locations are checked, not resolved */
    bool is_contextual;            /* out: it has roles or locations */
    unsigned depth, deepest;       /* frames in use; the most there were */
    uint64_t size;                 /* types made */
    struct ctf2_frame frames[TYPE_DEPTH_MAX + 1];
};

/* --- ctf2_object.c: objects and scalars --- */

/* Fails at a place in the text. */
TTR_MUST ttr_status ctf2_fail_text(struct ctf2_parser *parser, ttr_status status, uint64_t offset,
                                   const char *format, ...) TTR_PRINTF(4, 5);

/* Fails at a value: line, column, the path to it, and the text. */
TTR_MUST ttr_status ctf2_fail(struct ctf2_parser *parser, const struct json_value *at,
                              const char *format, ...) TTR_PRINTF(3, 4);

/* The same with TTR_E_LIMIT or TTR_E_UNSUPPORTED. */
TTR_MUST ttr_status ctf2_refuse(struct ctf2_parser *parser, ttr_status status,
                                const struct json_value *at, const char *format, ...)
    TTR_PRINTF(4, 5);

/* A remark to whoever listens; `what` is cut where it is long. */
void ctf2_note(struct ctf2_parser *parser, ttr_severity severity, const struct json_value *at,
               const char *code, const char *format, ...) TTR_PRINTF(5, 6);

/* Memory of the description, zeroed; NULL (the error told) when there is none. */
void *ctf2_take(struct ctf2_parser *parser, size_t count, size_t size);

/* Takes an object apart: every property known, none twice, none missing; attributes and extensions
 * are objects.  Those that it may not have are remarked on and passed over. */
TTR_MUST ttr_status ctf2_open(struct ctf2_parser *parser, const struct json_value *json,
                              const struct ctf2_shape *shape, struct ctf2_object *object);

/* Scalars of an object; what is absent leaves the target alone. */
TTR_MUST ttr_status ctf2_get_text(struct ctf2_parser *parser, const struct json_value *json,
                                  ttr_text *text);
TTR_MUST ttr_status ctf2_get_u64(struct ctf2_parser *parser, const struct json_value *json,
                                 uint64_t *x);
TTR_MUST ttr_status ctf2_get_i64(struct ctf2_parser *parser, const struct json_value *json,
                                 int64_t *x);
TTR_MUST ttr_status ctf2_get_uuid(struct ctf2_parser *parser, const struct json_value *json,
                                  uint8_t *uuid, bool *has_uuid);

/* A power of two as its logarithm, at most TYPE_ALIGN_MAX. */
TTR_MUST ttr_status ctf2_get_align(struct ctf2_parser *parser, const struct json_value *json,
                                   uint8_t *log2);

/* A string that is one of `words` (NULL ends them), as its index. */
TTR_MUST ttr_status ctf2_get_word(struct ctf2_parser *parser, const struct json_value *json,
                                  const char *const *words, unsigned *index);

/* Fails unless the value is of a kind. */
TTR_MUST ttr_status ctf2_expect(struct ctf2_parser *parser, const struct json_value *json,
                                unsigned kind);

/* Remarks once a text on the dialect of the release candidate. */
void ctf2_note_rc7(struct ctf2_parser *parser, const struct json_value *at, const char *what);

/* --- ctf2_attributes.c --- */

/* The attributes of a fragment as JSON text without blanks; "" when there are none. */
TTR_MUST ttr_status ctf2_get_attributes(struct ctf2_parser *parser,
                                        const struct ctf2_object *object, ttr_text *text);

/* What LTTng's or Babeltrace's attributes of an event class say: log level and EMF URI. */
TTR_MUST ttr_status ctf2_get_event_attributes(struct ctf2_parser *parser,
                                              const struct ctf2_object *object,
                                              struct ctf_event_class *event);

/* --- ctf2_ranges.c --- */

enum ctf2_sign {
    CTF2_UNSIGNED,
    CTF2_SIGNED,
    CTF2_ANY_SIGN /* not known yet: each number fits one of them */
};

struct ctf2_ranges {
    struct type_range *range;
    uint32_t n;
};

/* A set of ranges: [[low, high], ...], not empty.  One that goes beyond what a number of that sign
 * can be is an error, or is cut to what it can be. */
TTR_MUST ttr_status ctf2_get_ranges(struct ctf2_parser *parser, const struct json_value *json,
                                    enum ctf2_sign sign, bool clips, struct ctf2_ranges *ranges);

/* Names for ranges: {"name": [[low, high], ...], ...}; NULL when none has any. */
TTR_MUST ttr_status ctf2_get_labels(struct ctf2_parser *parser, const struct json_value *json,
                                    enum ctf2_sign sign, bool clips,
                                    const struct type_labels **labels);

/* Fails when ranges of two options of a variant have a value in common. */
TTR_MUST ttr_status ctf2_check_options(struct ctf2_parser *parser, const struct json_value *json,
                                       const struct type *variant);

/* --- ctf2_location.c --- */

/* What a location leads to. */
enum ctf2_target { CTF2_TARGET_UINT = 1, CTF2_TARGET_INT = 2, CTF2_TARGET_BOOL = 4 };

/* Finds the field(s) that a field about to be built depends on; `found` is a set of enum
 * ctf2_target.  In the definition of an alias only the form is checked and `found` is 0. */
TTR_MUST ttr_status ctf2_get_location(struct ctf2_build *build, const struct json_value *json,
                                      struct type_reference *reference, unsigned *found);

/* --- ctf2_roles.c --- */

/* Puts the roles of a number or blob into its type, where they are allowed there. */
TTR_MUST ttr_status ctf2_get_roles(struct ctf2_build *build, const struct json_value *json,
                                   struct type *type);

/* --- ctf2_class.c --- */

/* A field class, or the name of an alias, as a type. */
TTR_MUST ttr_status ctf2_build_class(struct ctf2_build *build, const struct json_value *json,
                                     const struct type **type);

/* --- ctf2_alias.c --- */

/* The alias of that name, or NULL. */
const struct ctf2_alias *ctf2_find_alias(const struct ctf2_state *state, const char *name,
                                         size_t n);

/* The fragment field-class-alias. */
TTR_MUST ttr_status ctf2_add_alias(struct ctf2_parser *parser, const struct ctf2_object *object);

/* Counts work that a text can ask for many times over (uses of aliases, searches); TTR_E_LIMIT when
 * it is too much. */
TTR_MUST ttr_status ctf2_count_work(struct ctf2_parser *parser, const struct json_value *at,
                                    uint64_t work);

#endif
