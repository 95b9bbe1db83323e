/* A kind of tracepoint events as its parts see it: see tracepoints.h. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACEPOINT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "encodings/dotnet/clr_user_events.h"
#include "encodings/event_header/event_header.h"
#include "encodings/tracepoint/tracepoints.h"

/* How the value of a field is given. */
enum tracepoint_shape {
    TRACEPOINT_UINT, /* a number of `size` bytes */
    TRACEPOINT_INT,
    TRACEPOINT_BOOL,
    TRACEPOINT_POINTER,
    TRACEPOINT_TEXT,  /* characters up to a zero */
    TRACEPOINT_BYTES, /* structs, bytes, and whatever is of unknown size */
    TRACEPOINT_ARRAY  /* numbers of `element` bytes */
};

/* Where its bytes are. */
enum tracepoint_place {
    TRACEPOINT_HERE,     /* at `offset`, `size` bytes */
    TRACEPOINT_REST,     /* from `offset` to the end of the record */
    TRACEPOINT_DATA_LOC, /* a number at `offset` tells: bytes << 16 | offset in the record */
    TRACEPOINT_REL_LOC   /* the same, its offset counted from behind itself */
};

struct tracepoint_field {
    ttr_text name, type; /* type: as declared, "__data_loc char[]" */
    ttr_id name_id;
    uint32_t offset, size; /* of what stands at a fixed place */
    uint8_t shape, place;  /* enum tracepoint_shape, enum tracepoint_place */
    uint8_t element;       /* ARRAY: bytes of an element */
    bool is_signed;        /* as the kernel tells it of the field; ARRAY: of elements */
    bool is_array;         /* brackets were in the declaration */
    bool is_pointer;
};

/* What events of a kind mean to the model. */
enum tracepoint_role {
    TRACEPOINT_PLAIN,
    TRACEPOINT_SWITCH, /* sched_switch */
    TRACEPOINT_WAKE,   /* sched_wakeup, sched_wakeup_new */
    TRACEPOINT_NAMES,  /* names a thread: sched_process_fork, task_newtask, task_rename */
    TRACEPOINT_BPRINT  /* ftrace:bprint, whose print format is in the record */
};

/* Fields that a role reads: NULL = the kind has none such. */
struct tracepoint_roles {
    const struct tracepoint_field *pid, *comm; /* of the thread that is told of */
    const struct tracepoint_field *state, *cpu;
};

/* What the print format tells of a field. */
struct tracepoint_look {
    const struct tracepoint_table *table; /* names of its values; NULL = none */
    bool is_flags;                        /* of its bits */
    uint8_t base;                         /* it is shown in, 0 = not told */
};

/* What is made when the first event of a kind comes; NULL before. */
struct tracepoint_lazy {
    const struct tracepoint_program *program; /* the print format, compiled */
    const struct tracepoint_look *look;       /* of each field */
    uint64_t events;                          /* so many were there */
    const struct type *type;                  /* of the payload; NULL = nobody asked yet */
};

struct tracepoint {
    struct tracepoints *all;
    struct tracepoint_lazy *lazy;
    ttr_text system, name;
    ttr_id provider_id, name_id, schema;
    uint32_t id;
    const struct tracepoint_field *field;
    uint32_t fields_n, common_n; /* the first `common_n` of the fields are those of every kind */
    uint32_t fixed_bytes;        /* what a record has at least */
    bool is_broken;              /* its text was not understood: it has no fields */
    bool has_places;             /* fields tell where others are */
    uint8_t role;                /* enum tracepoint_role */
    struct tracepoint_roles roles;
    struct event_header_kind *header; /* its events are those of EventHeader; NULL = they are not */
    struct clr_user_kind *clr;        /* the same of .NET's events */
    ttr_text print;                   /* what stands behind "print fmt:" */
};

/* --- tracepoint_format.c --- */

/* Reads a `format` file into `tp`, whose texts are in the arena then; `text` has to live as long.
 * False with `why` and `line`, or with `why` NULL when memory is out; what was read before (name,
 * id) is in `tp` all the same. */
struct tracepoint_complaint {
    const char *why;
    uint32_t line;
};
TTR_MUST bool tracepoint_parse(struct tracepoint *tp, struct arena *arena, ttr_text text,
                               unsigned long_bytes, struct tracepoint_complaint *complaint);

/* --- tracepoint_fields.c --- */

extern const struct field_ops tracepoint_field_ops;

/* A number of 1, 2, 4 or 8 bytes; of other sizes 0. */
static inline uint64_t tracepoint_load(const uint8_t *p, uint32_t bytes, bool is_big_endian)
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

/* Extends the sign of a number of `bytes` bytes. */
static inline int64_t tracepoint_sign(uint64_t x, uint32_t bytes)
{
    unsigned unused = bytes == 0 || bytes >= 8 ? 0 : 64 - 8 * bytes;
    return (int64_t)(x << unused) >> unused;
}

/* The bytes of a field, wherever they are: `n` of them.  False where they are not all in the
 * record. */
static inline bool tracepoint_bytes(const struct tracepoint_field *field, bool is_big_endian,
                                    struct tracepoint_raw raw, const uint8_t **p, size_t *n)
{
    struct cursor c = cursor_over(raw.p, raw.n, 0);
    if (!cursor_skip(&c, field->offset))
        return false;
    if (field->place == TRACEPOINT_REST) {
        *n = cursor_left(&c);
        *p = c.p;
        return true;
    }
    const uint8_t *here = cursor_take(&c, field->size);
    *p = here;
    *n = field->size;
    if (!here || field->place == TRACEPOINT_HERE)
        return here != NULL;
    uint64_t word = tracepoint_load(here, field->size, is_big_endian);
    uint64_t at = (word & 0xffff) +
                  (field->place == TRACEPOINT_REL_LOC ? (uint64_t)field->offset + field->size : 0);
    c = cursor_over(raw.p, raw.n, 0);
    if (!cursor_skip(&c, at))
        return false;
    if (field->size == 2) {
        /* Only the place is told: up to a zero. */
        const uint8_t *zero = memchr(c.p, 0, cursor_left(&c));
        *n = zero ? (size_t)(zero - c.p) : cursor_left(&c);
    } else {
        *n = (size_t)(word >> 16 & 0xffff);
    }
    *p = cursor_take(&c, *n);
    return *p != NULL;
}

/* --- tracepoint_roles.c --- */

/* Finds what events of the kind mean; for its fields named already. */
void tracepoint_find_role(struct tracepoint *tp);

/* Gives an event of a kind with a role what it means; the record is not shorter than its format
 * says.  False when memory is out. */
TTR_MUST bool tracepoint_take_role(const struct tracepoint *tp, struct tracepoint_raw raw,
                                   ttr_event *event);

/* --- tracepoint_names.c --- */

struct tracepoint_symbol {
    uint64_t address;
    ttr_text name;
    const struct tracepoint_program *program; /* of a printk format that was asked for */
};

/* Texts by addresses, in order of these. */
struct tracepoint_symbols {
    struct tracepoint_symbol *symbol;
    size_t n, capacity;
};

struct tracepoint_names {
    const struct alloc *alloc;
    struct tracepoint_symbols kernel, printk;
};

void tracepoint_names_free(struct tracepoint_names *names);

/* The symbol at or before the address; NULL = none. */
const struct tracepoint_symbol *tracepoint_symbol_at(const struct tracepoint_symbols *symbols,
                                                     uint64_t address);

/* --- tracepoints.c --- */

#define TRACEPOINTS_DENSE 65536u

#define TRACEPOINTS_RECENT 256u /* threads found again without looking */

struct tracepoints {
    struct tracepoints_spec spec;
    struct {
        int32_t pid;
        ttr_id thread;
    } recent[TRACEPOINTS_RECENT];
    const struct alloc *alloc;
    struct arena arena;
    struct tracepoint **kind; /* as they were added */
    size_t kinds_n, kinds_capacity;
    struct tracepoint **dense; /* by number, below TRACEPOINTS_DENSE */
    size_t dense_n;
    const struct tracepoint_field *type,
        *pid; /* the common fields as the first kind has them; NULL: the usual places */
    struct event_headers *headers; /* NULL: there are none */
    struct clr_user_events *clr;   /* the same */
    struct tracepoint unknown;     /* of events whose number is not known */
    struct tracepoint_names names;
};

#endif
