/* Heph packets made by hand. */
#include "support/heph_packets.h"

#include "base/endian.h"

static void add_u16(struct buffer *to, uint16_t x)
{
    uint8_t bytes[2];
    store_u16be(bytes, x);
    buffer_add(to, bytes, sizeof bytes);
}

static void add_u32(struct buffer *to, uint32_t x)
{
    uint8_t bytes[4];
    store_u32be(bytes, x);
    buffer_add(to, bytes, sizeof bytes);
}

static void add_u64(struct buffer *to, uint64_t x)
{
    uint8_t bytes[8];
    store_u64be(bytes, x);
    buffer_add(to, bytes, sizeof bytes);
}

void heph_packets_add_epoch(struct buffer *to, uint64_t epoch_ns)
{
    add_u32(to, 0x75D11D4D);
    add_u32(to, 23);
    add_u16(to, 5);
    buffer_add_text(to, "epoch");
    add_u64(to, epoch_ns);
}

void heph_packets_add_event(struct buffer *to, uint32_t stream, uint32_t counter,
                            const char *description)
{
    const size_t n = strlen(description);
    add_u32(to, 0xC1FC1FB7);
    add_u32(to, (uint32_t)(42 + n));
    add_u32(to, stream);
    add_u32(to, counter);
    add_u64(to, 0);           /* substream */
    add_u64(to, counter);     /* start */
    add_u64(to, counter + 1); /* end */
    add_u16(to, (uint16_t)n);
    buffer_add(to, description, n);
}
