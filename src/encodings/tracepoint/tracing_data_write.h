/* The block that tells how tracepoints are laid out: TRACING_DATA of perf.data, and the begin of a
 * trace.dat.
 *
 *     17 08 44 "tracing" "0.6\0" | u8 big-endian | u8 bytes of a long | u32 page size |
 * "header_page\0" u64 n, text | "header_event\0" u64 n, text | u32 n of ftrace's own formats, {u64
 * n, text} ... | u32 systems, {name\0, u32 formats, {u64 n, text} ...} | u32 n kallsyms | u32 n
 * printk formats | u64 n names of processes
 *
 * Formats are collected in any order; those of one system stand together in the end.  Ownership:
 * all texts are copied. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_WRITE_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_WRITE_H

#include <tracetta/event.h>

#include "base/buffer.h"

struct tracing_format {
    size_t system_at, system_n, text_at, text_n; /* in texts */
};

struct tracing_put {
    const struct alloc *alloc;
    struct buffer texts;
    struct tracing_format *formats;
    size_t formats_n, formats_capacity;
    bool is_out_of_memory;
};

/* How the machine is that the formats are of. */
struct tracing_machine {
    bool is_big_endian;
    uint8_t long_bytes;
    uint32_t page_bytes;
    ttr_text header_page, header_event; /* as tracefs gives them; empty: made up for that machine */
    ttr_text kallsyms, printk, comms;
};

void tracing_put_init(struct tracing_put *put, const struct alloc *alloc);
void tracing_put_free(struct tracing_put *put);

/* Adds the text of a tracefs `format` file. */
void tracing_put_format(struct tracing_put *put, ttr_text system, ttr_text format);

/* Adds the format of an EventHeader event whose tracepoint has a name ("Provider_L5K1") and a
 * number. */
void tracing_put_event_header(struct tracing_put *put, ttr_text name, uint32_t id);

/* Appends the block of all formats. */
void tracing_put_block(const struct tracing_put *put, const struct tracing_machine *machine,
                       struct buffer *to);

#endif
