/* The FXT reader: the loop over records, and decisions about records with a wrong size.
 *
 * Order of calls: fxt_reader_open detects the byte order. Each fxt_read_batch fills one batch:
 *
 *   read_window       converts complete records in the window, each by the function of its type
 *     |
 *     +-- batch full, or a table must change first   -> return the batch
 *     +-- STOP_EDGE: the window or the record ends   -> load_or_skip_record_at_edge
 *     +-- STOP_BAD_SIZE: size and content disagree      -> decide_record_size
 *
 * Sections: a provider info or a provider section record makes a provider current (fxt_tables.c).
 * Later records use its string table, thread table and clock. Records before any section belong to
 * a default provider that is not provider 0.
 *
 * Resync after a bad size. Each record declares its size twice: in its header, and by the refs,
 * counts and argument sizes in its content. decide_record_size compares both with the records that
 * follow:
 *
 *      header size             |#### record ####|??
 *      size by content         |#### record #########|
 *   1. three clean records follow the content  -> the size field is damaged: repair it
 *   2. records follow the header's size        -> accept surplus words, or a short content
 *   3. neither                                 -> skip to the next record (fxt_resync.c)
 *
 * Zeros in place of a record are the unused rest of a buffer if only zeros follow. Otherwise they
 * are damage.
 *
 * Invariants: the batch is empty when a decision is made, so the window may move. A decision
 * examines the same number of following words, independent of the window size. reader->at only
 * grows. Cost: one pass. A decision looks at most 256 KiB ahead; a damaged region is searched once.
 * Left out: repair of large records, and reordering by time. */
#include "formats/fxt/fxt_read.h"

#include "base/status.h"

#define ZERO_CHUNK_SIZE ((size_t)16 * 1024)
/* bytes; a large record with unknown content is only loaded up to this size */
#define LARGE_UNVERIFIED_MAX ((uint64_t)FXT_LOOKAHEAD)

/* if a content exceeds the size in the header by more words than this, it probably ends at a
 * record boundary by chance */
#define LONG_CONTENT_WORDS 64u

static const uint8_t zero_chunk[ZERO_CHUNK_SIZE] = {0};

enum stop { STOP_FULL, STOP_EDGE, STOP_BAD_SIZE, STOP_FAILED };

static struct fxt_span get_window_span(const struct fxt_reader *reader)
{
    const struct window *window = &reader->in->window;
    size_t skip = (size_t)(reader->at - window->offset);
    return (struct fxt_span){window->bytes + skip, (window->n - skip) / FXT_WORD_BYTES,
                             reader->common.is_big};
}

/* Converts complete records in the window up to one that needs a decision. Only this function
 * checks that a record is inside the window: conversion functions may load every word below
 * record.words. */
static enum stop read_window(struct fxt_reader *reader)
{
    struct input *in = reader->in;
    struct fxt_span left = get_window_span(reader);
    const uint64_t words = (reader->boundary - reader->at) / FXT_WORD_BYTES;
    left.words = left.words < words ? left.words : words;
    const uint64_t most = in->max_record / FXT_WORD_BYTES;
    while (in->n < in->batch) {
        if (left.words == 0)
            return STOP_EDGE;
        struct fxt_record record = {.bytes = left.bytes,
                                    .header = fxt_load_u64(left.bytes, left.is_big),
                                    .offset = reader->at};
        record.words = fxt_get_record_words(record.header);
        if (record.words == 0 || record.words > left.words || record.words > most)
            return STOP_EDGE;
        unsigned type = fxt_get_record_type(record.header);
        if (FXT_UNLIKELY(!reader->provider) && type != FXT_METADATA &&
            !fxt_provider_select_default(reader)) {
            (void)fail_memory(reader->error);
            return STOP_FAILED;
        }
        enum fxt_convert_result result;
        if (FXT_LIKELY(type == FXT_EVENT)) {
            result = fxt_convert_events(reader, &left);
        } else {
            result = fxt_converters[type](reader, &record);
            if (FXT_LIKELY(result == FXT_CONVERTED)) {
                left.bytes += (size_t)record.words * FXT_WORD_BYTES;
                left.words -= record.words;
                reader->at += (uint64_t)record.words * FXT_WORD_BYTES;
            }
        }
        if (FXT_UNLIKELY(result != FXT_CONVERTED))
            return result == FXT_FAILED      ? STOP_FAILED
                   : result == FXT_END_BATCH ? STOP_FULL
                                             : STOP_BAD_SIZE;
    }
    return STOP_FULL;
}

/* --- Skipping of other bytes, and of records that are too large --- */

/* Advances reader->at to file offset `end`, or to the end of the input if that is earlier. */
static ttr_status skip_bytes(struct fxt_reader *reader, uint64_t end)
{
    struct input *in = reader->in;
    while (reader->at < end) {
        ttr_status status = input_fill(in, reader->at, 1, reader->error);
        if (status != TTR_OK || in->window.n == 0)
            return status;
        uint64_t step = end - reader->at;
        reader->at += step < in->window.n ? step : in->window.n;
    }
    return TTR_OK;
}

/* Skips zeros up to zeros_end. If definitions are requested, emits the zeros as definitions of
 * limited size, so that copies of the trace contain them. */
static void skip_zeros(struct fxt_reader *reader)
{
    uint64_t step = reader->zeros_end - reader->at;
    if (!(reader->in->flags & TTR_READ_DEFINITIONS)) {
        reader->at = reader->zeros_end;
        return;
    }
    size_t n = step < ZERO_CHUNK_SIZE ? (size_t)step : ZERO_CHUNK_SIZE;
    fxt_emit_definition(reader, zero_chunk, n, reader->at);
    reader->in->events[reader->in->n - 1].tag = TTR_DEFINITION_UNUSED;
    reader->at += n;
}

/* --- Decisions about damage; the batch is empty, so that the window may move --- */

/* Skips to the next record and reports the bytes up to it as damage. */
static ttr_status skip_to_next_record(struct fxt_reader *reader, const char *what)
{
    uint64_t next, from = reader->at;
    ttr_status status = fxt_find_next_record(reader, &next);
    if (status != TTR_OK)
        return status;
    reader->at = next;
    return input_add_damage(
        reader->in, from, next - from, "fxt.lost", reader->error,
        "%s; skipped %llu bytes to the next place where records follow each other", what,
        (unsigned long long)(next - from));
}

/* Converts a record after its size was decided. Returns TTR_AGAIN if it is invalid for another
 * reason. */
static ttr_status convert_record(struct fxt_reader *reader, const struct fxt_record *record)
{
    if (!reader->provider && fxt_get_record_type(record->header) != FXT_METADATA &&
        !fxt_provider_select_default(reader))
        return fail_memory(reader->error);
    switch (fxt_converters[fxt_get_record_type(record->header)](reader, record)) {
    case FXT_CONVERTED:
        return TTR_OK;
    case FXT_FAILED:
        return reader->error->status;
    default:
        return TTR_AGAIN;
    }
}

/* Reads a record with the size of its content, `words`, and reports its size field as damaged. The
 * conversion function gets a copy with a corrected header. */
static ttr_status read_repaired_record(struct fxt_reader *reader, const struct fxt_span *span,
                                       uint32_t words)
{
    const struct alloc *alloc = &reader->common.t->counted;
    if (!reader->repaired)
        reader->repaired = alloc_zero(alloc, FXT_SIZE_MAX, FXT_WORD_BYTES);
    if (!reader->repaired)
        return fail_memory(reader->error);
    uint64_t header = fxt_load_u64(span->bytes, span->is_big);
    uint64_t right =
        (header & ~fxt_set_bits(FXT_SIZE, FXT_SIZE_MAX)) | fxt_set_bits(FXT_SIZE, words);
    memcpy(reader->repaired, span->bytes, (size_t)words * FXT_WORD_BYTES);
    if (span->is_big)
        store_u64be(reader->repaired, right);
    else
        store_u64le(reader->repaired, right);
    struct fxt_record record = {
        .bytes = reader->repaired, .header = right, .offset = reader->at, .words = words};
    ttr_status status = convert_record(reader, &record);
    if (status != TTR_OK)
        return status;
    reader->at += (uint64_t)words * FXT_WORD_BYTES;
    return input_add_damage(
        reader->in, record.offset, FXT_WORD_BYTES, "fxt.bad-size", reader->error,
        "size is %u words, but the content has %u and records follow it; read by content",
        fxt_get_record_words(header), words);
}

/* Reads a record with the size in its header, although its content has another size, and reports a
 * diagnostic. */
static ttr_status read_accepted_record(struct fxt_reader *reader, const struct fxt_span *span,
                                       const struct fxt_record_shape *shape)
{
    uint64_t header = fxt_load_u64(span->bytes, span->is_big);
    struct fxt_record record = {.bytes = span->bytes,
                                .header = header,
                                .offset = reader->at,
                                .words = fxt_get_record_words(header),
                                .is_accepted = true};
    ttr_status status = convert_record(reader, &record);
    if (status != TTR_OK)
        return status;
    reader->at += (uint64_t)record.words * FXT_WORD_BYTES;
    if (shape->is_known && shape->is_broken)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, record.offset, "fxt.bad-argument",
                             "an argument of a record of type %u has size 0 or exceeds the record; "
                             "the record is read without it and later ones",
                             fxt_get_record_type(header));
    else if (shape->is_known && shape->total < record.words)
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record.offset, "fxt.surplus",
                             "a record of type %u has %llu words more than known",
                             fxt_get_record_type(header),
                             (unsigned long long)(record.words - shape->total));
    else if (shape->is_known)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, record.offset, "fxt.short",
            "a record of type %u has %u words, its content asks for %llu; given as far as it goes",
            fxt_get_record_type(header), record.words, (unsigned long long)shape->total);
    return TTR_OK;
}

/* Returns true if three clean records follow the first `words` words of the look-ahead. */
static bool has_records_after(const struct fxt_lookahead *look, uint64_t words)
{
    const struct fxt_span *span = &look->span;
    if (words == 0 || words > span->words)
        return false;
    struct fxt_span following = {span->bytes + (size_t)words * FXT_WORD_BYTES, span->words - words,
                                 span->is_big};
    return fxt_count_clean_records(&following, look->is_end, 3) >= 3;
}

static ttr_status load_lookahead(struct fxt_reader *reader, struct fxt_lookahead *look)
{
    struct input *in = reader->in;
    ttr_status status = input_fill(in, reader->at, 2 * FXT_LOOKAHEAD, reader->error);
    look->is_end = in->window.n < 2 * FXT_LOOKAHEAD;
    look->span = get_window_span(reader);
    look->span.words = look->is_end ? look->span.words : 2 * FXT_LOOKAHEAD / FXT_WORD_BYTES;
    return status;
}

/* Returns true if the size of the content is right and the size in the header damaged. If the
 * content is shorter, later versions of the format may have added words. If it is longer, a count
 * or string ref in it may be damaged; so no record may start inside it, or at the end that the
 * header states. */
static bool content_size_is_right(const struct fxt_reader *reader, const struct fxt_lookahead *look,
                                  const struct fxt_record_shape *shape, uint32_t words)
{
    const struct fxt_span *span = &look->span;
    if (!shape->is_known || shape->is_cut || shape->total == words || shape->total > FXT_SIZE_MAX ||
        shape->total > span->words ||
        fxt_get_record_type(fxt_load_u64(span->bytes, span->is_big)) == FXT_LARGE ||
        !has_records_after(look, shape->total))
        return false;
    if (shape->total > LONG_CONTENT_WORDS && fxt_has_record(reader, look, 1, shape->total))
        return false;
    if (shape->total < words || words == 0)
        return true;
    return shape->is_clean && !has_records_after(look, words) &&
           !fxt_has_record(reader, look, words, shape->total);
}

/* Returns true if the size in the header is right: records follow it, and no record starts before
 * its end. */
static bool header_size_is_right(const struct fxt_reader *reader, const struct fxt_lookahead *look,
                                 const struct fxt_record_shape *shape, uint32_t words)
{
    if (words == 0 || words > look->span.words || shape->body > words ||
        !fxt_has_plausible_records(&look->span, words, look->is_end))
        return false;
    return !fxt_has_record(reader, look, shape->total < words ? shape->total : 1, words);
}

/* Decides about the record at reader->at, in which the sizes of header and content differ: repairs
 * the header, accepts its size, or skips to the next record. */
static ttr_status decide_record_size(struct fxt_reader *reader)
{
    struct fxt_lookahead look;
    struct fxt_record_shape shape;
    ttr_status status = load_lookahead(reader, &look);
    if (status != TTR_OK)
        return status;
    uint32_t words = fxt_get_record_words(fxt_load_u64(look.span.bytes, look.span.is_big));
    fxt_measure_record(&look.span, words, &shape);
    status = TTR_AGAIN;
    if (content_size_is_right(reader, &look, &shape, words))
        status = read_repaired_record(reader, &look.span, (uint32_t)shape.total);
    if (status == TTR_AGAIN && header_size_is_right(reader, &look, &shape, words))
        status = read_accepted_record(reader, &look.span, &shape);
    return status == TTR_AGAIN
               ? skip_to_next_record(
                     reader, "neither the size nor the content of a record leads to another one")
               : status;
}

/* Sets *end to the file offset after the zero words at reader->at, and *is_tail to true if the
 * input ends there. Needs memory for one window only. */
static ttr_status count_zeros(struct fxt_reader *reader, uint64_t *end, bool *is_tail)
{
    struct input *in = reader->in;
    *end = reader->at;
    for (;;) {
        ttr_status status = input_fill(in, *end, FXT_WORD_BYTES, reader->error);
        if (status != TTR_OK)
            return status;
        size_t n = 0;
        while (n < in->window.n && in->window.bytes[n] == 0)
            n++;
        *is_tail = n == in->window.n && n < FXT_WORD_BYTES;
        *end += *is_tail ? n : n - n % FXT_WORD_BYTES;
        if (*is_tail || n < FXT_WORD_BYTES)
            return TTR_OK;
    }
}

/* Called for zeros where a record should be. Reports a remark if only zeros follow, otherwise
 * damage. */
static ttr_status skip_or_report_zeros(struct fxt_reader *reader)
{
    struct input *in = reader->in;
    uint64_t end, from = reader->at;
    bool is_tail;
    ttr_status status = count_zeros(reader, &end, &is_tail);
    if (status != TTR_OK)
        return status;
    if (is_tail) {
        input_add_diagnostic(in, TTR_SEVERITY_REMARK, from, "fxt.zero-tail",
                             "%llu zero bytes at the end, the unused rest of a buffer",
                             (unsigned long long)(end - from));
        reader->zeros_end = end;
        return TTR_OK;
    }
    reader->at = end;
    status = input_add_damage(in, from, end - from, "fxt.zeros", reader->error,
                              "%llu zero bytes in the middle of the trace, expected a record",
                              (unsigned long long)(end - from));
    struct fxt_lookahead look;
    if (status == TTR_OK)
        status = load_lookahead(reader, &look);
    if (status != TTR_OK)
        return status;
    return fxt_has_plausible_records(&look.span, 0, look.is_end)
               ? TTR_OK
               : skip_to_next_record(reader, "the bytes after zeros are not a record");
}

/* Returns true if the record at reader->at may be cut off by the end of the input: its content so
 * far agrees with its size, and no other record starts inside it. */
static bool is_truncated_record(const struct fxt_reader *reader)
{
    struct fxt_span span = get_window_span(reader);
    struct fxt_record_shape shape;
    if (span.words == 0)
        return true;
    uint32_t words = fxt_get_record_words(fxt_load_u64(span.bytes, span.is_big));
    fxt_measure_record(&span, words, &shape);
    if (!shape.is_known || shape.is_broken || shape.total > words ||
        (!shape.is_cut && shape.total != words))
        return false;
    for (struct fxt_span rest = span; rest.words > 1;) {
        rest.bytes += FXT_WORD_BYTES;
        rest.words--;
        if (fxt_count_complete_records(&rest, 3) == 3)
            return false;
    }
    return true;
}

/* Called for a record that is longer than the input. Reports that it is cut off; if that is
 * implausible, that its size is wrong. */
static ttr_status report_cut_or_bad_record(struct fxt_reader *reader)
{
    if (!is_truncated_record(reader))
        return decide_record_size(reader);
    size_t left = reader->in->window.n;
    uint64_t from = reader->at;
    reader->at += left;
    return input_add_damage(reader->in, from, left, "fxt.truncated", reader->error,
                            "the input ends inside a record; its last %zu bytes", left);
}

/* Skips a record above the size limit without loading it. Copies of the trace do not contain it. */
static ttr_status skip_oversized_record(struct fxt_reader *reader, uint64_t bytes)
{
    const uint64_t from = reader->at, until = from + bytes;
    ttr_status status = skip_bytes(reader, until);
    if (status == TTR_OK)
        status = input_add_damage(
            reader->in, from, reader->at - from, "fxt.too-large", reader->error,
            "a record of %llu bytes, larger than ttr_read_options.max_record allows; passed over",
            (unsigned long long)bytes);
    if (status == TTR_E_MALFORMED)
        return error_set_option(reader->error, status, "max_record");
    if (status != TTR_OK || reader->at == until)
        return status;
    return input_add_damage(reader->in, reader->at, 0, "fxt.truncated", reader->error,
                            "the input ends inside a record that goes on to byte %llu",
                            (unsigned long long)until);
}

/* Returns true if the first words of a large record agree with its size, so that it should be
 * loaded. */
static bool is_size_plausible(const struct fxt_span *span, uint32_t words)
{
    struct fxt_record_shape shape;
    fxt_measure_record(span, words, &shape);
    if (shape.is_cut)
        return words <= LARGE_UNVERIFIED_MAX / FXT_WORD_BYTES;
    return shape.is_known ? shape.total == words : words <= LARGE_UNVERIFIED_MAX / FXT_WORD_BYTES;
}

static bool is_all_zero(const uint8_t *bytes, size_t n)
{
    while (n && bytes[n - 1] == 0)
        n--;
    return n == 0;
}

/* Called for a record that is not completely in the window, or has size 0. Loads more bytes, or
 * calls the function for zeros or for cut off, oversized or damaged records. */
static ttr_status load_or_skip_record_at_edge(struct fxt_reader *reader)
{
    struct input *in = reader->in;
    ttr_status status = input_fill(in, reader->at, FXT_WORD_BYTES, reader->error);
    if (status != TTR_OK)
        return status;
    if (in->window.n == 0)
        return TTR_END;
    if (in->window.n < FXT_WORD_BYTES)
        return is_all_zero(in->window.bytes, in->window.n) ? skip_or_report_zeros(reader)
                                                           : report_cut_or_bad_record(reader);
    uint64_t header = fxt_load_u64(in->window.bytes, reader->common.is_big);
    uint64_t bytes = (uint64_t)fxt_get_record_words(header) * FXT_WORD_BYTES;
    if (header == 0)
        return skip_or_report_zeros(reader);
    if (bytes == 0)
        return decide_record_size(reader);
    if (fxt_get_record_type(header) == FXT_LARGE && bytes > in->window.n) {
        status =
            input_fill(in, reader->at,
                       bytes < LARGE_UNVERIFIED_MAX ? (size_t)bytes : (size_t)LARGE_UNVERIFIED_MAX,
                       reader->error);
        if (status != TTR_OK)
            return status;
        struct fxt_span span = get_window_span(reader);
        if (!is_size_plausible(&span, fxt_get_record_words(header)))
            return decide_record_size(reader);
    }
    if (bytes > in->max_record)
        return skip_oversized_record(reader, bytes);
    status = input_fill(in, reader->at, (size_t)bytes, reader->error);
    return status != TTR_OK || in->window.n >= bytes ? status : report_cut_or_bad_record(reader);
}

/* Continues with the next part of the index if reading stopped at the end of a part. Returns false
 * if it stopped for another reason. A record that crosses the boundary shows that the index is
 * wrong. */
static bool enter_next_part_at_boundary(struct fxt_reader *reader)
{
    const struct window *window = &reader->in->window;
    if (reader->at != reader->boundary && window->offset + window->n < reader->boundary)
        return false;
    if (reader->at == reader->boundary)
        fxt_enter_parts(reader);
    else
        fxt_free_index(reader);
    return true;
}

ttr_status fxt_read_batch(struct input *in, ttr_error *error)
{
    struct fxt_reader *reader = in->ctx;
    reader->error = error;
    for (;;) {
        ttr_status status = TTR_OK;
        /* an event that was rejected may have set this */
        reader->has_fields = false;
        if (reader->at < reader->zeros_end) {
            skip_zeros(reader);
        } else {
            enum stop stop = read_window(reader);
            if (stop == STOP_FAILED)
                return error->status;
            if (in->n && reader->provider && !reader->provider->is_unix_time_checked)
                fxt_provider_detect_unix_time(reader);
            if (in->n)
                return TTR_OK;
            if (stop == STOP_EDGE && enter_next_part_at_boundary(reader)) {
                /* the next part may be beyond the window */
                status = input_fill(in, reader->at, FXT_WORD_BYTES, error);
                if (status != TTR_OK)
                    return status;
                continue;
            }
            status = stop == STOP_EDGE ? load_or_skip_record_at_edge(reader)
                                       : decide_record_size(reader);
        }
        if (status != TTR_OK || in->n)
            return status;
    }
}

ttr_status fxt_reader_open(struct input *in, ttr_error *error)
{
    struct fxt_reader *reader = in->ctx;
    ttr *t = in->base.t;
    reader->in = in;
    reader->boundary = UINT64_MAX;
    reader->common.t = t;
    reader->empty_first_page[0] = UINT32_MAX;
    if (in->max_record > UINT32_MAX)
        in->max_record = UINT32_MAX; /* limit of ttr_event.payload_size */
    /* records that are not large are never above the limit, so that read_window need not check
     * them */
    if (in->max_record < (uint64_t)FXT_SIZE_MAX * FXT_WORD_BYTES)
        in->max_record = (uint64_t)FXT_SIZE_MAX * FXT_WORD_BYTES;
    pair_map_init(&reader->by_id, &t->counted);
    const struct window *window = &in->window;
    /* the magic number shows the byte order, and a pipe may pause after it; without it, records
     * are needed */
    ttr_status status = input_fill(in, 0, FXT_WORD_BYTES, error);
    if (status == TTR_OK && !fxt_has_magic(window->bytes, window->n))
        status = input_fill(in, 0, FXT_LOOKAHEAD, error);
    if (status != TTR_OK)
        return status;
    size_t n = window->n < FXT_LOOKAHEAD ? window->n : FXT_LOOKAHEAD;
    reader->common.is_big = fxt_is_big_endian(window->bytes, n, n < FXT_LOOKAHEAD);
    in->version = reader->common.is_big ? "big-endian" : "";
    reader->schema =
        context_add_schema(t, &(struct schema){.ops = &fxt_field_ops, .format = in->format});
    reader->sample_category = ttr_text_add(t, FXT_SAMPLE_CATEGORY, sizeof FXT_SAMPLE_CATEGORY - 1);
    if (!reader->schema || !reader->sample_category)
        return fail_memory(error);
    if (n && !fxt_has_magic(window->bytes, n))
        input_add_diagnostic(
            in, TTR_SEVERITY_REMARK, 0, "fxt.no-magic",
            "the trace does not begin with the magic record (10 00 04 46 78 54 16 00)");
    return TTR_OK;
}

void fxt_reader_close(struct input *in)
{
    struct fxt_reader *reader = in->ctx;
    if (!reader->in)
        return;
    alloc_free(&in->base.t->counted, reader->repaired, reader->repaired ? FXT_SIZE_MAX : 0,
               FXT_WORD_BYTES);
    context_drop_schema(in->base.t, reader->schema);
    fxt_free_index(reader);
    fxt_free_providers(reader);
}
