/* From the tree of TSDL to types: what the parts of the resolver share.
 *
 * A type of TSDL is made where it is declared, with its references as written, and put in place
 * where a root of an event takes it: then references become paths from a root, options of variants
 * get the values that choose them, and names mean roles.  What holds no reference is shared by all
 * its places. Ownership: types and names lie in the description's arena.  Thread rule: that of the
 * description. */
#ifndef TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TYPES_H
#define TRACETTA_FORMATS_CTF_METADATA_TSDL_TSDL_TYPES_H

#include "formats/ctf/metadata/tsdl/tsdl_tree.h"

/* Fields, every use of a structure counted: of one root, and of all by the length of the text. */
#define TSDL_FIELDS_MAX (1u << 18)
#define TSDL_FIELDS_FREE (1u << 14)
#define TSDL_FIELDS_PER_BYTE 8u

struct tsdl_type;

/* The length of a sequence or text, or the tag of a variant, as it was written. */
struct tsdl_reference {
    ttr_text path;    /* "" = none */
    uint32_t reading; /* which call of tsdl_parse read it, for messages */
    size_t at;        /* there */
    const struct tsdl_type
        *owner; /* the structure being declared that has the field; NULL: none had it */
};

/* A type, and what is known of it until it is in place.  Every `struct type` that TSDL makes is the
 * beginning of one. */
struct tsdl_type {
    struct type type;
    struct tsdl_reference reference;
    const struct tsdl_type *origin;      /* of a copy */
    const struct ctf_clock *clock;       /* some clock inside */
    const struct ctf_clock *other_clock; /* another one inside */
    uint32_t fields;     /* how many types it is made of, every use counted; saturates */
    uint8_t depth;       /* levels of nesting inside */
    uint8_t encoding;    /* of an integer: what several of it are a text in; ENCODING_NONE: numbers
                            they are */
    bool has_references; /* it or something inside */
    bool is_shared;      /* by all that are written alike: who names one takes a copy */
    uint32_t *index;     /* of many members or labels: by hash of the name, place + 1 */
    uint32_t index_n;    /* a power of two, or 0 */
};

/* What is called by a name, in each of many scopes: types by what typedef, typealias, and names of
 * structures, variants and enumerations declare; clocks; streams, whose name is the bytes of their
 * id. */
struct tsdl_names {
    struct tsdl_name {
        ttr_text name; /* "uint8_t", "unsigned long", "struct page *"; p NULL = free */
        uint32_t scope;
        const void *what;
    } * slot;
    size_t slots_n, used;
};

/* Gives what a scope itself calls so, or NULL. */
const void *tsdl_names_find(const struct tsdl_names *names, uint32_t scope, ttr_text name);

/* Adds a name, which the caller keeps; false when memory is out. */
TTR_MUST bool tsdl_names_add(struct tsdl_names *names, struct arena *arena, uint32_t scope,
                             ttr_text name, const void *what);

/* What stays between calls of tsdl_parse (description->parser). */
struct tsdl_state {
    struct tsdl_names types, clocks, streams;
    struct tsdl_names classes; /* types of integer { } and the like, by their bytes: metadata repeat
                                  the same few in every event */
    uint32_t scopes_n;         /* given out; scope 0 is the root */
    uint32_t readings_n;
    uint64_t text_n;   /* bytes read so far */
    uint64_t fields_n; /* put in place so far */
    bool has_trace;
};

/* A scope of declarations (CTF 1.8.3, 7.3.1) and the one around it. */
struct tsdl_scope {
    uint32_t id;
    const struct tsdl_scope *outer;
};

/* A structure while its fields are declared, and the one around it. */
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
    size_t memory_max; /* of the description's arena */
    size_t line_at;    /* a place in the text, and its line: notes come in order */
    unsigned line;
};

/* Zeroed bytes in the description's arena; NULL when there is no more (noted as failure). */
void *tsdl_take(struct tsdl_resolver *resolver, size_t size);

/* A copy of a text in the description's arena; false when memory is out. */
TTR_MUST bool tsdl_copy_text(struct tsdl_resolver *resolver, ttr_text from, ttr_text *to);

/* Something worth to know, odd, or that makes events doubtful, with the line. */
void tsdl_note(struct tsdl_resolver *resolver, ttr_severity severity, size_t at, const char *code,
               const char *format, ...) TTR_PRINTF(5, 6);

static inline struct tsdl_type *tsdl_type_of(const struct type *type)
{
    return (struct tsdl_type *)(uintptr_t)type;
}

/* A new type without content, align 1 bit. */
struct tsdl_type *tsdl_new_type(struct tsdl_resolver *resolver, enum type_kind kind);

/* The place of a member or option among the first `n`, or -1. */
int64_t tsdl_find_member(const struct tsdl_type *type, ttr_text name);

/* The label of that name of an enumeration, or NULL. */
const struct type_label *tsdl_find_label(const struct tsdl_type *type, ttr_text name);

/* The type that a specifier stands for, declaring what it names; NULL when it fails. */
const struct tsdl_type *tsdl_resolve_specifier(struct tsdl_resolver *resolver,
                                               const struct tsdl_specifier *specifier);

/* typedef, typealias, struct NAME { }; in the scope at hand. */
TTR_MUST bool tsdl_resolve_declaration(struct tsdl_resolver *resolver,
                                       const struct tsdl_statement *statement);

/* integer { }, floating_point { }, string { }, enum { }: types without members. */
const struct tsdl_type *tsdl_resolve_class(struct tsdl_resolver *resolver,
                                           const struct tsdl_specifier *specifier);
struct tsdl_type *tsdl_resolve_enum(struct tsdl_resolver *resolver,
                                    const struct tsdl_specifier *specifier,
                                    const struct tsdl_type *container);

/* Values of attributes; false with a failure that names the attribute.  An alignment is given as
 * log2. */
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

/* The attribute's place in a table of names that ends with NULL, the table's length for an unknown
 * one (noted); fails when it was there before.  `*seen`: a bit for each. */
TTR_MUST bool tsdl_get_attribute(struct tsdl_resolver *resolver,
                                 const struct tsdl_statement *attribute, const char *const *names,
                                 uint32_t *seen, unsigned *which);

/* What tells where a root stands. */
struct tsdl_place {
    enum type_root root;
    struct ctf_stream_class *stream; /* NULL for the packet header */
    struct ctf_event_class *event;   /* NULL but for event roots */
    size_t at;                       /* in the text, for messages */
};

/* Makes a structure a root: copies what refers to something, and checks it.  `*root` is set when it
 * is fine. */
TTR_MUST bool tsdl_place_root(struct tsdl_resolver *resolver, const struct tsdl_place *place,
                              const struct tsdl_type *from, const struct type **root);

/* The role of a member by its name: event headers have them at any depth, packet headers and
 * contexts at the top, arrays nowhere. */
enum ctf_role tsdl_role_of(enum type_root root, bool is_top, const struct type_member *member);

/* True where a type or something in it, arrays aside, has a role; NULL has none. */
bool tsdl_has_role(const struct type *type, enum ctf_role role);

/* The bytes of "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"; false where the text is of another form. */
bool tsdl_take_uuid(ttr_text text, uint8_t uuid[16]);

/* The name that gives a role in a root, or NULL. */
const char *tsdl_role_name(enum type_root root, enum ctf_role role);

/* The labels that choose an option of that name: the one of its name, and where no option has
 * theirs, those that differ from it by one leading underscore.  Gives their count.  `escaped` has
 * room for the name and two bytes. */
uint32_t tsdl_labels_of(const struct tsdl_type *variant, const struct tsdl_type *tag, ttr_text name,
                        char *escaped, const struct type_label *labels[3]);

/* Finds what a path "a.b.c" from a structure on means, through structures only; NULL when nothing.
 * The names go behind the `*names_n` that are at `names`, unless that is NULL. */
const struct tsdl_type *tsdl_follow(const struct tsdl_type *from, ttr_text path, ttr_text *names,
                                    uint32_t *names_n);

/* Fails unless a type can be a length (or a tag, of a variant). */
TTR_MUST bool tsdl_check_target(struct tsdl_resolver *resolver, const struct tsdl_type *target,
                                const struct tsdl_type *user, size_t at);

/* The blocks of a whole text. */
TTR_MUST bool tsdl_resolve_text(struct tsdl_resolver *resolver, const struct tsdl_statement *first);

#endif
