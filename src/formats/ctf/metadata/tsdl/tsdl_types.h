/* TSDL semantics: from the syntax tree to types; declarations shared by the files of the resolver.
 *
 * Types are built in two steps:
 *   1. When a type is declared, it is made with its references (lengths, tags) as written:
 *      tsdl_resolve.c, tsdl_class.c -> struct tsdl_type
 *   2. When a root (packet header, payload, ...) uses the type, it is instantiated: references
 *      become paths from a root, variant options get the values that select them, and field names
 *      imply roles: tsdl_instantiate.c -> struct type
 *
 * A type with references is copied for each use; all uses share any other type. Ownership: types
 * and names are in the description's arena. Thread rule: that of the description. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TYPES_H
#define TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TYPES_H

#include "formats/ctf/metadata/tsdl/tsdl_tree.h"

/* Maximum number of fields, counting every use of a structure: in one root, and in all roots
 * together, in proportion to the length of the text. */
#define TSDL_FIELDS_MAX (1u << 18)
#define TSDL_FIELDS_FREE (1u << 14)
#define TSDL_FIELDS_PER_BYTE 8u

struct tsdl_type;

/* The reference to the length of a sequence or text, or to the tag of a variant, as written in the
 * text. */
struct tsdl_reference {
    ttr_text path; /* path as written; "" if the type has no reference */
    /* number of the tsdl_parse call that parsed the reference, for messages */
    uint32_t reading;
    size_t at; /* offset of the reference in the text of that call */
    const struct tsdl_type
        /* enclosing structure that has the referenced field; NULL if none does */
        *owner;
};

/* A declared type, with the properties that the resolver needs until it is instantiated. Each
 * `struct type` that the TSDL parser makes is the first member of a struct tsdl_type. */
struct tsdl_type {
    struct type type;
    struct tsdl_reference reference;
    /* type of which this type is a copy; NULL if it is not a copy */
    const struct tsdl_type *origin;
    const struct ctf_clock *clock; /* clock to which a field in the type is mapped; NULL if none */
    const struct ctf_clock
        *other_clock; /* second clock to which a field in the type is mapped; NULL if none */
    uint32_t fields;  /* number of types in this type, counting every use; saturates */
    uint8_t depth;    /* levels of nested types in this type */
    /* integer: encoding of the text if an array of it is text; ENCODING_NONE if its arrays are
     * numbers */
    uint8_t encoding;
    /* true if the type itself, or a type inside it, has a reference */
    bool has_references;
    /* true if several declarations share the type, so a copy must be made before it gets a name */
    bool is_shared;
    /* hash table of members or labels; each slot is an index + 1; NULL if there are few */
    uint32_t *index;
    uint32_t index_n; /* number of slots of `index`: a power of two, or 0 */
};

/* Symbol table with scopes. Its names denote types (by typedef, typealias, and tags of structures,
 * variants and enumerations), clocks, or streams (the name is the bytes of the id). */
struct tsdl_names {
    struct tsdl_name {
        /* for example "uint8_t", "unsigned long", "struct page *"; p is NULL in a free slot */
        ttr_text name;
        uint32_t scope;
        const void *what;
    } * slot;
    size_t slots_n, used;
};

/* Returns the object that a name denotes in this scope; NULL if the scope does not declare it.
 * Does not search the enclosing scopes. */
const void *tsdl_names_find(const struct tsdl_names *names, uint32_t scope, ttr_text name);

/* Adds a name to a scope. Does not copy its bytes. Returns false if memory runs out. */
TTR_MUST bool tsdl_names_add(struct tsdl_names *names, struct arena *arena, uint32_t scope,
                             ttr_text name, const void *what);

/* State that is kept between calls of tsdl_parse (description->parser). */
struct tsdl_state {
    struct tsdl_names types, clocks, streams;
    /* types without members, such as integer { }; the key is their bytes, since most events
     * declare the same few types */
    struct tsdl_names classes;
    uint32_t scopes_n; /* number of scopes created so far; scope 0 is the root */
    uint32_t readings_n;
    uint64_t text_n;        /* length of all texts parsed so far, in bytes */
    uint64_t fields_n;      /* number of fields instantiated so far */
    uint64_t diagnostics_n; /* number of diagnostics so far */
    bool has_trace;
};

/* A scope of declarations (CTF 1.8.3 section 7.3.1) and the scope that contains it. */
struct tsdl_scope {
    uint32_t id;
    const struct tsdl_scope *outer;
};

/* A structure during the declaration of its fields, and the structure that contains it. */
struct tsdl_open {
    struct tsdl_type *type;
    const struct tsdl_open *outer;
};

struct tsdl_resolver {
    struct tsdl_reading *reading;
    struct ctf_description *description;
    struct tsdl_state *state;
    const struct tsdl_scope *scope;
    const struct tsdl_open *open;
    size_t memory_max; /* maximum size of the description's arena in bytes */
    /* structures of event blocks without declarations; the key is their text, which many event
     * blocks have in common. The table is in `shared`, for the time of one call of tsdl_parse. */
    struct tsdl_names *structures;
    struct arena *shared;
    /* last offset that was converted to a line, and that line. The next conversion continues here,
     * since diagnostics come in ascending order. */
    size_t line_at;
    unsigned line;
};

/* Allocates zeroed bytes in the description's arena. At the memory limit, returns NULL and sets
 * the error. */
void *tsdl_alloc(struct tsdl_resolver *resolver, size_t size);

/* Copies a text into the description's arena. Returns false if memory runs out. */
TTR_MUST bool tsdl_copy_text(struct tsdl_resolver *resolver, ttr_text from, ttr_text *to);

/* Emits a diagnostic with the line number. */
void tsdl_add_diagnostic(struct tsdl_resolver *resolver, ttr_severity severity, size_t at,
                         const char *code, const char *format, ...) TTR_PRINTF(5, 6);

static inline struct tsdl_type *tsdl_get_model_type(const struct type *type)
{
    return (struct tsdl_type *)(uintptr_t)type;
}

/* Allocates an empty type with an alignment of 1 bit. */
struct tsdl_type *tsdl_new_type(struct tsdl_resolver *resolver, enum type_kind kind);

/* Returns the index of a member or option; -1 if the type has none of that name. */
int64_t tsdl_find_member(const struct tsdl_type *type, ttr_text name);

/* Returns the label of an enumeration by its name, or NULL. */
const struct type_label *tsdl_find_label(const struct tsdl_type *type, ttr_text name);

/* Returns the type of a specifier and declares its tag. Returns NULL on failure. */
const struct tsdl_type *tsdl_resolve_specifier(struct tsdl_resolver *resolver,
                                               const struct tsdl_specifier *specifier);

/* Processes a declaration (typedef, typealias, or `struct NAME { }`) in the current scope. */
TTR_MUST bool tsdl_resolve_declaration(struct tsdl_resolver *resolver,
                                       const struct tsdl_statement *statement);

/* Make a type of integer { }, floating_point { } or string { }, or of enum { }. */
const struct tsdl_type *tsdl_resolve_class(struct tsdl_resolver *resolver,
                                           const struct tsdl_specifier *specifier);
struct tsdl_type *tsdl_resolve_enum(struct tsdl_resolver *resolver,
                                    const struct tsdl_specifier *specifier,
                                    const struct tsdl_type *container);

/* Read values of attributes. On failure, return false with an error that names the attribute.
 * Alignments are returned as log2. */
TTR_MUST bool tsdl_get_unsigned(struct tsdl_resolver *resolver,
                                const struct tsdl_statement *attribute, uint64_t *number);
TTR_MUST bool tsdl_get_signed(struct tsdl_resolver *resolver,
                              const struct tsdl_statement *attribute, int64_t *number);
TTR_MUST bool tsdl_get_bool(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                            bool *claim);
TTR_MUST bool tsdl_get_text(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                            ttr_text *text);
TTR_MUST bool tsdl_get_uuid(struct tsdl_resolver *resolver, const struct tsdl_statement *attribute,
                            uint8_t uuid[16]);
TTR_MUST bool tsdl_get_align(struct tsdl_resolver *resolver, const struct tsdl_value *value,
                             uint8_t *align);
TTR_MUST bool tsdl_get_byte_order(struct tsdl_resolver *resolver,
                                  const struct tsdl_statement *attribute, bool allows_native,
                                  bool *is_big_endian);

/* Finds the index of an attribute in `names`, which ends with NULL. An unknown attribute gets a
 * diagnostic and the index of the NULL. Fails if the attribute was seen before; `*seen` has one
 * bit per attribute. */
TTR_MUST bool tsdl_get_attribute(struct tsdl_resolver *resolver,
                                 const struct tsdl_statement *attribute, const char *const *names,
                                 uint32_t *seen, unsigned *which);

/* The root for which a type is instantiated, and the classes to which that root belongs. */
struct tsdl_root_position {
    enum type_root root;
    struct ctf_stream_class *stream; /* stream class; NULL for the packet header */
    /* event class; NULL except for the roots of an event */
    struct ctf_event_class *event;
    size_t at; /* offset in the text, for messages */
};

/* Makes a structure a root, such as a payload: copies its types with references, and resolves and
 * checks these. Sets `*root` on success. */
TTR_MUST bool tsdl_instantiate_root(struct tsdl_resolver *resolver,
                                    const struct tsdl_root_position *place,
                                    const struct tsdl_type *from, const struct type **root);

/* Returns the role that the name of a member implies. In event headers, names at any depth imply
 * roles; in packet headers and contexts only names at the top level; in arrays none. */
enum ctf_role tsdl_find_role(enum type_root root, bool is_top, const struct type_member *member);

/* Returns true if a type or a member inside it, except in arrays, has a role. `type` may be
 * NULL. */
bool tsdl_has_role(const struct type *type, enum ctf_role role);

/* Parses a UUID such as "2a6422d0-6cee-11e0-8c08-cb07d7b3a564". Returns false for any other form.
 */
bool tsdl_parse_uuid(ttr_text text, uint8_t uuid[16]);

/* Returns the field name that implies a role in a root; NULL if none does. */
const char *tsdl_get_role_name(enum type_root root, enum ctf_role role);

/* Finds the labels of `tag` that select the variant option `name`: the label of the same name, and
 * labels that differ from it by one leading underscore unless they name another option. Returns
 * their number. `escaped` must have room for the name and two bytes. */
uint32_t tsdl_find_option_labels(const struct tsdl_type *variant, const struct tsdl_type *tag,
                                 ttr_text name, char *escaped, const struct type_label *labels[3]);

/* Resolves a path "a.b.c" that starts at a structure and leads only through structures. Returns
 * NULL if it does not exist. If `names` is not NULL, appends the names at index `*names_n`. */
const struct tsdl_type *tsdl_resolve_path(const struct tsdl_type *from, ttr_text path,
                                          ttr_text *names, uint32_t *names_n);

/* Fails if a field of type `target` cannot be the length of `user`, or its tag if `user` is a
 * variant. */
TTR_MUST bool tsdl_check_target(struct tsdl_resolver *resolver, const struct tsdl_type *target,
                                const struct tsdl_type *user, size_t at);

/* Processes all blocks of a parsed text, and adds their content to the description. */
TTR_MUST bool tsdl_resolve_text(struct tsdl_resolver *resolver, const struct tsdl_statement *first);

#endif
