/* Writing perf.data: header, attributes, records, samples and feature sections, in either byte
 * order, as a file or for a pipe.
 *
 * Bytes are appended to a buffer of the caller's, who may empty it whenever a function has
 * returned.  A file is
 *
 *     header, attributes known by then, records ..., feature sections, all attributes if there are
 * more
 *
 * and its first PERF_HEADER_BYTES are written anew in the end (perf_put_header), since only then it
 * is known how much there is.  For a pipe everything is a record and nothing is written twice. With
 * a compression level records go into COMPRESSED ones, a zstd stream from the first to the last.
 * Events are named by attributes; samples bear the id of theirs (IDENTIFIER).
 *
 * A live file is to be read also when its writer is killed.  What is known in the beginning of the
 * feature sections stands before the records too, and among the records are marks: EVENT_TYPE,
 * which readers pass over, and which has the table of those sections inside.  The header tells of
 * the records up to the last mark, so that the mark stands where the table belongs; what it begins
 * with is the place of section 0, which is reserved for nothing, and whose bit says that the file
 * was not ended.  Events that are declared later, and the formats of tracepoints, stand before the
 * next mark inside of such records, one each for the attributes, their names and the formats, as
 * long as each has room in a record (some 60 tracepoints).
 *
 *     mark    [0..7] EVENT_TYPE, size | [8..15] all ones | {offset, size} of each section
 *
 *
 * Ownership: perf_put_free frees what is kept; texts and bytes are copied.  That memory was out is
 * told by perf_put_failed. Left out: AUX areas, statistics (READ, STAT), branch stacks, registers.
 */
#ifndef TRACETTA_ENCODINGS_PERF_DATA_PERF_DATA_WRITE_H
#define TRACETTA_ENCODINGS_PERF_DATA_PERF_DATA_WRITE_H

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "encodings/perf_data/perf_layout.h"

struct perf_zstd;

#define PERF_PUT_CARRIED_MOST ((size_t)65512) /* bytes that a record of a live file can carry */
#define PERF_PUT_FEATURES 32u

/* How a file is to be. */
struct perf_put_spec {
    const struct alloc *alloc;
    struct buffer *to;
    bool is_big_endian, is_pipe;
    bool is_live;   /* of a file: it can be read also when it was not ended */
    int zstd_level; /* 0 = not compressed */
};

/* Where a section stands before the records. */
struct perf_put_place {
    uint64_t at, n;
};

/* What is kept of an attribute until the end. */
struct perf_put_event {
    uint8_t attr[PERF_ATTR_VER7];
    size_t ids_at, ids_n;   /* in ids; their number */
    size_t name_at, name_n; /* in names */
};

struct perf_put {
    struct perf_put_spec spec;
    struct perf_put_event *events;
    size_t events_n, events_capacity;
    size_t events_told; /* those that stand before the records, or in them */
    struct buffer ids;  /* u64, as they are in memory */
    struct buffer names;
    struct buffer feature[PERF_PUT_FEATURES]; /* sections; n = 0: absent */
    struct perf_put_place early[PERF_PUT_FEATURES];
    uint64_t marked_bytes; /* of the data section, up to the last mark */
    size_t build_ids_told; /* bytes of their section that are out, in a pipe */
    struct buffer plain;   /* records not yet compressed */
    struct perf_zstd *zstd;
    uint64_t plain_bytes; /* of records before compression */
    uint64_t data_bytes;  /* of the data section so far */
    uint64_t data_at, attrs_at, attrs_bytes;
    uint64_t at; /* bytes of the output so far, without those of the record under construction */
    bool has_begun, has_ended, is_out_of_memory;
    bool is_late; /* of a live file: events or formats were declared since the last mark */
};

/* A perf_event_attr as far as writers here set it; flags are 1 << enum perf_attr_flag. */
struct perf_attr {
    uint32_t type, wakeup;
    uint64_t config, period, sample_type, read_format, flags;
    int32_t clockid;
    uint16_t max_stack;
};

/* Bytes in pieces, for what would have to be joined else. */
struct perf_bytes {
    const void *p;
    size_t n;
};

/* A sample, or what other records end with; only what the sample_type has is written. */
struct perf_sample {
    uint64_t ip, time, addr, id, stream_id, period;
    uint32_t pid, tid, cpu;
    const uint64_t *chain; /* of CALLCHAIN, with its marks */
    size_t chain_n;
    struct perf_bytes
        raw[2]; /* of RAW, one behind the other; zeros up to the next multiple of 8 are added */
};

/* A mapping of a file in memory. */
struct perf_mapping {
    uint32_t pid, tid, prot, flags;
    uint64_t start, size, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    ttr_text path;
    const uint8_t *build_id; /* NULL = none: then device and inode are written */
    uint8_t build_id_n;      /* at most 20 */
    bool is_kernel;
};

/* Gives false when memory is out; perf_put_free is due in any case. */
TTR_MUST bool perf_put_new(struct perf_put *put, const struct perf_put_spec *spec);
void perf_put_free(struct perf_put *put);

static inline bool perf_put_failed(const struct perf_put *put)
{
    return put->is_out_of_memory || put->spec.to->failed || put->plain.failed || put->ids.failed ||
           put->names.failed;
}

/* Makes the bytes of an attribute in a byte order. */
void perf_attr_pack(const struct perf_attr *attr, bool is_big_endian, uint8_t to[PERF_ATTR_VER7]);

/* Declares events: the attribute's bytes (its size is set), a name ("sched:sched_switch"), and the
 * ids of its samples. */
void perf_put_event(struct perf_put *put, const uint8_t attr[PERF_ATTR_VER7], ttr_text name,
                    const uint64_t *ids, size_t n);

/* Sets a feature section: bytes as they are, a text, texts (CMDLINE), numbers.  In a file what was
 * set before is replaced. */
void perf_put_feature(struct perf_put *put, enum perf_feature feature, const void *bytes, size_t n);
void perf_put_feature_text(struct perf_put *put, enum perf_feature feature, ttr_text text);
void perf_put_feature_texts(struct perf_put *put, enum perf_feature feature, const ttr_text *texts,
                            uint32_t n);
void perf_put_feature_cpus(struct perf_put *put, uint32_t available, uint32_t online);

/* CLOCK_DATA: at `clock_ns` of the clock that times are of (as clock_gettime numbers them) it was
 * `wall_ns` since the Unix epoch. */
void perf_put_feature_clock(struct perf_put *put, uint32_t clockid, uint64_t wall_ns,
                            uint64_t clock_ns);

/* Adds a build id to those of the section. */
void perf_put_build_id(struct perf_put *put, uint32_t pid, uint16_t cpumode, const uint8_t *id,
                       size_t n, ttr_text path);

/* Sets the formats of tracepoints (encodings/tracepoint/tracing_data_write.h).  In a pipe those of
 * the events declared next; it may be called again. */
void perf_put_tracing(struct perf_put *put, const void *bytes, size_t n);

/* Writes what stands before the records. */
void perf_put_begin(struct perf_put *put);

/* Copies whole records. */
void perf_put_records(struct perf_put *put, const void *bytes, size_t n);

/* Writes a sample; false when it has no room in a record, and nothing is written then. */
TTR_MUST bool perf_put_sample(struct perf_put *put, uint64_t sample_type, uint16_t misc,
                              const struct perf_sample *sample);

/* Write records with the trailer that the sample_type asks for, from `about`; 0 = none
 * (SAMPLE_ID_ALL is not set).  Texts too long are cut. */
void perf_put_comm(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                   ttr_text name, bool is_exec);
void perf_put_mapping(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                      const struct perf_mapping *mapping);
void perf_put_task(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                   uint32_t parent_pid, uint32_t parent_tid);
void perf_put_lost(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                   uint64_t lost);

/* A bound for how much later than others records before here may be: none written after it is older
 * than the newest before the bound before. */
void perf_put_round(struct perf_put *put);

/* Hands what waits to be compressed to the buffer. */
void perf_put_flush(struct perf_put *put);

/* In a live file: from now on the header tells of all records that were put before, and of the
 * events that were declared. */
void perf_put_mark(struct perf_put *put);

/* Writes what stands behind the records. */
void perf_put_end(struct perf_put *put);

/* Gives the header of a file as it is now: before the end, that of one that has records and
 * attributes but no sections, or of a live one up to its last mark.  Of no use for a pipe. */
void perf_put_header(const struct perf_put *put, uint8_t to[PERF_HEADER_BYTES]);

#endif
