#include "support/zip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/endian.h"
#include "base/sanitizer.h"

#define END_BYTES 22u
#define ENTRY_BYTES 46u
#define LOCAL_BYTES 30u

static uint8_t *load(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0) {
        *n = (size_t)ftell(file);
        bytes = malloc(*n);
        rewind(file);
        if (bytes && fread(bytes, 1, *n, file) != *n) {
            free(bytes);
            bytes = NULL;
        }
    }
    (void)fclose(file);
    return bytes;
}

/* [10] method | [20] bytes stored | [24] bytes | [28] length of the name | [30] of the extra fields
 * | [32] of the comment | [42] offset of the file */
static bool give(const uint8_t *bytes, size_t n, const uint8_t *entry, zip_see see, void *ctx)
{
    char name[256] = "";
    size_t name_n = load_u16le(entry + 28), stored = load_u32le(entry + 20),
           size = load_u32le(entry + 24), at = load_u32le(entry + 42);
    memcpy(name, entry + ENTRY_BYTES, name_n < sizeof name ? name_n : sizeof name - 1);
    if (at + LOCAL_BYTES > n)
        return false;
    const uint8_t *from =
        bytes + at + LOCAL_BYTES + load_u16le(bytes + at + 26) + load_u16le(bytes + at + 28);
    if (from > bytes + n || stored > (size_t)(bytes + n - from))
        return false;
    if (load_u16le(entry + 10) == 0)
        return see(ctx, name, (const char *)from, stored);
    char *whole = malloc(size + 1);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)from,
                       .avail_in = (uInt)stored,
                       .next_out = (Bytef *)whole,
                       .avail_out = (uInt)size};
    bool is_fine = whole && inflateInit2(&stream, -MAX_WBITS) == Z_OK;
    if (is_fine) {
        is_fine = inflate(&stream, Z_FINISH) == Z_STREAM_END;
        sanitizer_mark_written(whole, size);
        is_fine = is_fine && see(ctx, name, whole, size);
        (void)inflateEnd(&stream);
    }
    free(whole);
    return is_fine;
}

int zip_each(const char *path, zip_see see, void *ctx)
{
    size_t n = 0;
    uint8_t *bytes = load(path, &n);
    int files = -1;
    if (bytes && n >= END_BYTES && load_u32le(bytes + n - END_BYTES) == 0x06054b50) {
        size_t at = load_u32le(bytes + n - 6), count = load_u16le(bytes + n - 12);
        for (files = 0; count > 0 && at + ENTRY_BYTES <= n && give(bytes, n, bytes + at, see, ctx);
             count--, files++)
            at += ENTRY_BYTES + load_u16le(bytes + at + 28) + load_u16le(bytes + at + 30) +
                  load_u16le(bytes + at + 32);
    }
    free(bytes);
    return files;
}
