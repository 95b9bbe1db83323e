/* Fast decoding of packet headers and packet contexts if all their fields have fixed offsets: list
 * of the fields to load, with their offsets. For traces with small packets, in which a header is
 * decoded every few events. Ownership: plain data; types are borrowed. Thread rule: read-only after
 * ctf_fixed_root_init. */
#ifndef TRACETTA_FORMATS_CTF_PACKET_CTF_PACKET_HEADER_H
#define TRACETTA_FORMATS_CTF_PACKET_CTF_PACKET_HEADER_H

#include "base/bit_cursor.h"
#include "model/type.h"

#define CTF_HEAD_PARTS 16u

/* A field with a role that the reader evaluates (enum ctf_role): a number of 1, 2, 4 or 8 bytes, or
 * a UUID of 16 bytes. */
struct ctf_fixed_field {
    const struct type *type;
    uint32_t at; /* byte offset of the field from the start of the packet */
    uint8_t bytes;
};

struct ctf_fixed_root {
    /* begin, end: bit offsets of the packet header or context from the start of the packet */
    uint64_t begin, end;
    uint32_t n;
    /* true if all fields have fixed offsets; if false, the other members are invalid, and the
     * layout must be used */
    bool is_fixed;
    struct ctf_fixed_field part[CTF_HEAD_PARTS];
};

/* Computes the field offsets of a packet header or context that starts `begin` bits after the start
 * of the packet. `root`: its type; NULL = the packet does not have it. */
void ctf_fixed_root_init(struct ctf_fixed_root *head, const struct type *root, uint64_t begin);

/* Returns true if the offsets are fixed, bits->at is at the start of the packet header or context,
 * and all its bytes are available. */
static inline bool ctf_fixed_root_is_available(const struct ctf_fixed_root *head,
                                               const struct bits *bits)
{
    return head->is_fixed && bits->at == head->begin && bits_left(bits) >= head->end - head->begin;
}

/* Loads the number in a field, which must not be a UUID. The complete packet header or context must
 * be available. */
static inline uint64_t ctf_fixed_field_load(const struct ctf_fixed_field *part,
                                            const struct bits *bits)
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
