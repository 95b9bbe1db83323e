/* Events as perf-decode prints them, Microsoft's decoder of perf.data and EventHeader: one object
 * of JSON a line, its values spelled alike to the byte, so that scripts made for its output go on
 * working.
 *
 * Ownership: what is appended goes to json->to.  Thread rule: that of the writer. */
#ifndef TRACETTA_FORMATS_MICROSOFT_MICROSOFT_H
#define TRACETTA_FORMATS_MICROSOFT_MICROSOFT_H

#include "base/jsontext.h"
#include "encodings/event_header/event_header.h"
#include "encodings/json/field_json.h"

/* Appends a float as std::to_chars does: the shortest digits that are this number again, with an
 * exponent where that is shorter; `bits` 32 or
 * 64.  At most NUMBER_MAX bytes; gives how many. */
size_t microsoft_put_float(char *to, double x, unsigned bits);

/* Appends the characters of a JSON string: bytes that are no UTF-8 are those of ISO 8859-1. */
void microsoft_add_text(struct buffer *to, const void *p, size_t n);

/* Appends "48 6f", with quotes. */
void microsoft_add_bytes(struct buffer *to, const uint8_t *p, size_t n);

/* Puts "2033-05-18T03:33:20", or "TIME(n)" of years that C has no number for, without quotes: at
 * most two NUMBER_MAX. */
char *microsoft_put_time(char *at, int64_t unix_s);

/* Appends a value of EventHeader, and one of any other event. */
void microsoft_add_item(struct buffer *to, const struct event_header_item *item,
                        const ttr_value *value);
void microsoft_add_value(struct buffer *to, const ttr *t, const ttr_value *value);

/* Appends the fields of an event of the kernel's tracepoints; false, with nothing appended, where
 * it is none. */
bool microsoft_add_tracepoint(struct field_json *json, const ttr_event *event);

#endif
