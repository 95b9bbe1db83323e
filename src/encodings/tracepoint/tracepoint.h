/* Types and functions that only the files of this folder use. The public interface is
 * tracepoints.h. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "encodings/dotnet/clr_user_events.h"
#include "encodings/event_header/event_header.h"
#include "encodings/tracepoint/tracepoints.h"

/* Types of values to which the bytes of a field are decoded. */
enum tracepoint_shape {
    TRACEPOINT_UINT, /* unsigned integer of `size` bytes */
    TRACEPOINT_INT,
    TRACEPOINT_BOOL,
    TRACEPOINT_POINTER,
    TRACEPOINT_TEXT,  /* text up to a zero character */
    TRACEPOINT_BYTES, /* bytes: structs, byte arrays, and types of unknown size */
    TRACEPOINT_ARRAY  /* array of integers of `element` bytes each */
};

/* Position of the bytes of a field in the record. */
enum tracepoint_location {
    TRACEPOINT_HERE, /* `size` bytes at `offset` */
    TRACEPOINT_REST, /* all bytes from `offset` to the end of the record */
    /* where a u32 at `offset` refers to: length << 16 | offset from the start of the record */
    TRACEPOINT_DATA_LOC,
    /* like DATA_LOC, but the offset counts from the end of the u32 */
    TRACEPOINT_REL_LOC
};

struct tracepoint_field {
    /* type: declaration without the name of the field, such as "__data_loc char[]" */
    ttr_text name, type;
    ttr_id name_id;
    /* byte offset and size of the part of the field with a fixed position */
    uint32_t offset, size;
    uint8_t shape, place; /* enum tracepoint_shape; enum tracepoint_location */
    uint8_t element;      /* bytes of an element if `shape` is ARRAY */
    /* true if the integer, or the elements of an ARRAY, are signed ("signed:") */
    bool is_signed;
    bool is_array; /* true if the declaration contains brackets */
    bool is_pointer;
};

/* How a field is displayed, as the print format shows. */
struct tracepoint_display {
    /* names of values of the field; NULL if it has none */
    const struct tracepoint_table *table;
    bool is_flags; /* true if the names are those of bits, not of values */
    /* base in which the print format prints the field; 0 if unknown */
    uint8_t base;
};

/* Data that the first event of a tracepoint creates. */
struct tracepoint_lazy {
    /* compiled print format; NULL before the first event */
    const struct tracepoint_program *program;
    /* array of display hints, one per field; NULL before the first event */
    const struct tracepoint_display *look;
    uint64_t events; /* number of events of the tracepoint so far */
    /* type of the payload, for format_description.describe; NULL until requested */
    const struct type *type;
};

struct tracepoint {
    struct tracepoints *all;
    struct tracepoint_lazy *lazy;
    ttr_text system, name;
    ttr_id provider_id, name_id, schema;
    uint32_t id;
    const struct tracepoint_field *field;
    /* common_n: number of fields at the start that all tracepoints have (common_type ...) */
    uint32_t fields_n, common_n;
    uint32_t fixed_bytes; /* bytes of the shortest possible record */
    /* true if the format file could not be parsed, so the tracepoint has no fields */
    bool is_broken;
    bool has_places; /* true if a field is located by DATA_LOC or REL_LOC */
    /* true if the tracepoint is ftrace:bprint (trace_printk): each record refers to a print format
     * of its own */
    bool is_bprint;
    /* decoder of EventHeader events, if the tracepoint has such events; else NULL */
    struct event_header_tracepoint *header;
    /* decoder of .NET events, if the .NET runtime writes the tracepoint; else NULL */
    struct clr_user_tracepoint *clr;
    ttr_text print; /* print format: the text after "print fmt:" */
};

/* --- Format files (tracepoint_format.c) --- */

/* Parses a tracefs `format` file into `tp`. Copies names to the arena; `text` must be valid as
 * long as `tp`. Returns false with reason and line number if the text is malformed, with the
 * reason NULL if memory runs out. Name and id are set if they are before the error. */
struct tracepoint_parse_error {
    const char *why;
    uint32_t line;
};
TTR_MUST bool tracepoint_parse(struct tracepoint *tp, struct arena *arena, ttr_text text,
                               unsigned long_bytes, struct tracepoint_parse_error *complaint);

/* --- Field operations (tracepoint_fields.c) --- */

extern const struct field_ops tracepoint_field_ops;

/* Loads an integer of 1, 2, 4 or 8 bytes. Returns 0 for other sizes. */
static inline uint64_t tracepoint_load_integer(const uint8_t *p, uint32_t bytes, bool is_big_endian)
{
    switch (bytes) {
    case 1:
        return *p;
    case 2:
        return is_big_endian ? load_u16be(p) : load_u16le(p);
    case 4:
        return is_big_endian ? load_u32be(p) : load_u32le(p);
    case 8:
        return is_big_endian ? load_u64be(p) : load_u64le(p);
    default:
        return 0;
    }
}

/* Sign-extends an integer of `bytes` bytes to 64 bits. */
static inline int64_t tracepoint_sign_extend(uint64_t x, uint32_t bytes)
{
    unsigned unused = bytes == 0 || bytes >= 8 ? 0 : 64 - 8 * bytes;
    return (int64_t)(x << unused) >> unused;
}

/* Finds the `n` bytes of a field in the record; follows a DATA_LOC or REL_LOC. Returns false if
 * the bytes are not all in the record. */
static inline bool tracepoint_locate_bytes(const struct tracepoint_field *field, bool is_big_endian,
                                           struct tracepoint_raw raw, const uint8_t **p, size_t *n)
{
    struct cursor c = cursor_init(raw.p, raw.n, 0);
    if (!cursor_skip(&c, field->offset))
        return false;
    if (field->place == TRACEPOINT_REST) {
        *n = cursor_left(&c);
        *p = c.p;
        return true;
    }
    const uint8_t *here = cursor_read_bytes(&c, field->size);
    *p = here;
    *n = field->size;
    if (!here || field->place == TRACEPOINT_HERE)
        return here != NULL;
    uint64_t word = tracepoint_load_integer(here, field->size, is_big_endian);
    uint64_t at = (word & 0xffff) +
                  (field->place == TRACEPOINT_REL_LOC ? (uint64_t)field->offset + field->size : 0);
    c = cursor_init(raw.p, raw.n, 0);
    if (!cursor_skip(&c, at))
        return false;
    if (field->size == 2) {
        /* old kernels store only an offset, no length: the text ends at a zero */
        const uint8_t *zero = memchr(c.p, 0, cursor_left(&c));
        *n = zero ? (size_t)(zero - c.p) : cursor_left(&c);
    } else {
        *n = (size_t)(word >> 16 & 0xffff);
    }
    *p = cursor_read_bytes(&c, *n);
    return *p != NULL;
}

/* --- Symbols and names (tracepoint_names.c) --- */

struct tracepoint_symbol {
    uint64_t address;
    ttr_text name;
    /* compiled printk format; NULL until a record refers to it */
    const struct tracepoint_program *program;
};

/* Table that maps addresses to texts, sorted by address. */
struct tracepoint_symbols {
    struct tracepoint_symbol *symbol;
    size_t n, capacity;
};

struct tracepoint_names {
    const struct alloc *alloc;
    struct tracepoint_symbols kernel, printk;
};

void tracepoint_names_free(struct tracepoint_names *names);

/* Returns the symbol with the highest address that is not above `address`; NULL if all addresses
 * are above it. */
const struct tracepoint_symbol *tracepoint_find_symbol(const struct tracepoint_symbols *symbols,
                                                       uint64_t address);

/* --- Table of tracepoints (tracepoints.c) --- */

#define TRACEPOINTS_DENSE 65536u

#define TRACEPOINTS_RECENT 256u /* number of slots in the cache of threads by pid */

struct tracepoints {
    struct tracepoints_spec spec;
    struct {
        int32_t pid;
        ttr_id thread;
    } recent[TRACEPOINTS_RECENT];
    const struct alloc *alloc;
    struct arena arena;
    /* all tracepoints, in the order in which they were added */
    struct tracepoint **kind;
    size_t kinds_n, kinds_capacity;
    struct tracepoint **dense; /* tracepoints by id, for ids below TRACEPOINTS_DENSE */
    size_t dense_n;
    /* common fields, as the first tracepoint declares them; NULL if the kernel's defaults apply */
    const struct tracepoint_field *type, *pid;
    /* decoder of EventHeader events; NULL until a tracepoint needs it */
    struct event_header_decoder *headers;
    /* decoder of .NET events; NULL until a tracepoint needs it */
    struct clr_user_decoder *clr;
    /* tracepoint of all records with an unknown tracepoint id */
    struct tracepoint unknown;
    struct tracepoint_names names;
};

#endif
