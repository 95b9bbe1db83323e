/* Fuzzes the reader of one format (-DFORMAT="fxt"): reads the input whole and in chunks, touches every field, writes all of it as
 * JSON Lines into memory, and stops when the two ways of reading differ.
 *
 * Built with -fsanitize=fuzzer it is a libFuzzer target; built without (-DREPLAY) its main runs files, folders and golden vectors
 * through the same function, so that every input ever found stays a regression test.  The chunk size comes from the last byte.
 *   CC=clang CFLAGS=-fsanitize=fuzzer-no-link meson setup build-fuzz -Db_sanitize=address,undefined -Db_lundef=false
 *   ninja -C build-fuzz tests/fuzz_fxt && build-fuzz/tests/fuzz_fxt CORPUS_FOLDER SEED_FOLDER */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/tracetta.h>

#include "dump.h"
#include "hexa.h"

#ifndef FORMAT
#define FORMAT "fxt"
#endif

#define EVENTS_MAX 200000u /* a small input must not expand without bound: 64 KiB hold at most 8 Ki records */
#define MEMORY_MAX ((uint64_t)64 << 20)

struct chunks {
    const uint8_t *bytes;
    size_t n, at, chunk;
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int64_t pull(void *own, void *to, size_t n)
{
    struct chunks *chunks = own;
    size_t left = chunks->n - chunks->at;
    size_t give = n < chunks->chunk ? n : chunks->chunk;
    give = give < left ? give : left;
    if (give)
        memcpy(to, chunks->bytes + chunks->at, give);
    chunks->at += give;
    return (int64_t)give;
}

static int64_t push(void *own, const void *bytes, size_t n)
{
    uint64_t *sum = own;
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        *sum += p[i];
    return (int64_t)n;
}

static void stop(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    abort();
}

/* Reads everything into a dump; in chunks, or at once when chunk is 0. */
static void read_all(struct chunks *chunks, uint32_t flags, struct dump *dump)
{
    ttr_options limits = {.size = sizeof limits, .max_memory = MEMORY_MAX};
    ttr_read_options options = {.size = sizeof options, .from = FORMAT, .flags = flags};
    dump_init(dump);
    ttr *t = ttr_new(&limits);
    if (!t)
        stop("no context");
    ttr_reader *reader = chunks->chunk ? ttr_open_pull(t, pull, chunks, "fuzz", &options, &dump->error)
                                       : ttr_open_memory(t, chunks->bytes, chunks->n, "fuzz", &options, &dump->error);
    if (reader) {
        dump_events(dump, t, reader);
        dump_report(dump, reader);
    }
    if (dump->events > EVENTS_MAX)
        stop("more events than the input can hold");
    ttr_close(reader);
    ttr_free(t);
}

/* Converts, where the other format is built in. */
static void convert(const uint8_t *bytes, size_t n, const char *format)
{
    ttr_options limits = {.size = sizeof limits, .max_memory = MEMORY_MAX};
    ttr_read_options options = {.size = sizeof options, .from = FORMAT};
    ttr_error error = {0};
    ttr_batch batch;
    uint64_t sum = 0;
    ttr *t = ttr_new(&limits);
    if (!t)
        stop("no context");
    ttr_reader *reader = ttr_open_memory(t, bytes, n, "fuzz", &options, &error);
    ttr_writer *writer = reader ? ttr_create_push(t, push, &sum, format, NULL, &error) : NULL;
    ttr_status status = writer ? TTR_OK : TTR_END;
    while (status == TTR_OK && (status = ttr_read(reader, &batch, &error)) == TTR_OK)
        status = ttr_write(writer, &batch, &error);
    if (writer && ttr_finish(writer, &error) != TTR_OK && status == TTR_END)
        stop(error.text);
    ttr_close(reader);
    ttr_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint32_t flags = n && bytes[n - 1] & 0x80 ? TTR_READ_DEFINITIONS : 0;
    struct chunks whole = {bytes, n, 0, 0}, parts = {bytes, n, 0, n ? (size_t)(bytes[n - 1] & 0x7f) + 1 : 1};
    struct dump one, two;
    read_all(&whole, flags, &one);
    read_all(&parts, flags, &two);
    if (one.text.n != two.text.n || (one.text.n && memcmp(one.text.bytes, two.text.bytes, one.text.n) != 0) || one.raw.n != two.raw.n)
        stop("reading in chunks differs from reading at once");
    dump_free(&one);
    dump_free(&two);
    convert(bytes, n, "jsonl");
    convert(bytes, n, FORMAT);
    return 0;
}

#ifdef REPLAY
static bool is_vector(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".hexa") == 0;
}

static int replay_vector(const char *path)
{
    struct hexa hexa;
    char message[200];
    if (!hexa_load(path, &hexa, message, sizeof message))
        stop(message);
    int failed = LLVMFuzzerTestOneInput(hexa.bytes, hexa.n);
    hexa_free(&hexa);
    return failed;
}

static int replay(const char *path)
{
    if (is_vector(path))
        return replay_vector(path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    size_t room = (size_t)1 << 20;
    uint8_t *bytes = alloc_zero(alloc_default(), room, 1);
    size_t n = bytes ? fread(bytes, 1, room, file) : 0;
    (void)fclose(file);
    if (!bytes)
        return 1;
    /* An input of its own size, so that a sanitizer sees reads behind its end. */
    uint8_t *own = alloc_zero(alloc_default(), n, 1);
    if (own && n)
        memcpy(own, bytes, n);
    int failed = own ? LLVMFuzzerTestOneInput(own, n) : 1;
    alloc_free(alloc_default(), own, n, 1);
    alloc_free(alloc_default(), bytes, room, 1);
    return failed;
}

static int replay_folder(const char *path, DIR *folder)
{
    char inside[1024];
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        failed |= replay(inside);
    }
    (void)closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        failed |= folder ? replay_folder(argv[i], folder) : replay(argv[i]);
    }
    return failed;
}
#endif
