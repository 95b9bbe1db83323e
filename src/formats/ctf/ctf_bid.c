/* Whether a file is the metadata of a CTF trace: by the first bytes only (decision 29). */
#include <string.h>

#include "formats/ctf/ctf_reader.h"

/* Whether a JSON text without record separators is of CTF 2: its first object has the type "preamble" (CTF2-SPEC-2.0 5.2). */
static bool has_preamble(const struct peek *peek)
{
    static const char word[] = "\"preamble\"";
    for (size_t i = 0; i + sizeof word - 1 <= peek->n; i++)
        if (memcmp(peek->bytes + i, word, sizeof word - 1) == 0)
            return true;
    return false;
}

unsigned ctf_bid(const struct peek *peek)
{
    bool is_packetised = false;
    enum ctf_version version = ctf_sniff(peek->bytes, peek->n, &is_packetised);
    if (is_packetised)
        return 32; /* a magic number; of a version that we may not know */
    if (version == CTF_UNKNOWN)
        return 0;
    if (version == CTF_1_8)
        return 72; /* "/ * CTF 1." */
    if (version == CTF_2)
        return peek->bytes[0] == 0x1e ? 16 : has_preamble(peek) ? 8 : 0;
    return 8;
}

static bool holds(const struct folder_begin *begin, const void *word, size_t n)
{
    return begin->n >= n && memmem(begin->bytes, begin->n, word, n);
}

/* Where packets have the magic number, a file without any is no stream, but for one of which nothing was written yet. */
bool ctf_is_part(const struct folder_begin *metadata, const struct folder_begin *file)
{
    static const uint8_t big[] = {0xc1, 0xfc, 0x1f, 0xc1}, little[] = {0xc1, 0x1f, 0xfc, 0xc1};
    bool is_packetised = false, is_zero = true;
    const enum ctf_version version = ctf_sniff(metadata->bytes, metadata->n, &is_packetised);
    const bool has_magic = version == CTF_RFC_1_1 || (version != CTF_UNKNOWN && holds(metadata, "magic", 5));
    for (size_t i = 0; i < file->n && is_zero; i++)
        is_zero = file->bytes[i] == 0;
    return !has_magic || is_zero || holds(file, big, sizeof big) || holds(file, little, sizeof little);
}
