/* Parser of trace-cmd's description of tracepoints. It is the head of trace.dat and the section
 * TRACING_DATA of perf.data: byte order, sizes, layout of ring buffer pages, `format` files, kernel
 * symbols, printk formats and thread names.
 *
 *   17 08 44 "tracing" | version, NUL | u8 big-endian | u8 bytes of `long` | u32 page size
 *   "header_page\0"  | u64 n, text
 *   "header_event\0" | u64 n, text
 *   u32 count, then {u64 n, format} of each ftrace-internal event
 *   u32 systems, then {system name, NUL, u32 count, {u64 n, format} ...} of each system
 *   u32 n, kernel symbols | u32 n, printk formats | u64 n, thread names (version 0.6 and later)
 *
 * trace.dat 7 stores the same parts in separate sections, so each part has its own function.
 * tracing_data_parse parses all of them in sequence.
 *
 * Every function reads its part at the cursor. If c->failed is set afterwards, the part was
 * truncated; everything complete before was still used.
 *
 * If the caller has all bytes (is_complete), a wrong size is damage, and parsing continues at the
 * next format: 8 bytes that are the size of a text without zeros that starts with "name: ". From
 * then on counts are ignored, since it is unknown how many formats were skipped. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_H

#include "base/cursor.h"
#include "encodings/tracepoint/tracepoints.h"

#define TRACING_DATA_MAGIC "\x17\x08\x44tracing"
#define TRACING_DATA_MAGIC_BYTES 10u

struct tracing_data {
    char version[16];
    bool is_big_endian;
    uint8_t long_bytes; /* bytes of `long` in programs (user space) */
    /* bytes of `long` in the kernel, which the page header contains */
    uint8_t commit_bytes;
    uint32_t page_bytes;
    uint32_t page_data; /* byte offset of the first event in a page */
    struct tracepoints
        /* table of the caller to which the tracepoints are added; if NULL, none are */
        *all;
    void (*odd)(void *ctx, uint64_t offset,
                /* called for each format file that cannot be parsed, with its offset in the input
                 */
                const char *what);
    void *ctx;
    /* true if the cursor has all bytes of the description or section */
    bool is_complete;
    /* true if parsing continued after damage; counts of formats are ignored */
    bool is_resynced;
    /* offsets in the input from the first damaged format to where parsing continued after the last;
     * equal: no damage was found */
    uint64_t damage_at, damage_end;
    /* offset of the end of the description, if the caller knows it; 0 if not. tracing_data_parse()
     * then finds the texts after the formats although the size of one is wrong. */
    uint64_t end;
};

/* Parses the start of the data, from the magic number to the page size. Returns false if the magic
 * number or a size is wrong. Clears all members of `data` except `all`, `odd`, `ctx` and
 * `is_complete`. */
TTR_MUST bool tracing_data_parse_head(struct tracing_data *data, struct cursor *c);

TTR_MUST ttr_status tracing_data_parse_pages(struct tracing_data *data,
                                             struct cursor *c); /* header_page and header_event */
TTR_MUST ttr_status tracing_data_parse_ftrace(struct tracing_data *data, struct cursor *c,
                                              ttr_error *error);
TTR_MUST ttr_status tracing_data_parse_systems(struct tracing_data *data, struct cursor *c,
                                               ttr_error *error);
TTR_MUST ttr_status tracing_data_parse_kallsyms(struct tracing_data *data, struct cursor *c,
                                                ttr_error *error);
TTR_MUST ttr_status tracing_data_parse_printk(struct tracing_data *data, struct cursor *c,
                                              ttr_error *error);
TTR_MUST ttr_status tracing_data_parse_comms(struct tracing_data *data, struct cursor *c,
                                             ttr_error *error);

/* Parses all parts after those of tracing_data_parse_head, in the order of perf.data and trace.dat
 * version 6. */
TTR_MUST ttr_status tracing_data_parse(struct tracing_data *data, struct cursor *c,
                                       ttr_error *error);

/* Reads an integer of 1 to 8 bytes in the byte order of the trace. */
uint64_t tracing_data_read_number(const struct tracing_data *data, struct cursor *c,
                                  unsigned bytes);

#endif
