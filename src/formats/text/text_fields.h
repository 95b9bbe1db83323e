/* Prints fields as { a = 1, b = "x", c = [1, 2], d = { x = 3 }, e = RED (1), f = READ|WRITE (0x3)
 * }, and escapes text so that it is safe on a terminal. */
#ifndef TRACETTA_FORMATS_TEXT_FIELDS_H
#define TRACETTA_FORMATS_TEXT_FIELDS_H

#include <tracetta/fields.h>
#include <tracetta/tracetta.h>

#include "encodings/json/text_cache.h"
#include "model/output.h"

/* Appends text so that it fits on one line. \" \\ \n \t \r are escaped as in C. Other control
 * characters, including U+0080 to U+009F, and bytes that are not UTF-8 become \xNN. The escape is
 * reversible, so the function always returns 0 losses. */
size_t text_append_escaped(struct buffer *to, const void *p, size_t n);

/* Appends " { name = value, ... }" for each group of the event's fields. Appends nothing if the
 * event has no fields. `texts` is a cache of names that text_append_escaped has escaped. */
void text_add_fields(struct ttr_writer *out, struct text_cache *texts, ttr_field_buffer *fields,
                     const ttr_event *event, bool with_color);

#endif
