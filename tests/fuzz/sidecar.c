/* Fuzzes saved stores. A small store is saved; the input edits the file: a byte of flags, then
 * edits of 4 bytes (offset, value, a number of zeros to add). Hashes are made valid again, so that
 * the edits reach the code after them. Loading ends; a store that is loaded has only texts of its
 * context, and all of its values can be read. */
#include <sys/mman.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/store.h>

#include "base/endian.h"
#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "store/saved.h"
#include "support/memory_reader.h"

#define EVENTS 1100u
#define FILE_MAX ((size_t)1 << 20)
#define SECTIONS_MAX 512u

/* The saved file, and where its directory has sections. */
struct saved_file {
    uint8_t bytes[FILE_MAX];
    size_t n, sections[SECTIONS_MAX], sections_n;
};

static const ttr_text key = {"key", 3};

static uint64_t hash_section(const struct saved_file *file, uint64_t offset, uint64_t size)
{
    uint64_t hash = 0;
    for (uint64_t at = 0; at < size; at += SAVED_PIECE)
        hash = saved_hash_add(hash, file->bytes + offset + at,
                              size - at < SAVED_PIECE ? (size_t)(size - at) : SAVED_PIECE);
    return hash;
}

static bool is_section(const struct saved_file *file, size_t at)
{
    const uint64_t offset = load_u64le(file->bytes + at), size = load_u64le(file->bytes + at + 8);
    return offset <= file->n && size <= file->n - offset;
}

/* Makes the hashes of the directory's sections, of the directory and of the head valid. */
static void fix_hashes(struct saved_file *file)
{
    for (size_t i = 0; i < file->sections_n; i++) {
        const size_t at = file->sections[i];
        if (is_section(file, at))
            store_u64le(file->bytes + at + 16, hash_section(file, load_u64le(file->bytes + at),
                                                            load_u64le(file->bytes + at + 8)));
    }
    if (is_section(file, 24))
        store_u64le(file->bytes + 40,
                    hash_section(file, load_u64le(file->bytes + 24), load_u64le(file->bytes + 32)));
    store_u64le(file->bytes + 48, hash_bytes(file->bytes, 48));
}

static ttr_store *make_store(ttr *t)
{
    static ttr_event events[EVENTS];
    static const char *const names[] = {"slice", "event", "thread", "my_event", "dur",
                                        "name",  "id",    "ts",     NULL};
    const ttr_store_options options = {.size = sizeof options, .names = names, .columns = names};
    ttr_error error;
    for (size_t i = 0; i < EVENTS; i++) {
        const char *name = i % 5 ? "my:event" : "other";
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = (int64_t)i * 300,
                                .duration = i % 700,
                                .name = ttr_text_add(t, name, strlen(name)),
                                .thread = 1};
    }
    const struct memory_events list = {.event = events, .n = EVENTS, .order = TTR_ORDER_TIME};
    ttr_reader *reader = memory_reader(t, &list);
    ttr_store *store = ttr_store_new(t, &options, &error);
    if (!reader || !store || ttr_store_read(store, reader, NULL, NULL, &error) != TTR_OK)
        fuzz_stop("the store is not made");
    ttr_close(reader);
    return store;
}

/* Saves a store, and finds the sections in its directory. */
static void make_file(struct saved_file *file)
{
    ttr *t = ttr_new(NULL);
    ttr_store *store = make_store(t);
    const ttr_store_part part = {"part", "bytes", 5};
    const ttr_store_save_options options = {
        .size = sizeof options, .key = key, .parts = &part, .parts_n = 1};
    const int fd = memfd_create("store", MFD_CLOEXEC);
    if (fd < 0 || ttr_store_save(store, fd, &options, NULL) != TTR_OK)
        fuzz_stop("the store is not saved");
    file->n = (size_t)lseek(fd, 0, SEEK_END);
    if (file->n > FILE_MAX || pread(fd, file->bytes, file->n, 0) != (ssize_t)file->n)
        fuzz_stop("the store is too large");
    for (size_t at = (size_t)load_u64le(file->bytes + 24); at + SAVED_SECTION <= file->n; at++) {
        if (!is_section(file, at) || file->sections_n == SECTIONS_MAX ||
            hash_section(file, load_u64le(file->bytes + at), load_u64le(file->bytes + at + 8)) !=
                load_u64le(file->bytes + at + 16))
            continue;
        file->sections[file->sections_n++] = at;
        at += SAVED_SECTION - 1;
    }
    (void)close(fd);
    ttr_store_free(store);
    ttr_free(t);
}

/* Reads all that a loaded store has. */
static void touch_store(const ttr *t, const ttr_store *store)
{
    int64_t values[1024];
    ttr_store_table table;
    ttr_store_column column;
    char part[64];
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
        for (size_t k = 0; ttr_store_column_at(store, i, k, &column); k++) {
            const uint64_t rows = table.rows < 1 << 20 ? table.rows + 1 : 1 << 20;
            for (uint64_t row = 0; row < rows; row += 1024) {
                ttr_store_values(store, i, k, row, 1024, values);
                for (size_t v = 0; v < 1024 && column.type == TTR_STORE_TEXT; v++)
                    if (values[v] != TTR_STORE_NULL &&
                        (values[v] < 0 || values[v] >= ttr_text_count(t)))
                        fuzz_stop("a text is not one of the context");
            }
        }
    const int64_t n = ttr_store_part_size(store, "part");
    if (n >= 0 && n <= (int64_t)sizeof part &&
        ttr_store_part_read(store, "part", part, (size_t)n, NULL) == TTR_E_MISUSE)
        fuzz_stop("a part cannot be asked for");
}

static void load_file(const struct saved_file *file, const ttr_store_options *options)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const int fd = memfd_create("store", MFD_CLOEXEC);
    if (fd < 0 || write(fd, file->bytes, file->n) != (ssize_t)file->n)
        fuzz_stop("the file cannot be written");
    ttr_store *store = ttr_store_load(t, fd, key, options, &error);
    if (store)
        touch_store(t, store);
    else if (!error.text[0] || error.status == TTR_OK)
        fuzz_stop("a store is refused without reason");
    ttr_store_free(store);
    ttr_free(t);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct saved_file saved, file;
    static const char *const few[] = {"slice", "my_event", "dur", "name", NULL};
    const ttr_store_options options = {.size = sizeof options, .names = few, .columns = few};
    if (saved.n == 0)
        make_file(&saved);
    file = saved;
    const uint8_t flags = n ? bytes[0] : 0;
    for (size_t i = 1; i + 4 <= n; i += 4) {
        /* most edits are to the directory at the end */
        const size_t from = load_u16le(bytes + i);
        const size_t at = flags & 2 ? from : file.n - 1 - from % file.n;
        if (at < file.n)
            file.bytes[at] = bytes[i + 2];
        for (size_t zero = 1; zero <= (bytes[i + 3] & 15u) && at + zero < file.n; zero++)
            file.bytes[at + zero] = 0;
    }
    if (flags & 4)
        file.n -= n > 2 ? load_u16le(bytes + 1) % file.n : 0;
    if (!(flags & 1) && file.n >= SAVED_HEAD)
        fix_hashes(&file);
    load_file(&file, &options);
    load_file(&file, NULL);
    return 0;
}
