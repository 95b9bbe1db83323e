/* Constants and layout of trace.dat, versions 6 and 7. Numbers have the byte order of the traced
 * machine. Both versions start with
 *
 *   | 17 08 44 | "tracing" | version \0 | u8 is_big_endian | u8 size of long | u32 page bytes |
 *
 * Version 6:
 *
 *   | description of tracepoints (encodings/tracepoint/tracing_data.h) | u32 cpus |
 *   | "options  \0" | { u16 option | u32 bytes | data } ... | u16 0 |          may be missing
 *   | "flyrecord\0" | cpus x { u64 offset | u64 bytes } |           or "latency  \0" and text
 *   | u64 n | n characters: clocks |                            only if option 4 is present
 *   | pages of each CPU, at the offset in the table |
 *
 * Version 7:
 *
 *   | compression \0 | compression version \0 | u64 offset of the first options |
 *   | section | section | ...                                                  in any order
 *
 *   section             | u16 id | u16 flags, 1 = compressed | u32 description | u64 bytes | data |
 *   compressed data     | u32 bytes stored | u32 bytes decompressed | stored bytes |
 *   options (data)      | { u16 option | u32 bytes | data } ... |
 *                       the last is option 0: u64 offset of the next options section, 0 = none
 *   compressed pages    | u32 chunks | chunks x { u32 bytes stored | u32 bytes of pages | bytes } |
 *
 * encodings/tracepoint/ring_buffer.h draws the pages. */
#ifndef TRACETTA_TRACE_DAT_FORMAT_H
#define TRACETTA_TRACE_DAT_FORMAT_H

/* Numbers of options. From HEADER_INFO on, they also are the ids of sections. */
enum trace_dat_parse_option {
    TRACE_DAT_DONE = 0,
    /* text with the number of microseconds that is added to times */
    TRACE_DAT_DATE = 1,
    TRACE_DAT_CPUSTAT = 2, /* text with the statistics of a CPU's ring buffer */
    /* a ring buffer. Version 6: u64 offset, name\0. Version 7: also clock\0, u32 page bytes, u32
     * cpus x { u32 cpu, u64 offset, u64 bytes } */
    TRACE_DAT_BUFFER = 3,
    /* text with the available clocks; the one in use is in brackets */
    TRACE_DAT_TRACECLOCK = 4,
    TRACE_DAT_UNAME = 5,
    TRACE_DAT_HOOK = 6,
    /* text with the number of nanoseconds that is added to times */
    TRACE_DAT_OFFSET = 7,
    TRACE_DAT_CPUCOUNT = 8, /* u32 */
    TRACE_DAT_VERSION = 9,  /* text with the version of trace-cmd */
    TRACE_DAT_PROCMAPS = 10,
    TRACE_DAT_TRACEID = 11, /* u64 */
    /* offsets between the clock of a virtual machine and that of its host */
    TRACE_DAT_TIME_SHIFT = 12,
    TRACE_DAT_GUEST = 13,
    /* conversion of ticks to ns: u32 multiplier, u32 shift, u64 offset */
    TRACE_DAT_TSC2NSEC = 14,
    TRACE_DAT_STRINGS = 15,
    /* this option and all later ones contain the u64 file offset of a section */
    TRACE_DAT_HEADER_INFO = 16,
    TRACE_DAT_FTRACE_EVENTS = 17,
    TRACE_DAT_EVENT_FORMATS = 18,
    TRACE_DAT_KALLSYMS = 19,
    TRACE_DAT_PRINTK = 20,
    TRACE_DAT_CMDLINES = 21,
    TRACE_DAT_BUFFER_TEXT = 22
};

enum {
    TRACE_DAT_MARK = 10,      /* length in bytes of "options \0" and of the other marks */
    TRACE_DAT_SECTION = 16,   /* size of a section header in bytes */
    TRACE_DAT_COMPRESSED = 1, /* flag of a section of which the data are compressed */
    TRACE_DAT_OPTION_HEAD = 6,
    TRACE_DAT_CHUNK_HEAD = 8,
    /* maximum number of CPUs; a greater number in a file is damage */
    TRACE_DAT_CPUS_MAX = 65536,
    TRACE_DAT_PAGE_MAX = 1 << 24,
    /* maximum size of a decompressed section in bytes */
    TRACE_DAT_SECTION_MAX = 1 << 28,
    TRACE_DAT_CHUNK_MAX = 1 << 24,
    TRACE_DAT_OPTIONS_MAX = 1024 /* maximum number of sections with options */
};

#endif
