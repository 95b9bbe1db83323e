/* Fields as people read them: { a = 1, b = "x", c = [1, 2], d = { x = 3 }, e = RED (1), f =
 * READ|WRITE (0x3) }, and text that is safe on a terminal. */
#ifndef TRACETTA_FORMATS_TEXT_FIELDS_H
#define TRACETTA_FORMATS_TEXT_FIELDS_H

#include <tracetta/fields.h>
#include <tracetta/tracetta.h>

#include "encodings/json/text_cache.h"
#include "model/output.h"

/* Appends text: characters as they are; \" \\ \n \t \r; every other control character (also those
 * of U+0080..U+009F) and every byte that is no UTF-8 as \xNN.  Nothing is lost.  Gives 0. */
size_t text_escape(struct buffer *to, const void *p, size_t n);

/* Appends " { name = value, ... }", for each group of fields; nothing for an event without fields.
 * `texts` has names as text_escape spells them. */
void text_add_fields(struct ttr_writer *out, struct text_cache *texts, ttr_field_buffer *fields,
                     const ttr_event *event, bool with_color);

#endif
