/* pprof: proto/profile.proto of github.com/google/pprof, compressed with gzip. Field numbers:
 *
 * |  Profile    1 sample_type | 2 sample | 4 location | 5 function | 6 string_table
 * |             9 time_nanos | 10 duration_nanos
 * |  ValueType  1 type | 2 unit
 * |  Sample     1 location_id, innermost first | 2 value | 3 label
 * |  Label      1 key | 2 str | 3 num
 * |  Location   1 id | 4 line;  Line: 1 function_id
 * |  Function   1 id | 2 name | 3 system_name | 4 filename
 *
 * Strings are indexes into the string table; entry 0 is empty. A frame becomes one function and one
 * location, both with the frame index plus 1 as id. Left out: mappings and addresses, since frames
 * already have names. */
#include <zlib.h>

#include "base/sanitizer.h"
#include "base/protobuf.h"
#include "base/status.h"
#include "pipeline/profile/profile.h"
#include "profiles/profiles.h"

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* First entries of the string table. Name and module of each frame follow, then process and thread
 * label of each thread. */
enum {
    TEXT_NONE,
    TEXT_SAMPLES,
    TEXT_COUNT,
    TEXT_TIME,
    TEXT_NS,
    TEXT_WEIGHT,
    TEXT_THREAD,
    TEXT_PROCESS,
    TEXT_THREAD_ID,
    TEXT_FRAMES
};
static const char *const texts[TEXT_FRAMES] = {
    "", "samples", "count", "time", "nanoseconds", "weight", "thread", "process", "thread_id"};

/* windowBits of deflateInit2: maximum window, plus 16 for a gzip header */
#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8
#define COMPRESS_BYTES_MIN ((size_t)256 * 1024)

struct pprof {
    struct profile_out *out;
    struct buffer plain; /* protobuf bytes that are not compressed yet */
    z_stream z;
};

/* Compresses the collected protobuf bytes; with Z_FINISH also ends the stream. Returns false if
 * memory is exhausted. */
static bool compress_collected(struct pprof *pprof, int flush_mode)
{
    z_stream *z = &pprof->z;
    int result = Z_OK;
    z->next_in = pprof->plain.bytes;
    z->avail_in = (uInt)pprof->plain.n;
    do {
        uint8_t *at = buffer_room(&pprof->out->to, 32768);
        if (!at || pprof->plain.failed)
            return false;
        z->next_out = at;
        z->avail_out = 32768;
        result = deflate(z, flush_mode);
        sanitizer_mark_written(at, 32768 - z->avail_out);
        buffer_commit(&pprof->out->to, 32768 - z->avail_out);
    } while (result != Z_STREAM_END &&
             (z->avail_in || z->avail_out == 0 || flush_mode == Z_FINISH));
    buffer_clear(&pprof->plain);
    return true;
}

static ttr_status compress_if_full(struct pprof *pprof, ttr_error *error)
{
    if (pprof->plain.n < COMPRESS_BYTES_MIN && !pprof->plain.failed)
        return profile_flush_if_full(pprof->out, error);
    return compress_collected(pprof, Z_NO_FLUSH) ? profile_flush_if_full(pprof->out, error)
                                                 : fail_memory(error);
}

static void append_value_type(struct buffer *to, uint64_t type, uint64_t unit)
{
    size_t mark = protobuf_begin_message(to, PROFILE_SAMPLE_TYPE);
    protobuf_write_u64(to, TYPE_TYPE, type);
    protobuf_write_u64(to, TYPE_UNIT, unit);
    protobuf_end_message(to, mark);
}

static void append_varint(struct buffer *to, uint64_t x)
{
    uint8_t *at = buffer_room(to, PROTOBUF_VARINT_MAX);
    if (at)
        buffer_commit(to, (size_t)(protobuf_write_varint(at, x) - at));
}

static void append_sample_label(struct buffer *to, uint64_t key, uint32_t field, uint64_t value)
{
    size_t mark = protobuf_begin_message(to, SAMPLE_LABEL);
    protobuf_write_u64(to, LABEL_KEY, key);
    protobuf_write_u64(to, field, value);
    protobuf_end_message(to, mark);
}

static void append_sample_message(struct pprof *pprof, const ttr_profile_node *node)
{
    const struct profile_out *out = pprof->out;
    struct buffer *to = &pprof->plain;
    size_t mark = protobuf_begin_message(to, PROFILE_SAMPLE),
           list = protobuf_begin_message(to, SAMPLE_LOCATION);
    for (const ttr_profile_node *at = node;; at = &out->node[at->parent]) {
        append_varint(to, (uint64_t)at->frame + 1);
        if (at->parent == TTR_PROFILE_NONE)
            break;
    }
    protobuf_end_message(to, list);
    list = protobuf_begin_message(to, SAMPLE_VALUE);
    append_varint(to, node->count);
    append_varint(to, node->self < INT64_MAX ? node->self : INT64_MAX); /* the type is int64 */
    protobuf_end_message(to, list);
    ttr_thread thread;
    if (out->lane[node->lane].thread &&
        ttr_thread_get(out->t, out->lane[node->lane].thread, &thread)) {
        uint64_t names = TEXT_FRAMES + 2 * (uint64_t)out->frames_n + 2 * (uint64_t)node->lane;
        append_sample_label(to, TEXT_PROCESS, LABEL_STR, names);
        append_sample_label(to, TEXT_THREAD, LABEL_STR, names + 1);
        append_sample_label(to, TEXT_THREAD_ID, LABEL_NUM, thread.tid);
    }
    protobuf_end_message(to, mark);
}

static void append_location_and_function(struct pprof *pprof, uint32_t i)
{
    struct buffer *to = &pprof->plain;
    uint64_t id = (uint64_t)i + 1, name = TEXT_FRAMES + 2 * (uint64_t)i;
    size_t mark = protobuf_begin_message(to, PROFILE_LOCATION);
    protobuf_write_u64(to, LOCATION_ID, id);
    size_t line = protobuf_begin_message(to, LOCATION_LINE);
    protobuf_write_u64(to, LINE_FUNCTION, id);
    protobuf_end_message(to, line);
    protobuf_end_message(to, mark);
    mark = protobuf_begin_message(to, PROFILE_FUNCTION);
    protobuf_write_u64(to, FUNCTION_ID, id);
    protobuf_write_u64(to, FUNCTION_NAME, name);
    protobuf_write_u64(to, FUNCTION_SYSTEM_NAME, name);
    protobuf_write_u64(to, FUNCTION_FILE, name + 1);
    protobuf_end_message(to, mark);
}

static void append_thread_labels(struct pprof *pprof, const ttr_profile_thread *lane)
{
    struct buffer text;
    buffer_init(&text, pprof->out->alloc);
    profile_process_text(pprof->out, lane, &text);
    protobuf_write_bytes(&pprof->plain, PROFILE_STRING, text.bytes, text.n);
    buffer_clear(&text);
    profile_thread_text(pprof->out, lane, &text);
    protobuf_write_bytes(&pprof->plain, PROFILE_STRING, text.bytes, text.n);
    pprof->plain.failed |= text.failed;
    buffer_free(&text);
}

static ttr_status append_string_table(struct pprof *pprof, ttr_error *error)
{
    const struct profile_out *out = pprof->out;
    ttr_status status = TTR_OK;
    for (size_t i = 0; i < TEXT_FRAMES; i++)
        protobuf_write_string(&pprof->plain, PROFILE_STRING, texts[i]);
    for (uint32_t i = 0; i < out->frames_n && status == TTR_OK; i++) {
        ttr_text name = profile_frame_text(out, i),
                 module = ttr_text_get(out->t, out->frame[i].module);
        protobuf_write_bytes(&pprof->plain, PROFILE_STRING, name.p, name.n);
        protobuf_write_bytes(&pprof->plain, PROFILE_STRING, module.p, module.n);
        status = compress_if_full(pprof, error);
    }
    for (uint32_t i = 0; i < out->lanes_n && status == TTR_OK; i++) {
        append_thread_labels(pprof, &out->lane[i]);
        status = compress_if_full(pprof, error);
    }
    return status;
}

static ttr_status append_profile(struct pprof *pprof, ttr_error *error)
{
    const struct profile_out *out = pprof->out;
    ttr_status status = TTR_OK;
    bool is_time = out->profile->unit == TTR_PROFILE_NS;
    int64_t first = out->lanes_n ? out->lane[0].first_ns : 0,
            last = out->lanes_n ? out->lane[0].last_ns : 0;
    append_value_type(&pprof->plain, TEXT_SAMPLES, TEXT_COUNT);
    append_value_type(&pprof->plain, is_time ? TEXT_TIME : TEXT_WEIGHT,
                      is_time ? TEXT_NS : TEXT_COUNT);
    for (uint32_t i = 0; i < out->nodes_n && status == TTR_OK && !out->is_stopped; i++) {
        if (out->node[i].self || out->node[i].count)
            append_sample_message(pprof, &out->node[i]);
        status = compress_if_full(pprof, error);
    }
    for (uint32_t i = 0; i < out->frames_n && status == TTR_OK; i++) {
        append_location_and_function(pprof, i);
        status = compress_if_full(pprof, error);
    }
    if (status == TTR_OK)
        status = append_string_table(pprof, error);
    for (uint32_t i = 0; i < out->lanes_n; i++) {
        first = out->lane[i].first_ns < first ? out->lane[i].first_ns : first;
        last = out->lane[i].last_ns > last ? out->lane[i].last_ns : last;
    }
    protobuf_write_i64(&pprof->plain, PROFILE_TIME, first);
    protobuf_write_i64(&pprof->plain, PROFILE_DURATION,
                       (int64_t)((uint64_t)last - (uint64_t)first));
    return status;
}

static ttr_status write_pprof(struct profile_out *out, ttr_error *error)
{
    struct pprof pprof = {.out = out};
    if (deflateInit2(&pprof.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return fail_memory(error);
    buffer_init(&pprof.plain, out->alloc);
    ttr_status status = append_profile(&pprof, error);
    if (status == TTR_OK && !compress_collected(&pprof, Z_FINISH))
        status = fail_memory(error);
    buffer_free(&pprof.plain);
    (void)deflateEnd(&pprof.z);
    return status;
}

const struct profile_writer profile_pprof = {
    .about = {"pprof", "pprof's protobuf, compressed, with threads as labels", "pb.gz pprof", 0,
              PROFILE_STACK_MAX},
    .can_stop = true,
    .write = write_pprof,
};
