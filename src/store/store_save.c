/* Writing a store to a file (saved.h has the layout). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/advanced.h>

#include "base/buffer.h"
#include "base/endian.h"
#include "base/hash.h"
#include "base/status.h"
#include "store/saved.h"

/* A file that is written from its start to its end. */
struct saver {
    const ttr_store *store;
    int fd;
    uint64_t at, size_max; /* offset of the piece */
    uint8_t *piece;        /* SAVED_PIECE bytes */
    size_t piece_n;
    struct saved_section section; /* section that is being written */
    struct buffer directory;
    ttr_status status; /* first error */
    int reason;        /* errno of the first error */
};

uint64_t saved_hash_add(uint64_t hash, const void *piece, size_t n)
{
    return hash_pair(hash, hash_bytes(piece, n));
}

uint64_t saved_version(void)
{
    const uint32_t order = 0x01020304;
    const char *version = ttr_version();
    uint64_t hash = hash_bytes(&order, sizeof order);
    hash = hash_pair(hash, hash_bytes(version, strlen(version)));
    for (size_t i = 0; i < STORE_TABLES; i++) {
        const struct table_definition *table = &store_definitions[i];
        hash = hash_pair(hash, hash_bytes(table->name, strlen(table->name)));
        for (size_t k = 0; k < table->n; k++) {
            const struct column_info *column = &table->infos[k];
            hash = hash_pair(hash, hash_bytes(column->name, strlen(column->name)));
            hash = hash_pair(hash, (uint64_t)column->type * 2 + column->is_ordered);
        }
    }
    return hash;
}

ttr_status store_fail_loaded(ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "a loaded store cannot read a trace");
}

ttr_status store_fail_full(const ttr_store *store, ttr_error *error)
{
    if (store->memory.error.status == TTR_OK)
        return fail_memory(error);
    if (error)
        *error = store->memory.error;
    return store->memory.error.status;
}

/* --- Sections --- */

/* Writes n bytes at an offset; stops at the first error. */
static void write_at(struct saver *saver, const uint8_t *bytes, size_t n, uint64_t at)
{
    if (saver->status == TTR_OK && at + n > saver->size_max)
        saver->status = TTR_E_LIMIT;
    while (n > 0 && saver->status == TTR_OK) {
        const ssize_t done = pwrite(saver->fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            saver->status = TTR_E_IO;
            saver->reason = done < 0 ? errno : ENOSPC;
            return;
        }
        bytes += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
}

static void end_piece(struct saver *saver)
{
    if (saver->piece_n == 0)
        return;
    saver->section.hash = saved_hash_add(saver->section.hash, saver->piece, saver->piece_n);
    write_at(saver, saver->piece, saver->piece_n, saver->at);
    saver->at += saver->piece_n;
    saver->piece_n = 0;
}

static void begin_section(struct saver *saver)
{
    saver->section = (struct saved_section){.offset = saver->at};
}

static void add_bytes(struct saver *saver, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    saver->section.size += n;
    while (n > 0) {
        const size_t room = SAVED_PIECE - saver->piece_n, part = n < room ? n : room;
        memcpy(saver->piece + saver->piece_n, from, part);
        saver->piece_n += part;
        from += part;
        n -= part;
        if (saver->piece_n == SAVED_PIECE)
            end_piece(saver);
    }
}

static void add_u32(struct saver *saver, uint32_t value)
{
    uint8_t bytes[4];
    store_u32le(bytes, value);
    add_bytes(saver, bytes, sizeof bytes);
}

static void put_u8(struct saver *saver, uint8_t value)
{
    buffer_add_byte(&saver->directory, value);
}

static void put_u32(struct saver *saver, uint32_t value)
{
    uint8_t bytes[4];
    store_u32le(bytes, value);
    buffer_add(&saver->directory, bytes, sizeof bytes);
}

static void put_u64(struct saver *saver, uint64_t value)
{
    uint8_t bytes[8];
    store_u64le(bytes, value);
    buffer_add(&saver->directory, bytes, sizeof bytes);
}

/* Ends the section and adds it to the directory. The next one starts at a multiple of 8. */
static void end_section(struct saver *saver)
{
    end_piece(saver);
    put_u64(saver, saver->section.offset);
    put_u64(saver, saver->section.size);
    put_u64(saver, saver->section.hash);
    saver->at = (saver->at + 7) & ~(uint64_t)7;
}

/* --- Contents --- */

static void save_strings(struct saver *saver)
{
    const uint32_t n = ttr_text_count(saver->store->t);
    put_u32(saver, n);
    begin_section(saver);
    for (uint32_t i = 1; i < n; i++) {
        const ttr_text text = ttr_text_get(saver->store->t, i);
        add_u32(saver, (uint32_t)text.n);
        add_bytes(saver, text.p, text.n);
    }
    end_section(saver);
}

static void save_column(struct saver *saver, const struct column *column)
{
    const size_t blocks_n = column->rows ? (size_t)((column->rows - 1) / STORE_BLOCK) : 0;
    const uint64_t tail_row = (uint64_t)blocks_n * STORE_BLOCK;
    int64_t tail[STORE_BLOCK];
    begin_section(saver);
    for (size_t i = 0; i < blocks_n; i++) {
        const struct column_block *block = &column->blocks[i];
        uint8_t head[SAVED_BLOCK_HEAD] = {0};
        memcpy(head, &block->base, sizeof block->base);
        head[8] = block->width;
        head[9] = block->has_null;
        add_bytes(saver, head, sizeof head);
    }
    for (size_t i = 0; i < blocks_n; i++) {
        const size_t n = (size_t)STORE_BLOCK * column->blocks[i].width;
        if (n)
            add_bytes(saver, column->blocks[i].data, n);
        store_memory_step(column->pool->memory, n);
    }
    if (column->rows > tail_row) {
        const size_t n = (size_t)(column->rows - tail_row);
        column_read(column, tail_row, n, tail);
        add_bytes(saver, tail, n * sizeof *tail);
    }
    end_section(saver);
}

static void save_table(struct saver *saver, const struct table *table)
{
    if (table->is_class) {
        put_u32(saver, ttr_text_find(saver->store->t, table->name, strlen(table->name)));
        put_u32(saver, (uint32_t)table->added_n);
        for (size_t i = 0; i < table->added_n; i++) {
            const char *name = table->added[i].name;
            put_u32(saver, ttr_text_find(saver->store->t, name, strlen(name)));
            put_u8(saver, table->added[i].type);
        }
    }
    put_u8(saver, table->is_wanted);
    put_u64(saver, table->rows);
    for (size_t i = 0; i < table->columns_n; i++) {
        put_u8(saver, table_wants(table, i));
        if (table_wants(table, i))
            save_column(saver, &table->columns[i]);
    }
}

static void save_parts(struct saver *saver, const ttr_store_part *parts, size_t n)
{
    put_u32(saver, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        const size_t name_n = strlen(parts[i].name);
        put_u8(saver, (uint8_t)name_n);
        buffer_add(&saver->directory, parts[i].name, name_n);
        begin_section(saver);
        if (parts[i].n)
            add_bytes(saver, parts[i].bytes, parts[i].n);
        end_section(saver);
    }
}

/* Writes the directory, and then the head, without which the file is not valid. */
static void save_head(struct saver *saver)
{
    uint8_t head[SAVED_HEAD] = SAVED_MAGIC;
    const struct buffer *directory = &saver->directory;
    begin_section(saver);
    add_bytes(saver, directory->bytes, directory->n);
    end_piece(saver);
    store_u64le(head + 8, saved_version());
    store_u64le(head + 16, saver->at);
    store_u64le(head + 24, saver->section.offset);
    store_u64le(head + 32, saver->section.size);
    store_u64le(head + 40, saver->section.hash);
    store_u64le(head + 48, hash_bytes(head, 48));
    write_at(saver, head, sizeof head, 0);
}

static void save_all(struct saver *saver, const ttr_store_save_options *options)
{
    const ttr_store *store = saver->store;
    put_u32(saver, (uint32_t)options->key.n);
    buffer_add(&saver->directory, options->key.p, options->key.n);
    put_u64(saver, store->events);
    put_u64(saver, (uint64_t)store->first);
    put_u64(saver, (uint64_t)store->last);
    put_u8(saver, store->is_disordered);
    save_strings(saver);
    for (size_t i = 0; i < STORE_TABLES; i++)
        save_table(saver, &store->tables[i]);
    put_u32(saver, (uint32_t)store->classes_n);
    for (size_t i = 0; i < store->classes_n; i++)
        save_table(saver, store->classes[i]);
    save_parts(saver, options->parts, options->parts_n);
    if (saver->directory.failed)
        saver->status = TTR_E_NOMEM;
    else
        save_head(saver);
}

/* Returns true if the options can be saved. */
static bool are_options_valid(const ttr_store_save_options *options)
{
    bool is_valid = options && options->size == sizeof *options &&
                    options->parts_n <= SAVED_PARTS_MAX && options->key.n <= SAVED_KEY_MAX;
    for (size_t i = 0; is_valid && i < options->parts_n; i++)
        is_valid = strlen(options->parts[i].name) < SAVED_PART_NAME_MAX;
    return is_valid;
}

ttr_status ttr_store_save(const ttr_store *store, int fd, const ttr_store_save_options *options,
                          ttr_error *error)
{
    if (!store || !are_options_valid(options) || store->classes_n > SAVED_CLASSES_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "options to save a store are invalid");
    struct saver saver = {.store = store,
                          .fd = fd,
                          .at = (SAVED_HEAD + 7) & ~7u,
                          .size_max = options->size_max ? options->size_max : INT64_MAX,
                          .piece = alloc_zero(store->alloc, SAVED_PIECE, 1)};
    buffer_init(&saver.directory, store->alloc);
    if (!saver.piece)
        return fail_memory(error);
    save_all(&saver, options);
    alloc_free(store->alloc, saver.piece, SAVED_PIECE, 1);
    buffer_free(&saver.directory);
    if (saver.status == TTR_E_IO)
        return fail_sys(error, saver.reason, NO_OFFSET, "the store cannot be written");
    if (saver.status == TTR_E_LIMIT)
        return fail(error, TTR_E_LIMIT, NO_OFFSET, "the store has more than %llu bytes",
                    (unsigned long long)saver.size_max);
    return saver.status == TTR_OK ? TTR_OK : fail_memory(error);
}
