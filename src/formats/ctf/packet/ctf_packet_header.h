/* Headers and contexts of packets in which all numbers that mean something lie at fixed places, as
 * tracers write them: what there is to load, and from where. Traces of small packets have one to
 * take apart every few events. Ownership: plain data; types are borrowed.  Thread rule: read-only
 * once made. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_CTF_PACKET_HEADER_H
#define TRACETTA_FORMATS_CTF_PACKET_CTF_PACKET_HEADER_H

#include "base/bits.h"
#include "model/type.h"

#define CTF_HEAD_PARTS 16u

/* A number of 1, 2, 4 or 8 bytes with a role, or the 16 of a uuid. */
struct ctf_head_part {
    const struct type *type;
    uint32_t at; /* bytes from where the packet begins */
    uint8_t bytes;
};

struct ctf_head {
    uint64_t begin, end; /* bits from where the packet begins */
    uint32_t n;
    bool is_fixed; /* else the layout is to be walked, and nothing above counts */
    struct ctf_head_part part[CTF_HEAD_PARTS];
};

/* Looks at a root that begins so many bits behind where the packet does; NULL: there is none. */
void ctf_head_init(struct ctf_head *head, const struct type *root, uint64_t begin);

/* Whether the bits stand where the root begins, and all of it is there. */
static inline bool ctf_head_is_there(const struct ctf_head *head, const struct bits *bits)
{
    return head->is_fixed && bits->at == head->begin && bits_left(bits) >= head->end - head->begin;
}

/* The number of a part other than a uuid; all of the root is there. */
static inline uint64_t ctf_head_load(const struct ctf_head_part *part, const struct bits *bits)
{
    const uint8_t *p = bits->base + part->at;
    const bool is_big = part->type->is_big_endian;
    switch (part->bytes) {
    case 1:
        return *p;
    case 2:
        return is_big ? load_u16be(p) : load_u16le(p);
    case 4:
        return is_big ? load_u32be(p) : load_u32le(p);
    default:
        return is_big ? load_u64be(p) : load_u64le(p);
    }
}

#endif
