/* Fields of an EventHeader event as arguments of a trace point of trace.h. */
#ifndef TRACETTA_PROVIDER_RINGS_FIELDS_H
#define TRACETTA_PROVIDER_RINGS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tracetta/trace.h>

#define RINGS_TEXT_MAX 16384u /* bytes of the texts that one event needs besides its own bytes */
#define RINGS_NAME_MAX 128u   /* bytes of an argument's name, with its NUL */
#define RINGS_NAMES_MAX 2048u

/* The parts of an event, borrowed from its bytes. */
struct rings_event {
    const uint8_t *metadata, *metadata_end; /* event name, NUL, declarations; NULL = none */
    const uint8_t *payload, *payload_end;
    const uint8_t *activity; /* 16 bytes; NULL = none */
    uint8_t opcode, level;
};

/* Splits an event in the byte order of this machine. Returns false if it is malformed. */
bool rings_parse_event(const uint8_t *event, size_t n, struct rings_event *parts);

/* Arguments of an event: at most TTR_TRACE_ARGS_MAX. */
struct rings_args {
    struct ttr_trace_value value[TTR_TRACE_ARGS_MAX];
    const char *name[TTR_TRACE_ARGS_MAX]; /* only if names were requested; in `names` */
    size_t n;
    uint32_t omitted; /* fields for which no argument was left */
    size_t text_n, names_n;
    char text[RINGS_TEXT_MAX];
    char *names; /* RINGS_NAMES_MAX bytes; NULL = names are not requested */
};

/* Appends an argument, or counts it as omitted. `name` is copied. */
void rings_args_append(struct rings_args *args, const char *name, struct ttr_trace_value value);

/* Appends the fields of an event: members of structs get dotted names, arrays become one text. The
 * number and the types of the arguments depend on the metadata alone. A field that the payload does
 * not contain is 0 or empty. The last argument counts fields that have none of their own. */
void rings_args_append_fields(struct rings_args *args, const struct rings_event *event);

#endif
