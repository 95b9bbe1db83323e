/* Text for terminals: names of a trace may contain control characters, which a terminal would
 * execute. All text outputs to a terminal pass through here, whatever their format. */
#ifndef TRACETTA_MODEL_VISIBLE_TEXT_H
#define TRACETTA_MODEL_VISIBLE_TEXT_H

#include "base/buffer.h"

/* Bytes of a character without a known end. */
struct visible_text {
    uint8_t rest[4];
    size_t rest_n;
};

/* Appends text, but with "\x1b" instead of ESC, and so on for all control characters except line
 * feeds and tabs, and for invalid bytes that are controls in 8-bit character sets. With
 * `keeps_colors`, ESC sequences that set a colour or bold are kept, because outputs write them. An
 * incomplete character at the end is kept for the next call. */
void visible_text_append(struct visible_text *visible, struct buffer *to, const void *bytes,
                         size_t n, bool keeps_colors);

#endif
