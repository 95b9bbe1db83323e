/* The main of the fuzz targets without libFuzzer: runs files, folders and golden vectors through a
 * target, so that every input found by fuzzing stays a regression test.
 *
 *   usage: replay TARGET PATH...
 *
 * A path is a folder, a golden vector (.hexa) or any other file. A folder in a folder is a golden
 * vector of many files. */
#include <dirent.h>
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "support/hexa.h"
#include "support/hexa_folder.h"

#define INPUT_MAX ((size_t)1 << 20)

static const struct fuzz_target *target;

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
        fuzz_stop(message);
    int failed = target->run(hexa.bytes, hexa.n);
    hexa_free(&hexa);
    return failed;
}

static int replay_trace(const char *path)
{
    struct buffer bytes;
    char message[200];
    buffer_init(&bytes, alloc_default());
    if (!hexa_folder_load(path, target->main_file, &bytes, message, sizeof message))
        fuzz_stop(message);
    int failed = target->run(bytes.bytes, bytes.n);
    buffer_free(&bytes);
    return failed;
}

static int replay(const char *path)
{
    if (is_vector(path))
        return replay_vector(path);
    DIR *folder = target->main_file ? opendir(path) : NULL;
    if (folder) {
        (void)closedir(folder);
        return replay_trace(path);
    }
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    uint8_t *bytes = alloc_zero(alloc_default(), INPUT_MAX, 1);
    size_t n = bytes ? fread(bytes, 1, INPUT_MAX, file) : 0;
    (void)fclose(file);
    if (!bytes)
        return 1;
    /* An allocation of exactly the input's size, so that a sanitizer detects reads past its end. */
    uint8_t *ctx = alloc_zero(alloc_default(), n, 1);
    if (ctx && n)
        memcpy(ctx, bytes, n);
    int failed = ctx ? target->run(ctx, n) : 1;
    alloc_free(alloc_default(), ctx, n, 1);
    alloc_free(alloc_default(), bytes, INPUT_MAX, 1);
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
    target = argc > 1 ? fuzz_target_find(argv[1]) : NULL;
    if (!target) {
        (void)fprintf(stderr, "usage: %s TARGET PATH...\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        failed |= folder ? replay_folder(argv[i], folder) : replay(argv[i]);
    }
    return failed;
}
