/* Writer of the description of tracepoints that perf.data stores as TRACING_DATA and trace.dat as
 * its head. Byte layout: tracing_data.h, of which it writes version 0.6.
 *
 * Order of calls: tracing_writer_init, tracing_writer_add_format or tracing_writer_add_event_header
 * for each event, tracing_writer_append_block, tracing_writer_free. Formats may be added in any
 * order; the block groups them by system, in the order in which the systems first appear.
 *
 * Ownership: all texts are copied. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_WRITE_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_WRITE_H

#include <tracetta/event.h>

#include "base/buffer.h"

struct tracing_format {
    /* offsets and lengths in `texts`: of the system name and of the format file */
    size_t system_at, system_n, text_at, text_n;
};

struct tracing_writer {
    const struct alloc *alloc;
    struct buffer texts;
    struct tracing_format *formats;
    size_t formats_n, formats_capacity;
    bool is_out_of_memory;
};

/* Properties of the machine on which the formats were recorded. */
struct tracing_machine {
    bool is_big_endian;
    uint8_t long_bytes;
    uint32_t page_bytes;
    /* texts of these files in tracefs; if empty, the usual texts of such a machine are written */
    ttr_text header_page, header_event;
    ttr_text kallsyms, printk, comms;
};

void tracing_writer_init(struct tracing_writer *writer, const struct alloc *alloc);
void tracing_writer_free(struct tracing_writer *writer);

/* Adds the text of a tracefs `format` file. */
void tracing_writer_add_format(struct tracing_writer *writer, ttr_text system, ttr_text format);

/* Adds the tracepoint `name` of EventHeader events ("Provider_L5K1"): generates a format file with
 * this id. */
void tracing_writer_add_event_header(struct tracing_writer *writer, ttr_text name, uint32_t id);

/* Appends the complete block with all formats. */
void tracing_writer_append_block(const struct tracing_writer *writer,
                                 const struct tracing_machine *machine, struct buffer *to);

#endif
