/* The description of tracepoints as trace-cmd stores it, at the head of trace.dat and in
 * perf.data's TRACING_DATA: magic, byte order, sizes, layout of ring-buffer pages, `format` texts,
 * kernel symbols, texts of trace_printk, names of threads.
 *
 *   17 08 44 "tracing" version\0  u8 big-endian  u8 bytes of `long`  u32 page bytes
 *   "header_page\0"  u64 n, text   "header_event\0"  u64 n, text
 *   u32 n x (u64 n, format)                                  ftrace's own
 *   u32 systems x (system\0  u32 n x (u64 n, format))
 *   u32 n, kernel symbols   u32 n, printk formats   u64 n, names of threads (version 0.6 and later)
 *
 * trace.dat 7 has the same parts each in a section of its own, so each has a function.
 * Every function takes its part from the cursor; c->failed says that it is not whole: what was
 * whole before was taken. */
#ifndef TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_H
#define TRACETTA_ENCODINGS_TRACEPOINT_TRACING_DATA_H

#include "base/cursor.h"
#include "encodings/tracepoint/tracepoints.h"

#define TRACING_DATA_MAGIC "\x17\x08\x44tracing"
#define TRACING_DATA_MAGIC_BYTES 10u

struct tracing_data {
    char version[16];
    bool is_big_endian;
    uint8_t long_bytes;   /* of programs */
    uint8_t commit_bytes; /* of the kernel's `long` in the head of a page */
    uint32_t page_bytes;
    uint32_t page_data; /* where data begin in a page */
    struct tracepoints
        *all; /* which get what is said; the caller's.  NULL: what is said is passed over */
    void (*odd)(void *own, uint64_t offset,
                const char *what); /* tells of a format that cannot be understood */
    void *own;
};

/* Magic to page size; false when it is something else.  Clears `data` but for all, odd and own. */
TTR_MUST bool tracing_data_head(struct tracing_data *data, struct cursor *c);

TTR_MUST ttr_status tracing_data_pages(struct tracing_data *data,
                                       struct cursor *c); /* header_page, header_event */
TTR_MUST ttr_status tracing_data_ftrace(struct tracing_data *data, struct cursor *c,
                                        ttr_error *error);
TTR_MUST ttr_status tracing_data_systems(struct tracing_data *data, struct cursor *c,
                                         ttr_error *error);
TTR_MUST ttr_status tracing_data_kallsyms(struct tracing_data *data, struct cursor *c,
                                          ttr_error *error);
TTR_MUST ttr_status tracing_data_printk(struct tracing_data *data, struct cursor *c,
                                        ttr_error *error);
TTR_MUST ttr_status tracing_data_comms(struct tracing_data *data, struct cursor *c,
                                       ttr_error *error);

/* All of these, one behind another, as perf.data and trace.dat 6 have them (behind
 * tracing_data_head). */
TTR_MUST ttr_status tracing_data_take(struct tracing_data *data, struct cursor *c,
                                      ttr_error *error);

/* A number of 1 to 8 bytes in the trace's byte order. */
uint64_t tracing_data_number(const struct tracing_data *data, struct cursor *c, unsigned bytes);

#endif
