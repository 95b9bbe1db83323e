/* Is this nettrace?  By "Nettrace" or, before V4, by the head of FastSerialization. */
#include "formats/nettrace/nettrace.h"

#define HEAD_BYTES (4 + NETTRACE_SERIALIZATION_BYTES)

static bool is_serialization(const uint8_t *p, size_t n)
{
    return n >= HEAD_BYTES && load_u32le(p) == NETTRACE_SERIALIZATION_BYTES &&
           memcmp(p + 4, NETTRACE_SERIALIZATION, NETTRACE_SERIALIZATION_BYTES) == 0;
}

/* Other programs store other things by the same library: the first object tells. */
static bool is_netperf(const uint8_t *p, size_t n)
{
    static const char *const names[] = {"Trace", "Microsoft.DotNet.Runtime.EventPipeFile"};
    if (n < 15)
        return false;
    uint32_t size = load_u32le(p + 11);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && n - 15 >= size && memcmp(p + 15, names[i], size) == 0)
            return true;
    return false;
}

unsigned nettrace_bid(const struct peek *peek)
{
    const uint8_t *p = peek->bytes;
    if (peek->n >= NETTRACE_MAGIC_BYTES && memcmp(p, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0)
        return 64;
    if (!is_serialization(p, peek->n))
        return 0;
    return is_netperf(p + HEAD_BYTES, peek->n - HEAD_BYTES) ? 255 : 0;
}

const char *nettrace_refuse(const struct peek *peek)
{
    if (is_serialization(peek->bytes, peek->n))
        return "stored by FastSerialization, but not an EventPipe trace (an .etlx or a .gcdump, "
               "maybe): read the .nettrace it was made from";
    return NULL;
}
