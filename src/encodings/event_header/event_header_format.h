/* EventHeader as bytes: what user_events of Linux programs hold that follow the convention of that
 * name (Microsoft.LinuxTracepoints).
 *
 *   event       header   extensions where the flag says so   payload                        all
 * packed, in the byte order of the flags header      flags u8 | version u8 | id u16 | tag u16 |
 * opcode u8 | level u8 extension   size u16 | kind u16 | so many bytes bit 15 of the kind: one more
 * follows 1  metadata   name of the event, NUL, fields up to the end 2  activity   16 bytes, or 32
 * with the related one; in the order that UUIDs are printed in field       name, NUL | encoding u8
 * | [format u8] | [tag u16] | [count u16] format where bit 7 of the encoding is set, tag where bit
 * 7 of the format is, count where bit 5 of the encoding is a name
 * name;attribute=value;attribute=value      a ';' inside of a value stands twice tracepoint
 * PROVIDER_L<level>K<keyword>[<options>]    hexadecimal; an option is a capital letter and what
 * follows it in small letters and digits; G = group of the provider; the kernel adds ".<id>" where
 * events of one name may differ in shape */
#ifndef TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_FORMAT_H
#define TRACETTA_ENCODINGS_EVENT_HEADER_EVENT_HEADER_FORMAT_H

#define EVENT_HEADER_BYTES 8u
#define EVENT_HEADER_EXTENSION_BYTES 4u
#define EVENT_HEADER_NAME_MAX 256u /* of a tracepoint, its zero included */
#define EVENT_HEADER_DEPTH 8u      /* structs inside one another */

/* Flags. */
#define EVENT_HEADER_POINTER64 1u
#define EVENT_HEADER_LITTLE_ENDIAN 2u
#define EVENT_HEADER_EXTENSION 4u
#define EVENT_HEADER_FLAGS 7u

/* Kinds of extensions. */
#define EVENT_HEADER_METADATA 1u
#define EVENT_HEADER_ACTIVITY 2u
#define EVENT_HEADER_KIND 0x7fffu
#define EVENT_HEADER_CHAIN 0x8000u

/* Bits of an encoding, and of a format. */
#define EVENT_HEADER_ENCODING 0x1fu
#define EVENT_HEADER_FIXED_ARRAY 0x20u   /* u16 count in the metadata */
#define EVENT_HEADER_COUNTED_ARRAY 0x40u /* u16 count before the elements */
#define EVENT_HEADER_HAS_FORMAT 0x80u
#define EVENT_HEADER_FORMAT 0x7fu
#define EVENT_HEADER_HAS_TAG 0x80u

enum event_header_encoding {
    EVENT_HEADER_STRUCT = 1, /* the fields behind it, as many as the format says, are inside */
    EVENT_HEADER_VALUE8 = 2,
    EVENT_HEADER_VALUE16 = 3,
    EVENT_HEADER_VALUE32 = 4,
    EVENT_HEADER_VALUE64 = 5,
    EVENT_HEADER_VALUE128 = 6,
    EVENT_HEADER_ZSTRING8 = 7, /* characters up to a zero */
    EVENT_HEADER_ZSTRING16 = 8,
    EVENT_HEADER_ZSTRING32 = 9,
    EVENT_HEADER_STRING8 = 10, /* u16 characters, characters */
    EVENT_HEADER_STRING16 = 11,
    EVENT_HEADER_STRING32 = 12,
    EVENT_HEADER_BINARY = 13, /* u16 bytes, bytes */
    EVENT_HEADER_ENCODINGS = 14
};

enum event_header_format {
    EVENT_HEADER_DEFAULT = 0,
    EVENT_HEADER_UNSIGNED = 1,
    EVENT_HEADER_SIGNED = 2,
    EVENT_HEADER_HEX = 3,
    EVENT_HEADER_ERRNO = 4,
    EVENT_HEADER_PID = 5,
    EVENT_HEADER_TIME = 6, /* signed seconds since 1970 */
    EVENT_HEADER_BOOLEAN = 7,
    EVENT_HEADER_FLOAT = 8,
    EVENT_HEADER_HEX_BYTES = 9,
    EVENT_HEADER_LATIN1 = 10,
    EVENT_HEADER_UTF = 11,
    EVENT_HEADER_UTF_BOM = 12,
    EVENT_HEADER_XML = 13,
    EVENT_HEADER_JSON = 14,
    EVENT_HEADER_UUID = 15,
    EVENT_HEADER_PORT = 16,        /* u16, always big-endian */
    EVENT_HEADER_IP_ADDRESS = 17,  /* 4 or 16 bytes as they go over the network */
    EVENT_HEADER_IP_OBSOLETE = 18, /* the same, in older programs */
    EVENT_HEADER_FORMATS = 19
};

/* Opcodes that begin and end an activity. */
#define EVENT_HEADER_START 1u
#define EVENT_HEADER_STOP 2u

#endif
