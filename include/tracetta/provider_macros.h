/* TTR_WRITE: writes an event with fields that are known at compile time.
 *
 *     TTR_WRITE(provider, "Name", PARTS...)
 *
 * is an expression of type ttr_status: TTR_OK, also without a consumer; TTR_E_LIMIT or TTR_E_IO as
 * described at ttr_site_write. Name and metadata become constant data. Field values are only
 * evaluated while a consumer is attached; they are then copied into one block on the stack and
 * passed to each backend. Up to 63 PARTS are allowed. Their order only matters among fields.
 *
 *   Event attributes
 *     TTR_LEVEL(n)               level 1 to 255; default 5
 *     TTR_KEYWORD(bits)          may be repeated, bits are combined; default 0
 *     TTR_OPCODE(n)  TTR_ID(id, version)  TTR_TAG(n)
 *     TTR_ACTIVITY(id)  TTR_RELATED(id)     pointers to 16 bytes; without activity if NULL
 *
 *   Scalar fields: (name, value) or (name, value, tag)
 *     TTR_U8 U16 U32 U64 ULONG UPTR         unsigned
 *     TTR_I8 I16 I32 I64 LONG IPTR          signed
 *     TTR_X8 X16 X32 X64 XLONG XPTR POINTER printed in hexadecimal
 *     TTR_F32 F64 BOOL BOOL8 BOOL16 BOOL32 CHAR CHAR16 CHAR32 WCHAR
 *     TTR_ERRNO PID TIME32 TIME64           times are seconds since 1970
 *     TTR_PORT IP4                          in network byte order
 *     TTR_IP6 GUID BYTES16                  a pointer to 16 bytes
 *
 *   Arrays of a scalar kind (U8, PID, ...); a tag may follow n
 *     TTR_FIXED(KIND, name, pointer, n)     n is a constant
 *     TTR_ARRAY(KIND, name, pointer, n)     n is a run-time value
 *
 *   Strings
 *     TTR_TEXT TEXT16 TEXT32 WTEXT LATIN1 XML JSON  (name, pointer): up to a zero unit; NULL is ""
 *     TTR_TEXT_N TEXT16_N TEXT32_N WTEXT_N LATIN1_N BINARY  (name, pointer, n): n units
 *     TTR_TEXT_AS BINARY_AS                 (name, format, pointer, n): n bytes, TTR_EH_AS_* format
 *
 *   Structs
 *     TTR_STRUCT(name, n)                   contains the next n fields; n is a constant
 *     TTR_STRUCT_FIXED(name, n, count)      array of structs, count is a constant
 *     TTR_STRUCT_ARRAY(name, n, count)      array of structs, count is a run-time value
 *                                           (its fields by TTR_METADATA, values by TTR_PAYLOAD)
 *     TTR_METADATA(name, encoding)
 *     TTR_METADATA_AS(name, encoding, format)
 *     TTR_PAYLOAD(pointer, n)
 *
 * A name may carry attributes: "bytes;unit=B". In C++ templates and inline functions gcc cannot
 * place the section entries of TTR_WRITE. TTR_WRITE_LATE works there; its tracepoint is registered
 * when the statement is first executed.
 *
 * Thread rule: as in provider.h, which includes this file. Do not include it directly. */
#ifndef TRACETTA_PROVIDER_MACROS_H
#define TRACETTA_PROVIDER_MACROS_H

#include "provider.h"

#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Call sites and their arguments --- */

/* One TTR_WRITE statement: its tracepoint and constant data. */
typedef struct ttr_site {
    ttr_tracepoint point;
    const void *metadata; /* event header and metadata extension, in the layout of the event */
    uint32_t metadata_n;
    uint32_t zero;
} ttr_site;

#define TTR_SITE_LATE 0x80000000u /* bit in `enabled`: registration is pending */

enum ttr_piece_kind {
    TTR_PIECE_END = 0,
    TTR_PIECE_VALUE = 1,    /* the first n bytes of `value` */
    TTR_PIECE_BYTES = 2,    /* n bytes at `bytes` */
    TTR_PIECE_ARRAY = 3,    /* n as u16, then n units */
    TTR_PIECE_ZSTRING = 4,  /* units up to and including a zero unit */
    TTR_PIECE_ACTIVITY = 5, /* 16 bytes for the activity extension, outside of the payload */
    TTR_PIECE_RELATED = 6
};

/* One run-time part of an event, usually the value of a field. */
typedef struct ttr_piece {
    union {
        uint64_t value;
        const void *bytes;
    } is;
    uint32_t n;
    uint16_t unit; /* bytes per element of an array or string */
    uint16_t kind; /* enum ttr_piece_kind */
} ttr_piece;

/* Writes the event of a call site. `pieces` ends with TTR_PIECE_END. TTR_WRITE calls it if a
 * consumer is attached. Returns TTR_E_LIMIT and writes nothing above TTR_EVENT_MAX, TTR_E_IO if a
 * backend failed; the other backends still got the event. ttr_provider_count returns the totals. */
TTR_API ttr_status ttr_site_write(ttr_site *site, const ttr_piece *pieces);

static inline ttr_piece ttr_piece_of(const void *bytes, size_t n, uint16_t unit, uint16_t kind)
{
    ttr_piece piece;
    piece.is.bytes = bytes;
    piece.n = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    piece.unit = unit;
    piece.kind = kind;
    return piece;
}

/* A 16-byte value, and arrays of them. */
static inline ttr_piece ttr_piece_of_16(const void *bytes)
{
    return ttr_piece_of(bytes, 16, 1, TTR_PIECE_BYTES);
}

static inline const void *ttr_array_of_16(const void *bytes)
{
    return bytes;
}

#ifdef __cplusplus
typedef char16_t ttr_char16;
typedef char32_t ttr_char32;
#else
typedef __CHAR16_TYPE__ ttr_char16;
typedef __CHAR32_TYPE__ ttr_char32;
#endif

/* For each C type, a function that makes a piece of a value and one that converts an array pointer.
 * Functions instead of casts: the compiler then checks the argument's type. */
#define TTR_EH_PIECE(stem, type)                                             \
    static inline ttr_piece ttr_piece_##stem(type value)                     \
    {                                                                        \
        ttr_piece piece = ttr_piece_of(0, sizeof(type), 1, TTR_PIECE_VALUE); \
        piece.is.value = 0;                                                  \
        memcpy(&piece.is.value, &value, sizeof(type));                       \
        return piece;                                                        \
    }                                                                        \
    static inline const void *ttr_array_##stem(const type *values)           \
    {                                                                        \
        return values;                                                       \
    }
TTR_EH_PIECE(of_u8, uint8_t)
TTR_EH_PIECE(of_u16, uint16_t)
TTR_EH_PIECE(of_u32, uint32_t)
TTR_EH_PIECE(of_u64, uint64_t)
TTR_EH_PIECE(of_i8, int8_t)
TTR_EH_PIECE(of_i16, int16_t)
TTR_EH_PIECE(of_i32, int32_t)
TTR_EH_PIECE(of_i64, int64_t)
TTR_EH_PIECE(of_long, long)
TTR_EH_PIECE(of_ulong, unsigned long)
TTR_EH_PIECE(of_uptr, uintptr_t)
TTR_EH_PIECE(of_iptr, intptr_t)
TTR_EH_PIECE(of_f32, float)
TTR_EH_PIECE(of_f64, double)
TTR_EH_PIECE(of_truth, bool)
TTR_EH_PIECE(of_char, char)
TTR_EH_PIECE(of_char16, ttr_char16)
TTR_EH_PIECE(of_char32, ttr_char32)
TTR_EH_PIECE(of_wchar, wchar_t)
typedef const void *ttr_pointer;
TTR_EH_PIECE(of_pointer, ttr_pointer)

#ifdef __cplusplus
} /* extern "C" */

/* The braced list keeps temporaries in its values alive until the call has returned. */
template <size_t n>
static inline ttr_status ttr_site_write_list(ttr_site *site, const ttr_piece (&pieces)[n])
{
    return ttr_site_write(site, pieces);
}
#define TTR_EH_SITE_WRITE(site, ...) ttr_site_write_list(&(site), {__VA_ARGS__})
#define TTR_EH_ASSERT static_assert
#else
#define TTR_EH_SITE_WRITE(site, ...) ttr_site_write(&(site), (const ttr_piece[]){__VA_ARGS__})
#define TTR_EH_ASSERT _Static_assert
#endif

/* --- Field kinds: encoding with or without format, encoding, format, size, C type --- */

/* Returns the integer encoding with the size of a type. */
#define TTR_EH_OF(type) (sizeof(type) == 8 ? 5 : sizeof(type) == 4 ? 4 : 3)

#define TTR_EH_KIND_U8 ttr_plain, 2, 0, 1, of_u8
#define TTR_EH_KIND_U16 ttr_plain, 3, 0, 2, of_u16
#define TTR_EH_KIND_U32 ttr_plain, 4, 0, 4, of_u32
#define TTR_EH_KIND_U64 ttr_plain, 5, 0, 8, of_u64
#define TTR_EH_KIND_I8 ttr_formatted, 2, 2, 1, of_i8
#define TTR_EH_KIND_I16 ttr_formatted, 3, 2, 2, of_i16
#define TTR_EH_KIND_I32 ttr_formatted, 4, 2, 4, of_i32
#define TTR_EH_KIND_I64 ttr_formatted, 5, 2, 8, of_i64
#define TTR_EH_KIND_X8 ttr_formatted, 2, 3, 1, of_u8
#define TTR_EH_KIND_X16 ttr_formatted, 3, 3, 2, of_u16
#define TTR_EH_KIND_X32 ttr_formatted, 4, 3, 4, of_u32
#define TTR_EH_KIND_X64 ttr_formatted, 5, 3, 8, of_u64
#define TTR_EH_KIND_ULONG ttr_plain, TTR_EH_OF(long), 0, sizeof(long), of_ulong
#define TTR_EH_KIND_LONG ttr_formatted, TTR_EH_OF(long), 2, sizeof(long), of_long
#define TTR_EH_KIND_XLONG ttr_formatted, TTR_EH_OF(long), 3, sizeof(long), of_ulong
#define TTR_EH_KIND_UPTR ttr_plain, TTR_EH_OF(void *), 0, sizeof(void *), of_uptr
#define TTR_EH_KIND_IPTR ttr_formatted, TTR_EH_OF(void *), 2, sizeof(void *), of_iptr
#define TTR_EH_KIND_XPTR ttr_formatted, TTR_EH_OF(void *), 3, sizeof(void *), of_uptr
#define TTR_EH_KIND_POINTER ttr_formatted, TTR_EH_OF(void *), 3, sizeof(void *), of_pointer
#define TTR_EH_KIND_F32 ttr_formatted, 4, 8, 4, of_f32
#define TTR_EH_KIND_F64 ttr_formatted, 5, 8, 8, of_f64
#define TTR_EH_KIND_BOOL ttr_formatted, 2, 7, 1, of_truth
#define TTR_EH_KIND_BOOL8 ttr_formatted, 2, 7, 1, of_u8
#define TTR_EH_KIND_BOOL16 ttr_formatted, 3, 7, 2, of_u16
#define TTR_EH_KIND_BOOL32 ttr_formatted, 4, 7, 4, of_i32
#define TTR_EH_KIND_CHAR ttr_formatted, 2, 10, 1, of_char
#define TTR_EH_KIND_CHAR16 ttr_formatted, 3, 11, 2, of_char16
#define TTR_EH_KIND_CHAR32 ttr_formatted, 4, 11, 4, of_char32
#define TTR_EH_KIND_WCHAR ttr_formatted, TTR_EH_OF(wchar_t), 11, sizeof(wchar_t), of_wchar
#define TTR_EH_KIND_ERRNO ttr_formatted, 4, 4, 4, of_i32
#define TTR_EH_KIND_PID ttr_formatted, 4, 5, 4, of_i32
#define TTR_EH_KIND_TIME32 ttr_formatted, 4, 6, 4, of_i32
#define TTR_EH_KIND_TIME64 ttr_formatted, 5, 6, 8, of_i64
#define TTR_EH_KIND_PORT ttr_formatted, 3, 16, 2, of_u16
#define TTR_EH_KIND_IP4 ttr_formatted, 4, 17, 4, of_u32
#define TTR_EH_KIND_IP6 ttr_formatted, 6, 17, 16, of_16
#define TTR_EH_KIND_GUID ttr_formatted, 6, 15, 16, of_16
#define TTR_EH_KIND_BYTES16 ttr_plain, 6, 0, 16, of_16
#define TTR_U8(...) TTR_EH_SCALAR(TTR_EH_KIND_U8, __VA_ARGS__)
#define TTR_U16(...) TTR_EH_SCALAR(TTR_EH_KIND_U16, __VA_ARGS__)
#define TTR_U32(...) TTR_EH_SCALAR(TTR_EH_KIND_U32, __VA_ARGS__)
#define TTR_U64(...) TTR_EH_SCALAR(TTR_EH_KIND_U64, __VA_ARGS__)
#define TTR_I8(...) TTR_EH_SCALAR(TTR_EH_KIND_I8, __VA_ARGS__)
#define TTR_I16(...) TTR_EH_SCALAR(TTR_EH_KIND_I16, __VA_ARGS__)
#define TTR_I32(...) TTR_EH_SCALAR(TTR_EH_KIND_I32, __VA_ARGS__)
#define TTR_I64(...) TTR_EH_SCALAR(TTR_EH_KIND_I64, __VA_ARGS__)
#define TTR_X8(...) TTR_EH_SCALAR(TTR_EH_KIND_X8, __VA_ARGS__)
#define TTR_X16(...) TTR_EH_SCALAR(TTR_EH_KIND_X16, __VA_ARGS__)
#define TTR_X32(...) TTR_EH_SCALAR(TTR_EH_KIND_X32, __VA_ARGS__)
#define TTR_X64(...) TTR_EH_SCALAR(TTR_EH_KIND_X64, __VA_ARGS__)
#define TTR_ULONG(...) TTR_EH_SCALAR(TTR_EH_KIND_ULONG, __VA_ARGS__)
#define TTR_LONG(...) TTR_EH_SCALAR(TTR_EH_KIND_LONG, __VA_ARGS__)
#define TTR_XLONG(...) TTR_EH_SCALAR(TTR_EH_KIND_XLONG, __VA_ARGS__)
#define TTR_UPTR(...) TTR_EH_SCALAR(TTR_EH_KIND_UPTR, __VA_ARGS__)
#define TTR_IPTR(...) TTR_EH_SCALAR(TTR_EH_KIND_IPTR, __VA_ARGS__)
#define TTR_XPTR(...) TTR_EH_SCALAR(TTR_EH_KIND_XPTR, __VA_ARGS__)
#define TTR_POINTER(...) TTR_EH_SCALAR(TTR_EH_KIND_POINTER, __VA_ARGS__)
#define TTR_F32(...) TTR_EH_SCALAR(TTR_EH_KIND_F32, __VA_ARGS__)
#define TTR_F64(...) TTR_EH_SCALAR(TTR_EH_KIND_F64, __VA_ARGS__)
#define TTR_BOOL(...) TTR_EH_SCALAR(TTR_EH_KIND_BOOL, __VA_ARGS__)
#define TTR_BOOL8(...) TTR_EH_SCALAR(TTR_EH_KIND_BOOL8, __VA_ARGS__)
#define TTR_BOOL16(...) TTR_EH_SCALAR(TTR_EH_KIND_BOOL16, __VA_ARGS__)
#define TTR_BOOL32(...) TTR_EH_SCALAR(TTR_EH_KIND_BOOL32, __VA_ARGS__)
#define TTR_CHAR(...) TTR_EH_SCALAR(TTR_EH_KIND_CHAR, __VA_ARGS__)
#define TTR_CHAR16(...) TTR_EH_SCALAR(TTR_EH_KIND_CHAR16, __VA_ARGS__)
#define TTR_CHAR32(...) TTR_EH_SCALAR(TTR_EH_KIND_CHAR32, __VA_ARGS__)
#define TTR_WCHAR(...) TTR_EH_SCALAR(TTR_EH_KIND_WCHAR, __VA_ARGS__)
#define TTR_ERRNO(...) TTR_EH_SCALAR(TTR_EH_KIND_ERRNO, __VA_ARGS__)
#define TTR_PID(...) TTR_EH_SCALAR(TTR_EH_KIND_PID, __VA_ARGS__)
#define TTR_TIME32(...) TTR_EH_SCALAR(TTR_EH_KIND_TIME32, __VA_ARGS__)
#define TTR_TIME64(...) TTR_EH_SCALAR(TTR_EH_KIND_TIME64, __VA_ARGS__)
#define TTR_PORT(...) TTR_EH_SCALAR(TTR_EH_KIND_PORT, __VA_ARGS__)
#define TTR_IP4(...) TTR_EH_SCALAR(TTR_EH_KIND_IP4, __VA_ARGS__)
#define TTR_IP6(...) TTR_EH_SCALAR(TTR_EH_KIND_IP6, __VA_ARGS__)
#define TTR_GUID(...) TTR_EH_SCALAR(TTR_EH_KIND_GUID, __VA_ARGS__)
#define TTR_BYTES16(...) TTR_EH_SCALAR(TTR_EH_KIND_BYTES16, __VA_ARGS__)
/* --- Arguments of TTR_WRITE: each expands to (category, ...) --- */

#define TTR_LEVEL(level) (ttr_level, level)
#define TTR_KEYWORD(keyword) (ttr_keyword, keyword)
#define TTR_OPCODE(opcode) (ttr_opcode, opcode)
#define TTR_ID(id, version) (ttr_id, id, version)
#define TTR_TAG(tag) (ttr_tag, tag)
#define TTR_ACTIVITY(id) (ttr_data, 20, ttr_piece_of(id, 16, 1, TTR_PIECE_ACTIVITY))
#define TTR_RELATED(id) (ttr_data, 16, ttr_piece_of(id, 16, 1, TTR_PIECE_RELATED))
#define TTR_FIXED(kind, ...)                                            \
    TTR_EH_PICK_4(__VA_ARGS__, TTR_EH_FIXED_TAG, TTR_EH_FIXED_PLAIN, 0) \
    (TTR_EH_KIND_##kind, __VA_ARGS__)
#define TTR_ARRAY(kind, ...)                                            \
    TTR_EH_PICK_4(__VA_ARGS__, TTR_EH_ARRAY_TAG, TTR_EH_ARRAY_PLAIN, 0) \
    (TTR_EH_KIND_##kind, __VA_ARGS__)
#define TTR_TEXT(...) TTR_EH_Z(ttr_plain, 7, 11, 1, of_char, __VA_ARGS__)
#define TTR_LATIN1(...) TTR_EH_Z(ttr_formatted, 7, 10, 1, of_char, __VA_ARGS__)
#define TTR_XML(...) TTR_EH_Z(ttr_formatted, 7, 13, 1, of_char, __VA_ARGS__)
#define TTR_JSON(...) TTR_EH_Z(ttr_formatted, 7, 14, 1, of_char, __VA_ARGS__)
#define TTR_TEXT16(...) TTR_EH_Z(ttr_plain, 8, 11, 2, of_char16, __VA_ARGS__)
#define TTR_TEXT32(...) TTR_EH_Z(ttr_plain, 9, 11, 4, of_char32, __VA_ARGS__)
#define TTR_WTEXT(...) \
    TTR_EH_Z(ttr_plain, (TTR_EH_OF(wchar_t) + 5), 11, sizeof(wchar_t), of_wchar, __VA_ARGS__)
#define TTR_TEXT_N(...) TTR_EH_N(ttr_plain, 10, 11, 1, of_char, __VA_ARGS__)
#define TTR_LATIN1_N(...) TTR_EH_N(ttr_formatted, 10, 10, 1, of_char, __VA_ARGS__)
#define TTR_TEXT16_N(...) TTR_EH_N(ttr_plain, 11, 11, 2, of_char16, __VA_ARGS__)
#define TTR_TEXT32_N(...) TTR_EH_N(ttr_plain, 12, 11, 4, of_char32, __VA_ARGS__)
#define TTR_WTEXT_N(...) \
    TTR_EH_N(ttr_plain, (TTR_EH_OF(wchar_t) + 8), 11, sizeof(wchar_t), of_wchar, __VA_ARGS__)
#define TTR_BINARY(...) TTR_EH_N(ttr_formatted, 10, 9, 1, of_16, __VA_ARGS__)
#define TTR_TEXT_AS(name, format, pointer, n) \
    TTR_EH_N_ttr_formatted(10, format, 1, of_16, name, pointer, n)
#define TTR_BINARY_AS(name, format, pointer, n) \
    TTR_EH_N_ttr_formatted(13, format, 1, of_16, name, pointer, n)
#define TTR_STRUCT(...) \
    TTR_EH_PICK_3(__VA_ARGS__, TTR_EH_STRUCT_TAG, TTR_EH_STRUCT_PLAIN, 0)(__VA_ARGS__)
#define TTR_STRUCT_FIXED(name, n, count) \
    (ttr_meta, name, 4, (0xA1, TTR_EH_MEMBERS(n), TTR_EH_16(TTR_EH_COUNTS(count))))
#define TTR_STRUCT_ARRAY(name, n, count) \
    (ttr_field, name, 2, (0xC1, TTR_EH_MEMBERS(n)), 2, ttr_piece_of_u16(count))
#define TTR_METADATA(name, encoding) (ttr_meta, name, 1, (encoding))
#define TTR_METADATA_AS(name, encoding, format) (ttr_meta, name, 2, (0x80 | (encoding), format))
#define TTR_PAYLOAD(pointer, n) (ttr_data, 0, ttr_piece_of(pointer, n, 1, TTR_PIECE_BYTES))

/* A field expands to (ttr_field, name, metadata bytes, (metadata), minimum payload bytes, piece). A
 * tag requires an explicit format. */
#define TTR_EH_SCALAR(kind, ...) \
    TTR_EH_PICK_3(__VA_ARGS__, TTR_EH_SCALAR_TAG, TTR_EH_SCALAR_PLAIN, 0)(kind, __VA_ARGS__)
#define TTR_EH_SCALAR_PLAIN(...) TTR_EH_JOIN(TTR_EH_S_, __VA_ARGS__)
#define TTR_EH_S_ttr_plain(e, f, unit, stem, name, value) \
    (ttr_field, name, 1, (e), unit, ttr_piece_##stem(value))
#define TTR_EH_S_ttr_formatted(e, f, unit, stem, name, value) \
    (ttr_field, name, 2, (0x80 | (e), f), unit, ttr_piece_##stem(value))
#define TTR_EH_SCALAR_TAG(...) TTR_EH_SCALAR_TAG_(__VA_ARGS__)
#define TTR_EH_SCALAR_TAG_(family, e, f, unit, stem, name, value, tag) \
    (ttr_field, name, 4, (0x80 | (e), 0x80 | (f), TTR_EH_16(tag)), unit, ttr_piece_##stem(value))

#define TTR_EH_FIXED_PLAIN(...) TTR_EH_JOIN(TTR_EH_F_, __VA_ARGS__)
#define TTR_EH_F_ttr_plain(e, f, unit, stem, name, p, n)                          \
    (ttr_field, name, 3, (0x20 | (e), TTR_EH_16(TTR_EH_COUNTS(n))), (n) * (unit), \
     ttr_piece_of(ttr_array_##stem(p), (n) * (unit), 1, TTR_PIECE_BYTES))
#define TTR_EH_F_ttr_formatted(e, f, unit, stem, name, p, n)                         \
    (ttr_field, name, 4, (0xA0 | (e), f, TTR_EH_16(TTR_EH_COUNTS(n))), (n) * (unit), \
     ttr_piece_of(ttr_array_##stem(p), (n) * (unit), 1, TTR_PIECE_BYTES))
#define TTR_EH_FIXED_TAG(...) TTR_EH_FIXED_TAG_(__VA_ARGS__)
#define TTR_EH_FIXED_TAG_(family, e, f, unit, stem, name, p, n, tag)                            \
    (ttr_field, name, 6, (0xA0 | (e), 0x80 | (f), TTR_EH_16(tag), TTR_EH_16(TTR_EH_COUNTS(n))), \
     (n) * (unit), ttr_piece_of(ttr_array_##stem(p), (n) * (unit), 1, TTR_PIECE_BYTES))

#define TTR_EH_ARRAY_PLAIN(...) TTR_EH_JOIN(TTR_EH_A_, __VA_ARGS__)
#define TTR_EH_A_ttr_plain(e, f, unit, stem, name, p, n) \
    (ttr_field, name, 1, (0x40 | (e)), 2,                \
     ttr_piece_of(ttr_array_##stem(p), n, unit, TTR_PIECE_ARRAY))
#define TTR_EH_A_ttr_formatted(e, f, unit, stem, name, p, n) \
    (ttr_field, name, 2, (0xC0 | (e), f), 2,                 \
     ttr_piece_of(ttr_array_##stem(p), n, unit, TTR_PIECE_ARRAY))
#define TTR_EH_ARRAY_TAG(...) TTR_EH_ARRAY_TAG_(__VA_ARGS__)
#define TTR_EH_ARRAY_TAG_(family, e, f, unit, stem, name, p, n, tag)  \
    (ttr_field, name, 4, (0xC0 | (e), 0x80 | (f), TTR_EH_16(tag)), 2, \
     ttr_piece_of(ttr_array_##stem(p), n, unit, TTR_PIECE_ARRAY))

/* Strings: Z ends at a zero unit, N has an explicit length in units. */
#define TTR_EH_Z(family, e, f, unit, stem, ...) \
    TTR_EH_PICK_3(__VA_ARGS__, TTR_EH_Z_TAG, TTR_EH_Z_##family, 0)(e, f, unit, stem, __VA_ARGS__)
#define TTR_EH_Z_PIECE(unit, stem, p) ttr_piece_of(ttr_array_##stem(p), 0, unit, TTR_PIECE_ZSTRING)
#define TTR_EH_Z_ttr_plain(e, f, unit, stem, name, p) \
    (ttr_field, name, 1, (e), unit, TTR_EH_Z_PIECE(unit, stem, p))
#define TTR_EH_Z_ttr_formatted(e, f, unit, stem, name, p) \
    (ttr_field, name, 2, (0x80 | (e), f), unit, TTR_EH_Z_PIECE(unit, stem, p))
#define TTR_EH_Z_TAG(e, f, unit, stem, name, p, tag)                     \
    (ttr_field, name, 4, (0x80 | (e), 0x80 | (f), TTR_EH_16(tag)), unit, \
     TTR_EH_Z_PIECE(unit, stem, p))
#define TTR_EH_N(family, e, f, unit, stem, ...) \
    TTR_EH_PICK_4(__VA_ARGS__, TTR_EH_N_TAG, TTR_EH_N_##family, 0)(e, f, unit, stem, __VA_ARGS__)
#define TTR_EH_N_PIECE(unit, stem, p, n) ttr_piece_of(ttr_array_##stem(p), n, unit, TTR_PIECE_ARRAY)
#define TTR_EH_N_ttr_plain(e, f, unit, stem, name, p, n) \
    (ttr_field, name, 1, (e), 2, TTR_EH_N_PIECE(unit, stem, p, n))
#define TTR_EH_N_ttr_formatted(e, f, unit, stem, name, p, n) \
    (ttr_field, name, 2, (0x80 | (e), f), 2, TTR_EH_N_PIECE(unit, stem, p, n))
#define TTR_EH_N_TAG(e, f, unit, stem, name, p, n, tag)               \
    (ttr_field, name, 4, (0x80 | (e), 0x80 | (f), TTR_EH_16(tag)), 2, \
     TTR_EH_N_PIECE(unit, stem, p, n))

#define TTR_EH_STRUCT_PLAIN(name, n) (ttr_meta, name, 2, (0x81, TTR_EH_MEMBERS(n)))
#define TTR_EH_STRUCT_TAG(name, n, tag) \
    (ttr_meta, name, 4, (0x81, 0x80 | TTR_EH_MEMBERS(n), TTR_EH_16(tag)))

/* Metadata numbers. The count of struct fields (1 to 127) and of array elements (1 to 65,535) is
 * checked at compile time. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TTR_EH_16(x) (((x) >> 8) & 0xFF), ((x)&0xFF)
#define TTR_EH_FLAGS ((sizeof(void *) == 8 ? 1 : 0) | 4)
#else
#define TTR_EH_16(x) ((x)&0xFF), (((x) >> 8) & 0xFF)
#define TTR_EH_FLAGS ((sizeof(void *) == 8 ? 1 : 0) | 2 | 4)
#endif
#define TTR_EH_IF(is_fine) sizeof(char[(is_fine) ? 1 : -1])
#define TTR_EH_MEMBERS(n) (TTR_EH_IF((n) > 0 && (n) < 128) * (n))
#define TTR_EH_COUNTS(n) (TTR_EH_IF((n) > 0 && (n) < 65536) * (n))

/* --- TTR_WRITE --- */

#define TTR_WRITE(provider, ...) \
    TTR_EH_WRITE(provider, 0, TTR_EH_KEEP(provider), __VA_ARGS__, (ttr_none, 0))
#define TTR_WRITE_LATE(provider, ...) \
    TTR_EH_WRITE(provider, TTR_SITE_LATE, (void)0, __VA_ARGS__, (ttr_none, 0))

/* Adds the tracepoint to the provider's linker section, which ttr_provider_open iterates. */
#define TTR_EH_KEEP(provider)                                                                     \
    static ttr_tracepoint *ttr_site_kept __attribute__((section("ttr_sites_" #provider), used)) = \
        &ttr_site_here.point

#define TTR_EH_WRITE(own_provider, is_late, keep, name, ...)                                      \
    (__extension__({                                                                              \
        struct ttr_shape {                                                                        \
            unsigned char head[12];                                                               \
            char event[sizeof("" name)];                                                          \
            TTR_EH_EACH(TTR_EH_MEMBER, __VA_ARGS__)                                               \
        };                                                                                        \
        enum {                                                                                    \
            ttr_level_of = 0 TTR_EH_EACH(TTR_EH_LEVEL, __VA_ARGS__),                              \
            ttr_opcode_of = 0 TTR_EH_EACH(TTR_EH_OPCODE, __VA_ARGS__),                            \
            ttr_id_of = 0 TTR_EH_EACH(TTR_EH_ID, __VA_ARGS__),                                    \
            ttr_version_of = 0 TTR_EH_EACH(TTR_EH_VERSION, __VA_ARGS__),                          \
            ttr_tag_of = 0 TTR_EH_EACH(TTR_EH_TAG, __VA_ARGS__)                                   \
        };                                                                                        \
        TTR_EH_ASSERT(ttr_level_of == 0 || (ttr_level_of > 256 && ttr_level_of < 512),            \
                      "TTR_LEVEL: once, 1 to 255");                                               \
        TTR_EH_ASSERT(ttr_opcode_of >= 0 && ttr_opcode_of < 512, "TTR_OPCODE: once, 0 to 255");   \
        TTR_EH_ASSERT(ttr_id_of >= 0 && ttr_id_of < 0x20000, "TTR_ID: once, 0 to 65535");         \
        TTR_EH_ASSERT(ttr_tag_of >= 0 && ttr_tag_of < 0x20000, "TTR_TAG: once, 0 to 65535");      \
        TTR_EH_ASSERT(sizeof(struct ttr_shape)                                                    \
                              TTR_EH_EACH(TTR_EH_LEAST, __VA_ARGS__) <= TTR_EVENT_MAX,            \
                      "the kernel would drop this event: larger than TTR_EVENT_MAX");             \
        static const struct ttr_shape ttr_shape_here = {                                          \
            {TTR_EH_FLAGS, ttr_version_of & 0xFF, TTR_EH_16(ttr_id_of), TTR_EH_16(ttr_tag_of),    \
             ttr_opcode_of & 0xFF, ttr_level_of != 0 ? ttr_level_of & 0xFF : 5,                   \
             TTR_EH_16(sizeof(struct ttr_shape) - 12), TTR_EH_16(1)},                             \
            "" name,                                                                              \
            TTR_EH_EACH(TTR_EH_METADATA, __VA_ARGS__)};                                           \
        static ttr_site ttr_site_here = {{is_late,                                                \
                                          ttr_level_of != 0 ? ttr_level_of & 0xFF : 5,            \
                                          {0, 0, 0},                                              \
                                          0ull TTR_EH_EACH(TTR_EH_KEYWORD, __VA_ARGS__),          \
                                          &(own_provider),                                        \
                                          {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},       \
                                          0},                                                     \
                                         &ttr_shape_here,                                         \
                                         sizeof(struct ttr_shape),                                \
                                         0};                                                      \
        keep;                                                                                     \
        __builtin_expect(ttr_tracepoint_enabled(&ttr_site_here.point), 0)                         \
            ? TTR_EH_SITE_WRITE(ttr_site_here,                                                    \
                                TTR_EH_EACH(TTR_EH_PIECES, __VA_ARGS__) ttr_piece_of(0, 0, 0, 0)) \
            : TTR_OK;                                                                             \
    }))

/* Expansion of each (category, ...) in each part of TTR_EH_WRITE: struct members, metadata, minimum
 * size, pieces, attributes. */
#define TTR_EH_MEMBER(i, arg) TTR_EH_PART(MEMBER, i, TTR_EH_OPEN arg)
#define TTR_EH_METADATA(i, arg) TTR_EH_PART(METADATA, i, TTR_EH_OPEN arg)
#define TTR_EH_LEAST(i, arg) TTR_EH_PART(LEAST, i, TTR_EH_OPEN arg)
#define TTR_EH_PIECES(i, arg) TTR_EH_PART(PIECES, i, TTR_EH_OPEN arg)
#define TTR_EH_LEVEL(i, arg) TTR_EH_PART(LEVEL, i, TTR_EH_OPEN arg)
#define TTR_EH_KEYWORD(i, arg) TTR_EH_PART(KEYWORD, i, TTR_EH_OPEN arg)
#define TTR_EH_OPCODE(i, arg) TTR_EH_PART(OPCODE, i, TTR_EH_OPEN arg)
#define TTR_EH_ID(i, arg) TTR_EH_PART(ID, i, TTR_EH_OPEN arg)
#define TTR_EH_VERSION(i, arg) TTR_EH_PART(VERSION, i, TTR_EH_OPEN arg)
#define TTR_EH_TAG(i, arg) TTR_EH_PART(TAG, i, TTR_EH_OPEN arg)
#define TTR_EH_PART(...) TTR_EH_PART_(__VA_ARGS__)
#define TTR_EH_PART_(part, i, what, ...) TTR_EH_##part##_##what(i, __VA_ARGS__)

#define TTR_EH_MEMBER_ttr_field(i, name, n, bytes, least, piece) \
    char name_##i[sizeof("" name)];                              \
    unsigned char type_##i[n];
#define TTR_EH_MEMBER_ttr_meta(i, name, n, bytes) \
    char name_##i[sizeof("" name)];               \
    unsigned char type_##i[n];
#define TTR_EH_MEMBER_ttr_data(...)
#define TTR_EH_MEMBER_ttr_level(...)
#define TTR_EH_MEMBER_ttr_keyword(...)
#define TTR_EH_MEMBER_ttr_opcode(...)
#define TTR_EH_MEMBER_ttr_id(...)
#define TTR_EH_MEMBER_ttr_tag(...)
#define TTR_EH_MEMBER_ttr_none(...)
#define TTR_EH_METADATA_ttr_field(i, name, n, bytes, least, piece) "" name, {TTR_EH_OPEN bytes},
#define TTR_EH_METADATA_ttr_meta(i, name, n, bytes) "" name, {TTR_EH_OPEN bytes},
#define TTR_EH_METADATA_ttr_data(...)
#define TTR_EH_METADATA_ttr_level(...)
#define TTR_EH_METADATA_ttr_keyword(...)
#define TTR_EH_METADATA_ttr_opcode(...)
#define TTR_EH_METADATA_ttr_id(...)
#define TTR_EH_METADATA_ttr_tag(...)
#define TTR_EH_METADATA_ttr_none(...)
#define TTR_EH_LEAST_ttr_field(i, name, n, bytes, least, piece) +(least)
#define TTR_EH_LEAST_ttr_meta(...)
#define TTR_EH_LEAST_ttr_data(i, least, piece) +(least)
#define TTR_EH_LEAST_ttr_level(...)
#define TTR_EH_LEAST_ttr_keyword(...)
#define TTR_EH_LEAST_ttr_opcode(...)
#define TTR_EH_LEAST_ttr_id(...)
#define TTR_EH_LEAST_ttr_tag(...)
#define TTR_EH_LEAST_ttr_none(...)
#define TTR_EH_PIECES_ttr_field(i, name, n, bytes, least, piece) piece,
#define TTR_EH_PIECES_ttr_meta(...)
#define TTR_EH_PIECES_ttr_data(i, least, piece) piece,
#define TTR_EH_PIECES_ttr_level(...)
#define TTR_EH_PIECES_ttr_keyword(...)
#define TTR_EH_PIECES_ttr_opcode(...)
#define TTR_EH_PIECES_ttr_id(...)
#define TTR_EH_PIECES_ttr_tag(...)
#define TTR_EH_PIECES_ttr_none(...)
#define TTR_EH_LEVEL_ttr_field(...)
#define TTR_EH_LEVEL_ttr_meta(...)
#define TTR_EH_LEVEL_ttr_data(...)
#define TTR_EH_LEVEL_ttr_level(i, level) +256 + (level)
#define TTR_EH_LEVEL_ttr_keyword(...)
#define TTR_EH_LEVEL_ttr_opcode(...)
#define TTR_EH_LEVEL_ttr_id(...)
#define TTR_EH_LEVEL_ttr_tag(...)
#define TTR_EH_LEVEL_ttr_none(...)
#define TTR_EH_KEYWORD_ttr_field(...)
#define TTR_EH_KEYWORD_ttr_meta(...)
#define TTR_EH_KEYWORD_ttr_data(...)
#define TTR_EH_KEYWORD_ttr_level(...)
#define TTR_EH_KEYWORD_ttr_keyword(i, keyword) | (keyword)
#define TTR_EH_KEYWORD_ttr_opcode(...)
#define TTR_EH_KEYWORD_ttr_id(...)
#define TTR_EH_KEYWORD_ttr_tag(...)
#define TTR_EH_KEYWORD_ttr_none(...)
#define TTR_EH_OPCODE_ttr_field(...)
#define TTR_EH_OPCODE_ttr_meta(...)
#define TTR_EH_OPCODE_ttr_data(...)
#define TTR_EH_OPCODE_ttr_level(...)
#define TTR_EH_OPCODE_ttr_keyword(...)
#define TTR_EH_OPCODE_ttr_opcode(i, opcode) +256 + (opcode)
#define TTR_EH_OPCODE_ttr_id(...)
#define TTR_EH_OPCODE_ttr_tag(...)
#define TTR_EH_OPCODE_ttr_none(...)
#define TTR_EH_ID_ttr_field(...)
#define TTR_EH_ID_ttr_meta(...)
#define TTR_EH_ID_ttr_data(...)
#define TTR_EH_ID_ttr_level(...)
#define TTR_EH_ID_ttr_keyword(...)
#define TTR_EH_ID_ttr_opcode(...)
#define TTR_EH_ID_ttr_id(i, id, version) +0x10000 + (id)
#define TTR_EH_ID_ttr_tag(...)
#define TTR_EH_ID_ttr_none(...)
#define TTR_EH_VERSION_ttr_field(...)
#define TTR_EH_VERSION_ttr_meta(...)
#define TTR_EH_VERSION_ttr_data(...)
#define TTR_EH_VERSION_ttr_level(...)
#define TTR_EH_VERSION_ttr_keyword(...)
#define TTR_EH_VERSION_ttr_opcode(...)
#define TTR_EH_VERSION_ttr_id(i, id, version) +(version)
#define TTR_EH_VERSION_ttr_tag(...)
#define TTR_EH_VERSION_ttr_none(...)
#define TTR_EH_TAG_ttr_field(...)
#define TTR_EH_TAG_ttr_meta(...)
#define TTR_EH_TAG_ttr_data(...)
#define TTR_EH_TAG_ttr_level(...)
#define TTR_EH_TAG_ttr_keyword(...)
#define TTR_EH_TAG_ttr_opcode(...)
#define TTR_EH_TAG_ttr_id(...)
#define TTR_EH_TAG_ttr_tag(i, tag) +0x10000 + (tag)
#define TTR_EH_TAG_ttr_none(...)

/* --- Preprocessor lists --- */

#define TTR_EH_OPEN(...) __VA_ARGS__
#define TTR_EH_JOIN(...) TTR_EH_JOIN_(__VA_ARGS__)
#define TTR_EH_JOIN_(start, end, ...) start##end(__VA_ARGS__)
#define TTR_EH_PICK_3(a, b, c, chosen, ...) chosen
#define TTR_EH_PICK_4(a, b, c, d, chosen, ...) chosen
#define TTR_EH_EACH(part, ...) \
    TTR_EH_JOIN(TTR_EH_EACH_, TTR_EH_COUNT(__VA_ARGS__), part, __VA_ARGS__)
#define TTR_EH_COUNT(...)                                                                          \
    TTR_EH_COUNT_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, \
                  47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28,  \
                  27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, \
                  6, 5, 4, 3, 2, 1, 0)
#define TTR_EH_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, \
                      a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,  \
                      a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47,  \
                      a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62,  \
                      a63, a64, n, ...)                                                           \
    n
#define TTR_EH_EACH_1(phase, arg) phase(1, arg)
#define TTR_EH_EACH_2(phase, arg, ...) phase(2, arg) TTR_EH_EACH_1(phase, __VA_ARGS__)
#define TTR_EH_EACH_3(phase, arg, ...) phase(3, arg) TTR_EH_EACH_2(phase, __VA_ARGS__)
#define TTR_EH_EACH_4(phase, arg, ...) phase(4, arg) TTR_EH_EACH_3(phase, __VA_ARGS__)
#define TTR_EH_EACH_5(phase, arg, ...) phase(5, arg) TTR_EH_EACH_4(phase, __VA_ARGS__)
#define TTR_EH_EACH_6(phase, arg, ...) phase(6, arg) TTR_EH_EACH_5(phase, __VA_ARGS__)
#define TTR_EH_EACH_7(phase, arg, ...) phase(7, arg) TTR_EH_EACH_6(phase, __VA_ARGS__)
#define TTR_EH_EACH_8(phase, arg, ...) phase(8, arg) TTR_EH_EACH_7(phase, __VA_ARGS__)
#define TTR_EH_EACH_9(phase, arg, ...) phase(9, arg) TTR_EH_EACH_8(phase, __VA_ARGS__)
#define TTR_EH_EACH_10(phase, arg, ...) phase(10, arg) TTR_EH_EACH_9(phase, __VA_ARGS__)
#define TTR_EH_EACH_11(phase, arg, ...) phase(11, arg) TTR_EH_EACH_10(phase, __VA_ARGS__)
#define TTR_EH_EACH_12(phase, arg, ...) phase(12, arg) TTR_EH_EACH_11(phase, __VA_ARGS__)
#define TTR_EH_EACH_13(phase, arg, ...) phase(13, arg) TTR_EH_EACH_12(phase, __VA_ARGS__)
#define TTR_EH_EACH_14(phase, arg, ...) phase(14, arg) TTR_EH_EACH_13(phase, __VA_ARGS__)
#define TTR_EH_EACH_15(phase, arg, ...) phase(15, arg) TTR_EH_EACH_14(phase, __VA_ARGS__)
#define TTR_EH_EACH_16(phase, arg, ...) phase(16, arg) TTR_EH_EACH_15(phase, __VA_ARGS__)
#define TTR_EH_EACH_17(phase, arg, ...) phase(17, arg) TTR_EH_EACH_16(phase, __VA_ARGS__)
#define TTR_EH_EACH_18(phase, arg, ...) phase(18, arg) TTR_EH_EACH_17(phase, __VA_ARGS__)
#define TTR_EH_EACH_19(phase, arg, ...) phase(19, arg) TTR_EH_EACH_18(phase, __VA_ARGS__)
#define TTR_EH_EACH_20(phase, arg, ...) phase(20, arg) TTR_EH_EACH_19(phase, __VA_ARGS__)
#define TTR_EH_EACH_21(phase, arg, ...) phase(21, arg) TTR_EH_EACH_20(phase, __VA_ARGS__)
#define TTR_EH_EACH_22(phase, arg, ...) phase(22, arg) TTR_EH_EACH_21(phase, __VA_ARGS__)
#define TTR_EH_EACH_23(phase, arg, ...) phase(23, arg) TTR_EH_EACH_22(phase, __VA_ARGS__)
#define TTR_EH_EACH_24(phase, arg, ...) phase(24, arg) TTR_EH_EACH_23(phase, __VA_ARGS__)
#define TTR_EH_EACH_25(phase, arg, ...) phase(25, arg) TTR_EH_EACH_24(phase, __VA_ARGS__)
#define TTR_EH_EACH_26(phase, arg, ...) phase(26, arg) TTR_EH_EACH_25(phase, __VA_ARGS__)
#define TTR_EH_EACH_27(phase, arg, ...) phase(27, arg) TTR_EH_EACH_26(phase, __VA_ARGS__)
#define TTR_EH_EACH_28(phase, arg, ...) phase(28, arg) TTR_EH_EACH_27(phase, __VA_ARGS__)
#define TTR_EH_EACH_29(phase, arg, ...) phase(29, arg) TTR_EH_EACH_28(phase, __VA_ARGS__)
#define TTR_EH_EACH_30(phase, arg, ...) phase(30, arg) TTR_EH_EACH_29(phase, __VA_ARGS__)
#define TTR_EH_EACH_31(phase, arg, ...) phase(31, arg) TTR_EH_EACH_30(phase, __VA_ARGS__)
#define TTR_EH_EACH_32(phase, arg, ...) phase(32, arg) TTR_EH_EACH_31(phase, __VA_ARGS__)
#define TTR_EH_EACH_33(phase, arg, ...) phase(33, arg) TTR_EH_EACH_32(phase, __VA_ARGS__)
#define TTR_EH_EACH_34(phase, arg, ...) phase(34, arg) TTR_EH_EACH_33(phase, __VA_ARGS__)
#define TTR_EH_EACH_35(phase, arg, ...) phase(35, arg) TTR_EH_EACH_34(phase, __VA_ARGS__)
#define TTR_EH_EACH_36(phase, arg, ...) phase(36, arg) TTR_EH_EACH_35(phase, __VA_ARGS__)
#define TTR_EH_EACH_37(phase, arg, ...) phase(37, arg) TTR_EH_EACH_36(phase, __VA_ARGS__)
#define TTR_EH_EACH_38(phase, arg, ...) phase(38, arg) TTR_EH_EACH_37(phase, __VA_ARGS__)
#define TTR_EH_EACH_39(phase, arg, ...) phase(39, arg) TTR_EH_EACH_38(phase, __VA_ARGS__)
#define TTR_EH_EACH_40(phase, arg, ...) phase(40, arg) TTR_EH_EACH_39(phase, __VA_ARGS__)
#define TTR_EH_EACH_41(phase, arg, ...) phase(41, arg) TTR_EH_EACH_40(phase, __VA_ARGS__)
#define TTR_EH_EACH_42(phase, arg, ...) phase(42, arg) TTR_EH_EACH_41(phase, __VA_ARGS__)
#define TTR_EH_EACH_43(phase, arg, ...) phase(43, arg) TTR_EH_EACH_42(phase, __VA_ARGS__)
#define TTR_EH_EACH_44(phase, arg, ...) phase(44, arg) TTR_EH_EACH_43(phase, __VA_ARGS__)
#define TTR_EH_EACH_45(phase, arg, ...) phase(45, arg) TTR_EH_EACH_44(phase, __VA_ARGS__)
#define TTR_EH_EACH_46(phase, arg, ...) phase(46, arg) TTR_EH_EACH_45(phase, __VA_ARGS__)
#define TTR_EH_EACH_47(phase, arg, ...) phase(47, arg) TTR_EH_EACH_46(phase, __VA_ARGS__)
#define TTR_EH_EACH_48(phase, arg, ...) phase(48, arg) TTR_EH_EACH_47(phase, __VA_ARGS__)
#define TTR_EH_EACH_49(phase, arg, ...) phase(49, arg) TTR_EH_EACH_48(phase, __VA_ARGS__)
#define TTR_EH_EACH_50(phase, arg, ...) phase(50, arg) TTR_EH_EACH_49(phase, __VA_ARGS__)
#define TTR_EH_EACH_51(phase, arg, ...) phase(51, arg) TTR_EH_EACH_50(phase, __VA_ARGS__)
#define TTR_EH_EACH_52(phase, arg, ...) phase(52, arg) TTR_EH_EACH_51(phase, __VA_ARGS__)
#define TTR_EH_EACH_53(phase, arg, ...) phase(53, arg) TTR_EH_EACH_52(phase, __VA_ARGS__)
#define TTR_EH_EACH_54(phase, arg, ...) phase(54, arg) TTR_EH_EACH_53(phase, __VA_ARGS__)
#define TTR_EH_EACH_55(phase, arg, ...) phase(55, arg) TTR_EH_EACH_54(phase, __VA_ARGS__)
#define TTR_EH_EACH_56(phase, arg, ...) phase(56, arg) TTR_EH_EACH_55(phase, __VA_ARGS__)
#define TTR_EH_EACH_57(phase, arg, ...) phase(57, arg) TTR_EH_EACH_56(phase, __VA_ARGS__)
#define TTR_EH_EACH_58(phase, arg, ...) phase(58, arg) TTR_EH_EACH_57(phase, __VA_ARGS__)
#define TTR_EH_EACH_59(phase, arg, ...) phase(59, arg) TTR_EH_EACH_58(phase, __VA_ARGS__)
#define TTR_EH_EACH_60(phase, arg, ...) phase(60, arg) TTR_EH_EACH_59(phase, __VA_ARGS__)
#define TTR_EH_EACH_61(phase, arg, ...) phase(61, arg) TTR_EH_EACH_60(phase, __VA_ARGS__)
#define TTR_EH_EACH_62(phase, arg, ...) phase(62, arg) TTR_EH_EACH_61(phase, __VA_ARGS__)
#define TTR_EH_EACH_63(phase, arg, ...) phase(63, arg) TTR_EH_EACH_62(phase, __VA_ARGS__)
#define TTR_EH_EACH_64(phase, arg, ...) phase(64, arg) TTR_EH_EACH_63(phase, __VA_ARGS__)

#endif
