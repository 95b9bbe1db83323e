/* Recognizes CTF metadata files by their first bytes (decision 29 in src/formats/ctf/rfc-v1.1.md),
 * and CTF stream files by the magic number of packets. */
#include <string.h>

#include "formats/ctf/read/ctf_reader.h"

/* Returns true if JSON without record separators is CTF 2: one of its objects has the type
 * "preamble" (CTF2-SPEC-2.0 5.2). */
static bool has_json_preamble(const struct peek *peek)
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
    enum ctf_version version = ctf_detect_metadata_language(peek->bytes, peek->n, &is_packetised);
    /* a magic number matches 32 bits, so the bid is 32 even if the version is not supported */
    if (is_packetised)
        return 32;
    if (version == CTF_UNKNOWN)
        return 0;
    if (version == CTF_1_8)
        return 72; /* 9 characters of 8 bits match: slash, star and " CTF 1." */
    if (version == CTF_2)
        return peek->bytes[0] == 0x1e ? 16 : has_json_preamble(peek) ? 8 : 0;
    return 8;
}

static bool prefix_contains(const struct file_prefix *begin, const void *word, size_t n)
{
    return begin->n >= n && memmem(begin->bytes, begin->n, word, n);
}

/* Returns true if the packet header type in the TSDL text has a field "magic". If the packet header
 * only names its type, searches the complete text for such a field. */
static bool tsdl_declares_magic(const struct file_prefix *metadata)
{
    static const char word[] = "packet.header", magic[] = "magic";
    const uint8_t *at = memmem(metadata->bytes, metadata->n, word, sizeof word - 1);
    size_t n = at ? metadata->n - (size_t)(at - metadata->bytes) : 0, depth = 0, i = 0;
    while (i < n && at[i] != '{' && at[i] != ';')
        i++;
    if (i == n || at[i] == ';') /* end of the prefix, or only a type name */
        return n > 0 && prefix_contains(metadata, magic, sizeof magic - 1);
    const size_t from = i;
    do
        depth = at[i] == '{' ? depth + 1 : at[i] == '}' ? depth - 1 : depth;
    while (++i < n && depth > 0);
    return prefix_contains(&(struct file_prefix){at + from, i - from}, magic, sizeof magic - 1);
}

/* Returns true if the metadata declare that packets start with the magic number. Returns false if
 * the available bytes of the metadata do not show it. */
static bool metadata_declares_magic(const struct file_prefix *metadata)
{
    static const char role[] = "packet-magic-number";
    bool is_packetised = false;
    switch (ctf_detect_metadata_language(metadata->bytes, metadata->n, &is_packetised)) {
    case CTF_RFC_1_1:
        return true;
    case CTF_1_8:
        return tsdl_declares_magic(metadata);
    case CTF_2:
        return prefix_contains(metadata, role, sizeof role - 1);
    default:
        return false;
    }
}

/* Returns false if the metadata declare a magic number for packets and this file contains none.
 * Returns true for a file of zeros only (preallocated). Tries the magic number in both byte orders
 * and both bit orders (property `bit-order` of CTF 2). */
bool ctf_is_stream_file(const struct file_prefix *metadata, const struct file_prefix *file)
{
    static const uint8_t numbers[][4] = {{0xc1, 0xfc, 0x1f, 0xc1},
                                         {0xc1, 0x1f, 0xfc, 0xc1},
                                         {0x83, 0x3f, 0xf8, 0x83},
                                         {0x83, 0xf8, 0x3f, 0x83}};
    bool is_zero = true, is_part = !metadata_declares_magic(metadata);
    for (size_t i = 0; i < file->n && is_zero; i++)
        is_zero = file->bytes[i] == 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !is_part; i++)
        is_part = prefix_contains(file, numbers[i], sizeof numbers[i]);
    return is_part || is_zero;
}
