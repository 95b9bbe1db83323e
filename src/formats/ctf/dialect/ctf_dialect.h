/* The dialect: how tracetta stores events of any format as CTF without loss. Used by the writer
 * (ctf/write) and by the reader.
 *
 * A trace declares the dialect in its environment: tracer_name = "tracetta", tracetta_dialect = 1.
 * Then
 *   - the specific context starts with the attributes below that the event has; those that are the
 *     same for all events of a class (kind, category, provider) are enumerations with one label:
 * they need one byte, and every reader shows them;
 *   - the log level of an event class is a level (ctf_log_levels);
 *   - field names are escaped into identifiers (ctf_name_escape); labels and names of classes are
 *     escaped if they are not valid text;
 *   - a number in base 16 is a pointer; a struct with the single member "koid" is a koid; a string
 * in a struct "number" is a number; an 8-bit enumeration with the single label "null" or "absent"
 * is a null or a missing optional field, one with the labels "false" and "true" a boolean; a
 * sequence of bytes in base 16 is bytes; a number that is the length of the next member is not a
 * field;
 *   - a class with a name that starts with "tracetta:" has events without a name, unless the event
 * has a name attribute;
 *   - a record of the class "tracetta:names" is not an event: it names a process and a thread (kind
 *     CTF_KIND_NAMES);
 *   - an event of the class "tracetta:listed" contains a list of its attributes and fields, each
 * with its type.
 *
 * Everything else is ordinary CTF. User documentation: docs/formats/ctf-dialect.md. Thread rule:
 * tables and pure functions. */
#ifndef TRACETTA_FORMATS_CTF_DIALECT_CTF_DIALECT_H
#define TRACETTA_FORMATS_CTF_DIALECT_CTF_DIALECT_H

#include "base/bit_cursor.h"
#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"
#include "model/context.h"
#include "model/input.h"

#define CTF_DIALECT_TRACER "tracetta"
#define CTF_DIALECT_VERSION 1
#define CTF_DIALECT_NAMES "tracetta:names" /* class of the records that name threads */
/* prefix of class names for events without a name of the class */
#define CTF_DIALECT_UNNAMED "tracetta:"
#define CTF_KIND_NAMES 255u                  /* kind of records of CTF_DIALECT_NAMES */
#define CTF_DIALECT_LISTED "tracetta:listed" /* class of events that list their fields */

/* Attributes, in the order of their members in the context. */
enum ctf_attribute {
    CTF_ATTRIBUTE_KIND,     /* enumeration: name and number of the kind; default: instant */
    CTF_ATTRIBUTE_CATEGORY, /* enumeration */
    CTF_ATTRIBUTE_PROVIDER, /* enumeration */
    CTF_ATTRIBUTE_EVENT_ID, /* enumeration with one label: the provider's number of such events */
    CTF_ATTRIBUTE_EVENT_VERSION, /* enumeration: version of the event's fields; default: 0 */
    /* 32 or 64 bits, like all numbers below without a stated size; default: unknown */
    CTF_ATTRIBUTE_PID,
    CTF_ATTRIBUTE_TID, /* default: the complete process, or no thread if the pid is missing, too */
    CTF_ATTRIBUTE_CPU, /* if the packet context has no cpu_id */
    CTF_ATTRIBUTE_DURATION,  /* ns */
    CTF_ATTRIBUTE_LINK,      /* link id; for all kinds except switches */
    CTF_ATTRIBUTE_OTHER_PID, /* with OTHER_TID, the thread that a switch takes off the CPU */
    CTF_ATTRIBUTE_OTHER_TID,
    CTF_ATTRIBUTE_TAG,      /* 16 bits */
    CTF_ATTRIBUTE_FLAGS,    /* 8 bits: ttr_event.flags, except raw and has_cpu */
    CTF_ATTRIBUTE_LEVEL,    /* 8 bits: levels without a log level */
    CTF_ATTRIBUTE_OPCODE,   /* 8 bits */
    CTF_ATTRIBUTE_KEYWORD,  /* 64 bits */
    CTF_ATTRIBUTE_SEQUENCE, /* 32 bits */
    CTF_ATTRIBUTE_ACTIVITY, /* 16 bytes */
    CTF_ATTRIBUTE_RELATED,  /* 16 bytes */
    CTF_ATTRIBUTE_NAME,     /* string: the event's name if its class has none */
    CTF_ATTRIBUTE_COUNT
};

/* Attributes up to this one are constant per class; all others are per event. */
#define CTF_ATTRIBUTE_LAST_CONSTANT CTF_ATTRIBUTE_EVENT_VERSION

/* Member names of the attributes. */
extern const char *const ctf_attribute_names[CTF_ATTRIBUTE_COUNT];

/* Value of CTF_LISTED_PART for an attribute. Fields have their ttr_group instead. Attributes come
 * first in the list. */
#define CTF_LISTED_ATTRIBUTE 255u

/* Members of a list entry, in this order. */
enum ctf_listed_member {
    CTF_LISTED_NAME, /* string, escaped; "" for array elements */
    /* CTF_LISTED_ATTRIBUTE or a ttr_group; 8 bits, like the members up to the hint */
    CTF_LISTED_PART,
    CTF_LISTED_TYPE, /* ttr_type */
    CTF_LISTED_DEPTH,
    CTF_LISTED_BITS,
    CTF_LISTED_BASE,
    CTF_LISTED_HINT, /* ttr_display */
    /* 64 bits: a number, the bits of a float, or the entries of an array or struct */
    CTF_LISTED_VALUE,
    CTF_LISTED_TEXT, /* string: the value of a text field */
    CTF_LISTED_DATA, /* sequence of bytes: the value of a field of bytes */
    CTF_LISTED_MEMBERS
};
extern const char *const ctf_listed_names[CTF_LISTED_MEMBERS];

/* Log level for a level 1 to 6 (index), and level for a log level; 0 if there is none. */
extern const uint8_t ctf_log_levels[7];
unsigned ctf_level_of_log_level(int64_t log_level);

/* Appends a field name in a form that all metadata languages accept. "_x" and two hexadecimal
 * digits encode one byte. An "_x" in the name itself is escaped at its underscore, and a reserved
 * name at its first byte (`is_in_context`: attributes are reserved, too). An empty name is "_x_".
 * `is_identifier`: escapes everything except letters, digits and underscores; else only invalid
 * UTF-8 and zero bytes. `times`: occurrence of the name in its struct; from 2 on, "_xn2" etc. is
 * appended. */
void ctf_name_escape(struct buffer *to, ttr_text name, bool is_identifier, bool is_in_context,
                     unsigned times);

/* Appends a label or class name, escaped the same way. Names that start like CTF_DIALECT_UNNAMED
 * are escaped. */
void ctf_label_escape(struct buffer *to, ttr_text text);

/* Appends the original of an escaped name or label. */
void ctf_name_unescape(struct buffer *to, ttr_text escaped);

/* Reports whether a name contains escapes. */
bool ctf_has_escapes(ttr_text text);

/* Reports whether the trace's environment declares the dialect. */
bool ctf_uses_dialect(const struct ctf_description *description);

/* --- Reading (ctf_dialect.c) --- */

/* Offset and size of an attribute in the body of an event. */
struct ctf_attribute_pos {
    uint16_t at;   /* byte offset */
    uint8_t bytes; /* size of a number or id; 1 for a string */
    uint8_t attribute;
    bool is_big_endian;
};

/* Attributes of an event class: constant values, and offsets of the values in each event. */
struct ctf_dialect_attributes {
    uint8_t kind, level;
    /* log2 of the alignment in bits of the root that contains the attributes */
    uint8_t align;
    uint8_t context_align; /* log2 of the alignment in bits of the common context before it */
    uint32_t context_bits;
    bool is_names;  /* records of this class name threads and are not events */
    bool is_listed; /* events of this class list their fields and most of their attributes */
    bool failed;
    ttr_id name, category, provider;
    bool has_number; /* event id and version are valid */
    uint32_t number, version;
    struct ctf_attribute_pos spot[CTF_ATTRIBUTE_COUNT];
    uint32_t n, bytes; /* n: spots; bytes: size of the body that they cover */
};

/* Replaces the types of event classes in the dialect by the types they encode. Does nothing for
 * other traces. Call before layouts are compiled, and again after classes were added. */
TTR_MUST ttr_status ctf_dialect_prepare(struct ctf_description *description, ttr_error *error);

/* Finds the attributes of a prepared event class. */
TTR_MUST ttr_status ctf_dialect_find_attributes(const struct ctf_description *description, ttr *t,
                                                const struct ctf_event_class *event,
                                                struct ctf_dialect_attributes *said,
                                                ttr_error *error);

/* Sets thread, duration and other attributes of an event; kind, level, name, category and provider
 * are already those of the class. `bits` is at the end of the event header; bits->end is the end of
 * the content. Threads belong to `source`. Returns false if memory is out. */
TTR_MUST bool ctf_dialect_set_attributes(const struct ctf_dialect_attributes *said, ttr *t,
                                         uint16_t source, const struct bits *bits,
                                         ttr_event *event);

/* Returns the string id of an unescaped name or text; 0 also if memory is out (*failed). */
ttr_id ctf_intern_unescaped(ttr *t, ttr_text escaped, bool *failed);

/* Pids and tids of an event's two threads, collected while its attributes are read. */
struct ctf_dialect_threads {
    uint64_t number[CTF_ATTRIBUTE_OTHER_TID + 1];
    bool has_attribute[CTF_ATTRIBUTE_OTHER_TID + 1];
};

/* Apply a numeric attribute; after the last one, look up the threads. The latter returns false if
 * memory is out. */
void ctf_dialect_apply_attribute(enum ctf_attribute attribute, uint64_t number,
                                 struct ctf_dialect_threads *who, ttr_event *event);
TTR_MUST bool ctf_dialect_apply_threads(const struct ctf_dialect_threads *who, ttr *t,
                                        uint16_t source, ttr_event *event);

/* --- Listed fields (ctf_listed_fields.c) --- */

/* Field iteration over events of a class with is_listed. The schema's context must start with a
 * struct layout_schema, as layout_field_ops requires. */
extern const struct field_ops ctf_listed_field_ops;

bool ctf_is_listed_class(const struct ctf_event_class *event);

/* Sets the attributes that the event lists; all other members of `event` must be set before.
 * Returns false if memory is out. */
TTR_MUST bool ctf_listed_set_attributes(ttr *t, uint16_t source, ttr_event *event);

/* Applies the names in a record of a class with is_names. The event must be complete and alone in
 * its batch. Returns false if memory is out. */
TTR_MUST bool ctf_dialect_apply_names(struct input *in, const ttr_event *event);

#endif
