/* A writer of JSON text. The output is valid JSON whatever the input bytes are. The writer inserts
 * commas and tracks nesting, so callers cannot get them wrong. 64-bit integers are written exactly.
 * Memory: a failure sets the buffer's `failed` flag. */
#ifndef TRACETTA_BASE_JSON_WRITER_H
#define TRACETTA_BASE_JSON_WRITER_H

#include "base/buffer.h"

struct json {
    struct buffer *to;
    unsigned depth;
    /* the innermost open level already contains a value; all levels around it do */
    bool has_item;
    bool after_key;
};

void json_init(struct json *json, struct buffer *to);
void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);

/* Append a key; one call of a value function must follow. json_write_key is for literal keys
 * without characters to escape, json_write_key_text escapes any bytes. */
void json_write_key(struct json *json, const char *key);
void json_write_key_text(struct json *json, const void *p, size_t n);

/* Append a string. Escapes all control characters (see utf8_control_length), also U+007F to U+009F,
 * which JSON would allow. A byte that is not part of valid UTF-8 becomes U+FFFD. */
void json_write_text(struct json *json, const void *p, size_t n);
void json_write_string(struct json *json, const char *text);
void json_write_u64(struct json *json, uint64_t x);
void json_write_i64(struct json *json, int64_t x);

/* Appends a double in its shortest form. NaN and infinities become the strings "NaN", "Infinity",
 * "-Infinity". */
void json_write_double(struct json *json, double x);
void json_write_bool(struct json *json, bool x);
void json_write_null(struct json *json);

/* Appends text that is a JSON value already, such as a formatted number. */
void json_write_raw(struct json *json, const char *p, size_t n);

/* Returns how many bytes at p need no escape in a JSON string: well-formed UTF-8 without quotes,
 * backslashes and control characters. */
size_t json_plain_length(const uint8_t *p, size_t n);

/* Copies n bytes. Returns true if all are printable ASCII other than quotes and backslashes: the
 * copy is then valid inside a JSON string. */
bool json_copy_plain(void *to, const void *p, size_t n);

/* Appends the escaped characters of a string without quotes, for writers that insert commas
 * themselves. Returns how many invalid bytes became U+FFFD. */
size_t json_append_escaped(struct buffer *to, const void *p, size_t n);

#endif
