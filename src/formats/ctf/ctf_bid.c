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
