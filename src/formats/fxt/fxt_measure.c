/* Computes the size of a record from its content: refs, counts and argument sizes. If the header
 * declares the computed size, the record is almost certainly genuine. If the sizes differ,
 * fxt_read.c decides which one is right. Resync, and detection without the magic number, search for
 * several records in a row with matching sizes. This file never uses the declared size as a bound:
 * all loads stay within the words in memory. */
#include "formats/fxt/fxt_read.h"

/* if a record has at most so many words after its content, they count as an extension of the
 * format, not as damage */
#define SURPLUS_MAX 16u
/* if so many consecutive records of known types have words after their content, they count as
 * records of a later version of the format */
#define SURPLUS_CHAIN_MIN 6u

/* Returns the word at index `i` of the span. If the span ends before, returns 0 and sets
 * shape->is_cut. */
static uint64_t load_span_word(const struct fxt_span *span, uint64_t i,
                               struct fxt_record_shape *shape)
{
    if (i < span->words)
        return fxt_load_u64(span->bytes + (size_t)i * FXT_WORD_BYTES, span->is_big);
    shape->is_cut = true;
    return 0;
}

/* Returns true if all bits of the word above bit `last` are 0. */
static bool has_only_bits_to(uint64_t word, unsigned last)
{
    return last >= 63 || word >> (last + 1) == 0;
}

/* Returns true if the padding after a stream of `bytes` bytes at word `at` is zero, or is not in
 * the span. */
static bool has_zero_padding(const struct fxt_span *span, uint64_t at, uint64_t bytes)
{
    uint64_t words = fxt_words_for_bytes(bytes);
    if (bytes % FXT_WORD_BYTES == 0 || at + words > span->words)
        return true;
    const uint8_t *stream = span->bytes + (size_t)at * FXT_WORD_BYTES;
    uint8_t rest = 0;
    for (uint64_t i = bytes; i < words * FXT_WORD_BYTES; i++)
        rest |= stream[i];
    return rest == 0;
}

/* Returns the index of the word after the bytes of an inline string. */
static uint64_t skip_string(const struct fxt_span *span, uint64_t at, uint64_t ref,
                            struct fxt_record_shape *shape)
{
    shape->is_clean =
        shape->is_clean && has_zero_padding(span, at, fxt_get_inline_bytes((uint32_t)ref));
    return at + fxt_get_inline_words((uint32_t)ref);
}

/* Returns the size of an argument in words, computed from type, name and value in its header. */
static uint64_t get_argument_words(uint64_t header)
{
    unsigned type = (unsigned)fxt_get_bits(header, FXT_ARG_TYPE);
    uint64_t words = 1 + fxt_get_inline_words((uint32_t)fxt_get_bits(header, FXT_ARG_NAME)) +
                     fxt_count_argument_value_words(type);
    if (type == FXT_ARG_TEXT)
        words += fxt_get_inline_words((uint32_t)fxt_get_bits(header, FXT_ARG_STRING));
    if (type == FXT_ARG_BLOB)
        words += fxt_words_for_bytes(fxt_get_bits(header, FXT_ARG_VALUE));
    return words;
}

/* Returns the index of the word after the last argument with a valid size. */
static uint64_t skip_arguments(const struct fxt_span *span, uint64_t at,
                               struct fxt_record_shape *shape)
{
    for (uint32_t i = 0; i < shape->args && !shape->is_cut; i++) {
        uint64_t header = load_span_word(span, at, shape);
        uint64_t words = fxt_get_bits(header, FXT_ARG_SIZE);
        if (shape->is_cut)
            break;
        bool is_exact = words == get_argument_words(header) &&
                        fxt_get_bits(header, FXT_ARG_TYPE) < FXT_ARG_TYPES;
        shape->is_clean = shape->is_clean && is_exact;
        shape->is_broken = words == 0;
        if (shape->is_broken)
            break;
        at += words;
    }
    shape->args_end = at;
    return at;
}

static void measure_metadata(const struct fxt_span *span, uint64_t header,
                             struct fxt_record_shape *shape)
{
    uint64_t name = fxt_get_bits(header, FXT_METADATA_NAME_BYTES);
    switch (fxt_get_bits(header, FXT_METADATA_KIND)) {
    case FXT_PROVIDER_INFO:
        shape->total = 1 + fxt_words_for_bytes(name);
        shape->is_clean = has_only_bits_to(header, 59) && has_zero_padding(span, 1, name);
        break;
    case FXT_PROVIDER_SECTION:
        shape->is_clean = has_only_bits_to(header, 51);
        break;
    case FXT_PROVIDER_EVENT:
        shape->is_clean = has_only_bits_to(header, 51);
        break;
    case FXT_TRACE_INFO:
        shape->is_clean = header == FXT_MAGIC;
        /* trace infos of other types may have any size */
        shape->is_known = fxt_get_bits(header, FXT_METADATA_INFO) == 0;
        break;
    default:
        shape->is_known = false;
    }
}

static void measure_string(const struct fxt_span *span, uint64_t header,
                           struct fxt_record_shape *shape)
{
    uint64_t bytes = fxt_get_bits(header, FXT_STRING_BYTES);
    shape->total = 1 + fxt_words_for_bytes(bytes);
    shape->is_clean = has_only_bits_to(header, 46) && !(header >> 31 & 1) &&
                      fxt_get_bits(header, FXT_STRING_INDEX) != 0 &&
                      has_zero_padding(span, 1, bytes);
}

static void measure_event(const struct fxt_span *span, uint64_t header,
                          struct fxt_record_shape *shape)
{
    unsigned kind = (unsigned)fxt_get_bits(header, FXT_EVENT_KIND);
    shape->is_known = kind < FXT_EVENT_KINDS;
    shape->is_clean = true;
    shape->args = (uint32_t)fxt_get_bits(header, FXT_EVENT_ARGS);
    shape->inline_words = fxt_get_bits(header, FXT_EVENT_THREAD) ? 0 : 2;
    uint64_t at =
        skip_string(span, 2 + shape->inline_words, fxt_get_bits(header, FXT_EVENT_CATEGORY), shape);
    shape->body = skip_string(span, at, fxt_get_bits(header, FXT_EVENT_NAME), shape);
    shape->total = skip_arguments(span, shape->body, shape) + fxt_count_event_last_words(kind);
}

static void measure_blob(const struct fxt_span *span, uint64_t header,
                         struct fxt_record_shape *shape)
{
    shape->bytes = fxt_get_bits(header, FXT_BLOB_BYTES);
    shape->is_clean = has_only_bits_to(header, 55) && !(header >> 47 & 1);
    shape->body = skip_string(span, 1, fxt_get_bits(header, FXT_BLOB_NAME), shape);
    shape->total = shape->body + fxt_words_for_bytes(shape->bytes);
    shape->is_clean = shape->is_clean && has_zero_padding(span, shape->body, shape->bytes);
}

/* Measures a record that consists of fixed words up to index `at`, the string with the ref `name`,
 * and arguments. */
static void measure_object(const struct fxt_span *span, uint64_t at, uint64_t name,
                           struct fxt_record_shape *shape)
{
    shape->body = skip_string(span, at, name, shape);
    shape->total = skip_arguments(span, shape->body, shape);
}

/* Measures a userspace object. An inline thread has one word by the specification, but two in
 * records of the C++ writers; the size in the header decides. */
static void measure_userspace_object(const struct fxt_span *span, uint64_t header,
                                     struct fxt_record_shape *shape, uint64_t words)
{
    bool is_inline = fxt_get_bits(header, FXT_USERSPACE_THREAD) == 0;
    uint64_t name = fxt_get_bits(header, FXT_USERSPACE_NAME);
    struct fxt_record_shape one = *shape;
    one.is_clean = has_only_bits_to(header, 43);
    one.args = (uint32_t)fxt_get_bits(header, FXT_USERSPACE_ARGS);
    struct fxt_record_shape two = one;
    one.inline_words = is_inline;
    measure_object(span, 2 + one.inline_words, name, &one);
    *shape = one;
    if (!is_inline || one.total == words)
        return;
    two.inline_words = 2;
    measure_object(span, 2 + two.inline_words, name, &two);
    if (two.total == words)
        *shape = two;
}

static void measure_kernel_object(const struct fxt_span *span, uint64_t header,
                                  struct fxt_record_shape *shape)
{
    shape->is_clean = has_only_bits_to(header, 43);
    shape->args = (uint32_t)fxt_get_bits(header, FXT_KERNEL_ARGS);
    measure_object(span, 2, fxt_get_bits(header, FXT_KERNEL_NAME), shape);
}

static void measure_scheduling_record(const struct fxt_span *span, uint64_t header,
                                      struct fxt_record_shape *shape)
{
    static const uint8_t fixed[] = {
        [FXT_CONTEXT_SWITCH] = 4, [FXT_THREAD_WAKEUP] = 3, [FXT_FIBER_SWITCH] = 4};
    static const uint8_t last_bit[] = {
        [FXT_CONTEXT_SWITCH] = 39, [FXT_THREAD_WAKEUP] = 35, [FXT_FIBER_SWITCH] = 19};
    unsigned kind = (unsigned)fxt_get_bits(header, FXT_SCHEDULING_KIND);
    if (kind == FXT_LEGACY_SWITCH) {
        shape->inline_words = (fxt_get_bits(header, FXT_LEGACY_OUTGOING) ? 0 : 2u) +
                              (fxt_get_bits(header, FXT_LEGACY_INCOMING) ? 0 : 2u);
        shape->total = shape->body = shape->args_end = 2 + shape->inline_words;
        shape->is_clean = fxt_get_bits(header, FXT_LEGACY_STATE) <= TTR_THREAD_DEAD;
        return;
    }
    shape->is_known = kind <= FXT_FIBER_SWITCH;
    if (!shape->is_known)
        return;
    shape->is_clean = (header << 4 >> 4) >> (last_bit[kind] + 1) == 0 &&
                      fxt_get_bits(header, FXT_SCHEDULING_STATE) <= TTR_THREAD_DEAD;
    shape->args = (uint32_t)fxt_get_bits(header, FXT_SCHEDULING_ARGS);
    shape->body = fixed[kind];
    shape->total = skip_arguments(span, shape->body, shape);
}

static void measure_log_record(const struct fxt_span *span, uint64_t header,
                               struct fxt_record_shape *shape)
{
    shape->bytes = fxt_get_bits(header, FXT_LOG_BYTES);
    shape->inline_words = fxt_get_bits(header, FXT_LOG_THREAD) ? 0 : 2;
    shape->body = shape->args_end = 2 + shape->inline_words;
    shape->total = shape->body + fxt_words_for_bytes(shape->bytes);
    shape->is_clean = has_only_bits_to(header, 39) && !(header >> 31 & 1) &&
                      has_zero_padding(span, shape->body, shape->bytes);
}

/* Measures a profiler record. An inline thread has two words, but one in the Rust reader; the size
 * in the header decides. */
static void measure_profiler_record(uint64_t header, struct fxt_record_shape *shape, uint64_t words)
{
    static const uint8_t last_bit[] = {[FXT_MODULE] = 59, [FXT_MAPPING] = 46, [FXT_BACKTRACE] = 35};
    unsigned kind = (unsigned)fxt_get_bits(header, FXT_PROFILER_KIND);
    shape->is_known = kind <= FXT_BACKTRACE;
    if (!shape->is_known)
        return;
    uint64_t rest = 3;
    if (kind == FXT_MODULE)
        rest = fxt_words_for_bytes(fxt_get_bits(header, FXT_MODULE_NAME_BYTES)) +
               fxt_words_for_bytes(fxt_get_bits(header, FXT_MODULE_BUILD_ID_BYTES));
    if (kind == FXT_BACKTRACE)
        rest = fxt_get_bits(header, FXT_BACKTRACE_FRAMES);
    bool is_inline = fxt_get_bits(header, FXT_PROFILER_THREAD) == 0;
    shape->inline_words = !is_inline ? 0 : words == 3 + rest ? 1 : 2;
    shape->body = shape->args_end = 2 + shape->inline_words;
    shape->total = shape->body + rest;
    shape->is_clean = has_only_bits_to(header, last_bit[kind]);
}

/* Measures a large record. In large blobs, inline strings precede the time; in event records they
 * follow it. */
static void measure_large_record(const struct fxt_span *span, uint64_t header,
                                 struct fxt_record_shape *shape)
{
    uint64_t format = fxt_get_bits(header, FXT_LARGE_FORMAT);
    shape->is_known =
        fxt_get_bits(header, FXT_LARGE_KIND) == FXT_LARGE_BLOB && format <= FXT_LARGE_BARE;
    if (!shape->is_known)
        return;
    bool is_bare = format == FXT_LARGE_BARE;
    uint64_t refs = load_span_word(span, 1, shape);
    shape->is_clean = has_only_bits_to(header, 43) && has_only_bits_to(refs, is_bare ? 31 : 43);
    uint64_t at = skip_string(span, 2, fxt_get_bits(refs, FXT_LARGE_CATEGORY), shape);
    at = skip_string(span, at, fxt_get_bits(refs, FXT_LARGE_NAME), shape);
    shape->body = shape->args_end = at;
    if (!is_bare) {
        shape->args = (uint32_t)fxt_get_bits(refs, FXT_LARGE_ARGS);
        shape->inline_words = fxt_get_bits(refs, FXT_LARGE_THREAD) ? 0 : 2;
        shape->body = at + 1 + shape->inline_words;
        at = skip_arguments(span, shape->body, shape);
    }
    shape->bytes = load_span_word(span, at, shape);
    shape->total = at + 1 + fxt_words_for_bytes(shape->bytes);
}

void fxt_measure_record(const struct fxt_span *span, uint64_t words, struct fxt_record_shape *shape)
{
    uint64_t header = fxt_load_u64(span->bytes, span->is_big);
    *shape = (struct fxt_record_shape){.total = 1, .body = 1, .args_end = 1, .is_known = true};
    switch (fxt_get_record_type(header)) {
    case FXT_METADATA:
        measure_metadata(span, header, shape);
        break;
    case FXT_INITIALIZATION:
        shape->total = words >= FXT_INITIALIZATION_WORDS_ANCHORED
                           ? FXT_INITIALIZATION_WORDS_ANCHORED
                           : FXT_INITIALIZATION_WORDS;
        shape->is_clean = has_only_bits_to(header, 15) && load_span_word(span, 1, shape) != 0;
        break;
    case FXT_STRING:
        measure_string(span, header, shape);
        break;
    case FXT_THREAD:
        shape->total = FXT_THREAD_WORDS;
        shape->is_clean =
            has_only_bits_to(header, 23) && fxt_get_bits(header, FXT_THREAD_INDEX) != 0;
        break;
    case FXT_EVENT:
        measure_event(span, header, shape);
        break;
    case FXT_BLOB:
        measure_blob(span, header, shape);
        break;
    case FXT_USERSPACE_OBJECT:
        measure_userspace_object(span, header, shape, words);
        break;
    case FXT_KERNEL_OBJECT:
        measure_kernel_object(span, header, shape);
        break;
    case FXT_SCHEDULING:
        measure_scheduling_record(span, header, shape);
        break;
    case FXT_LOG:
        measure_log_record(span, header, shape);
        break;
    case FXT_PROFILER:
        measure_profiler_record(header, shape, words);
        break;
    case FXT_LARGE:
        measure_large_record(span, header, shape);
        break;
    default:
        shape->is_known = false;
    }
}

/* Returns the size in words of a clean record: its reserved bits are zero, and its header declares
 * the size of its content. Instants may have a scope after the content. Returns 0 for other
 * records. */
static uint64_t measure_clean_record(const struct fxt_span *span)
{
    uint64_t header = fxt_load_u64(span->bytes, span->is_big);
    uint64_t words = fxt_get_record_words(header);
    struct fxt_record_shape shape;
    fxt_measure_record(span, words, &shape);
    bool is_scoped =
        fxt_get_record_type(header) == FXT_EVENT &&
        fxt_get_bits(header, FXT_EVENT_KIND) == FXT_INSTANT && words == shape.total + 1 &&
        words <= span->words &&
        fxt_load_u64(span->bytes + (size_t)shape.total * FXT_WORD_BYTES, span->is_big) <= 2;
    return words && shape.is_known && shape.is_clean && (words == shape.total || is_scoped) ? words
                                                                                            : 0;
}

unsigned fxt_count_complete_records(const struct fxt_span *span, unsigned count_max)
{
    struct fxt_span left = *span;
    unsigned n = 0;
    for (; n < count_max && left.words; n++) {
        uint64_t words = measure_clean_record(&left);
        if (words == 0 || words > left.words)
            break;
        left.bytes += (size_t)words * FXT_WORD_BYTES;
        left.words -= words;
    }
    return n;
}

unsigned fxt_count_clean_records(const struct fxt_span *span, bool is_end, unsigned count_max)
{
    struct fxt_span left = *span;
    for (unsigned n = 0; n < count_max; n++) {
        if (left.words == 0)
            return n || is_end ? count_max : 0;
        uint64_t words = measure_clean_record(&left);
        if (words > left.words)
            return n && !is_end ? count_max : n;
        if (words == 0)
            return n >= 2 && fxt_load_u64(left.bytes, left.is_big) == 0 ? count_max : n;
        left.bytes += (size_t)words * FXT_WORD_BYTES;
        left.words -= words;
    }
    return count_max;
}

/* Returns the size in words of a record with an unknown type, or with complete content and few
 * words after it. Returns 0 for other records. */
static uint64_t measure_plausible_record(const struct fxt_span *span, bool *is_known)
{
    uint64_t words = fxt_get_record_words(fxt_load_u64(span->bytes, span->is_big));
    struct fxt_record_shape shape;
    fxt_measure_record(span, words, &shape);
    bool is_possible = !shape.is_known || (!shape.is_broken && shape.total <= words &&
                                           words - shape.total <= SURPLUS_MAX);
    *is_known = shape.is_known;
    return words <= span->words && is_possible ? words : 0;
}

/* Returns true if the span is empty or contains only zeros, the padding of an unfinished file. */
static bool is_all_zero_span(const struct fxt_span *span)
{
    uint64_t n = 0;
    while (n < span->words &&
           fxt_load_u64(span->bytes + (size_t)n * FXT_WORD_BYTES, span->is_big) == 0)
        n++;
    return n == span->words;
}

bool fxt_has_plausible_records(const struct fxt_span *span, uint64_t words, bool is_end)
{
    struct fxt_span rest = *span;
    for (unsigned unknown = 0, known = 0; unknown + known / 2 < 4;) {
        rest.bytes += (size_t)words * FXT_WORD_BYTES;
        rest.words -= words;
        if (is_all_zero_span(&rest))
            return is_end || rest.words;
        if (fxt_count_clean_records(&rest, is_end, 2) == 2)
            return true;
        bool is_known;
        words = measure_plausible_record(&rest, &is_known);
        if (words == 0)
            return false;
        known += is_known;
        unknown += !is_known;
        if (known == SURPLUS_CHAIN_MIN)
            return true;
    }
    return false;
}
