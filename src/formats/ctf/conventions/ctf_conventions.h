/* The CTF conventions: how tracetta stores events of any format as CTF, and restores them.
 * README.md has the rules. Used by the writer (ctf/write), which needs names, levels and escaping,
 * and by the reader, which replaces types, finds the attributes of a class once and sets them per
 * event.
 *
 * Thread rule: tables and pure functions. */
#ifndef TRACETTA_FORMATS_CTF_CONVENTIONS_CTF_CONVENTIONS_H
#define TRACETTA_FORMATS_CTF_CONVENTIONS_CTF_CONVENTIONS_H

#include "base/bit_cursor.h"
#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"
#include "model/context.h"
#include "model/input.h"

#define CTF_CONVENTIONS_TRACER "tracetta"
#define CTF_CONVENTIONS_VERSION 1
#define CTF_CONVENTIONS_NAMES "tracetta:names" /* class of the records that name threads */
/* prefix of the class names of events that have no fixed name */
#define CTF_CONVENTIONS_UNNAMED "tracetta:"
#define CTF_KIND_NAMES 255u                      /* kind of records of CTF_CONVENTIONS_NAMES */
#define CTF_CONVENTIONS_LISTED "tracetta:listed" /* class of events that list their fields */

/* Attributes of an event that are stored in its specific context, in the order of the members. */
enum ctf_attribute {
    /* enumeration: name and number of the event kind; if missing: instant */
    CTF_ATTRIBUTE_KIND,
    CTF_ATTRIBUTE_CATEGORY, /* enumeration */
    CTF_ATTRIBUTE_PROVIDER, /* enumeration */
    /* enumeration with one label: the event id that the provider assigned */
    CTF_ATTRIBUTE_EVENT_ID,
    /* enumeration: version of the event's fields; if missing: 0 */
    CTF_ATTRIBUTE_EVENT_VERSION,
    /* number of 32 or 64 bits, like all numbers below without a stated size; if missing: unknown
     * process */
    CTF_ATTRIBUTE_PID,
    /* if missing: the event belongs to the process; if the pid is missing too: to no thread */
    CTF_ATTRIBUTE_TID,
    /* CPU number; only if the packet context does not record the CPU */
    CTF_ATTRIBUTE_CPU,
    CTF_ATTRIBUTE_DURATION, /* ns */
    /* link id (async, flow, counter or object id); of all kinds except context switches */
    CTF_ATTRIBUTE_LINK,
    /* pid and, in OTHER_TID, tid of the thread that a context switch removes from the CPU */
    CTF_ATTRIBUTE_OTHER_PID,
    CTF_ATTRIBUTE_OTHER_TID,
    /* 16 bits; the meaning depends on the event kind (ttr_event.tag) */
    CTF_ATTRIBUTE_TAG,
    /* 8 bits: ttr_event.flags, without the flags `raw` and `has_cpu` */
    CTF_ATTRIBUTE_FLAGS,
    /* 8 bits: severity level; only if the log level of the event class cannot express it */
    CTF_ATTRIBUTE_LEVEL,
    CTF_ATTRIBUTE_OPCODE,   /* ETW opcode, 8 bits */
    CTF_ATTRIBUTE_KEYWORD,  /* ETW keyword mask, 64 bits */
    CTF_ATTRIBUTE_SEQUENCE, /* sequence number, 32 bits */
    CTF_ATTRIBUTE_ACTIVITY, /* activity id, 16 bytes */
    CTF_ATTRIBUTE_RELATED,  /* related activity id, 16 bytes */
    CTF_ATTRIBUTE_NAME,     /* string: name of the event, if the class does not name its events */
    CTF_ATTRIBUTE_COUNT
};

/* Last of the attributes that have the same value in all events of a class. */
#define CTF_ATTRIBUTE_LAST_CONSTANT CTF_ATTRIBUTE_EVENT_VERSION

/* Member name of each attribute in the specific context, by enum ctf_attribute. */
extern const char *const ctf_attribute_names[CTF_ATTRIBUTE_COUNT];

/* Value of CTF_LISTED_PART of an entry that is an attribute. Entries that are fields have the
 * field's ttr_group instead. Attributes come first in the list. */
#define CTF_LISTED_ATTRIBUTE 255u

/* Members of an entry in the list of a "tracetta:listed" event, in this order. */
enum ctf_listed_member {
    CTF_LISTED_NAME, /* string: escaped field name; "" for array elements */
    /* CTF_LISTED_PART to CTF_LISTED_HINT are numbers of 8 bits */
    CTF_LISTED_PART,  /* group of the field (ttr_group), or CTF_LISTED_ATTRIBUTE */
    CTF_LISTED_TYPE,  /* ttr_type */
    CTF_LISTED_DEPTH, /* number of enclosing arrays and structs */
    CTF_LISTED_BITS,  /* size of the value in bits */
    CTF_LISTED_BASE,  /* base in which the number is printed */
    CTF_LISTED_HINT,  /* ttr_display */
    /* 64 bits: an integer, the bits of a float, or the number of members of an array or struct */
    CTF_LISTED_VALUE,
    CTF_LISTED_TEXT, /* string: the value of a text field */
    CTF_LISTED_DATA, /* byte string: the value of a field of bytes */
    CTF_LISTED_MEMBERS
};
extern const char *const ctf_listed_names[CTF_LISTED_MEMBERS];

/* ctf_log_levels: LTTng log level of each TTR_LEVEL_*. ctf_convert_log_level: TTR_LEVEL_* of an
 * LTTng log level; 0 if there is none. */
extern const uint8_t ctf_log_levels[7];
unsigned ctf_convert_log_level(int64_t log_level);

/* Appends a field name in a form that all metadata languages accept:
 * |  one byte                     "_x" and two hexadecimal digits
 * |  "_x" in the name itself      its underscore is escaped
 * |  a reserved name              its first byte is escaped
 * |  an empty name                "_x_"
 * |  the n-th use of a name       "_xn" and the number is appended, from n = `times` = 2 on
 * is_in_context: names of attributes are reserved, too. is_identifier: escapes everything except
 * letters, digits and underscores; otherwise only invalid UTF-8 and zero bytes. */
void ctf_name_escape(struct buffer *to, ttr_text name, bool is_identifier, bool is_in_context,
                     unsigned times);

/* Appends a label or class name, escaped like a field name that need not be an identifier. Escapes
 * the first byte of a text that starts like CTF_CONVENTIONS_UNNAMED. */
void ctf_label_escape(struct buffer *to, ttr_text text);

/* Appends the original text of an escaped name or label. */
void ctf_name_unescape(struct buffer *to, ttr_text escaped);

/* Returns true if the text contains "_x", so that it may have escapes. */
bool ctf_has_escapes(ttr_text text);

/* Returns true if the trace's environment declares the CTF conventions. */
bool ctf_uses_conventions(const struct ctf_description *description);

/* --- Reading of attributes (ctf_conventions.c) --- */

/* Position of an attribute, from the start of the specific context (v1.1: of the payload). */
struct ctf_attribute_pos {
    uint16_t at; /* byte offset of the attribute */
    /* size in bytes of a number or UUID; 1 for a string, which a zero byte ends */
    uint8_t bytes;
    uint8_t attribute;
    bool is_big_endian;
};

/* Attributes of an event class: values that are the same for all events, and positions of the
 * others in an event. */
struct ctf_conventions_attributes {
    uint8_t kind, level;
    /* log2 of the alignment in bits of the specific context (v1.1: of the payload) */
    uint8_t align;
    /* log2 of the alignment in bits of the common context, which comes before */
    uint8_t context_align;
    uint32_t context_bits;
    bool is_names; /* true if records of this class name threads and are not events */
    /* true if events of this class list their fields and most of their attributes */
    bool is_listed;
    bool failed;
    ttr_id name, category, provider;
    bool has_number; /* true if the class declares an event id and a version */
    uint32_t number, version;
    struct ctf_attribute_pos pos[CTF_ATTRIBUTE_COUNT];
    /* n: number of elements of `pos`; bytes: byte offset of the end of the last attribute */
    uint32_t n, bytes;
};

/* Replaces the field types of a trace that follows the CTF conventions by the types that they
 * represent. Does nothing for other traces. Called before layouts are compiled, and again after
 * classes were added. */
TTR_MUST ttr_status ctf_conventions_prepare(struct ctf_description *description, ttr_error *error);

/* Finds the attributes of an event class: values that are the same for all its events, and
 * positions of the others. ctf_conventions_prepare must have replaced its types. */
TTR_MUST ttr_status ctf_conventions_find_attributes(const struct ctf_description *description,
                                                    ttr *t, const struct ctf_event_class *event,
                                                    struct ctf_conventions_attributes *attributes,
                                                    ttr_error *error);

/* Sets the attributes of an event that differ per event, such as thread and duration; the caller
 * has set kind, level, name, category and provider from the class. `bits` is at the end of the
 * event header; bits->end is the end of the content. Threads are registered for `source`. Returns
 * false if memory runs out. */
TTR_MUST bool ctf_conventions_set_attributes(const struct ctf_conventions_attributes *attributes,
                                             ttr *t, uint16_t source, const struct bits *bits,
                                             ttr_event *event);

/* Unescapes and interns a name or text. Returns its string id; 0 for "" and, with *failed set, if
 * memory runs out. */
ttr_id ctf_intern_unescaped(ttr *t, ttr_text escaped, bool *failed);

/* Pids and tids of an event's thread and of the other thread of a context switch, collected while
 * attributes are read. Index: enum ctf_attribute. */
struct ctf_conventions_threads {
    uint64_t number[CTF_ATTRIBUTE_OTHER_TID + 1];
    bool has_attribute[CTF_ATTRIBUTE_OTHER_TID + 1];
};

/* ctf_conventions_set_number: sets the event member of a numeric attribute, or stores a pid or
 * tid in `threads`. ctf_conventions_set_event_threads: called after all attributes; looks up the
 * threads. Returns false if memory runs out. */
void ctf_conventions_set_number(enum ctf_attribute attribute, uint64_t number,
                                struct ctf_conventions_threads *threads, ttr_event *event);
TTR_MUST bool ctf_conventions_set_event_threads(const struct ctf_conventions_threads *threads,
                                                ttr *t, uint16_t source, ttr_event *event);

/* --- Reading of listed fields (ctf_listed_fields.c) --- */

/* Iterates over the fields of "tracetta:listed" events. The context of the event's schema must
 * start with a struct layout_schema, as layout_field_ops requires. */
extern const struct field_ops ctf_listed_field_ops;

bool ctf_is_listed_class(const struct ctf_event_class *event);

/* Sets the attributes in the list of a "tracetta:listed" event; all other members of `event` must
 * be set before. Returns false if memory runs out. */
TTR_MUST bool ctf_listed_set_attributes(ttr *t, uint16_t source, ttr_event *event);

/* Applies the thread and process names in a record of the class "tracetta:names". The record must
 * be complete and the only element of its batch. Returns false if memory runs out. */
TTR_MUST bool ctf_conventions_set_thread_names(struct input *in, const ttr_event *event);

#endif
