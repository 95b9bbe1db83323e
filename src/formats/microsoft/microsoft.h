/* Output as perf-decode prints it, Microsoft's decoder of perf.data and EventHeader: one JSON
 * object per line. Values are byte-identical, so that scripts made for perf-decode work unchanged.
 *
 * Ownership: functions append to json->to or to the given buffer. Threads: as the writer, one at a
 * time. */
#ifndef TRACETTA_FORMATS_MICROSOFT_MICROSOFT_H
#define TRACETTA_FORMATS_MICROSOFT_MICROSOFT_H

#include "base/json_writer.h"
#include "encodings/event_header/event_header.h"
#include "encodings/json/field_json.h"

/* Writes a float as std::to_chars does: with the fewest digits that read back as the same number,
 * and with an exponent if that is shorter. `bits`: 32 or 64. Returns the length in bytes, at most
 * NUMBER_MAX. */
size_t microsoft_emit_float(char *to, double x, unsigned bits);

/* Appends text as the content of a JSON string, without quotes. Decodes invalid UTF-8 bytes as ISO
 * 8859-1. */
void microsoft_add_text(struct buffer *to, const void *p, size_t n);

/* Appends bytes as quoted hexadecimal numbers, such as "48 6f". */
void microsoft_add_bytes(struct buffer *to, const uint8_t *p, size_t n);

/* Writes a time such as 2033-05-18T03:33:20, without quotes; TIME(n) if the year exceeds the range
 * of C's struct tm. Writes at most 2 * NUMBER_MAX bytes. Returns the end. */
char *microsoft_emit_time(char *at, int64_t unix_s);

/* microsoft_add_item appends the value of an EventHeader field; microsoft_add_value appends the
 * value of any other field. */
void microsoft_add_item(struct buffer *to, const struct event_header_describe_stored_field *item,
                        const ttr_value *value);
void microsoft_add_value(struct buffer *to, const ttr *t, const ttr_value *value);

/* Appends the fields of a kernel tracepoint event. If the event is from elsewhere, appends nothing
 * and returns false. */
bool microsoft_add_tracepoint(struct field_json *json, const ttr_event *event);

#endif
