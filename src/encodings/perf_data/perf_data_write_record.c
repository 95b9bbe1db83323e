/* Writer of perf.data records, and of COMPRESSED records, which contain others. perf_data_write.h
 * describes the functions. */
#include "encodings/perf_data/perf_bytes.h"
#include "encodings/perf_data/perf_data_write.h"
#include "encodings/perf_data/perf_zstd.h"

/* bytes of the longest thread name of the kernel, without its zero */
#define COMM_MAX 15u
#define PATH_MAX_BYTES 4095u
#define BUILD_ID_MAX 20u
#define ROUND_UP8(n) (((n) + 7) / 8 * 8)

static void store_record_header(const struct perf_data_writer *writer, uint8_t *at, uint32_t type,
                                uint16_t misc, size_t n)
{
    bool is_big = writer->spec.is_big_endian;
    perf_store_u32(at, is_big, type);
    perf_store_u16(at + 4, is_big, misc);
    perf_store_u16(at + 6, is_big, (uint16_t)n);
}

/* Counts a record that was written directly to the end of the output buffer. */
static void add_written_bytes(struct perf_data_writer *writer, size_t n)
{
    buffer_commit(writer->spec.to, n);
    writer->data_bytes += n;
    writer->at += n;
}

/* --- Packing into COMPRESSED records --- */

static void write_compressed_record(struct perf_data_writer *writer, const uint8_t *bytes, size_t n)
{
    uint8_t *to = buffer_room(writer->spec.to, PERF_RECORD_BYTES_MAX);
    if (!to)
        return;
    size_t size =
        PERF_RECORD_HEADER + perf_zstd_compress(writer->zstd, bytes, n, to + PERF_RECORD_HEADER,
                                                PERF_RECORD_BYTES_MAX - PERF_RECORD_HEADER);
    if (size == PERF_RECORD_HEADER) {
        writer->is_out_of_memory = true;
        return;
    }
    store_record_header(writer, to, PERF_COMPRESSED, 0, size);
    add_written_bytes(writer, size);
}

/* Compresses records that are not compressed yet, in pieces of PERF_ZSTD_PIECE_MAX bytes.
 * Compresses a shorter piece at the end only if with_short_piece. */
static void compress_waiting_records(struct perf_data_writer *writer, bool with_short_piece)
{
    size_t at = 0;
    while (!perf_data_writer_failed(writer) &&
           writer->plain.n - at >= (with_short_piece ? 1 : PERF_ZSTD_PIECE_MAX)) {
        size_t n =
            writer->plain.n - at < PERF_ZSTD_PIECE_MAX ? writer->plain.n - at : PERF_ZSTD_PIECE_MAX;
        write_compressed_record(writer, writer->plain.bytes + at, n);
        at += n;
    }
    if (at) {
        memmove(writer->plain.bytes, writer->plain.bytes + at, writer->plain.n - at);
        writer->plain.n -= at;
    }
}

void perf_data_writer_flush(struct perf_data_writer *writer)
{
    if (writer->zstd)
        compress_waiting_records(writer, true);
}

/* Reserves `n` bytes for a record and writes its header. Returns the address after the header;
 * NULL if memory runs out. The caller calls commit_record() when the record is complete. */
static uint8_t *reserve_record(struct perf_data_writer *writer, uint32_t type, uint16_t misc,
                               size_t n)
{
    uint8_t *at = buffer_room(writer->zstd ? &writer->plain : writer->spec.to, n);
    if (!at)
        return NULL;
    store_record_header(writer, at, type, misc, n);
    return at + PERF_RECORD_HEADER;
}

static void commit_record(struct perf_data_writer *writer, size_t n)
{
    writer->plain_bytes += n;
    if (writer->zstd) {
        buffer_commit(&writer->plain, n);
        if (writer->plain.n >= PERF_ZSTD_PIECE_MAX)
            compress_waiting_records(writer, false);
        return;
    }
    add_written_bytes(writer, n);
}

void perf_data_writer_copy_records(struct perf_data_writer *writer, const void *bytes, size_t n)
{
    uint8_t *at = buffer_room(writer->zstd ? &writer->plain : writer->spec.to, n);
    if (!at || !n)
        return;
    memcpy(at, bytes, n);
    commit_record(writer, n);
}

/* --- Storing at a reserved position --- */

struct record_position {
    uint8_t *at;
    bool is_big;
};

static void store_next_u32(struct record_position *position, uint32_t x)
{
    perf_store_u32(position->at, position->is_big, x);
    position->at += 4;
}

static void store_next_u64(struct record_position *position, uint64_t x)
{
    perf_store_u64(position->at, position->is_big, x);
    position->at += 8;
}

static void store_u32_pair(struct record_position *position, uint32_t first, uint32_t second)
{
    store_next_u32(position, first);
    store_next_u32(position, second);
}

/* Stores bytes, then zeros up to a size of `padded` bytes. */
static void store_padded_bytes(struct record_position *position, const void *bytes, size_t n,
                               size_t padded)
{
    if (n)
        memcpy(position->at, bytes, n);
    memset(position->at + n, 0, padded - n);
    position->at += padded;
}

/* --- Values at the end of records that are not samples (SAMPLE_ID_ALL) --- */

#define TRAILER                                                                                    \
    (PERF_SAMPLE_HAS_TID | PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_ID | PERF_SAMPLE_HAS_STREAM_ID | \
     PERF_SAMPLE_HAS_CPU | PERF_SAMPLE_HAS_IDENTIFIER)

static size_t get_trailer_size(uint64_t sample_type)
{
    return 8 * (size_t)__builtin_popcountll(sample_type & TRAILER);
}

static void store_trailer(struct record_position *position, uint64_t sample_type,
                          const struct perf_sample *values)
{
    if (sample_type & PERF_SAMPLE_HAS_TID)
        store_u32_pair(position, values->pid, values->tid);
    if (sample_type & PERF_SAMPLE_HAS_TIME)
        store_next_u64(position, values->time);
    if (sample_type & PERF_SAMPLE_HAS_ID)
        store_next_u64(position, values->id);
    if (sample_type & PERF_SAMPLE_HAS_STREAM_ID)
        store_next_u64(position, values->stream_id);
    if (sample_type & PERF_SAMPLE_HAS_CPU)
        store_u32_pair(position, values->cpu, 0);
    if (sample_type & PERF_SAMPLE_HAS_IDENTIFIER)
        store_next_u64(position, values->id);
}

/* --- Records for samples --- */

#define SAMPLE_WORDS                                                         \
    (PERF_SAMPLE_HAS_IDENTIFIER | PERF_SAMPLE_HAS_IP | PERF_SAMPLE_HAS_TID | \
     PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_ADDR | PERF_SAMPLE_HAS_ID |      \
     PERF_SAMPLE_HAS_STREAM_ID | PERF_SAMPLE_HAS_CPU | PERF_SAMPLE_HAS_PERIOD)

static size_t get_padded_raw_size(const struct perf_sample *sample)
{
    return ROUND_UP8(sample->raw[0].n + sample->raw[1].n + 4) - 4;
}

static size_t get_sample_size(uint64_t sample_type, const struct perf_sample *sample)
{
    size_t n = PERF_RECORD_HEADER + 8 * (size_t)__builtin_popcountll(sample_type & SAMPLE_WORDS);
    if (sample_type & PERF_SAMPLE_HAS_CALLCHAIN)
        n += 8 + 8 * sample->chain_n;
    if (sample_type & PERF_SAMPLE_HAS_RAW)
        n += 4 + get_padded_raw_size(sample);
    return n;
}

static void store_sample_words(struct record_position *position, uint64_t sample_type,
                               const struct perf_sample *sample)
{
    if (sample_type & PERF_SAMPLE_HAS_IDENTIFIER)
        store_next_u64(position, sample->id);
    if (sample_type & PERF_SAMPLE_HAS_IP)
        store_next_u64(position, sample->ip);
    if (sample_type & PERF_SAMPLE_HAS_TID)
        store_u32_pair(position, sample->pid, sample->tid);
    if (sample_type & PERF_SAMPLE_HAS_TIME)
        store_next_u64(position, sample->time);
    if (sample_type & PERF_SAMPLE_HAS_ADDR)
        store_next_u64(position, sample->addr);
    if (sample_type & PERF_SAMPLE_HAS_ID)
        store_next_u64(position, sample->id);
    if (sample_type & PERF_SAMPLE_HAS_STREAM_ID)
        store_next_u64(position, sample->stream_id);
    if (sample_type & PERF_SAMPLE_HAS_CPU)
        store_u32_pair(position, sample->cpu, 0);
    if (sample_type & PERF_SAMPLE_HAS_PERIOD)
        store_next_u64(position, sample->period);
}

bool perf_data_writer_add_sample(struct perf_data_writer *writer, uint64_t sample_type,
                                 uint16_t misc, const struct perf_sample *sample)
{
    if (sample->chain_n > PERF_RECORD_BYTES_MAX || sample->raw[0].n > PERF_RECORD_BYTES_MAX ||
        sample->raw[1].n > PERF_RECORD_BYTES_MAX)
        return false;
    size_t n = get_sample_size(sample_type, sample);
    if (n > PERF_RECORD_BYTES_MAX)
        return false;
    struct record_position position = {reserve_record(writer, PERF_SAMPLE, misc, n),
                                       writer->spec.is_big_endian};
    if (!position.at)
        return true;
    store_sample_words(&position, sample_type, sample);
    if (sample_type & PERF_SAMPLE_HAS_CALLCHAIN) {
        store_next_u64(&position, sample->chain_n);
        for (size_t i = 0; i < sample->chain_n; i++)
            store_next_u64(&position, sample->chain[i]);
    }
    if (sample_type & PERF_SAMPLE_HAS_RAW) {
        size_t raw_n = get_padded_raw_size(sample);
        store_next_u32(&position, (uint32_t)raw_n);
        store_padded_bytes(&position, sample->raw[0].p, sample->raw[0].n, sample->raw[0].n);
        store_padded_bytes(&position, sample->raw[1].p, sample->raw[1].n, raw_n - sample->raw[0].n);
    }
    commit_record(writer, n);
    return true;
}

/* --- Records COMM, MMAP2, FORK, EXIT, LOST and FINISHED_ROUND --- */

void perf_data_writer_add_comm(struct perf_data_writer *writer, uint64_t sample_type,
                               const struct perf_sample *values, ttr_text name, bool is_exec)
{
    size_t name_n = name.n < COMM_MAX ? name.n : COMM_MAX, padded = perf_padded_size(name_n, 8);
    size_t n = PERF_RECORD_HEADER + 8 + padded + get_trailer_size(sample_type);
    struct record_position position = {
        reserve_record(writer, PERF_COMM, is_exec ? PERF_MISC_COMM_EXEC : 0, n),
        writer->spec.is_big_endian};
    if (!position.at)
        return;
    store_u32_pair(&position, values->pid, values->tid);
    store_padded_bytes(&position, name.p, name_n, padded);
    store_trailer(&position, sample_type, values);
    commit_record(writer, n);
}

/* Stores the identity of a mapped file: its build id, or device and inode if there is none. */
static void store_mapping_identity(struct record_position *position,
                                   const struct perf_mapping *mapping)
{
    uint8_t n = mapping->build_id_n < BUILD_ID_MAX ? mapping->build_id_n : (uint8_t)BUILD_ID_MAX;
    if (mapping->build_id) {
        uint8_t size[4] = {n};
        store_padded_bytes(position, size, sizeof size, sizeof size);
        store_padded_bytes(position, mapping->build_id, n, BUILD_ID_MAX);
        return;
    }
    store_u32_pair(position, mapping->major, mapping->minor);
    store_next_u64(position, mapping->inode);
    store_next_u64(position, mapping->generation);
}

void perf_data_writer_add_mapping(struct perf_data_writer *writer, uint64_t sample_type,
                                  const struct perf_sample *values,
                                  const struct perf_mapping *mapping)
{
    enum { PROT_EXECUTE = 4 };
    size_t path_n = mapping->path.n < PATH_MAX_BYTES ? mapping->path.n : PATH_MAX_BYTES,
           padded = perf_padded_size(path_n, 8);
    size_t n = PERF_RECORD_HEADER + 64 + padded + get_trailer_size(sample_type);
    unsigned misc = (mapping->is_kernel ? PERF_MISC_KERNEL : PERF_MISC_USER) |
                    (mapping->prot & PROT_EXECUTE ? 0 : PERF_MISC_MMAP_DATA) |
                    (mapping->build_id ? PERF_MISC_BUILD_ID : 0);
    struct record_position position = {reserve_record(writer, PERF_MMAP2, (uint16_t)misc, n),
                                       writer->spec.is_big_endian};
    if (!position.at)
        return;
    store_u32_pair(&position, mapping->pid, mapping->tid);
    store_next_u64(&position, mapping->start);
    store_next_u64(&position, mapping->size);
    store_next_u64(&position, mapping->offset);
    store_mapping_identity(&position, mapping);
    store_u32_pair(&position, mapping->prot, mapping->flags);
    store_padded_bytes(&position, mapping->path.p, path_n, padded);
    store_trailer(&position, sample_type, values);
    commit_record(writer, n);
}

void perf_data_writer_add_task(struct perf_data_writer *writer, uint64_t sample_type,
                               const struct perf_sample *values, uint32_t parent_pid,
                               uint32_t parent_tid)
{
    size_t n = PERF_RECORD_HEADER + 24 + get_trailer_size(sample_type);
    struct record_position position = {reserve_record(writer, PERF_FORK, 0, n),
                                       writer->spec.is_big_endian};
    if (!position.at)
        return;
    store_u32_pair(&position, values->pid, parent_pid);
    store_u32_pair(&position, values->tid, parent_tid);
    store_next_u64(&position, values->time);
    store_trailer(&position, sample_type, values);
    commit_record(writer, n);
}

void perf_data_writer_add_lost(struct perf_data_writer *writer, uint64_t sample_type,
                               const struct perf_sample *values, uint64_t lost)
{
    size_t n = PERF_RECORD_HEADER + 16 + get_trailer_size(sample_type);
    struct record_position position = {reserve_record(writer, PERF_LOST, 0, n),
                                       writer->spec.is_big_endian};
    if (!position.at)
        return;
    store_next_u64(&position, values->id);
    store_next_u64(&position, lost);
    store_trailer(&position, sample_type, values);
    commit_record(writer, n);
}

/* FINISHED_ROUND is not compressed, because readers search for the first one before they
 * decompress. */
void perf_data_writer_finish_round(struct perf_data_writer *writer)
{
    perf_data_writer_flush(writer);
    uint8_t *at = buffer_room(writer->spec.to, PERF_RECORD_HEADER);
    if (!at)
        return;
    store_record_header(writer, at, PERF_FINISHED_ROUND, 0, PERF_RECORD_HEADER);
    writer->plain_bytes += PERF_RECORD_HEADER;
    add_written_bytes(writer, PERF_RECORD_HEADER);
}
