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
 * so far readable perf_data_writer_write_end                  writes everything that follows the
 * records perf_data_writer_store_header               file only: write its bytes over the start of
 * the file perf_data_writer_free
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
 * 60 tracepoints) is available only after perf_data_writer_write_end.
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

/* maximum bytes of data in a carrier record of a live file */
#define PERF_CARRIED_BYTES_MAX ((size_t)65512)
#define PERF_WRITER_FEATURES 32u

/* Arguments of perf_data_writer_new about the file. */
struct perf_data_writer_spec {
    const struct alloc *alloc;
    struct buffer *to;
    bool is_big_endian, is_pipe;
    bool
        /* the file must be readable while it is written (perf_data_writer_mark_readable); not for
         * pipes */
        is_live;
    int zstd_level; /* zstd compression level; 0 = no compression */
};

/* File offset and size in bytes of a feature section. */
struct perf_section {
    uint64_t at, n;
};

/* A declared event. Kept until the end of the file, because attributes may be written several
 * times. */
struct perf_data_writer_event {
    uint8_t attr[PERF_ATTR_VER7];
    size_t ids_at, ids_n;   /* ids_at: offset in `ids` in bytes; ids_n: number of ids */
    size_t name_at, name_n; /* offset and length of the name in `names` */
};

struct perf_data_writer {
    struct perf_data_writer_spec spec;
    struct perf_data_writer_event *events;
    size_t events_n, events_capacity;
    size_t events_written; /* number of events that were written to the file */
    /* array of the ids of all events: u64 in the byte order of this machine */
    struct buffer ids;
    struct buffer names;
    struct buffer
        /* feature sections by bit number; empty if absent */
        feature[PERF_WRITER_FEATURES];
    struct perf_section early_sections[PERF_WRITER_FEATURES];
    /* bytes in the data section when the last mark was written */
    uint64_t marked_bytes;
    /* for pipes: bytes of the feature section BUILD_ID that were written as records */
    size_t build_ids_written;
    struct buffer plain; /* records that are not compressed yet */
    struct perf_zstd *zstd;
    uint64_t plain_bytes; /* bytes of all records without compression */
    uint64_t data_bytes;  /* bytes in the data section so far */
    uint64_t data_at, attrs_at, attrs_bytes;
    /* file offset of the next byte, without a record that is not complete yet */
    uint64_t at;
    bool has_begun, has_ended, is_out_of_memory;
    bool is_late; /* live file: an event or format was declared after the last mark */
};

/* Members of a perf_event_attr that writers set. Bit 1 << enum perf_attr_flag of `flags` is a
 * flag. */
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

/* Values of a sample, or of the end of another record. sample_type decides which of them are
 * written. */
struct perf_sample {
    uint64_t ip, time, addr, id, stream_id, period;
    uint32_t pid, tid, cpu;
    /* addresses of the callchain, with context markers (PERF_CONTEXT_...) */
    const uint64_t *chain;
    size_t chain_n;
    struct perf_bytes
        /* two ranges of bytes that together are the RAW data; padded with zeros to a multiple of 8
         */
        raw[2];
};

/* A file mapped into memory (MMAP2 record). */
struct perf_mapping {
    uint32_t pid, tid, prot, flags;
    uint64_t start, size, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    ttr_text path;
    /* build id of the file; if NULL, device and inode are written */
    const uint8_t *build_id;
    uint8_t build_id_n; /* bytes of the build id, at most 20 */
    bool is_kernel;
};

/* Initializes a writer. Returns false if memory runs out. The caller must call
 * perf_data_writer_free even then. */
TTR_MUST bool perf_data_writer_new(struct perf_data_writer *writer,
                                   const struct perf_data_writer_spec *spec);
void perf_data_writer_free(struct perf_data_writer *writer);

static inline bool perf_data_writer_failed(const struct perf_data_writer *writer)
{
    return writer->is_out_of_memory || writer->spec.to->failed || writer->plain.failed ||
           writer->ids.failed || writer->names.failed;
}

/* Encodes an attribute in the given byte order. */
void perf_attr_serialize(const struct perf_attr *attr, bool is_big_endian,
                         uint8_t to[PERF_ATTR_VER7]);

/* Declares an event: attribute (this function sets its size member), name ("sched:sched_switch"),
 * and the ids in its samples. */
void perf_data_writer_add_event(struct perf_data_writer *writer, const uint8_t attr[PERF_ATTR_VER7],
                                ttr_text name, const uint64_t *ids, size_t n);

/* Set a feature section to bytes, a text, several texts (CMDLINE) or numbers of CPUs. A later call
 * for the same feature replaces the section, except for pipes. */
void perf_data_writer_set_feature(struct perf_data_writer *writer, enum perf_feature feature,
                                  const void *bytes, size_t n);
void perf_data_writer_set_feature_text(struct perf_data_writer *writer, enum perf_feature feature,
                                       ttr_text text);
void perf_data_writer_set_feature_texts(struct perf_data_writer *writer, enum perf_feature feature,
                                        const ttr_text *texts, uint32_t n);
void perf_data_writer_set_feature_cpus(struct perf_data_writer *writer, uint32_t available,
                                       uint32_t online);

/* Sets the feature CLOCK_DATA, by which readers convert trace time to wall time: at `clock_ns` of
 * the trace clock, `wall_ns` had passed since the Unix epoch. clockid: number of the clock for
 * clock_gettime. */
void perf_data_writer_set_feature_clock(struct perf_data_writer *writer, uint32_t clockid,
                                        uint64_t wall_ns, uint64_t clock_ns);

/* Adds a build id to the feature section BUILD_ID. */
void perf_data_writer_add_build_id(struct perf_data_writer *writer, uint32_t pid, uint16_t cpumode,
                                   const uint8_t *id, size_t n, ttr_text path);

/* Sets the format files of tracepoints to a block of tracing_data_write.h. For pipes, they are
 * valid for events that are declared later, and the function may be called again. */
void perf_data_writer_set_tracing_data(struct perf_data_writer *writer, const void *bytes,
                                       size_t n);

/* Writes everything that precedes the records in the file. */
void perf_data_writer_begin(struct perf_data_writer *writer);

/* Appends complete records unchanged. */
void perf_data_writer_copy_records(struct perf_data_writer *writer, const void *bytes, size_t n);

/* Writes a sample. Returns false, and writes nothing, if it exceeds the maximum record size of
 * 65,535 bytes. */
TTR_MUST bool perf_data_writer_add_sample(struct perf_data_writer *writer, uint64_t sample_type,
                                          uint16_t misc, const struct perf_sample *sample);

/* Append records that are not samples. Each ends with those of `values` that sample_type selects;
 * with none if it is 0 (SAMPLE_ID_ALL is not set). Names and paths that are too long are cut
 * off. */
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

/* Writes FINISHED_ROUND: all later records are at least as new as the newest record before the
 * previous FINISHED_ROUND. Readers then need little memory to sort. */
void perf_data_writer_finish_round(struct perf_data_writer *writer);

/* Compresses the records that are not compressed yet, and appends them to the output. */
void perf_data_writer_flush(struct perf_data_writer *writer);

/* Live file: writes a mark, up to which the header of perf_data_writer_store_header() will include
 * records and events. */
void perf_data_writer_mark_readable(struct perf_data_writer *writer);

/* Writes everything that follows the records in the file. */
void perf_data_writer_write_end(struct perf_data_writer *writer);

/* Encodes the header for the current state of the file; not for pipes. Before
 * perf_data_writer_write_end(), it includes attributes and records, but no feature sections; in a
 * live file, everything before the last mark. */
void perf_data_writer_store_header(const struct perf_data_writer *writer,
                                   uint8_t to[PERF_HEADER_BYTES]);

#endif
