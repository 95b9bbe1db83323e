/* The types of fields: what a schema is made of, in any format that describes its fields
 * beforehand.
 *
 * A description is a tree of types for each root (the parts of a record that stand one behind
 * another).  It says how values are stored to the bit and what they mean; layout/layout.h compiles
 * it into programs that run over records. Ownership: a tree lies in an arena of whoever made it;
 * types may be shared by many fields and are never changed once a layout was compiled from them.
 * Thread rule: read-only then. */
#ifndef TRACETTA_MODEL_TYPE_H
#define TRACETTA_MODEL_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

/* The parts of a record in the order they are stored; the first two stand once a packet. */
enum type_root {
    ROOT_PACKET_HEADER = 0,
    ROOT_PACKET_CONTEXT = 1,
    ROOT_EVENT_HEADER = 2,
    ROOT_COMMON_CONTEXT = 3,   /* of all events of a stream */
    ROOT_SPECIFIC_CONTEXT = 4, /* of one event class */
    ROOT_PAYLOAD = 5,
    ROOT_COUNT = 6
};

enum type_kind {
    TYPE_NONE = 0,
    TYPE_BITS, /* `bits` bits without arithmetic */
    TYPE_BOOL, /* any bit of `bits` set */
    TYPE_UINT, /* `bits` bits; with labels: an enumeration */
    TYPE_INT,
    TYPE_FLAGS, /* `bits` bits; labels name bits by their index */
    TYPE_FLOAT, /* IEEE 754 of 16, 32, 64 or 128 bits, the latter as the nearest double; wider ones
                   are given as bytes */
    TYPE_VAR_UINT, /* LEB128 */
    TYPE_VAR_INT,
    TYPE_STRING, /* characters up to a zero of `unit` bits of the encoding */
    TYPE_TEXT,   /* `count` bytes, or as many as `length` says: characters up to a zero, the rest is
                    padding */
    TYPE_BLOB,   /* `count` bytes, or as many as `length` says */
    TYPE_STRUCT, /* members one after another */
    TYPE_ARRAY,  /* `count` elements */
    TYPE_SEQUENCE, /* as many elements as `length` says */
    TYPE_OPTIONAL, /* `element`, where the selector is true (no `ranges`) or in one of `ranges` */
    TYPE_VARIANT,  /* the option whose ranges hold the selector */
    TYPE_NULL,     /* `bits` bits that mean nothing: given as null with the hint of the type */
    TYPE_KIND_COUNT
};

enum type_encoding {
    ENCODING_UTF8 = 0, /* bytes that are no UTF-8 are kept */
    ENCODING_ASCII,
    ENCODING_NONE, /* 8-bit characters of unknown encoding */
    ENCODING_UTF16LE,
    ENCODING_UTF16BE,
    ENCODING_UTF32LE,
    ENCODING_UTF32BE
};

/* Inclusive; of signed numbers the two's complement, compared as the selector's or container's type
 * says. */
struct type_range {
    uint64_t low, high;
};

/* A name for some values; several labels may hold one value. */
struct type_label {
    ttr_text name;
    const struct type_range *ranges;
    uint32_t ranges_n;
};

struct type_labels {
    const struct type_label *label;
    uint32_t n;
    bool is_signed; /* how ranges compare */
    uint64_t key;   /* type_labels_hash of them, and `values` that of the next, where whoever made
                       them   settled that; 0 = not */
    uint64_t values;
    uint64_t entries; /* how many their source lists: their ranges, or single values where it has no
                         ranges; 0 = nobody said */
};

/* Where a length or selector is found: names of members from a root down to a number.  Arrays,
 * sequences and optionals on the way are stepped through (the element being read), a variant on the
 * way means each of its options.  names_n 0: no reference. What is inside one array with whom it
 * serves is the value read last. */
struct type_reference {
    const ttr_text *names;
    uint32_t names_n;
    enum type_root root;
};

struct type;

struct type_member {
    ttr_text name;  /* as stored in the description */
    ttr_text shown; /* as people see it (a leading underscore dropped where the format asks for it);
                       shown.p NULL: as stored */
    const struct type *type;
    const struct type_range
        *ranges; /* of an option of a variant: the selector's values that choose it */
    uint32_t ranges_n;
};

struct type {
    uint8_t kind;     /* enum type_kind */
    uint8_t base;     /* numbers are shown in base 2, 8, 10 or 16; 0 = no wish */
    uint8_t encoding; /* enum type_encoding */
    uint8_t hint;     /* ttr_display */
    bool is_big_endian;
    bool is_reversed; /* its bits are stored in the order opposite to what the byte order means */
    bool is_selector_signed; /* OPTIONAL, VARIANT: how ranges compare */
    bool has_inline_length;  /* SEQUENCE, BLOB: its length stands right before the elements, as a
                                number of type `length_type` */
    uint8_t align; /* log2 of bits, from the start of the packet; of structs and arrays with that of
                      what is inside */
    uint8_t minimum_align; /* log2: what was asked for explicitly (0 = none) */
    uint16_t role;         /* what the format does with the value, 0 = nothing; see the format */
    uint32_t bits;         /* width of a number; of a character in STRING (8, 16, 32) */
    uint32_t unit;         /* a gcc bitfield: bits of its unit, which it may not cross; 0 = no */
    uint64_t count;        /* ARRAY, TEXT, BLOB of fixed size */
    const struct type *element;     /* ARRAY, SEQUENCE, OPTIONAL */
    const struct type *length_type; /* with has_inline_length */
    ttr_text length_member; /* with has_inline_length: a member before it in the same struct that
                               says the same; "" or NULL = none */
    struct type_reference reference;   /* length of SEQUENCE, TEXT, BLOB (bytes for the last two);
                                          selector of OPTIONAL, VARIANT */
    const struct type_member *members; /* STRUCT; options of VARIANT */
    uint32_t members_n;
    uint32_t context_n; /* STRUCT, as the root of payloads: so many members, from the first, are the
                           event's context */
    const struct type_range *ranges; /* OPTIONAL */
    uint32_t ranges_n;
    const struct type_labels *labels; /* UINT, INT, FLAGS, VAR_UINT, VAR_INT; NULL = none */
    ttr_text name;                    /* of the type where it has one (an alias), for printing */
    ttr_text media_type;              /* BLOB; "" = application/octet-stream */
    const void *clock;                /* the format's clock a number is mapped to, or NULL */
};

/* Limits every description keeps. */
#define TYPE_DEPTH_MAX 32u /* levels of nesting, roots not counted */
#define TYPE_ALIGN_MAX 15u /* log2: 32,768 bits, a page */

/* True where the number `value` (raw two's complement, sign-extended where signed) is in one of the
 * ranges. */
bool type_ranges_contain(const struct type_range *ranges, uint32_t n, bool is_signed,
                         uint64_t value);

/* A hash of all that labels say, the same wherever they lie; never 0. */
uint64_t type_labels_hash(const struct type_labels *labels);

/* How many values they name, those of several names several times; UINT64_MAX = or more. */
uint64_t type_labels_value_count(const struct type_labels *labels);

/* Finds out both once for all, as writers ask for each event, and counts the entries where nobody
 * has. */
void type_labels_cache_counts(struct type_labels *labels);

/* The i-th label (from 0) that holds the value, in order of the table; NULL when there are no more.
 */
const struct type_label *type_find_label(const struct type_labels *labels, uint64_t value,
                                         uint32_t i);

/* Of labels that name bits (FLAGS): the bits one names, of the lowest 64; and the i-th label of
 * which any bit is set in the value. */
uint64_t type_flag_mask(const struct type_label *label);
const struct type_label *type_find_flag(const struct type_labels *labels, uint64_t value,
                                        uint32_t i);

/* log2 of the largest alignment in a type, also of what `align` does not tell: in the options of
 * variants.  NULL: 0. */
uint8_t type_largest_align(const struct type *type);

/* Whether a type, which may be NULL, holds a value without a role: something that is no matter of
 * readers alone. */
bool type_has_user_value(const struct type *type);

/* The member of that stored name, or NULL. */
const struct type_member *type_find_member(const struct type *type, ttr_text name);

#endif
