/* Field types: the declaration of events, for all formats that declare their fields.
 *
 * A declaration has one tree of types per root. Roots are the parts of a record, stored one after
 * another. A type defines how values are stored, to the bit, and what they mean; layout/layout.h
 * compiles types into decoders.
 *
 * Ownership: a tree lives in the arena of its creator. Fields may share types. Thread rule: types
 * are immutable once a layout was compiled from them. */
#ifndef TRACETTA_MODEL_TYPE_H
#define TRACETTA_MODEL_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

/* Parts of a record in stored order. The first two exist once per packet, the others once per
 * event. */
enum type_root {
    ROOT_PACKET_HEADER = 0,
    ROOT_PACKET_CONTEXT = 1,
    ROOT_EVENT_HEADER = 2,
    ROOT_COMMON_CONTEXT = 3,   /* common to all events of a stream */
    ROOT_SPECIFIC_CONTEXT = 4, /* specific to an event class */
    ROOT_PAYLOAD = 5,
    ROOT_COUNT = 6
};

enum type_kind {
    TYPE_NONE = 0,
    TYPE_BITS, /* `bits` bits that are not a quantity */
    TYPE_BOOL, /* `bits` bits; true if any is set */
    TYPE_UINT, /* `bits` bits; with labels: an enumeration */
    TYPE_INT,
    TYPE_FLAGS, /* `bits` bits; labels name bits by index */
    /* IEEE 754, 16 to 128 bits; 128 bits become the nearest double; other widths are returned as
     * bytes */
    TYPE_FLOAT,
    TYPE_VAR_UINT, /* LEB128 */
    TYPE_VAR_INT,
    TYPE_STRING, /* characters of `bits` bits up to a zero */
    /* characters up to a zero, then padding; `count` bytes, or as many as the number that
     * `reference` names */
    TYPE_TEXT,
    TYPE_BLOB,     /* `count` bytes, or as many as the number that `reference` names */
    TYPE_STRUCT,   /* members one after another */
    TYPE_ARRAY,    /* `count` elements */
    TYPE_SEQUENCE, /* as many elements as the number that `reference` names */
    /* `element` if the selector is true (no `ranges`) or is in one of `ranges`; else nothing */
    TYPE_OPTIONAL,
    TYPE_VARIANT, /* the member with ranges that contain the selector */
    TYPE_NULL,    /* `bits` bits without meaning; the field is null, with the type's display */
    TYPE_KIND_COUNT
};

enum type_encoding {
    ENCODING_UTF8 = 0, /* invalid UTF-8 is kept */
    ENCODING_ASCII,
    ENCODING_NONE, /* 8-bit characters of unknown encoding */
    ENCODING_UTF16LE,
    ENCODING_UTF16BE,
    ENCODING_UTF32LE,
    ENCODING_UTF32BE
};

/* Inclusive range of values. The user of a range decides whether its numbers are signed
 * (`is_signed`, `is_selector_signed`); signed ones are in two's complement. */
struct type_range {
    uint64_t low, high;
};

/* Name of the values in some ranges. A value may have several labels. */
struct type_label {
    ttr_text name;
    const struct type_range *ranges;
    uint32_t ranges_n;
};

struct type_labels {
    const struct type_label *label;
    uint32_t n;
    bool is_signed; /* ranges compare as signed numbers */
    /* results of type_labels_hash and type_labels_value_count, cached by type_labels_cache_counts;
     * 0 = not cached */
    uint64_t key;
    uint64_t values;
    /* number of ranges or single values that the declaration lists; 0 = unknown */
    uint64_t entries;
};

/* Path to a length or selector: the names of nested members, from a root to a number. Arrays,
 * sequences and optionals add no name; all options of a variant are searched. Within an array the
 * number read last counts. names_n 0 = no reference. */
struct type_reference {
    const ttr_text *names;
    uint32_t names_n;
    enum type_root root;
};

struct type;

struct type_member {
    ttr_text name; /* name as stored in the declaration */
    /* name to display, without a leading underscore if the format requires that; shown.p NULL =
     * same as `name` */
    ttr_text shown;
    const struct type *type;
    /* for an option of a variant: the selector values that select the option */
    const struct type_range *ranges;
    uint32_t ranges_n;
};

struct type {
    uint8_t kind;     /* enum type_kind */
    uint8_t base;     /* base for displaying numbers: 2, 8, 10 or 16; 0 = no preference */
    uint8_t encoding; /* enum type_encoding */
    uint8_t hint;     /* ttr_display */
    bool is_big_endian;
    /* bits are numbered in the order opposite to that of the byte order */
    bool is_reversed;
    bool is_selector_signed; /* OPTIONAL, VARIANT: ranges compare as signed numbers */
    /* SEQUENCE, TEXT, BLOB: the length is stored directly before the data, as a number of
     * `length_type` */
    bool has_inline_length;
    /* log2 of the alignment in bits, relative to the start of the packet; of a struct or array at
     * least that of its members or elements */
    uint8_t align;
    /* log2 of the alignment in bits that the declaration states explicitly; 0 = none */
    uint8_t minimum_align;
    uint16_t role; /* purpose of the value, in the format's own numbering; 0 = none */
    uint32_t bits; /* width of a number, or of a character of a STRING (8, 16, 32) */
    /* gcc bitfield: size in bits of the storage unit that the field must fit in; 0 = not a
     * bitfield */
    uint32_t unit;
    /* ARRAY, TEXT, BLOB of fixed size: number of elements or bytes */
    uint64_t count;
    const struct type *element;     /* ARRAY, SEQUENCE, OPTIONAL: type of the element */
    const struct type *length_type; /* type of the length, if has_inline_length */
    /* if has_inline_length: name of an earlier member of the same struct that holds the same
     * length; "" or NULL = none */
    ttr_text length_member;
    /* length of SEQUENCE (elements), TEXT, BLOB (bytes); selector of OPTIONAL, VARIANT */
    struct type_reference reference;
    const struct type_member *members; /* members of a STRUCT; options of a VARIANT */
    uint32_t members_n;
    /* for a payload root that includes the event's context: number of its first members that are
     * the context */
    uint32_t context_n;
    const struct type_range *ranges; /* OPTIONAL: selector values for which the element exists */
    uint32_t ranges_n;
    /* labels of UINT, INT, FLAGS, VAR_UINT, VAR_INT; NULL = none */
    const struct type_labels *labels;
    /* name of the type in the declaration (type alias), for printing */
    ttr_text name;
    ttr_text media_type; /* media type of a BLOB; "" = application/octet-stream */
    /* clock that counts this number (an object of the format), or NULL */
    const void *clock;
};

/* Limits of every declaration. */
#define TYPE_DEPTH_MAX 32u /* nesting levels below a root */
#define TYPE_ALIGN_MAX 15u /* log2: 32,768 bits, a page */

/* Returns true if a number is in one of the ranges. `value`: two's complement, sign-extended if
 * signed. */
bool type_ranges_contain(const struct type_range *ranges, uint32_t n, bool is_signed,
                         uint64_t value);

/* Returns a hash of the contents of labels, independent of addresses; never 0. */
uint64_t type_labels_hash(const struct type_labels *labels);

/* Returns the number of values in all ranges, saturated at UINT64_MAX. */
uint64_t type_labels_value_count(const struct type_labels *labels);

/* Caches the hash and the number of values, which writers need for every event; sets `entries` if
 * it is unknown. */
void type_labels_cache_counts(struct type_labels *labels);

/* Returns the i-th label of a value (from 0), in declaration order. Returns NULL if there are
 * fewer. */
const struct type_label *type_find_label(const struct type_labels *labels, uint64_t value,
                                         uint32_t i);

/* For labels of FLAGS. type_flag_mask returns which of the lowest 64 bits a label names;
 * type_find_flag returns the i-th label that names a set bit. */
uint64_t type_flag_mask(const struct type_label *label);
const struct type_label *type_find_flag(const struct type_labels *labels, uint64_t value,
                                        uint32_t i);

/* Returns log2 of the largest alignment within a type, including the options of variants. NULL: 0.
 */
uint8_t type_largest_align(const struct type *type);

/* Returns true if a type contains a value without a role, which users want to see. NULL: false. */
bool type_has_user_value(const struct type *type);

/* Returns the member with a stored name, or NULL. */
const struct type_member *type_find_member(const struct type *type, ttr_text name);

#endif
