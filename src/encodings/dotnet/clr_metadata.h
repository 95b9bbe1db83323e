/* What metadata of .NET's EventPipe, up to its version 5, say of the fields of an event, and how
 * values of its types are shown: in nettrace, and in tracepoints that the runtime writes
 * (clr_user_events.h).
 *
 *   fields   i32 n, fields
 *   field    i32 code   [object: fields]   z16 name
 *   second   i32 bytes, its own included   z16 name   i32 code   [array: i32 code of the elements]
 * [object: fields]   rest
 *
 * Ownership: types lie in the arena given.  Thread rule: constant but for that. */
#ifndef TRACETTA_ENCODINGS_DOTNET_CLR_METADATA_H
#define TRACETTA_ENCODINGS_DOTNET_CLR_METADATA_H

#include "base/arena.h"
#include "base/cursor.h"
#include "model/type.h"

/* Types of fields. */
enum nettrace_code {
    NETTRACE_OBJECT = 1,
    NETTRACE_BOOLEAN = 3, /* 4 bytes */
    NETTRACE_CHAR = 4,    /* a unit of UTF-16 */
    NETTRACE_I8 = 5,
    NETTRACE_U8 = 6,
    NETTRACE_I16 = 7,
    NETTRACE_U16 = 8,
    NETTRACE_I32 = 9,
    NETTRACE_U32 = 10,
    NETTRACE_I64 = 11,
    NETTRACE_U64 = 12,
    NETTRACE_F32 = 13,
    NETTRACE_F64 = 14,
    NETTRACE_DECIMAL = 15,   /* 16 bytes */
    NETTRACE_DATE_TIME = 16, /* 8 bytes: 100 ns since 1601 */
    NETTRACE_GUID = 17,
    NETTRACE_STRING = 18, /* z16 */
    NETTRACE_ARRAY = 19,  /* u16 count, elements */
    /* V6 */
    NETTRACE_VAR_INT = 20, /* zigzag */
    NETTRACE_VAR_UINT = 21,
    NETTRACE_FIXED_ARRAY = 22,
    NETTRACE_CHAR8 = 23,    /* a unit of UTF-8 */
    NETTRACE_REL_LOC = 24,  /* u32 = bytes << 16 | place behind this field */
    NETTRACE_DATA_LOC = 25, /* ... | place in the payload */
    NETTRACE_BOOLEAN8 = 26
};

/* Roles of field types: how a value is shown. */
enum nettrace_role {
    NETTRACE_ROLE_NONE = 0,
    NETTRACE_ROLE_GUID,
    NETTRACE_ROLE_DECIMAL,
    NETTRACE_ROLE_DATE,
    NETTRACE_ROLE_TEXT16,
    NETTRACE_ROLE_ZIGZAG,
    NETTRACE_ROLE_PLACE,
    NETTRACE_ROLE_RELATIVE
};

/* Roles PLACE and RELATIVE hold the code of the elements above. */
#define NETTRACE_ROLE_CODE_SHIFT 8u

/* Fields under construction. */
struct clr_fields {
    struct arena *arena;
    struct cursor c;   /* in: where they begin; out: behind them */
    uint8_t could_lie; /* bit 0: there are booleans, bit 1: there are bytes */
    bool is_second;    /* fields of the second kind */
    bool is_out_of_memory;
    const char *problem; /* out: why they are not decoded, or NULL */
};

/* Takes fields as a struct; NULL with a problem, where they are not whole, or when memory is out.
 */
struct type *clr_fields_take(struct clr_fields *fields);

/* The type of a plain code; NULL where there is none. */
const struct type *clr_plain_type(uint32_t code);

/* Reads UTF-16 up to its zero as UTF-8 in the arena; NULL (and the cursor failed, or memory is out)
 * without a zero. */
const char *clr_take_z16(struct cursor *c, struct arena *arena, size_t *n);

/* Puts a GUID of 16 bytes as text; gives its length, 36. */
size_t clr_guid_text(char *to, const uint8_t *guid);

/* Puts a value of the role GUID, DECIMAL or DATE as text, at most NUMBER_MAX bytes; gives its
 * length, 0 where it is none. */
size_t clr_put_shown(char *to, unsigned role, const ttr_value *value);

#endif
