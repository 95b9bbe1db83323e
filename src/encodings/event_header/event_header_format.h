/* Byte layout of EventHeader events: the convention of Microsoft.LinuxTracepoints for
 * self-describing events that Linux programs write through user_events. Constants only.
 *
 *   event       header, then extensions if the flag EXTENSION is set, then the payload; all are
 *               packed, in the byte order given by the flag LITTLE_ENDIAN
 *   header      [0] flags | [1] version | [2..3] id | [4..5] tag | [6] opcode | [7] level
 *   extension   [0..1] size | [2..3] kind; bit 15: another extension follows | size bytes of data
 *     kind 1    metadata: event name, NUL, then field declarations up to the end
 *     kind 2    activity id, 16 bytes, or 32 with the related activity; in UUID print order
 *   field       name, NUL | encoding u8 | [format u8] | [tag u16] | [count u16]
 *               format is present if bit 7 of encoding is set, tag if bit 7 of format is set,
 *               count (of a fixed array) if bit 5 of encoding is set
 *   name        name;attribute=value;attribute=value    a ';' within a value is doubled
 *   tracepoint  PROVIDER_L<level>K<keyword>[<options>]  level and keyword are hexadecimal; an
 *               option is a capital letter followed by small letters and digits; G = provider
 *               group; the kernel adds ".<id>" if events of one name differ in layout */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_FORMAT_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_FORMAT_H

#define EVENT_HEADER_BYTES 8u
#define EVENT_HEADER_EXTENSION_BYTES 4u
/* maximum length of a tracepoint's name in bytes, including its zero */
#define EVENT_HEADER_NAME_MAX 256u
#define EVENT_HEADER_DEPTH_MAX 8u /* maximum nesting of structs */

/* Bits of the header's flags byte. */
#define EVENT_HEADER_POINTER64 1u
#define EVENT_HEADER_LITTLE_ENDIAN 2u
#define EVENT_HEADER_EXTENSION 4u
#define EVENT_HEADER_FLAGS 7u

/* Kinds of extensions; then masks of the kind field: the kind, and the bit that means that another
 * extension follows. */
#define EVENT_HEADER_METADATA 1u
#define EVENT_HEADER_ACTIVITY 2u
#define EVENT_HEADER_KIND 0x7fffu
#define EVENT_HEADER_CHAIN 0x8000u

/* Bits of a field's encoding byte; then the mask of its format byte. */
#define EVENT_HEADER_ENCODING 0x1fu
/* array of constant length; its u16 count is in the metadata */
#define EVENT_HEADER_FIXED_ARRAY 0x20u
/* array of variable length; its u16 count is in the payload before the elements */
#define EVENT_HEADER_COUNTED_ARRAY 0x40u
#define EVENT_HEADER_HAS_FORMAT 0x80u
#define EVENT_HEADER_FORMAT 0x7fu
#define EVENT_HEADER_HAS_TAG 0x80u

enum event_header_encoding {
    /* struct: the next N fields are its members; the format byte contains N */
    EVENT_HEADER_STRUCT = 1,
    EVENT_HEADER_VALUE8 = 2,
    EVENT_HEADER_VALUE16 = 3,
    EVENT_HEADER_VALUE32 = 4,
    EVENT_HEADER_VALUE64 = 5,
    EVENT_HEADER_VALUE128 = 6,
    /* string that ends with a zero character of 1, 2 or 4 bytes */
    EVENT_HEADER_ZSTRING8 = 7,
    EVENT_HEADER_ZSTRING16 = 8,
    EVENT_HEADER_ZSTRING32 = 9,
    /* string: u16 number of characters, then the characters */
    EVENT_HEADER_STRING8 = 10,
    EVENT_HEADER_STRING16 = 11,
    EVENT_HEADER_STRING32 = 12,
    EVENT_HEADER_BINARY = 13, /* bytes: u16 number of bytes, then the bytes */
    EVENT_HEADER_ENCODINGS = 14
};

enum event_header_format {
    EVENT_HEADER_DEFAULT = 0,
    EVENT_HEADER_UNSIGNED = 1,
    EVENT_HEADER_SIGNED = 2,
    EVENT_HEADER_HEX = 3,
    EVENT_HEADER_ERRNO = 4,
    EVENT_HEADER_PID = 5,
    EVENT_HEADER_TIME = 6, /* time: signed seconds since 1970-01-01 */
    EVENT_HEADER_BOOLEAN = 7,
    EVENT_HEADER_FLOAT = 8,
    EVENT_HEADER_HEX_BYTES = 9,
    EVENT_HEADER_LATIN1 = 10,
    EVENT_HEADER_UTF = 11,
    EVENT_HEADER_UTF_BOM = 12,
    EVENT_HEADER_XML = 13,
    EVENT_HEADER_JSON = 14,
    EVENT_HEADER_UUID = 15,
    EVENT_HEADER_PORT = 16,        /* port: u16, big-endian even in little-endian events */
    EVENT_HEADER_IP_ADDRESS = 17,  /* IP address: 4 or 16 bytes in network order */
    EVENT_HEADER_IP_OBSOLETE = 18, /* IP address; older programs write this code */
    EVENT_HEADER_FORMATS = 19
};

/* Opcodes that start and stop an activity. */
#define EVENT_HEADER_START 1u
#define EVENT_HEADER_STOP 2u

#endif
