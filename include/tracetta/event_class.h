/* Event classes: the events and fields that a trace declares before their first occurrence (CTF).
 *
 *     ttr_event_class about = {.size = sizeof about};
 *     ttr_field_declaration field;
 *     ttr_field_declarations iter;
 *     for (size_t i = 0; ttr_reader_class(reader, 0, i, &about); i++) {
 *         ttr_field_declarations_begin(&about, &iter);
 *         while (ttr_field_declarations_next(&iter, &field))
 *             ...
 *     }
 *
 * Conventions as in tracetta.h. */
#ifndef TRACETTA_EVENT_CLASS_H
#define TRACETTA_EVENT_CLASS_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An event class.  Borrowed until the reader is closed. */
typedef struct ttr_event_class {
    size_t size;
    ttr_text name;        /* "" = none */
    uint64_t id;          /* number within its stream class */
    uint64_t stream;      /* number of its stream class */
    ttr_text stream_name; /* "" = none */
    ttr_text emf_uri;     /* "" = none */
    ttr_text message;     /* message template in the trace's own syntax, "sent {n}"; "" = none */
    ttr_text description; /* "" = none */
    int64_t log_level;    /* number of the format; valid with has_log_level */
    bool has_log_level;
    uint8_t level;    /* log_level as a ttr_level */
    uint64_t events;  /* events of this class that the input returned so far */
    uint32_t version; /* valid with has_version */
    bool has_version;
    const void *internal[6];
} ttr_event_class;

/* Copies the i-th event class of the trace of the index-th report.  Returns false after the last,
 * and for formats without event classes.  All inputs of a trace have the same classes in the same
 * order, with counters of their own. */
TTR_API bool ttr_reader_class(ttr_reader *reader, size_t index, size_t i, ttr_event_class *about);

/* Whether a declared field is selected at run time. */
typedef enum ttr_choice {
    TTR_CHOICE_NONE = 0,
    TTR_CHOICE_OPTIONAL = 1, /* the next field, one level deeper, is present or absent */
    TTR_CHOICE_VARIANT = 2   /* exactly one of the next fields, one level deeper, is present */
} ttr_choice;

/* A declared field.  The children of a struct, array, optional or variant follow it, one level
 * deeper. */
typedef struct ttr_field_declaration {
    ttr_text name; /* "" = an array element */
    uint16_t depth;
    uint8_t group;  /* ttr_group */
    uint8_t type;   /* ttr_type of its values; TTR_TYPE_NULL for optionals and variants */
    uint8_t choice; /* ttr_choice */
    uint8_t hint;   /* ttr_display */
    uint8_t base;   /* base that the trace suggests for display: 2, 8, 10 or 16; 0 = none */
    bool is_big_endian;
    bool is_technical; /* used for decoding only (size, time, id); not among the fields of events */
    bool has_count;    /* ARRAY, TEXT, BYTES: fixed number of elements or bytes, `count` */
    bool has_inline_length; /* the number of elements is stored directly before them */
    uint32_t bits;          /* width of a number or a character; 0 = variable */
    uint32_t align;         /* bits */
    uint64_t count;
    /* path of the field with the number of elements, or with the selector, from `reference_group`
     * down; valid until the next call */
    const ttr_text *reference;
    uint32_t reference_n;    /* names in the path; 0 = no reference */
    uint8_t reference_group; /* ttr_group */
} ttr_field_declaration;

/* An iterator over the fields of a class, on the caller's stack.  Members are internal. */
typedef struct ttr_field_declarations {
    const void *internal[6];
    uint64_t state[128];
} ttr_field_declarations;

/* Maximum number of fields that an iterator returns: short metadata can declare billions of fields.
 */
#define TTR_FIELD_DECLARATIONS_MAX 65536u

/* Starts an iteration over the groups TTR_GROUP_PACKET, HEADER, COMMON, CONTEXT, PAYLOAD, in this
 * order. */
TTR_API void ttr_field_declarations_begin(const ttr_event_class *about,
                                          ttr_field_declarations *walk);

/* Gets the next field; returns false after the last. */
TTR_API bool ttr_field_declarations_next(ttr_field_declarations *walk,
                                         ttr_field_declaration *declaration);

/* A labelled range of values, low to high inclusive; two's complement for INT.  For FLAGS: bit
 * numbers. */
typedef struct ttr_label {
    ttr_text name;
    uint64_t low, high;
} ttr_label;

/* Gets the next labelled range of the field returned last (ENUM or FLAGS); returns false after the
 * last. */
TTR_API bool ttr_field_declarations_label(ttr_field_declarations *walk, ttr_label *label);

/* Gets the next range of selector values for which the field returned last is present: an optional,
 * or an option of a variant, named by the label.  Returns false after the last.  Without any
 * range, the field is present if the selector is true. */
TTR_API bool ttr_field_declarations_selector(ttr_field_declarations *walk, ttr_label *label);

#ifdef __cplusplus
}
#endif
#endif
