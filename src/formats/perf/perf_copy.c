/* Copies a perf.data: header, records and tail, in the order of the file.
 *
 * If every record arrives, the output is the input, byte by byte. If records are missing (events
 * were filtered, damage was skipped) or arrive uncompressed, the section of records has another
 * size. Then the header and the offsets of everything after the records are corrected: the table
 * of features, and attributes and ids. The corrected header does not refer to a tail that did not
 * arrive, nor to features, attributes and ids that the reader found damaged.
 *
 * A file that its recorder left open, but that has all that a reader needs before its records, is
 * closed: the marker record at the end of the records holds the table of features. Left out: the
 * index of AUX areas (feature 18); its offsets point into the records. */
#include "base/status.h"
#include "formats/perf/perf_write.h"

static uint64_t load_u64_in_copied_order(const struct perf_copy *copy, const uint8_t *p)
{
    return perf_u64(p, copy->is_big);
}

static void store_u64_in_copied_order(const struct perf_copy *copy, uint8_t *p, uint64_t x)
{
    if (copy->is_big)
        store_u64be(p, x);
    else
        store_u64le(p, x);
}

static bool has_unfinished_bit(const struct perf_copy *copy, const uint8_t *bits)
{
    uint64_t words[PERF_FEATURES_MAX / 64];
    for (size_t i = 0; i < PERF_FEATURES_MAX / 64; i++)
        words[i] = load_u64_in_copied_order(copy, bits + 8 * i);
    (void)perf_unswap_feature_words(words);
    return words[0] >> PERF_FEATURE_RESERVED & 1;
}

bool perf_begin_copy_if_possible(struct ttr_writer *out, const ttr_event *event)
{
    struct perf_writer *writer = out->ctx;
    if (!output_is_own_raw(out, event) || event->kind != TTR_KIND_DEFINITION ||
        event->tag != PERF_TAG_HEAD || event->offset != 0 || event->payload_size < 16)
        return false;
    bool is_big = memcmp(event->payload, PERF_MAGIC_BIG, 8) == 0;
    if (output_option(out, "byte-order") && is_big != writer->is_big)
        return false;
    writer->is_copying = true;
    writer->copy.source = event->source;
    writer->copy.is_big = is_big;
    writer->copy.is_file =
        perf_u64(event->payload + PERF_AT_HEADER_SIZE, is_big) != PERF_PIPE_HEADER_BYTES &&
        event->payload_size >= PERF_HEADER_BYTES;
    if (!writer->copy.is_file)
        return true;
    writer->copy.data_at = load_u64_in_copied_order(&writer->copy, event->payload + PERF_AT_DATA);
    writer->copy.data_bytes =
        load_u64_in_copied_order(&writer->copy, event->payload + PERF_AT_DATA + 8);
    writer->copy.is_killed = writer->copy.data_bytes == 0;
    writer->copy.is_open = has_unfinished_bit(&writer->copy, event->payload + PERF_AT_FEATURES);
    return true;
}

/* Returns true if the event is the marker record at which, according to the header, the records
 * end. The marker's body is the table of features, so it also is the start of the copied tail. */
static bool is_final_marker(const struct perf_copy *copy, const ttr_event *event)
{
    return copy->is_open && event->tag == PERF_HEADER_EVENT_TYPE &&
           event->offset == copy->data_at + copy->data_bytes && copy->tail.n == 0;
}

static ttr_status copy_head_bytes(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct perf_copy *copy = &((struct perf_writer *)out->ctx)->copy;
    if (copy->is_file && copy->head.n == 0) {
        ttr_status status = output_delay(out, error);
        if (status != TTR_OK)
            return status;
    }
    buffer_add(&copy->head, event->payload, event->payload_size);
    buffer_add(&out->buffer, event->payload, event->payload_size);
    return copy->head.failed ? fail_memory(error) : TTR_OK;
}

/* A folder is one trace of several files, which are copied into one output file. */
static bool is_event_of_copied_trace(const struct ttr_writer *out, const struct perf_copy *copy,
                                     const ttr_event *event)
{
    const ttr *t = out->t;
    if (event->source == copy->source)
        return true;
    ttr_id path = event->source < t->sources_n ? t->sources[event->source].trace_path : 0;
    return path && path == t->sources[copy->source].trace_path;
}

ttr_status perf_copy_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct perf_copy *copy = &((struct perf_writer *)out->ctx)->copy;
    bool is_definition = event->kind == TTR_KIND_DEFINITION;
    if (!output_is_own_raw(out, event) || !is_event_of_copied_trace(out, copy, event)) {
        if (!is_definition)
            output_count_loss(out, PERF_LOSS_FOREIGN, event->offset);
        return TTR_OK;
    }
    if (is_definition && event->tag == PERF_TAG_HEAD)
        return copy_head_bytes(out, event, error);
    if (is_definition && event->tag == PERF_TAG_TAIL && copy->is_file) {
        buffer_add(&copy->tail, event->payload, event->payload_size);
        return copy->tail.failed ? fail_memory(error) : TTR_OK;
    }
    if (is_definition && is_final_marker(copy, event))
        buffer_add(&copy->tail, event->payload, event->payload_size);
    buffer_add(&out->buffer, event->payload, event->payload_size);
    copy->written += event->payload_size;
    if (!is_definition)
        output_count_event(out, event);
    return TTR_OK;
}

/* --- Correction of header and tail --- */

/* Sections after the records that must be moved in the file, by the size of the missing records. */
struct section_shift {
    const struct perf_copy *copy;
    uint64_t end; /* file offset in the input at which the records end */
};

/* Corrects the file offset of a section {offset, size} if the section follows the records. */
static void shift_section(const struct section_shift *moved, uint8_t *section)
{
    uint64_t at = load_u64_in_copied_order(moved->copy, section);
    if (at >= moved->end)
        store_u64_in_copied_order(moved->copy, section,
                                  at - moved->copy->data_bytes + moved->copy->written);
}

/* Corrects the file offsets of the ids of all attributes. `bytes` begin at input offset
 * `bytes_at`. */
static void shift_id_offsets(const struct section_shift *moved, struct buffer *bytes,
                             uint64_t bytes_at)
{
    const uint8_t *head = moved->copy->head.bytes;
    uint64_t entry = load_u64_in_copied_order(moved->copy, head + PERF_AT_ATTR_SIZE),
             at = load_u64_in_copied_order(moved->copy, head + PERF_AT_ATTRS),
             n = load_u64_in_copied_order(moved->copy, head + PERF_AT_ATTRS + 8);
    if (entry < PERF_SECTION_BYTES || at < bytes_at || at - bytes_at > bytes->n ||
        n > bytes->n - (at - bytes_at))
        return;
    uint8_t *first = bytes->bytes + (at - bytes_at);
    for (uint64_t i = 0; n - i >= entry; i += entry)
        shift_section(moved, first + i + entry - PERF_SECTION_BYTES);
}

static void shift_feature_table(const struct section_shift *moved, struct buffer *tail)
{
    const uint8_t *bits = moved->copy->head.bytes + PERF_AT_FEATURES;
    size_t n = 0;
    for (size_t i = 0; i < PERF_FEATURES_MAX / 8; i++)
        n += (size_t)__builtin_popcount(bits[i]);
    for (size_t i = 0; i < n && (i + 1) * PERF_SECTION_BYTES <= tail->n; i++)
        shift_section(moved, tail->bytes + i * PERF_SECTION_BYTES);
}

/* Returns the mask of damaged features, which the reader stored in attribute PERF_BAD_PARTS. */
static uint64_t load_bad_parts(const struct ttr_writer *out, uint16_t source)
{
    static const char name[] = PERF_BAD_PARTS;
    ttr_attribute attribute;
    uint64_t bad = 0;
    for (size_t i = 0; ttr_source_attribute(out->t, source, i, &attribute); i++)
        if (attribute.name.n == sizeof name - 1 &&
            memcmp(attribute.name.p, name, sizeof name - 1) == 0)
            bad |= attribute.value.v.u;
    return bad;
}

/* Removes damaged features: clears their bits in the header, and their entries in the table of
 * features. */
static void remove_damaged_features(struct perf_copy *copy, uint64_t bad)
{
    uint64_t words[PERF_FEATURES_MAX / 64];
    uint8_t *bits = copy->head.bytes + PERF_AT_FEATURES;
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < PERF_FEATURES_MAX / 64; i++)
        words[i] = load_u64_in_copied_order(copy, bits + 8 * i);
    bool is_swapped = perf_unswap_feature_words(words);
    for (unsigned i = 0; i < PERF_FEATURES_MAX; i++) {
        if (!(words[i / 64] >> (i % 64) & 1))
            continue;
        bool is_there = (at + 1) * PERF_SECTION_BYTES <= copy->tail.n,
             is_bad = !is_there || (i < 64 && bad >> i & 1);
        if (is_bad)
            words[i / 64] &= ~((uint64_t)1 << (i % 64));
        else
            memmove(copy->tail.bytes + kept++ * PERF_SECTION_BYTES,
                    copy->tail.bytes + at * PERF_SECTION_BYTES, PERF_SECTION_BYTES);
        at++;
    }
    for (size_t i = 0; i < PERF_FEATURES_MAX / 64; i++)
        store_u64_in_copied_order(copy, bits + 8 * i,
                                  is_swapped ? words[i] >> 32 | words[i] << 32 : words[i]);
}

/* Returns the address of `n` copied bytes at an input offset; NULL unless all of them are in the
 * copied header or tail. */
static uint8_t *locate_copied_bytes(const struct section_shift *moved, uint64_t at, uint64_t n)
{
    const struct buffer *head = &moved->copy->head, *tail = &moved->copy->tail;
    if (at <= head->n && n <= head->n - at)
        return head->bytes + at;
    return at >= moved->end && at - moved->end <= tail->n && n <= tail->n - (at - moved->end)
               ? tail->bytes + (at - moved->end)
               : NULL;
}

/* Removes missing attributes from the end of the attribute section, and sets the size of missing
 * id sections to 0. */
static void remove_missing_attributes(const struct section_shift *moved)
{
    const struct perf_copy *copy = moved->copy;
    uint8_t *head = copy->head.bytes;
    uint64_t entry = load_u64_in_copied_order(copy, head + PERF_AT_ATTR_SIZE),
             at = load_u64_in_copied_order(copy, head + PERF_AT_ATTRS),
             n = load_u64_in_copied_order(copy, head + PERF_AT_ATTRS + 8), there = 0;
    uint8_t *attr;
    if (entry < PERF_ATTR_VER0 + PERF_SECTION_BYTES || entry > UINT16_MAX)
        store_u64_in_copied_order(copy, head + PERF_AT_ATTR_SIZE,
                                  PERF_ATTR_VER0 + PERF_SECTION_BYTES);
    else
        for (; there < n && (attr = locate_copied_bytes(moved, at + there, entry));
             there += entry) {
            uint8_t *ids = attr + entry - PERF_SECTION_BYTES;
            if (!locate_copied_bytes(moved, load_u64_in_copied_order(copy, ids),
                                     load_u64_in_copied_order(copy, ids + 8)))
                store_u64_in_copied_order(copy, ids + 8, 0);
        }
    store_u64_in_copied_order(copy, head + PERF_AT_ATTRS + 8, there);
}

/* Corrects the header and the tail after the records were written, since records may be missing,
 * and writes the header again. */
static ttr_status correct_head_and_tail(struct ttr_writer *out, uint64_t bad, ttr_error *error)
{
    struct perf_copy *copy = &((struct perf_writer *)out->ctx)->copy;
    const struct section_shift moved = {copy, copy->data_at + copy->data_bytes};
    bool has_tail = copy->tail.n > 0;
    if (bad & PERF_BAD_OTHERS)
        remove_missing_attributes(&moved);
    if (has_tail) {
        shift_feature_table(&moved, &copy->tail);
        shift_id_offsets(&moved, &copy->tail, moved.end);
        remove_damaged_features(copy, bad);
    } else {
        memset(copy->head.bytes + PERF_AT_FEATURES, 0, PERF_FEATURES_MAX / 8);
    }
    shift_id_offsets(&moved, &copy->head, 0);
    shift_section(&moved, copy->head.bytes + PERF_AT_ATTRS);
    /* this is damage: records cannot start within the header */
    if (copy->data_at < PERF_HEADER_BYTES)
        store_u64_in_copied_order(copy, copy->head.bytes + PERF_AT_DATA, copy->head.n);
    store_u64_in_copied_order(copy, copy->head.bytes + PERF_AT_DATA + 8, copy->written);
    return output_overwrite(out, 0, copy->head.bytes, copy->head.n, error);
}

/* Corrects the header of a file that is unfinished because its recorder was killed. */
static ttr_status correct_killed_head(struct ttr_writer *out, ttr_error *error)
{
    struct perf_copy *copy = &((struct perf_writer *)out->ctx)->copy;
    const struct section_shift moved = {copy, UINT64_MAX};
    remove_missing_attributes(&moved);
    if (copy->data_at < PERF_HEADER_BYTES)
        store_u64_in_copied_order(copy, copy->head.bytes + PERF_AT_DATA, copy->head.n);
    return output_overwrite(out, 0, copy->head.bytes, copy->head.n, error);
}

/* Completes a file that its recorder did not close: the body of the marker record becomes the
 * table of features. Removes the table's first entry, which covers the header of the marker. */
static ttr_status close_open_file(struct ttr_writer *out, uint64_t bad, ttr_error *error)
{
    struct perf_copy *copy = &((struct perf_writer *)out->ctx)->copy;
    const uint8_t *bits = copy->head.bytes + PERF_AT_FEATURES;
    size_t n = 0;
    remove_damaged_features(copy, bad | 1u << PERF_FEATURE_RESERVED);
    for (size_t i = 0; i < PERF_FEATURES_MAX / 8; i++)
        n += (size_t)__builtin_popcount(bits[i]);
    copy->tail.n = n * PERF_SECTION_BYTES;
    store_u64_in_copied_order(copy, copy->head.bytes + PERF_AT_DATA + 8, copy->written);
    return correct_killed_head(out, error);
}

ttr_status perf_copy_end(struct ttr_writer *out, ttr_error *error)
{
    struct perf_copy *copy = &((struct perf_writer *)out->ctx)->copy;
    uint64_t bad = load_bad_parts(out, copy->source);
    bool has_head = copy->is_file && copy->head.n >= PERF_HEADER_BYTES;
    ttr_status status = TTR_OK;
    if (has_head && copy->is_open)
        status = close_open_file(out, bad, error);
    else if (has_head && copy->is_killed)
        status = bad & PERF_BAD_OTHERS ? correct_killed_head(out, error) : TTR_OK;
    else if (has_head && (copy->written != copy->data_bytes || bad))
        status = correct_head_and_tail(out, bad, error);
    if (status == TTR_OK)
        buffer_add(&out->buffer, copy->tail.bytes, copy->tail.n);
    return status == TTR_OK && out->buffer.failed ? fail_memory(error) : status;
}
