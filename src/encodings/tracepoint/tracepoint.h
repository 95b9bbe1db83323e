/* Internals of tracepoints, shared by the files of this folder. The public interface is
 * tracepoints.h. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "encodings/dotnet/clr_user_events.h"
#include "encodings/event_header/event_header.h"
#include "encodings/tracepoint/tracepoints.h"

/* Types to which the stored bytes of a field are decoded. */
enum tracepoint_shape {
    TRACEPOINT_UINT, /* unsigned integer of `size` bytes */
    TRACEPOINT_INT,
    TRACEPOINT_BOOL,
    TRACEPOINT_POINTER,
    TRACEPOINT_TEXT,  /* characters up to a zero */
    TRACEPOINT_BYTES, /* structs, byte arrays, and types of unknown size */
    TRACEPOINT_ARRAY  /* integers of `element` bytes each */
};

/* Location of a field's bytes in the record. */
enum tracepoint_location {
    TRACEPOINT_HERE, /* `size` bytes at `offset` */
    TRACEPOINT_REST, /* from `offset` to the end of the record */
    /* u32 at `offset`, which refers to the bytes: length << 16 | offset from the start of the
     * record */
    TRACEPOINT_DATA_LOC,
    TRACEPOINT_REL_LOC /* like DATA_LOC, but the offset is relative to the end of the u32 */
};

struct tracepoint_field {
    ttr_text name, type; /* type: declaration without the name, such as "__data_loc char[]" */
    ttr_id name_id;
    uint32_t offset, size; /* offset and size in bytes of the fixed-size part */
    uint8_t shape, place;  /* enum tracepoint_shape, enum tracepoint_location */
    uint8_t element;       /* element size in bytes if `shape` is ARRAY */
    /* declared by "signed:"; for an ARRAY that of the elements */
    bool is_signed;
    bool is_array; /* the declaration has brackets */
    bool is_pointer;
};

/* Display hints for a field, derived from the print format. */
struct tracepoint_display {
    const struct tracepoint_table *table; /* names of the field's values; NULL if none */
    bool is_flags;                        /* the table names bits, not values */
    /* number base in which the field is printed; 0 if unknown */
    uint8_t base;
};

/* Data created at the first event of a tracepoint; NULL until then. */
struct tracepoint_lazy {
    const struct tracepoint_program *program; /* compiled print format */
    const struct tracepoint_display *look;    /* display hints, one per field */
    uint64_t events;                          /* number of events so far */
    /* payload type for format_description.describe; NULL until first requested */
    const struct type *type;
};

struct tracepoint {
    struct tracepoints *all;
    struct tracepoint_lazy *lazy;
    ttr_text system, name;
    ttr_id provider_id, name_id, schema;
    uint32_t id;
    const struct tracepoint_field *field;
    /* common_n: number of leading fields that all tracepoints share (common_type ...) */
    uint32_t fields_n, common_n;
    uint32_t fixed_bytes; /* minimum size of a record */
    /* the format file could not be parsed; the tracepoint has no fields */
    bool is_broken;
    bool has_places; /* at least one field is located by DATA_LOC or REL_LOC */
    /* ftrace:bprint (trace_printk): each record refers to a different print format */
    bool is_bprint;
    /* decoder, if the tracepoint follows the EventHeader convention; else NULL */
    struct event_header_tracepoint *header;
    /* decoder, if the .NET runtime writes the tracepoint's events; else NULL */
    struct clr_user_tracepoint *clr;
    ttr_text print; /* text after "print fmt:" */
};

/* --- tracepoint_format.c --- */

/* Parses a tracefs `format` file into `tp`. Names are copied to the arena; `text` must remain valid
 * as long as `tp`. Returns false if the text is malformed, with reason and line number, or if
 * memory is exhausted, with reason NULL. A name and an id before the error are set nevertheless. */
struct tracepoint_parse_error {
    const char *why;
    uint32_t line;
};
TTR_MUST bool tracepoint_parse(struct tracepoint *tp, struct arena *arena, ttr_text text,
                               unsigned long_bytes, struct tracepoint_parse_error *complaint);

/* --- tracepoint_fields.c --- */

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

/* Locates the `n` bytes of a field; follows a DATA_LOC or REL_LOC. Returns false if the bytes are
 * not completely inside the record. */
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
        /* Old kernels store no length, only the offset: the text ends at a zero. */
        const uint8_t *zero = memchr(c.p, 0, cursor_left(&c));
        *n = zero ? (size_t)(zero - c.p) : cursor_left(&c);
    } else {
        *n = (size_t)(word >> 16 & 0xffff);
    }
    *p = cursor_read_bytes(&c, *n);
    return *p != NULL;
}

/* --- tracepoint_names.c --- */

struct tracepoint_symbol {
    uint64_t address;
    ttr_text name;
    const struct tracepoint_program *program; /* compiled printk format; NULL until used */
};

/* Table of texts by address, sorted for binary search. */
struct tracepoint_symbols {
    struct tracepoint_symbol *symbol;
    size_t n, capacity;
};

struct tracepoint_names {
    const struct alloc *alloc;
    struct tracepoint_symbols kernel, printk;
};

void tracepoint_names_free(struct tracepoint_names *names);

/* Returns the symbol with the highest address that is not above `address`. Returns NULL if all are
 * above. */
const struct tracepoint_symbol *tracepoint_symbol_at(const struct tracepoint_symbols *symbols,
                                                     uint64_t address);

/* --- tracepoints.c --- */

#define TRACEPOINTS_DENSE 65536u

#define TRACEPOINTS_RECENT 256u /* slots of the pid-to-thread cache */

struct tracepoints {
    struct tracepoints_spec spec;
    struct {
        int32_t pid;
        ttr_id thread;
    } recent[TRACEPOINTS_RECENT];
    const struct alloc *alloc;
    struct arena arena;
    struct tracepoint **kind; /* all tracepoints, in the order of their addition */
    size_t kinds_n, kinds_capacity;
    struct tracepoint **dense; /* table indexed by tracepoint id, for ids below TRACEPOINTS_DENSE */
    size_t dense_n;
    /* common fields as declared by the first tracepoint; NULL: the kernel's defaults apply */
    const struct tracepoint_field *type, *pid;
    struct event_header_decoder *headers; /* NULL until a tracepoint needs it */
    /* NULL until a tracepoint needs it */
    struct clr_user_decoder *clr;
    struct tracepoint unknown; /* used for records with an unknown tracepoint id */
    struct tracepoint_names names;
};

#endif
