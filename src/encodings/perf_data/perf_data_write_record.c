/* Writer of perf.data records, and their packing into COMPRESSED records. Public description:
 * perf_data_write.h. */
#include "encodings/perf_data/perf_bytes.h"
#include "encodings/perf_data/perf_data_write.h"
#include "encodings/perf_data/perf_zstd.h"

#define COMM_MAX 15u /* maximum length of a thread name in the kernel, without its zero */
#define PATH_MAX_BYTES 4095u
#define BUILD_ID_MAX 20u
#define ROUND_UP8(n) (((n) + 7) / 8 * 8)

static void place_header(const struct perf_put *put, uint8_t *at, uint32_t type, uint16_t misc,
                         size_t n)
{
    bool is_big = put->spec.is_big_endian;
    perf_store_u32(at, is_big, type);
    perf_store_u16(at + 4, is_big, misc);
    perf_store_u16(at + 6, is_big, (uint16_t)n);
}

/* Counts bytes that were written in place at the end of the output buffer. */
static void count(struct perf_put *put, size_t n)
{
    buffer_filled(put->spec.to, n);
    put->data_bytes += n;
    put->at += n;
}

/* --- Compression into COMPRESSED records --- */

static void pack_piece(struct perf_put *put, const uint8_t *bytes, size_t n)
{
    uint8_t *to = buffer_room(put->spec.to, PERF_RECORD_BYTES_MAX);
    if (!to)
        return;
    size_t size = PERF_RECORD_HEADER + perf_zstd_pack(put->zstd, bytes, n, to + PERF_RECORD_HEADER,
                                                      PERF_RECORD_BYTES_MAX - PERF_RECORD_HEADER);
    if (size == PERF_RECORD_HEADER) {
        put->is_out_of_memory = true;
        return;
    }
    place_header(put, to, PERF_COMPRESSED, 0, size);
    count(put, size);
}

/* Compresses waiting records in pieces of PERF_ZSTD_PIECE bytes. A shorter last piece is compressed
 * only with also_short. */
static void pack(struct perf_put *put, bool also_short)
{
    size_t at = 0;
    while (!perf_put_failed(put) && put->plain.n - at >= (also_short ? 1 : PERF_ZSTD_PIECE)) {
        size_t n = put->plain.n - at < PERF_ZSTD_PIECE ? put->plain.n - at : PERF_ZSTD_PIECE;
        pack_piece(put, put->plain.bytes + at, n);
        at += n;
    }
    if (at) {
        memmove(put->plain.bytes, put->plain.bytes + at, put->plain.n - at);
        put->plain.n -= at;
    }
}

void perf_put_flush(struct perf_put *put)
{
    if (put->zstd)
        pack(put, true);
}

/* Reserves space for a record of `n` bytes and writes its header. Returns the position after the
 * header, or NULL if out of memory. end_record must follow. */
static uint8_t *begin_record(struct perf_put *put, uint32_t type, uint16_t misc, size_t n)
{
    uint8_t *at = buffer_room(put->zstd ? &put->plain : put->spec.to, n);
    if (!at)
        return NULL;
    place_header(put, at, type, misc, n);
    return at + PERF_RECORD_HEADER;
}

static void end_record(struct perf_put *put, size_t n)
{
    put->plain_bytes += n;
    if (put->zstd) {
        buffer_filled(&put->plain, n);
        if (put->plain.n >= PERF_ZSTD_PIECE)
            pack(put, false);
        return;
    }
    count(put, n);
}

void perf_put_records(struct perf_put *put, const void *bytes, size_t n)
{
    uint8_t *at = buffer_room(put->zstd ? &put->plain : put->spec.to, n);
    if (!at || !n)
        return;
    memcpy(at, bytes, n);
    end_record(put, n);
}

/* --- Integers and bytes at a position that has been reserved --- */

struct place {
    uint8_t *at;
    bool is_big;
};

static void put_u32(struct place *place, uint32_t x)
{
    perf_store_u32(place->at, place->is_big, x);
    place->at += 4;
}

static void put_u64(struct place *place, uint64_t x)
{
    perf_store_u64(place->at, place->is_big, x);
    place->at += 8;
}

static void put_pair(struct place *place, uint32_t first, uint32_t second)
{
    put_u32(place, first);
    put_u32(place, second);
}

/* Copies bytes and fills with zeros up to `padded` bytes. */
static void put_padded(struct place *place, const void *bytes, size_t n, size_t padded)
{
    if (n)
        memcpy(place->at, bytes, n);
    memset(place->at + n, 0, padded - n);
    place->at += padded;
}

/* --- Trailer of records other than samples (SAMPLE_ID_ALL) --- */

#define TRAILER                                                                                    \
    (PERF_SAMPLE_HAS_TID | PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_ID | PERF_SAMPLE_HAS_STREAM_ID | \
     PERF_SAMPLE_HAS_CPU | PERF_SAMPLE_HAS_IDENTIFIER)

static size_t trailer_bytes(uint64_t sample_type)
{
    return 8 * (size_t)__builtin_popcountll(sample_type & TRAILER);
}

static void put_trailer(struct place *place, uint64_t sample_type, const struct perf_sample *about)
{
    if (sample_type & PERF_SAMPLE_HAS_TID)
        put_pair(place, about->pid, about->tid);
    if (sample_type & PERF_SAMPLE_HAS_TIME)
        put_u64(place, about->time);
    if (sample_type & PERF_SAMPLE_HAS_ID)
        put_u64(place, about->id);
    if (sample_type & PERF_SAMPLE_HAS_STREAM_ID)
        put_u64(place, about->stream_id);
    if (sample_type & PERF_SAMPLE_HAS_CPU)
        put_pair(place, about->cpu, 0);
    if (sample_type & PERF_SAMPLE_HAS_IDENTIFIER)
        put_u64(place, about->id);
}

/* --- Samples --- */

#define SAMPLE_WORDS                                                         \
    (PERF_SAMPLE_HAS_IDENTIFIER | PERF_SAMPLE_HAS_IP | PERF_SAMPLE_HAS_TID | \
     PERF_SAMPLE_HAS_TIME | PERF_SAMPLE_HAS_ADDR | PERF_SAMPLE_HAS_ID |      \
     PERF_SAMPLE_HAS_STREAM_ID | PERF_SAMPLE_HAS_CPU | PERF_SAMPLE_HAS_PERIOD)

static size_t raw_bytes(const struct perf_sample *sample)
{
    return ROUND_UP8(sample->raw[0].n + sample->raw[1].n + 4) - 4;
}

static size_t sample_bytes(uint64_t sample_type, const struct perf_sample *sample)
{
    size_t n = PERF_RECORD_HEADER + 8 * (size_t)__builtin_popcountll(sample_type & SAMPLE_WORDS);
    if (sample_type & PERF_SAMPLE_HAS_CALLCHAIN)
        n += 8 + 8 * sample->chain_n;
    if (sample_type & PERF_SAMPLE_HAS_RAW)
        n += 4 + raw_bytes(sample);
    return n;
}

static void put_words(struct place *place, uint64_t sample_type, const struct perf_sample *sample)
{
    if (sample_type & PERF_SAMPLE_HAS_IDENTIFIER)
        put_u64(place, sample->id);
    if (sample_type & PERF_SAMPLE_HAS_IP)
        put_u64(place, sample->ip);
    if (sample_type & PERF_SAMPLE_HAS_TID)
        put_pair(place, sample->pid, sample->tid);
    if (sample_type & PERF_SAMPLE_HAS_TIME)
        put_u64(place, sample->time);
    if (sample_type & PERF_SAMPLE_HAS_ADDR)
        put_u64(place, sample->addr);
    if (sample_type & PERF_SAMPLE_HAS_ID)
        put_u64(place, sample->id);
    if (sample_type & PERF_SAMPLE_HAS_STREAM_ID)
        put_u64(place, sample->stream_id);
    if (sample_type & PERF_SAMPLE_HAS_CPU)
        put_pair(place, sample->cpu, 0);
    if (sample_type & PERF_SAMPLE_HAS_PERIOD)
        put_u64(place, sample->period);
}

bool perf_put_sample(struct perf_put *put, uint64_t sample_type, uint16_t misc,
                     const struct perf_sample *sample)
{
    if (sample->chain_n > PERF_RECORD_BYTES_MAX || sample->raw[0].n > PERF_RECORD_BYTES_MAX ||
        sample->raw[1].n > PERF_RECORD_BYTES_MAX)
        return false;
    size_t n = sample_bytes(sample_type, sample);
    if (n > PERF_RECORD_BYTES_MAX)
        return false;
    struct place place = {begin_record(put, PERF_SAMPLE, misc, n), put->spec.is_big_endian};
    if (!place.at)
        return true;
    put_words(&place, sample_type, sample);
    if (sample_type & PERF_SAMPLE_HAS_CALLCHAIN) {
        put_u64(&place, sample->chain_n);
        for (size_t i = 0; i < sample->chain_n; i++)
            put_u64(&place, sample->chain[i]);
    }
    if (sample_type & PERF_SAMPLE_HAS_RAW) {
        size_t raw_n = raw_bytes(sample);
        put_u32(&place, (uint32_t)raw_n);
        put_padded(&place, sample->raw[0].p, sample->raw[0].n, sample->raw[0].n);
        put_padded(&place, sample->raw[1].p, sample->raw[1].n, raw_n - sample->raw[0].n);
    }
    end_record(put, n);
    return true;
}

/* --- COMM, MMAP2, FORK, EXIT, LOST and FINISHED_ROUND --- */

void perf_put_comm(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                   ttr_text name, bool is_exec)
{
    size_t name_n = name.n < COMM_MAX ? name.n : COMM_MAX, padded = perf_padded(name_n, 8);
    size_t n = PERF_RECORD_HEADER + 8 + padded + trailer_bytes(sample_type);
    struct place place = {begin_record(put, PERF_COMM, is_exec ? PERF_MISC_COMM_EXEC : 0, n),
                          put->spec.is_big_endian};
    if (!place.at)
        return;
    put_pair(&place, about->pid, about->tid);
    put_padded(&place, name.p, name_n, padded);
    put_trailer(&place, sample_type, about);
    end_record(put, n);
}

/* Writes the build id, or device and inode if there is none. */
static void put_identity(struct place *place, const struct perf_mapping *mapping)
{
    uint8_t n = mapping->build_id_n < BUILD_ID_MAX ? mapping->build_id_n : (uint8_t)BUILD_ID_MAX;
    if (mapping->build_id) {
        uint8_t size[4] = {n};
        put_padded(place, size, sizeof size, sizeof size);
        put_padded(place, mapping->build_id, n, BUILD_ID_MAX);
        return;
    }
    put_pair(place, mapping->major, mapping->minor);
    put_u64(place, mapping->inode);
    put_u64(place, mapping->generation);
}

void perf_put_mapping(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                      const struct perf_mapping *mapping)
{
    enum { PROT_EXECUTE = 4 };
    size_t path_n = mapping->path.n < PATH_MAX_BYTES ? mapping->path.n : PATH_MAX_BYTES,
           padded = perf_padded(path_n, 8);
    size_t n = PERF_RECORD_HEADER + 64 + padded + trailer_bytes(sample_type);
    unsigned misc = (mapping->is_kernel ? PERF_MISC_KERNEL : PERF_MISC_USER) |
                    (mapping->prot & PROT_EXECUTE ? 0 : PERF_MISC_MMAP_DATA) |
                    (mapping->build_id ? PERF_MISC_BUILD_ID : 0);
    struct place place = {begin_record(put, PERF_MMAP2, (uint16_t)misc, n),
                          put->spec.is_big_endian};
    if (!place.at)
        return;
    put_pair(&place, mapping->pid, mapping->tid);
    put_u64(&place, mapping->start);
    put_u64(&place, mapping->size);
    put_u64(&place, mapping->offset);
    put_identity(&place, mapping);
    put_pair(&place, mapping->prot, mapping->flags);
    put_padded(&place, mapping->path.p, path_n, padded);
    put_trailer(&place, sample_type, about);
    end_record(put, n);
}

void perf_put_task(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                   uint32_t parent_pid, uint32_t parent_tid)
{
    size_t n = PERF_RECORD_HEADER + 24 + trailer_bytes(sample_type);
    struct place place = {begin_record(put, PERF_FORK, 0, n), put->spec.is_big_endian};
    if (!place.at)
        return;
    put_pair(&place, about->pid, parent_pid);
    put_pair(&place, about->tid, parent_tid);
    put_u64(&place, about->time);
    put_trailer(&place, sample_type, about);
    end_record(put, n);
}

void perf_put_lost(struct perf_put *put, uint64_t sample_type, const struct perf_sample *about,
                   uint64_t lost)
{
    size_t n = PERF_RECORD_HEADER + 16 + trailer_bytes(sample_type);
    struct place place = {begin_record(put, PERF_LOST, 0, n), put->spec.is_big_endian};
    if (!place.at)
        return;
    put_u64(&place, about->id);
    put_u64(&place, lost);
    put_trailer(&place, sample_type, about);
    end_record(put, n);
}

/* Never compressed: readers look for the first FINISHED_ROUND before they decompress anything. */
void perf_put_round(struct perf_put *put)
{
    perf_put_flush(put);
    uint8_t *at = buffer_room(put->spec.to, PERF_RECORD_HEADER);
    if (!at)
        return;
    place_header(put, at, PERF_FINISHED_ROUND, 0, PERF_RECORD_HEADER);
    put->plain_bytes += PERF_RECORD_HEADER;
    count(put, PERF_RECORD_HEADER);
}
