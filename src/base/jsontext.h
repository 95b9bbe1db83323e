/* JSON, written piece by piece into a buffer: strict output whatever the input bytes are.  Commas
 * and nesting are kept here, so that callers cannot get them wrong.  64-bit integers are written
 * exactly. */
#ifndef TRACETTA_BASE_JSONTEXT_H
#define TRACETTA_BASE_JSONTEXT_H

#include "base/buffer.h"

struct json {
    struct buffer *to;
    unsigned depth;
    bool has_item; /* something was written in the innermost level already; the levels around it
                      have that level */
    bool after_key;
};

void json_init(struct json *json, struct buffer *to);
void json_object(struct json *json);
void json_object_end(struct json *json);
void json_array(struct json *json);
void json_array_end(struct json *json);

/* A key; the value follows by any call below.  The C-string form takes keys of ours, the other
 * escapes any bytes. */
void json_key(struct json *json, const char *key);
void json_key_text(struct json *json, const void *p, size_t n);

/* A string: escapes what JSON demands, and all that is a control character (utf8_control); a byte
 * that is no UTF-8 becomes U+FFFD. */
void json_text(struct json *json, const void *p, size_t n);
void json_string(struct json *json, const char *text);
void json_u64(struct json *json, uint64_t x);
void json_i64(struct json *json, int64_t x);

/* A double, shortest form; not finite: the strings "NaN", "Infinity", "-Infinity". */
void json_double(struct json *json, double x);
void json_bool(struct json *json, bool x);
void json_null(struct json *json);

/* Text that already is a JSON value (a preformatted number). */
void json_raw(struct json *json, const char *p, size_t n);

/* Length of the run at p that stands for itself in a JSON string: printable ASCII but quotes and
 * backslashes, and well-formed UTF-8. */
size_t json_plain_run(const uint8_t *p, size_t n);

/* Copies n bytes; true where all are printable ASCII but quotes and backslashes: then the copy is
 * what stands in a JSON string. */
bool json_copy_plain(void *to, const void *p, size_t n);

/* Appends only the escaped characters of a string, without quotes: for writers that keep their own
 * commas.  Gives how many bytes were no UTF-8 and became U+FFFD. */
size_t json_escape(struct buffer *to, const void *p, size_t n);

#endif
