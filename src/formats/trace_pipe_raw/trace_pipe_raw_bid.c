/* Is this pages of a ring buffer?  They have no magic: a page is believed whose events fill exactly
 * what its head says. */
#include "formats/trace_pipe_raw/trace_pipe_raw.h"

#define BITS_A_PAGE 12u
#define BITS_MOST 24u   /* less than any magic */
#define COMMON_BYTES 8u /* every event has */

/* Walks over a page; false where it cannot be one. */
static bool is_page(const struct ring_buffer_layout *layout, const uint8_t *bytes, uint64_t *last)
{
    struct ring_buffer_page page;
    struct ring_buffer_event event;
    enum ring_buffer_step step;
    unsigned events = 0;
    if (!ring_buffer_begin(layout, bytes, TRACE_PIPE_RAW_PAGE, false, &page) || page.time < *last)
        return false;
    while ((step = ring_buffer_next(&page, &event)) == RING_BUFFER_EVENT && event.n >= COMMON_BYTES)
        events++;
    *last = page.time;
    return step == RING_BUFFER_END && events > 0;
}

unsigned trace_pipe_raw_bid(const struct peek *peek)
{
    static const struct ring_buffer_layout layouts[] = {
        {false, 8, 16}, {true, 8, 16}, {false, 4, 12}, {true, 4, 12}};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        uint64_t last = 1;
        unsigned bits = 0;
        for (size_t at = 0; peek->n - at >= TRACE_PIPE_RAW_PAGE && bits < BITS_MOST;
             at += TRACE_PIPE_RAW_PAGE) {
            if (!is_page(&layouts[i], peek->bytes + at, &last)) {
                bits = 0;
                break;
            }
            bits += BITS_A_PAGE;
        }
        if (bits)
            return bits;
    }
    return 0;
}
