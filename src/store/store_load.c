/* Loading a saved store (saved.h has the layout).
 *
 * Nothing in the file is trusted: offsets and sizes are compared with those of the file, hashes
 * are computed over all bytes that are used, and texts are ids of strings that exist.  Bytes are
 * copied into memory before they are checked, so that a file that changes does no harm.
 *
 * Order: head, directory, options, strings; then the columns that the options name. */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/advanced.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/status.h"
#include "store/saved.h"

struct loader {
    ttr *t;
    const struct alloc *alloc;
    int fd;
    uint64_t file_size;
    uint8_t *directory;
    size_t directory_n;
    uint64_t strings_n;
    const ttr_store_options *options;
    ttr_store *store;
    ttr_status status; /* first error */
};

/* Sets the first error; returns false. */
static bool stop_loading(struct loader *loader, ttr_status status)
{
    if (loader->status == TTR_OK)
        loader->status = status;
    return false;
}

static bool read_bytes(int fd, uint64_t at, uint8_t *to, size_t n)
{
    while (n > 0) {
        const ssize_t done = pread(fd, to, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        to += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return true;
}

/* Reads a section into memory and checks its hash. */
static bool read_section(int fd, const struct saved_section *section, void *to)
{
    uint8_t *bytes = to;
    uint64_t hash = 0;
    for (uint64_t at = 0; at < section->size; at += SAVED_PIECE) {
        const uint64_t left = section->size - at;
        const size_t n = left < SAVED_PIECE ? (size_t)left : SAVED_PIECE;
        if (!read_bytes(fd, section->offset + at, bytes + at, n))
            return false;
        hash = saved_hash_add(hash, bytes + at, n);
    }
    return hash == section->hash;
}

/* Reads a section of the directory; fails if it is not inside of the file. */
static struct saved_section parse_section(struct loader *loader, struct cursor *from)
{
    const struct saved_section section = {cursor_u64le(from), cursor_u64le(from),
                                          cursor_u64le(from)};
    if (section.offset > loader->file_size || section.size > loader->file_size - section.offset)
        (void)stop_loading(loader, TTR_E_MALFORMED);
    return section;
}

/* --- Head and directory --- */

static bool load_directory(struct loader *loader)
{
    uint8_t head[SAVED_HEAD];
    struct stat about;
    if (fstat(loader->fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size < (off_t)SAVED_HEAD || !read_bytes(loader->fd, 0, head, sizeof head))
        return stop_loading(loader, TTR_E_MALFORMED);
    loader->file_size = (uint64_t)about.st_size;
    struct cursor at = cursor_init(head + 8, sizeof head - 8, 8);
    const bool is_version = cursor_u64le(&at) == saved_version();
    const bool is_complete = cursor_u64le(&at) == loader->file_size;
    const struct saved_section section = parse_section(loader, &at);
    if (memcmp(head, SAVED_MAGIC, 8) != 0 || !is_version || !is_complete ||
        cursor_u64le(&at) != hash_bytes(head, 48) || section.size > SAVED_DIRECTORY_MAX ||
        loader->status != TTR_OK)
        return stop_loading(loader, TTR_E_MALFORMED);
    loader->directory_n = (size_t)section.size;
    loader->directory = alloc_zero(loader->alloc, loader->directory_n + 1, 1);
    if (!loader->directory)
        return stop_loading(loader, TTR_E_NOMEM);
    return read_section(loader->fd, &section, loader->directory) ||
           stop_loading(loader, TTR_E_MALFORMED);
}

static bool is_key_equal(struct cursor *from, ttr_text key)
{
    const uint32_t n = cursor_u32le(from);
    const uint8_t *bytes = cursor_read_bytes(from, n);
    return bytes && n == key.n && memcmp(bytes, key.p, n) == 0;
}

/* Adds the strings to the context, which assigns the ids that the file uses. */
static bool load_strings(struct loader *loader, struct cursor *from)
{
    loader->strings_n = cursor_u32le(from);
    const struct saved_section section = parse_section(loader, from);
    uint8_t *bytes = NULL;
    /* Each string but the first has a size of 4 bytes. */
    bool is_valid =
        loader->status == TTR_OK && !from->failed && loader->strings_n <= section.size / 4 + 1;
    if (is_valid && !(bytes = alloc_large(loader->alloc, (size_t)section.size + 1, 1)))
        return stop_loading(loader, TTR_E_NOMEM);
    is_valid = is_valid && read_section(loader->fd, &section, bytes);
    struct cursor at = cursor_init(bytes, is_valid ? (size_t)section.size : 0, 0);
    for (uint64_t i = 1; is_valid && i < loader->strings_n; i++) {
        const uint32_t n = cursor_u32le(&at);
        const uint8_t *text = cursor_read_bytes(&at, n);
        is_valid = text && ttr_text_add(loader->t, text, n) == i;
    }
    alloc_free(loader->alloc, bytes, bytes ? (size_t)section.size + 1 : 0, 1);
    return is_valid || stop_loading(loader, TTR_E_MALFORMED);
}

/* --- Columns --- */

/* Returns true if all texts of a column are strings of the file. */
static bool are_texts_valid(const struct loader *loader, const struct column *column)
{
    int64_t values[STORE_BLOCK];
    for (uint64_t row = 0; row < column->rows; row += STORE_BLOCK) {
        const uint64_t left = column->rows - row;
        const size_t n = left < STORE_BLOCK ? (size_t)left : STORE_BLOCK;
        uint64_t most = 0;
        column_read(column, row, n, values);
        for (size_t i = 0; i < n; i++) {
            const uint64_t id = values[i] == TTR_STORE_NULL ? 0 : (uint64_t)values[i];
            most = id > most ? id : most;
        }
        if (most >= loader->strings_n)
            return false;
    }
    return true;
}

/* Fills the blocks and the tail of a column from its section. */
static bool parse_column(struct column *column, struct cursor heads, struct cursor numbers)
{
    for (size_t i = 0; i < column->blocks_n; i++) {
        const uint8_t *head = cursor_read_bytes(&heads, SAVED_BLOCK_HEAD);
        if (!head)
            return false;
        struct column_block *block = &column->blocks[i];
        memcpy(&block->base, head, sizeof block->base);
        block->width = head[8];
        block->has_null = head[9] != 0;
        if (block->width > 8 || (block->width & (block->width - 1)) || head[9] > 1)
            return false;
        block->data =
            (void *)(uintptr_t)cursor_read_bytes(&numbers, (uint64_t)STORE_BLOCK * block->width);
        if (!block->data)
            return false;
    }
    const uint8_t *tail = cursor_read_bytes(&numbers, column->tail_n * sizeof *column->tail);
    if (tail && column->tail_n)
        memcpy(column->tail, tail, column->tail_n * sizeof *column->tail);
    return tail && cursor_left(&numbers) == 0;
}

/* Loads a column of `rows` rows. */
static bool load_column(struct loader *loader, struct column *column, uint64_t rows,
                        const struct saved_section *section)
{
    const size_t blocks = rows ? (size_t)((rows - 1) / STORE_BLOCK) : 0;
    const uint64_t heads = (uint64_t)blocks * SAVED_BLOCK_HEAD;
    if (section->size < heads || section->size % 8)
        return stop_loading(loader, TTR_E_MALFORMED);
    uint8_t *bytes = block_pool_allocate(column->pool, (size_t)section->size + 8);
    const struct alloc *alloc = loader->store->alloc;
    column->tail = alloc_zero(alloc, STORE_BLOCK, sizeof *column->tail);
    if (!bytes || !column->tail ||
        !alloc_reserve(alloc, (void **)&column->blocks, &column->blocks_capacity, blocks + 1,
                       sizeof *column->blocks))
        return stop_loading(loader, TTR_E_NOMEM);
    if (!read_section(loader->fd, section, bytes))
        return stop_loading(loader, TTR_E_MALFORMED);
    column->blocks_n = blocks;
    column->tail_n = (uint32_t)(rows - (uint64_t)blocks * STORE_BLOCK);
    if (!parse_column(column, cursor_init(bytes, (size_t)heads, 0),
                      cursor_init(bytes + heads, (size_t)(section->size - heads), 0))) {
        column->blocks_n = column->tail_n = 0;
        return stop_loading(loader, TTR_E_MALFORMED);
    }
    column->rows = rows;
    return true;
}

/* --- Tables --- */

/* Loads the columns of a table that are wanted; `table` is NULL to skip it. */
static bool load_columns(struct loader *loader, struct cursor *from, struct table *table, size_t n)
{
    const bool is_filled = cursor_u8(from) != 0;
    const uint64_t rows = cursor_u64le(from);
    if (from->failed || rows > SAVED_ROWS_MAX)
        return stop_loading(loader, TTR_E_MALFORMED);
    if (table && table->is_wanted && !is_filled)
        return stop_loading(loader, TTR_E_UNSUPPORTED);
    for (size_t i = 0; i < n; i++) {
        const bool has_values = cursor_u8(from) != 0;
        const struct saved_section section =
            has_values ? parse_section(loader, from) : (struct saved_section){0};
        if (from->failed || loader->status != TTR_OK)
            return stop_loading(loader, TTR_E_MALFORMED);
        if (!table || !table_wants(table, i))
            continue;
        if (!has_values)
            return stop_loading(loader, TTR_E_UNSUPPORTED);
        if (!load_column(loader, &table->columns[i], rows, &section))
            return false;
        if (table_column(table, i)->type == TTR_STORE_TEXT &&
            !are_texts_valid(loader, &table->columns[i]))
            return stop_loading(loader, TTR_E_MALFORMED);
    }
    if (table && table->is_wanted)
        table->rows = rows;
    return true;
}

/* Adds a column of a field to a class table. */
static bool add_field(struct loader *loader, struct table *table, const char *name, uint8_t type)
{
    const struct alloc *alloc = loader->store->alloc;
    if (!alloc_reserve(alloc, (void **)&table->added, &table->added_capacity, table->added_n + 1,
                       sizeof *table->added) ||
        !alloc_reserve(alloc, (void **)&table->columns, &table->columns_capacity,
                       table->columns_n + 1, sizeof *table->columns))
        return stop_loading(loader, TTR_E_NOMEM);
    struct column *column = &table->columns[table->columns_n++];
    column_init(column, &loader->store->pool);
    column->is_unwanted = !store_wants_column(loader->store, name);
    table->added[table->added_n++] =
        (struct column_info){.name = name, .description = "field of the event", .type = type};
    return true;
}

/* Returns the class table of a name; NULL if it is not wanted. */
static struct table *find_class(const ttr_store *store, const char *name)
{
    for (size_t i = 0; i < store->classes_n; i++)
        if (strcasecmp(store->classes[i]->name, name) == 0)
            return store->classes[i];
    return NULL;
}

static bool load_class(struct loader *loader, struct cursor *from)
{
    const ttr_id id = cursor_u32le(from);
    const uint32_t fields = cursor_u32le(from);
    if (from->failed || id == 0 || id >= loader->strings_n ||
        fields > STORE_COLUMNS_MAX - STORE_CLASS_COLUMNS)
        return stop_loading(loader, TTR_E_MALFORMED);
    struct table *table = find_class(loader->store, ttr_text_get(loader->t, id).p);
    if (table && table->is_loaded)
        return stop_loading(loader, TTR_E_MALFORMED);
    for (uint32_t i = 0; i < fields; i++) {
        const ttr_id name = cursor_u32le(from);
        const uint8_t type = cursor_u8(from);
        if (from->failed || name == 0 || name >= loader->strings_n || type > TTR_STORE_TEXT)
            return stop_loading(loader, TTR_E_MALFORMED);
        if (table && !add_field(loader, table, ttr_text_get(loader->t, name).p, type))
            return false;
    }
    if (table)
        table->is_loaded = true;
    return load_columns(loader, from, table, STORE_CLASS_COLUMNS + fields);
}

/* Returns true if no event can have the name of a class table that the file does not have. */
static bool are_classes_known(const struct loader *loader)
{
    const ttr_store *store = loader->store;
    for (size_t i = 0; i < store->classes_n; i++)
        for (uint64_t id = 1; !store->classes[i]->is_loaded && id < loader->strings_n; id++)
            if (store_is_name_of_class(ttr_text_get(loader->t, (ttr_id)id),
                                       store->classes[i]->name))
                return false;
    return true;
}

static bool load_tables(struct loader *loader, struct cursor *from)
{
    for (size_t i = 0; i < STORE_TABLES; i++)
        if (!load_columns(loader, from, &loader->store->tables[i], store_definitions[i].n))
            return false;
    const uint32_t classes = cursor_u32le(from);
    if (from->failed || classes > SAVED_CLASSES_MAX)
        return stop_loading(loader, TTR_E_MALFORMED);
    for (uint32_t i = 0; i < classes; i++)
        if (!load_class(loader, from))
            return false;
    return are_classes_known(loader) || stop_loading(loader, TTR_E_UNSUPPORTED);
}

static bool load_parts(struct loader *loader, struct cursor *from)
{
    ttr_store *store = loader->store;
    const uint32_t n = cursor_u32le(from);
    if (from->failed || n > SAVED_PARTS_MAX)
        return stop_loading(loader, TTR_E_MALFORMED);
    store->parts = alloc_zero(store->alloc, n, sizeof *store->parts);
    if (!store->parts)
        return stop_loading(loader, TTR_E_NOMEM);
    store->parts_n = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t name_n = cursor_u8(from);
        const uint8_t *name = cursor_read_bytes(from, name_n);
        if (!name || name_n >= SAVED_PART_NAME_MAX)
            return stop_loading(loader, TTR_E_MALFORMED);
        memcpy(store->parts[i].name, name, name_n);
        store->parts[i].section = parse_section(loader, from);
    }
    return loader->status == TTR_OK && (!from->failed || stop_loading(loader, TTR_E_MALFORMED)) &&
           (cursor_left(from) == 0 || stop_loading(loader, TTR_E_MALFORMED));
}

static bool load_all(struct loader *loader, ttr_text key)
{
    if (!load_directory(loader))
        return false;
    struct cursor from = cursor_init(loader->directory, loader->directory_n, 0);
    if (!is_key_equal(&from, key))
        return stop_loading(loader, TTR_E_MALFORMED);
    const uint64_t events = cursor_u64le(&from);
    const int64_t first = (int64_t)cursor_u64le(&from), last = (int64_t)cursor_u64le(&from);
    const bool is_disordered = cursor_u8(&from) != 0;
    if (!load_strings(loader, &from))
        return false;
    ttr_store *store = loader->store = ttr_store_new(loader->t, loader->options, NULL);
    if (!store)
        return stop_loading(loader, TTR_E_NOMEM);
    store->events = events;
    store->first = first;
    store->last = last;
    store->is_disordered = is_disordered;
    store->is_loaded = true;
    store->file = loader->fd;
    return load_tables(loader, &from) && load_parts(loader, &from);
}

ttr_store *ttr_store_load(ttr *t, int fd, ttr_text key, const ttr_store_options *options,
                          ttr_error *error)
{
    if (!t || fd < 0 || (options && options->size != sizeof *options)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "arguments to load a store are invalid");
        return NULL;
    }
    struct loader loader = {.t = t, .alloc = alloc_default(), .fd = fd, .options = options};
    const bool is_fine = load_all(&loader, key);
    alloc_free(loader.alloc, loader.directory, loader.directory ? loader.directory_n + 1 : 0, 1);
    if (is_fine)
        return loader.store;
    ttr_store_free(loader.store);
    (void)fail(error, loader.status, NO_OFFSET, "%s",
               loader.status == TTR_E_NOMEM ? "out of memory"
               : loader.status == TTR_E_UNSUPPORTED
                   ? "the saved store lacks tables or columns"
                   : "the saved store is damaged, of another version, or of another trace");
    return NULL;
}

/* --- Parts --- */

static const struct saved_part *find_part(const ttr_store *store, const char *name)
{
    for (size_t i = 0; i < store->parts_n; i++)
        if (strcmp(store->parts[i].name, name) == 0)
            return &store->parts[i];
    return NULL;
}

int64_t ttr_store_part_size(const ttr_store *store, const char *name)
{
    const struct saved_part *part = find_part(store, name);
    return part ? (int64_t)part->section.size : -1;
}

ttr_status ttr_store_part_read(const ttr_store *store, const char *name, void *to, size_t n,
                               ttr_error *error)
{
    const struct saved_part *part = find_part(store, name);
    if (!part || part->section.size != n)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "the store has no part \"%s\" of this size",
                    name);
    if (!read_section(store->file, &part->section, to))
        return fail(error, TTR_E_MALFORMED, NO_OFFSET, "part \"%s\" of the store is damaged", name);
    return TTR_OK;
}
