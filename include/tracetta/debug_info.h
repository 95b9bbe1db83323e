/* Adding binary, function and source line to events of LTTng-UST.
 *
 * ttr_debug_info learns from the trace which binaries were loaded, and asks a ttr_symbolizer for
 * each address. symbols.h has a ttr_symbolizer for ELF and DWARF.  Conventions as in tracetta.h. */
#ifndef TRACETTA_DEBUG_INFO_H
#define TRACETTA_DEBUG_INFO_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A binary of a traced program, as the trace describes it.  Borrowed during the call of the
 * symbolizer. */
typedef struct ttr_binary {
    size_t size;
    uint64_t number;   /* identity, from 1: equal for equal descriptions */
    ttr_text path;     /* path on the traced machine, followed by a zero byte */
    ttr_text build_id; /* bytes; "" = unknown */
    /* file name of the separate debug information, followed by a zero byte; "" = unknown */
    ttr_text debug_link;
    uint32_t debug_link_crc; /* CRC-32 of that file */
    bool is_pic;             /* true: addresses are relative to its load address; false: absolute */
    bool has_offsets; /* true: the address is an offset in the file, not in the loaded image */
} ttr_binary;

/* A symbolized address.  "" = unknown. */
typedef struct ttr_location {
    size_t size;
    ttr_text binary;   /* file name with the offset, "libc.so.6+0x2a1" */
    ttr_text function; /* "main+0x14" */
    ttr_text source;   /* "main.c:17" */
} ttr_location;

/* Symbolizes an address of a binary.  Unknown members keep their values.  The texts are copied when
 * it returns. */
typedef void (*ttr_symbolizer)(void *user_data, const ttr_binary *binary, uint64_t address,
                               ttr_location *place);

/* Sets the symbolizer with which writers name functions of mapped files that the trace does not
 * name; NULL = none.  It is borrowed until the writers of the context are finished. */
TTR_API void ttr_set_symbolizer(ttr *t, ttr_symbolizer locate, void *user_data);

typedef struct ttr_debug_options {
    size_t size;
    ttr_symbolizer locate;
    void *user_data; /* passed to locate */
    /* as babeltrace2: keep an answer while the binary is loaded, even if the trace describes it
     * better later; ignore binaries loaded after the state dump */
    bool like_babeltrace2;
} ttr_debug_options;

/* Adds the struct "debug_info" with the texts "bin", "func" and "src" to the common context of
 * LTTng-UST events that have the contexts ip and vpid.  Loaded binaries are learned from
 * lttng_ust_statedump, lttng_ust_lib and lttng_ust_dl events, so `in` should be ordered by time.
 * Answers are cached.  Events lose TTR_EVENT_RAW, and definitions are omitted.  A chain of stages
 * can have one such stage. */
TTR_API ttr_reader *ttr_debug_info(ttr_reader *in, const ttr_debug_options *options,
                                   ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
