/* Writer of perf.data: header, attributes, records, samples and feature sections, in either byte
 * order, as a file or for a pipe. Layout of the parts: perf_layout.h.
 *
 * Order of calls:
 *
 *   perf_data_writer_new                  chooses file or pipe, byte order, compression
 *   perf_data_writer_add_event, _feature ...  declarations; may continue between the records
 *   perf_data_writer_begin                writes everything that precedes the records
 *   perf_data_writer_add_sample, _comm ...    records, in any order and number
 *   perf_data_writer_finish_round                bounds the disorder of the records
 * (FINISHED_ROUND) perf_data_writer_mark_readable                 live file only: makes the records
 * so far readable perf_data_writer_end                  writes everything that follows the records
 *   perf_data_writer_store_header               file only: write its bytes over the start of the
 * file perf_data_writer_free
 *
 * All bytes are appended to the caller's buffer, which the caller may drain after each call. The
 * layout of a file is:
 *
 *   header | known ids, attributes | records ... | feature table, sections | all attributes,
 *                                                                            if more were added
 *
 * The header is rewritten at the end, because only then offsets and sizes are known. A pipe
 * consists of records only and is never rewritten. With a compression level, records are packed
 * into COMPRESSED records, which together contain one zstd stream. Attributes declare events; each
 * sample refers to its event by the field IDENTIFIER.
 *
 * A live file can be read even if its writer was killed. Feature sections known at the start are
 * also written before the records. perf_data_writer_mark_readable writes an EVENT_TYPE record,
 * which readers skip, with the table of these sections inside. The header then declares that the
 * data section ends at the mark, so readers find the feature table inside the mark:
 *
 *   mark   [0..7] EVENT_TYPE, size | [8..15] all ones | {offset, size} of each section
 *          [0..15] = table entry of section 0; its feature bit, RESERVED, marks an unfinished file
 *
 * Events and formats declared later are written before the next mark, in carrier records of the
 * same type: one each for attributes, names and formats. What exceeds the size of a record (about
 * 60 tracepoints) is available only after perf_data_writer_end.
 *
 * Invariants: the first error sticks; functions without a result do nothing after it, and
 * perf_data_writer_failed reports it. writer->at is always the file offset of the next byte.
 *
 * Left out: AUX areas, statistics (READ, STAT), branch stacks, registers.
 *
 * Ownership: perf_data_writer_free frees all state; texts and bytes passed in are copied. Thread
 * rule: one thread at a time. */
#ifndef TRACETTA_ENCODINGS_PERF_DATA_PERF_DATA_WRITE_H
#define TRACETTA_ENCODINGS_PERF_DATA_PERF_DATA_WRITE_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "encodings/perf_data/perf_layout.h"

struct perf_zstd;

/* limit of the data bytes in a carrier record of a live file */
#define PERF_CARRIED_BYTES_MAX ((size_t)65512)
#define PERF_WRITER_FEATURES 32u

/* Options of perf_data_writer_new. */
struct perf_data_writer_spec {
    const struct alloc *alloc;
    struct buffer *to;
    bool is_big_endian, is_pipe;
    bool
        /* the file must be readable before it is finished, see perf_data_writer_mark_readable();
         * not for pipes */
        is_live;
    int zstd_level; /* compression level; 0 = uncompressed */
};

/* File offset and size of a feature section. */
struct perf_section {
    uint64_t at, n;
};

/* A declared event. Stored until the end, because attributes may be written again. */
struct perf_data_writer_event {
    uint8_t attr[PERF_ATTR_VER7];
    size_t ids_at, ids_n;   /* offset in `ids` in bytes, and number of ids */
    size_t name_at, name_n; /* offset and length in `names` */
};

struct perf_data_writer {
    struct perf_data_writer_spec spec;
    struct perf_data_writer_event *events;
    size_t events_n, events_capacity;
    size_t events_written; /* number of events already written to the file */
    struct buffer ids;     /* array of u64 in host byte order */
    struct buffer names;
    struct buffer
        feature[PERF_WRITER_FEATURES]; /* feature sections by bit number; empty = absent */
    struct perf_section early_sections[PERF_WRITER_FEATURES];
    uint64_t marked_bytes;    /* size of the data section at the last mark */
    size_t build_ids_written; /* pipe mode: bytes of the feature section BUILD_ID that were written
                               * as records */
    struct buffer plain;      /* records that wait for compression */
    struct perf_zstd *zstd;
    uint64_t plain_bytes; /* total size of the records before compression */
    uint64_t data_bytes;  /* size of the data section so far */
    uint64_t data_at, attrs_at, attrs_bytes;
    uint64_t at; /* file offset of the next byte, not counting a record under construction */
    bool has_begun, has_ended, is_out_of_memory;
    bool is_late; /* live file: events or formats were declared since the last mark */
};

/* The members of a perf_event_attr that writers set. `flags` consists of bits 1 << enum
 * perf_attr_flag. */
struct perf_attr {
    uint32_t type, wakeup;
    uint64_t config, period, sample_type, read_format, flags;
    int32_t clockid;
    uint16_t max_stack;
};

/* A range of bytes, for data that consist of several ranges. */
struct perf_bytes {
    const void *p;
    size_t n;
};

/* Values of a sample, or of the trailer of another record. sample_type selects which members are
 * written. */
struct perf_sample {
    uint64_t ip, time, addr, id, stream_id, period;
    uint32_t pid, tid, cpu;
    const uint64_t *chain; /* callchain with its context markers (PERF_CONTEXT_...) */
    size_t chain_n;
    struct perf_bytes
        /* two ranges that form the RAW data, padded with zeros to a multiple of 8 */
        raw[2];
};

/* A file mapped into memory (MMAP2 record). */
struct perf_mapping {
    uint32_t pid, tid, prot, flags;
    uint64_t start, size, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    ttr_text path;
    const uint8_t *build_id; /* NULL if unknown: device and inode are then written instead */
    uint8_t build_id_n;      /* at most 20 bytes */
    bool is_kernel;
};

/* Initializes a writer. Returns false if out of memory; call perf_data_writer_free in any case. */
TTR_MUST bool perf_data_writer_new(struct perf_data_writer *writer,
                                   const struct perf_data_writer_spec *spec);
void perf_data_writer_free(struct perf_data_writer *writer);

static inline bool perf_data_writer_failed(const struct perf_data_writer *writer)
{
    return writer->is_out_of_memory || writer->spec.to->failed || writer->plain.failed ||
           writer->ids.failed || writer->names.failed;
}

/* Serializes an attribute in the given byte order. */
void perf_attr_serialize(const struct perf_attr *attr, bool is_big_endian,
                         uint8_t to[PERF_ATTR_VER7]);

/* Declares an event: attribute (its size member is set here), name ("sched:sched_switch"), and the
 * ids that its samples carry. */
void perf_data_writer_add_event(struct perf_data_writer *writer, const uint8_t attr[PERF_ATTR_VER7],
                                ttr_text name, const uint64_t *ids, size_t n);

/* Set a feature section to raw bytes, one text, several texts (CMDLINE) or CPU counts. In a file, a
 * later call for the same feature replaces the section. */
void perf_data_writer_set_feature(struct perf_data_writer *writer, enum perf_feature feature,
                                  const void *bytes, size_t n);
void perf_data_writer_set_feature_text(struct perf_data_writer *writer, enum perf_feature feature,
                                       ttr_text text);
void perf_data_writer_set_feature_texts(struct perf_data_writer *writer, enum perf_feature feature,
                                        const ttr_text *texts, uint32_t n);
void perf_data_writer_set_feature_cpus(struct perf_data_writer *writer, uint32_t available,
                                       uint32_t online);

/* Sets the feature CLOCK_DATA, which relates the trace clock to wall time: when the trace clock was
 * `clock_ns`, `wall_ns` had passed since the Unix epoch. Clocks are numbered as for
 * clock_gettime. */
void perf_data_writer_set_feature_clock(struct perf_data_writer *writer, uint32_t clockid,
                                        uint64_t wall_ns, uint64_t clock_ns);

/* Adds an entry to the feature section BUILD_ID. */
void perf_data_writer_add_build_id(struct perf_data_writer *writer, uint32_t pid, uint16_t cpumode,
                                   const uint8_t *id, size_t n, ttr_text path);

/* Sets the format files of tracepoints, as a block from tracing_data_write.h. In pipe mode they
 * apply to events declared later, and the function may be called again. */
void perf_data_writer_set_tracing_data(struct perf_data_writer *writer, const void *bytes,
                                       size_t n);

/* Writes everything that precedes the records. */
void perf_data_writer_begin(struct perf_data_writer *writer);

/* Appends complete records unchanged. */
void perf_data_writer_copy_records(struct perf_data_writer *writer, const void *bytes, size_t n);

/* Writes a sample. Returns false, and writes nothing, if it exceeds the maximum record size of
 * 65,535 bytes. */
TTR_MUST bool perf_data_writer_add_sample(struct perf_data_writer *writer, uint64_t sample_type,
                                          uint16_t misc, const struct perf_sample *sample);

/* Append records other than samples. The trailer consists of the values that sample_type selects
 * from `values`; sample_type 0 means no trailer (SAMPLE_ID_ALL is not set). Names and paths that
 * are too long are truncated. */
void perf_data_writer_add_comm(struct perf_data_writer *writer, uint64_t sample_type,
                               const struct perf_sample *values, ttr_text name, bool is_exec);
void perf_data_writer_add_mapping(struct perf_data_writer *writer, uint64_t sample_type,
                                  const struct perf_sample *values,
                                  const struct perf_mapping *mapping);
void perf_data_writer_add_task(struct perf_data_writer *writer, uint64_t sample_type,
                               const struct perf_sample *values, uint32_t parent_pid,
                               uint32_t parent_tid);
void perf_data_writer_add_lost(struct perf_data_writer *writer, uint64_t sample_type,
                               const struct perf_sample *values, uint64_t lost);

/* Writes FINISHED_ROUND: no later record is older than the newest record before the previous
 * FINISHED_ROUND. It lets readers sort with bounded memory. */
void perf_data_writer_finish_round(struct perf_data_writer *writer);

/* Compresses all records that wait for it, and appends them to the output. */
void perf_data_writer_flush(struct perf_data_writer *writer);

/* Live file: writes a mark. perf_data_writer_store_header() then includes all records and events so
 * far. */
void perf_data_writer_mark_readable(struct perf_data_writer *writer);

/* Writes everything that follows the records. */
void perf_data_writer_end(struct perf_data_writer *writer);

/* Serializes the header for the current state of the file, not for pipes. Before
 * perf_data_writer_end() it includes attributes and records, but no feature sections; for a live
 * file it includes everything before the last mark. */
void perf_data_writer_store_header(const struct perf_data_writer *writer,
                                   uint8_t to[PERF_HEADER_BYTES]);

#endif
