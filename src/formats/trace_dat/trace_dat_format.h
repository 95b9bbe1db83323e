/* trace.dat, the format of trace-cmd, in constants and drawings: versions 6 and 7.  Numbers have
 * the byte order of the traced machine.
 *
 *   17 08 44 "tracing" version\0  u8 big-endian  u8 bytes of `long`  u32 page bytes        then
 *
 * 6: the description of tracepoints (encodings/tracepoint/tracing_data.h)   u32 cpus
 *    "options  \0"  { u16 option  u32 bytes  data } ... u16 0       may be missing
 *    "flyrecord\0"  cpus x { u64 offset, u64 bytes }                or "latency  \0" and text
 *    [u64 n, the clocks]                                            where option 4 was there
 *    pages of each CPU at its offset
 *
 * 7: compression\0 its version\0  u64 offset of the first section of options; then sections
 * anywhere section  u16 id  u16 flags: 1 = compressed  u32 its description's place  u64 bytes data
 *    a compressed one   u32 bytes here  u32 bytes of it all  data
 *    options: { u16 option  u32 bytes  data } ... the last is 0: u64 offset of the next section of
 * options, 0 = none pages of a CPU in a compressed section   u32 chunks  chunks x { u32 bytes here
 * u32 bytes of pages  data }
 *
 * Pages are those of encodings/tracepoint/ring_buffer.h. */
#ifndef TRACETTA_TRACE_DAT_FORMAT_H
#define TRACETTA_TRACE_DAT_FORMAT_H

/* Options; from HEADER_INFO on the numbers of sections, too. */
enum trace_dat_option {
    TRACE_DAT_DONE = 0,
    TRACE_DAT_DATE = 1,    /* text: microseconds to add to times */
    TRACE_DAT_CPUSTAT = 2, /* text: statistics of a CPU's buffer */
    TRACE_DAT_BUFFER = 3,  /* 6: u64 offset, name\0; 7: that, clock\0, u32 page bytes, u32 cpus x {
                              u32 cpu, u64 offset, u64 bytes } */
    TRACE_DAT_TRACECLOCK = 4, /* text: clocks, the one that was used in brackets */
    TRACE_DAT_UNAME = 5,
    TRACE_DAT_HOOK = 6,
    TRACE_DAT_OFFSET = 7,   /* text: nanoseconds to add to times */
    TRACE_DAT_CPUCOUNT = 8, /* u32 */
    TRACE_DAT_VERSION = 9,  /* text: of trace-cmd */
    TRACE_DAT_PROCMAPS = 10,
    TRACE_DAT_TRACEID = 11,    /* u64 */
    TRACE_DAT_TIME_SHIFT = 12, /* times of a guest as its host's */
    TRACE_DAT_GUEST = 13,
    TRACE_DAT_TSC2NSEC = 14, /* u32 multiplier, u32 shift, u64 offset */
    TRACE_DAT_STRINGS = 15,
    TRACE_DAT_HEADER_INFO = 16, /* these: u64 offset of their section */
    TRACE_DAT_FTRACE_EVENTS = 17,
    TRACE_DAT_EVENT_FORMATS = 18,
    TRACE_DAT_KALLSYMS = 19,
    TRACE_DAT_PRINTK = 20,
    TRACE_DAT_CMDLINES = 21,
    TRACE_DAT_BUFFER_TEXT = 22
};

enum {
    TRACE_DAT_MARK = 10,      /* bytes of "options  \0" and its like */
    TRACE_DAT_SECTION = 16,   /* bytes of the head of a section */
    TRACE_DAT_COMPRESSED = 1, /* in its flags */
    TRACE_DAT_OPTION_HEAD = 6,
    TRACE_DAT_CHUNK_HEAD = 8,
    TRACE_DAT_CPUS_MAX = 65536, /* that are believed */
    TRACE_DAT_PAGE_MAX = 1 << 24,
    TRACE_DAT_SECTION_MAX =
        1 << 28, /* bytes of a section, once it is decompressed, that are believed */
    TRACE_DAT_CHUNK_MAX = 1 << 24,
    TRACE_DAT_OPTIONS_MAX = 1024 /* sections of options */
};

#endif
