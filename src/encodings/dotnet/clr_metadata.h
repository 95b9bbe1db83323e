/* Parser of the field metadata of .NET EventPipe (up to version 5), and text forms of its values.
 * Used for nettrace files and for tracepoints that the runtime writes (clr_user_events.h).
 *
 *   fields        i32 n, then n times field
 *   field         i32 code | [object: fields] | z16 name
 *   second kind   i32 bytes, including itself | z16 name | i32 code
 *                 | [array: i32 code of the elements] | [object: fields] | rest is ignored
 *   z16           UTF-16 text up to a zero
 *
 * EventPipe V2 metadata ("second kind") replace the first kind if an event has arrays.
 *
 * Order of calls: set arena, cursor and is_second in struct clr_field_parser, then
 * clr_parse_fields; the resulting type goes to the layout compiler. clr_format_value formats
 * decoded values if their type has a role.
 *
 * Ownership: types live in the arena passed in. Thread rule: the functions share no state. */
#ifndef TRACETTA_ENCODINGS_DOTNET_CLR_METADATA_H
#define TRACETTA_ENCODINGS_DOTNET_CLR_METADATA_H

#include "base/arena.h"
#include "base/cursor.h"
#include "model/type.h"

/* Type codes of fields in the metadata. */
enum nettrace_code {
    NETTRACE_OBJECT = 1,
    NETTRACE_BOOLEAN = 3, /* boolean of 4 bytes */
    NETTRACE_CHAR = 4,    /* UTF-16 code unit, 2 bytes */
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
    NETTRACE_DECIMAL = 15,   /* System.Decimal of 16 bytes */
    NETTRACE_DATE_TIME = 16, /* 8 bytes: date in units of 100 ns since 1601 */
    NETTRACE_GUID = 17,
    NETTRACE_STRING = 18, /* z16 */
    NETTRACE_ARRAY = 19,  /* u16 number of elements; the elements follow */
    /* codes that only EventPipe V6 has */
    NETTRACE_VAR_INT = 20, /* integer, zigzag-encoded as LEB128 */
    NETTRACE_VAR_UINT = 21,
    NETTRACE_FIXED_ARRAY = 22,
    NETTRACE_CHAR8 = 23, /* UTF-8 code unit, 1 byte */
    /* u32: length << 16 | offset of the value from the end of this u32 */
    NETTRACE_REL_LOC = 24,
    /* u32: length << 16 | offset of the value from the start of the payload */
    NETTRACE_DATA_LOC = 25,
    NETTRACE_BOOLEAN8 = 26
};

/* Roles of field types (type.role), which select the text form of a value. */
enum nettrace_role {
    NETTRACE_ROLE_NONE = 0,
    NETTRACE_ROLE_GUID,
    NETTRACE_ROLE_DECIMAL,
    NETTRACE_ROLE_DATE,
    NETTRACE_ROLE_TEXT16,
    NETTRACE_ROLE_ZIGZAG,
    NETTRACE_ROLE_LOCATION,
    NETTRACE_ROLE_RELATIVE
};

/* Roles PLACE and RELATIVE: the type code of the elements is stored in the bits from this one
 * on. */
#define NETTRACE_ROLE_CODE_SHIFT 8u

/* State of the parser for field metadata. */
struct clr_field_parser {
    struct arena *arena;
    /* bytes to parse; in: starts with the fields; out: starts after them */
    struct cursor c;
    /* bit 0: a field is a boolean; bit 1: a field is a byte. Some runtimes declare wrong sizes for
     * these types */
    uint8_t could_lie;
    bool is_second; /* true if the fields are in the second notation (see above) */
    bool is_out_of_memory;
    /* out: why the fields cannot be decoded, constant text; NULL if they are valid */
    const char *problem;
};

/* Parses fields and returns them as a struct type. Returns NULL if they are damaged
 * (fields->problem is set) or memory runs out (is_out_of_memory). */
struct type *clr_parse_fields(struct clr_field_parser *fields);

/* Returns the type for a type code. Returns NULL if the code is unknown, or needs a declaration
 * (arrays, objects). */
const struct type *clr_get_type_of_code(uint32_t code);

/* Reads UTF-16 text up to its zero character, and returns it as UTF-8 in the arena. Returns NULL
 * if the zero is missing (c->failed is set) or memory runs out. */
const char *clr_read_z16(struct cursor *c, struct arena *arena, size_t *n);

/* Formats a GUID of 16 bytes and returns the length, 36. */
size_t clr_format_guid(char *to, const uint8_t *guid);

/* Formats a value with the role GUID, DECIMAL or DATE as at most NUMBER_MAX bytes. Returns the
 * length; 0 if the value is invalid or has another role. */
size_t clr_format_value(char *to, unsigned role, const ttr_value *value);

#endif
