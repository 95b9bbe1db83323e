/* How events of any kind are said in CTF, by our writer, and understood again by our reader.
 *
 * A trace says that it speaks so in its environment: tracer_name = "tracetta", tracetta_dialect
 * = 1.  Then
 *   - the specific context begins with the attributes below, as many as the event has; those that
 * are the same for all events of a class (kind, category, provider) are enumerations with one
 * label, so that they take a byte and every reader shows them;
 *   - the log level of an event class is a level (ctf_log_levels);
 *   - names of fields are escaped, so that any name can be an identifier (ctf_name_escape); labels
 * and names of classes are escaped where they are no text;
 *   - a number in base 16 is a pointer; one in a struct of a single member "koid" is a koid; a
 * string in one of "number" is a number; an enumeration of 8 bits with the single label "null" or
 * "absent" is null or an optional field that is not there, one with the two labels "false" and
 * "true" a boolean; a sequence of bytes in base 16 is bytes; a number that is the length of what
 * follows is no field;
 *   - a class whose name begins with "tracetta:" has events without a name, unless they tell it as
 * an attribute;
 *   - an event of the class "tracetta:names" is none: it names a process and a thread (kind
 * CTF_KIND_NAMES);
 *   - an event of the class "tracetta:listed" lists its attributes and fields one by one, each with
 * all that a type would say of it. Everything else is as in any CTF trace.
 * docs/formats/ctf-dialect.md says the same for people. Thread rule: tables and pure functions. */
#ifndef TRACETTA_FORMATS_CTF_DIALECT_CTF_DIALECT_H
#define TRACETTA_FORMATS_CTF_DIALECT_CTF_DIALECT_H

#include "base/bits.h"
#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"
#include "model/context.h"
#include "model/input.h"

#define CTF_DIALECT_TRACER "tracetta"
#define CTF_DIALECT_VERSION 1
#define CTF_DIALECT_NAMES "tracetta:names" /* the class of events that name threads */
#define CTF_DIALECT_UNNAMED \
    "tracetta:" /* begins the names of classes whose events have none, or tell it themselves */
#define CTF_KIND_NAMES 255u                  /* their kind */
#define CTF_DIALECT_LISTED "tracetta:listed" /* the class of events that list their fields */

/* Attributes in the order they stand. */
enum ctf_attribute {
    CTF_ATTRIBUTE_KIND,     /* enumeration: the kind's name and number; missing: an instant */
    CTF_ATTRIBUTE_CATEGORY, /* enumeration */
    CTF_ATTRIBUTE_PROVIDER, /* enumeration */
    CTF_ATTRIBUTE_EVENT_ID, /* enumeration whose label is the number that the provider has for such
                               events */
    CTF_ATTRIBUTE_EVENT_VERSION, /* the same of the version of what they say; missing: 0 */
    CTF_ATTRIBUTE_PID, /* 32 or 64 bits, like all below that do not say otherwise; missing: unknown
                        */
    CTF_ATTRIBUTE_TID, /* missing: the whole process, or no thread at all */
    CTF_ATTRIBUTE_CPU, /* where the packet does not tell */
    CTF_ATTRIBUTE_DURATION,  /* ns */
    CTF_ATTRIBUTE_LINK,      /* of all kinds but switches */
    CTF_ATTRIBUTE_OTHER_PID, /* the thread that a switch takes off the cpu */
    CTF_ATTRIBUTE_OTHER_TID,
    CTF_ATTRIBUTE_TAG,      /* 16 bits */
    CTF_ATTRIBUTE_FLAGS,    /* 8 bits: ttr_event.flags but raw and has_cpu */
    CTF_ATTRIBUTE_LEVEL,    /* 8 bits: levels that are no log level */
    CTF_ATTRIBUTE_OPCODE,   /* 8 bits */
    CTF_ATTRIBUTE_KEYWORD,  /* 64 bits */
    CTF_ATTRIBUTE_SEQUENCE, /* 32 bits */
    CTF_ATTRIBUTE_ACTIVITY, /* 16 bytes */
    CTF_ATTRIBUTE_RELATED,  /* 16 bytes */
    CTF_ATTRIBUTE_NAME,     /* a string: the name of the event where its class has none for it */
    CTF_ATTRIBUTE_COUNT
};

/* Those up to it are of classes, all others of events. */
#define CTF_ATTRIBUTE_LAST_CONSTANT CTF_ATTRIBUTE_EVENT_VERSION

/* Their names, as shown. */
extern const char *const ctf_attribute_names[CTF_ATTRIBUTE_COUNT];

/* What an entry of a list of fields is: a field of the payload or the context of its event
 * (ttr_group), or an attribute; attributes come first. */
#define CTF_LISTED_ATTRIBUTE 255u

/* The members of an entry, in this order, and their names. */
enum ctf_listed_member {
    CTF_LISTED_NAME, /* a string, escaped; "" of elements */
    CTF_LISTED_PART, /* what it is; like all up to the hint 8 bits */
    CTF_LISTED_TYPE, /* ttr_type */
    CTF_LISTED_DEPTH,
    CTF_LISTED_BITS,
    CTF_LISTED_BASE,
    CTF_LISTED_HINT,  /* ttr_hint */
    CTF_LISTED_VALUE, /* 64 bits: a number, the bits of a float, how many entries stand in an array
                         or struct */
    CTF_LISTED_TEXT,  /* a string: a text */
    CTF_LISTED_DATA,  /* bytes */
    CTF_LISTED_MEMBERS
};
extern const char *const ctf_listed_names[CTF_LISTED_MEMBERS];

/* The log level of a class for a level 1 to 6 (index), and the level for a log level; 0 = none. */
extern const uint8_t ctf_log_levels[7];
unsigned ctf_level_of(int64_t log_level);

/* Appends a field's name in a form that any description can hold.  "_x" and two digits stand for a
 * byte; also for the underscore of an
 * "_x" that was there, and for the first byte of a name that means something where it stands
 * (`is_in_context`).  An empty name is "_x_".  `is_identifier`: all but letters, digits and
 * underscores is escaped; else only what is no UTF-8, and zeros.  `times`: the name stands in its
 * struct for the times-th time; from 2 on "_xn2" and so forth follows. */
void ctf_name_escape(struct buffer *to, ttr_text name, bool is_identifier, bool is_in_context,
                     unsigned times);

/* The same for labels, and for names of classes: those that begin like CTF_DIALECT_UNNAMED are
 * escaped. */
void ctf_label_escape(struct buffer *to, ttr_text text);

/* Appends what an escaped name or label stands for. */
void ctf_name_unescape(struct buffer *to, ttr_text escaped);

/* Whether names have escapes in them at all. */
bool ctf_has_escapes(ttr_text text);

/* True where the environment says that the trace speaks so. */
bool ctf_is_dialect(const struct ctf_description *description);

/* --- Reading (ctf_dialect.c) --- */

/* Where an attribute stands in the body of an event. */
struct ctf_said_spot {
    uint16_t at;   /* bytes */
    uint8_t bytes; /* of a number or an id; 1 for a string */
    uint8_t attribute;
    bool is_big_endian;
};

/* What a class says of its events, and what these say of themselves. */
struct ctf_said {
    uint8_t kind, level;
    uint8_t align;         /* log2 of bits: where the root with the attributes begins */
    uint8_t context_align; /* the same of the common context before it */
    uint32_t context_bits;
    bool is_names;  /* they are no events but name threads */
    bool is_listed; /* they list their fields, and most attributes among them */
    bool failed;
    ttr_id name, category, provider;
    bool has_number; /* event id, and version */
    uint32_t number, version;
    struct ctf_said_spot spot[CTF_ATTRIBUTE_COUNT];
    uint32_t n, bytes; /* bytes: of the body that the spots need */
};

/* Replaces the types of the event classes that speak so by those they stand for; does nothing for
 * other traces.  Before any layout is made of them, and again when classes were added. */
TTR_MUST ttr_status ctf_dialect_prepare(struct ctf_description *description, ttr_error *error);

/* Finds what a prepared class says. */
TTR_MUST ttr_status ctf_dialect_class(const struct ctf_description *description, ttr *t,
                                      const struct ctf_event_class *event, struct ctf_said *said,
                                      ttr_error *error);

/* Fills in an event: thread, duration and so forth; kind, level, name, category and provider are
 * those of the class already.  `bits` stand behind its header; bits->end: of the content.  Threads
 * are of `source`.  False when memory is out. */
TTR_MUST bool ctf_dialect_fill(const struct ctf_said *said, ttr *t, uint16_t source,
                               const struct bits *bits, ttr_event *event);

/* The id of what an escaped name or text stands for; 0 also when memory is out (*failed). */
ttr_id ctf_unescaped_id(ttr *t, ttr_text escaped, bool *failed);

/* Who an event is about, while its attributes are taken: pid and tid of its thread and of the other
 * one, where they are told. */
struct ctf_said_who {
    uint64_t number[CTF_ATTRIBUTE_OTHER_TID + 1];
    bool is_told[CTF_ATTRIBUTE_OTHER_TID + 1];
};

/* Takes an attribute that is a number; when all are taken, the threads.  The latter is false when
 * memory is out. */
void ctf_dialect_take(enum ctf_attribute attribute, uint64_t number, struct ctf_said_who *who,
                      ttr_event *event);
TTR_MUST bool ctf_dialect_take_threads(const struct ctf_said_who *who, ttr *t, uint16_t source,
                                       ttr_event *event);

/* --- Listed fields (ctf_listed_fields.c) --- */

/* Gives the fields of an event of a class with is_listed; its schema's `own` begins with a struct
 * layout_schema, as layout_field_ops wants. */
extern const struct field_ops ctf_listed_field_ops;

bool ctf_is_listed(const struct ctf_event_class *event);

/* Fills in the attributes that such an event lists; it is filled in otherwise.  False when memory
 * is out. */
TTR_MUST bool ctf_listed_fill(ttr *t, uint16_t source, ttr_event *event);

/* Takes the names that an event of a class with is_names tells; it is filled in and its fields can
 * be walked, and it is alone in its batch.  False when memory is out. */
TTR_MUST bool ctf_dialect_take_names(struct input *in, const ttr_event *event);

#endif
