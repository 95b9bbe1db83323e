/* Pages of Parquet: a chunk of a column is an optional dictionary page and one data page (version
 * 1).
 *
 *     page = head in Thrift | zstd( body )
 *     body of a data page = u32 size | definition levels, one bit per row | values that are not
 * NULL values = numbers of 8 bytes, or texts as u32 size and bytes, or u8 width | indexes of the
 * dictionary, as runs of equal ones or packed bits
 *
 * A text column has a dictionary if it has at most half as many distinct texts as rows, and at most
 * DICTIONARY_MAX. */
#include <zstd.h>

#include "table_files/parquet.h"
#include "table_files/thrift.h"

#define DICTIONARY_MAX 32768u
#define RANGE_BYTES_MAX 64u /* maximum length of a text in statistics; others leave them out */

enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

void parquet_chunk_free(struct parquet_chunk *chunk)
{
    bytes_free(&chunk->pages);
    bytes_free(&chunk->min);
    bytes_free(&chunk->max);
}

/* --- Runs and packed bits --- */

static unsigned count_bits(uint32_t largest)
{
    return largest ? 32 - (unsigned)__builtin_clz(largest) : 0;
}

static void add_run(struct bytes *to, uint32_t value, uint32_t n, unsigned width)
{
    thrift_add_varint(to, (uint64_t)n << 1);
    bytes_add_number(to, value, (width + 7) / 8);
}

/* Appends values as `width` bits each, in groups of 8. The last group may be incomplete. */
static void add_packed(struct bytes *to, const uint32_t *values, uint32_t n, unsigned width)
{
    const uint32_t groups = (n + 7) / 8;
    uint64_t bits = 0;
    unsigned bits_n = 0;
    thrift_add_varint(to, (uint64_t)groups << 1 | 1);
    for (uint32_t i = 0; i < groups * 8; i++) {
        bits |= (uint64_t)(i < n ? values[i] : 0) << bits_n;
        for (bits_n += width; bits_n >= 8; bits_n -= 8, bits >>= 8)
            bytes_add_u8(to, (uint8_t)bits);
    }
}

/* Encodes values as runs where 16 or more are equal, and packed between them. */
static void add_hybrid(struct bytes *to, const uint32_t *values, uint32_t n, unsigned width)
{
    uint32_t packed = 0; /* start of the values that are not written yet */
    for (uint32_t i = 0; i < n;) {
        uint32_t end = i + 1;
        while (end < n && values[end] == values[i])
            end++;
        /* Packed values come in groups of 8, so that a run begins at such a distance. */
        const uint32_t first = packed + (i - packed + 7) / 8 * 8;
        if (end >= first + 16) {
            if (first > packed)
                add_packed(to, values + packed, first - packed, width);
            add_run(to, values[i], end - first, width);
            packed = end;
        }
        i = end;
    }
    if (packed < n)
        add_packed(to, values + packed, n - packed, width);
}

static bool add_levels(struct bytes *to, const struct batch_column *column, uint32_t rows)
{
    uint32_t *levels = malloc(((size_t)rows + 1) * sizeof *levels);
    struct bytes encoded = {.p = NULL};
    if (!levels)
        return false;
    for (uint32_t i = 0; i < rows; i++)
        levels[i] = column->is_valid[i];
    add_hybrid(&encoded, levels, rows, 1);
    bytes_add_number(to, encoded.n, 4);
    bytes_add(to, encoded.p, encoded.n);
    const bool is_fine = !encoded.is_failed;
    bytes_free(&encoded);
    free(levels);
    return is_fine;
}

/* --- Pages --- */

static bool add_page(struct parquet_chunk *chunk, int type, int encoding, uint32_t values,
                     const struct bytes *body)
{
    struct bytes *to = &chunk->pages, compressed = {.p = NULL};
    struct thrift thrift = {.to = to};
    const size_t room = ZSTD_compressBound(body->n), before = to->n;
    uint8_t *at = bytes_room(&compressed, room);
    const size_t n = at ? ZSTD_compress(at, room, body->p, body->n, 3) : 0;
    const bool is_fine = at && !ZSTD_isError(n) && !body->is_failed;
    if (is_fine) {
        thrift_begin(&thrift);
        thrift_i32(&thrift, 1, type);
        thrift_i32(&thrift, 2, (int32_t)body->n);
        thrift_i32(&thrift, 3, (int32_t)n);
        thrift_struct(&thrift, type == PAGE_DATA ? 5 : 7);
        thrift_i32(&thrift, 1, (int32_t)values);
        thrift_i32(&thrift, 2, encoding);
        if (type == PAGE_DATA) {
            thrift_i32(&thrift, 3, PARQUET_RLE);
            thrift_i32(&thrift, 4, PARQUET_RLE);
        }
        thrift_end(&thrift);
        thrift_end(&thrift);
        chunk->uncompressed_n += to->n - before + body->n;
        bytes_add(to, compressed.p, n);
    }
    bytes_free(&compressed);
    return is_fine && !to->is_failed;
}

/* --- Dictionaries --- */

/* Distinct texts of a column, numbered from 0: a hash table with linear probing. */
struct dictionary {
    uint32_t *slots;  /* hash table: row + 1 of the first occurrence of a text; 0 = free */
    uint32_t *number; /* number of the text in slots[i] */
    uint32_t *rows;   /* row of the first occurrence of text i */
    uint32_t n;       /* number of texts */
};
#define SLOTS ((size_t)4 * DICTIONARY_MAX)

static ttr_text text_at(const struct batch_column *column, uint32_t row)
{
    return (ttr_text){(const char *)column->data.p + column->starts[row],
                      column->starts[row + 1] - column->starts[row]};
}

static uint32_t hash_text(ttr_text text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (uint8_t)text.p[i]) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Returns the number of a text, which is added if it is new; UINT32_MAX if there are too many. */
static uint32_t find_or_add_text(struct dictionary *dictionary, const struct batch_column *column,
                                 uint32_t row)
{
    const ttr_text text = text_at(column, row);
    for (size_t slot = hash_text(text) % SLOTS;; slot = (slot + 1) % SLOTS) {
        if (dictionary->slots[slot] == 0) {
            if (dictionary->n == DICTIONARY_MAX)
                return UINT32_MAX;
            dictionary->slots[slot] = row + 1;
            dictionary->rows[dictionary->n] = row;
            return dictionary->number[slot] = dictionary->n++;
        }
        const ttr_text known = text_at(column, dictionary->slots[slot] - 1);
        if (known.n == text.n && (text.n == 0 || memcmp(known.p, text.p, text.n) == 0))
            return dictionary->number[slot];
    }
}

/* Numbers the texts of a column. Returns the count of values, or 0 if a dictionary does not pay. */
static uint32_t number_texts(struct dictionary *dictionary, const struct batch_column *column,
                             uint32_t rows, uint32_t *numbers)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (!column->is_valid[i])
            continue;
        numbers[n] = find_or_add_text(dictionary, column, i);
        if (numbers[n++] == UINT32_MAX)
            return 0;
    }
    return dictionary->n <= n / 2 ? n : 0;
}

static void add_text(struct bytes *to, ttr_text text)
{
    bytes_add_number(to, text.n, 4);
    bytes_add(to, text.p, text.n);
}

static bool add_dictionary_pages(const struct batch_column *column, uint32_t rows,
                                 struct parquet_chunk *chunk, const struct dictionary *dictionary,
                                 const uint32_t *numbers, uint32_t n)
{
    struct bytes texts = {.p = NULL}, body = {.p = NULL};
    const unsigned width = count_bits(dictionary->n - 1);
    for (uint32_t i = 0; i < dictionary->n; i++)
        add_text(&texts, text_at(column, dictionary->rows[i]));
    bool is_fine = add_page(chunk, PAGE_DICTIONARY, PARQUET_PLAIN, dictionary->n, &texts);
    chunk->dictionary_n = chunk->pages.n;
    is_fine = is_fine && add_levels(&body, column, rows);
    bytes_add_u8(&body, (uint8_t)width);
    add_hybrid(&body, numbers, n, width);
    is_fine = is_fine && add_page(chunk, PAGE_DATA, PARQUET_RLE_DICTIONARY, rows, &body);
    bytes_free(&texts);
    bytes_free(&body);
    return is_fine;
}

/* Encodes texts by a dictionary. Sets *is_done to false if it does not pay. */
static bool encode_by_dictionary(const struct batch_column *column, uint32_t rows,
                                 struct parquet_chunk *chunk, bool *is_done)
{
    struct dictionary dictionary = {.slots = calloc(SLOTS, sizeof(uint32_t)),
                                    .number = malloc(SLOTS * sizeof(uint32_t)),
                                    .rows = malloc(DICTIONARY_MAX * sizeof(uint32_t))};
    uint32_t *numbers = malloc(((size_t)rows + 1) * sizeof *numbers);
    bool is_fine = dictionary.slots && dictionary.number && dictionary.rows && numbers;
    const uint32_t n = is_fine ? number_texts(&dictionary, column, rows, numbers) : 0;
    *is_done = n > 0;
    if (n > 0)
        is_fine = add_dictionary_pages(column, rows, chunk, &dictionary, numbers, n);
    free(dictionary.slots);
    free(dictionary.number);
    free(dictionary.rows);
    free(numbers);
    return is_fine;
}

static bool encode_plain(const struct batch_column *column, uint32_t rows,
                         struct parquet_chunk *chunk)
{
    struct bytes body = {.p = NULL};
    bool is_fine = add_levels(&body, column, rows);
    for (uint32_t i = 0; i < rows; i++) {
        if (!column->is_valid[i])
            continue;
        if (column->starts)
            add_text(&body, text_at(column, i));
        else
            bytes_add_number(&body, (uint64_t)column->ints[i], 8);
    }
    is_fine = is_fine && add_page(chunk, PAGE_DATA, PARQUET_PLAIN, rows, &body);
    bytes_free(&body);
    return is_fine;
}

/* --- Statistics --- */

/* Compares two values of a column in the order of Parquet: texts by their bytes. */
static int compare_values(const struct batch_column *column, uint32_t a, uint32_t b)
{
    if (column->starts) {
        const ttr_text x = text_at(column, a), y = text_at(column, b);
        const size_t n = x.n < y.n ? x.n : y.n;
        const int order = n ? memcmp(x.p, y.p, n) : 0;
        return order ? order : x.n < y.n ? -1 : x.n > y.n;
    }
    if (column->type == BATCH_INT)
        return column->ints[a] < column->ints[b] ? -1 : column->ints[a] > column->ints[b];
    double x, y;
    memcpy(&x, &column->ints[a], sizeof x);
    memcpy(&y, &column->ints[b], sizeof y);
    return x < y ? -1 : x > y;
}

static void add_range_value(struct bytes *to, const struct batch_column *column, uint32_t row)
{
    if (column->starts)
        bytes_add(to, text_at(column, row).p, text_at(column, row).n);
    else
        bytes_add_number(to, (uint64_t)column->ints[row], 8);
}

static bool is_zero_real(const struct batch_column *column, uint32_t row)
{
    return column->type == BATCH_REAL && (uint64_t)column->ints[row] << 1 == 0;
}

/* Finds the smallest and the largest value. SQLite has no NaN. */
static void find_range(const struct batch_column *column, uint32_t rows,
                       struct parquet_chunk *chunk)
{
    uint32_t min = UINT32_MAX, max = UINT32_MAX;
    for (uint32_t i = 0; i < rows; i++) {
        if (!column->is_valid[i])
            continue;
        min = min == UINT32_MAX || compare_values(column, i, min) < 0 ? i : min;
        max = max == UINT32_MAX || compare_values(column, i, max) > 0 ? i : max;
    }
    chunk->has_range =
        min != UINT32_MAX && !is_zero_real(column, min) && !is_zero_real(column, max);
    if (chunk->has_range && column->starts)
        chunk->has_range =
            text_at(column, min).n <= RANGE_BYTES_MAX && text_at(column, max).n <= RANGE_BYTES_MAX;
    if (!chunk->has_range)
        return;
    add_range_value(&chunk->min, column, min);
    add_range_value(&chunk->max, column, max);
}

bool parquet_encode_column(const struct batch_column *column, uint32_t rows,
                           struct parquet_chunk *chunk)
{
    bool is_done = false;
    *chunk = (struct parquet_chunk){.nulls = column->nulls};
    find_range(column, rows, chunk);
    if (column->type == BATCH_TEXT && !encode_by_dictionary(column, rows, chunk, &is_done))
        return false;
    return is_done || encode_plain(column, rows, chunk);
}
