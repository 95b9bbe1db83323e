/* Whether a file is the metadata of a CTF trace: by the first bytes only (decision 29). */
#include "formats/ctf/ctf_reader.h"

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
    return version == CTF_2 && peek->bytes[0] == 0x1e ? 16 : 8;
}
