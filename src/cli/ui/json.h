/* Writes JSON to a stdio stream: adds commas and indentation, and replaces invalid UTF-8. Objects
 * and lists may be nested 32 deep. The caller checks ferror. */
#ifndef TRACETTA_CLI_UI_JSON_H
#define TRACETTA_CLI_UI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tracetta/event.h>

struct json {
    FILE *to;
    unsigned depth;
    uint32_t has_members; /* bit per nesting level: 1 = the object or array already has a member */
    bool is_flat;         /* the output is one line */
    bool has_text_times;  /* --json-times=string */
    bool is_unix;         /* times count from the Unix epoch */
};

/* Starts an object or list; `key` is NULL inside lists and at the top. */
void json_open(struct json *json, const char *key, char bracket);

/* Ends the innermost object or list; the outermost one also ends the line. */
void json_close(struct json *json, char bracket);

void json_write_text(struct json *json, const char *key, ttr_text value);
void json_write_string(struct json *json, const char *key, const char *value);
void json_write_uint(struct json *json, const char *key, uint64_t value);
void json_write_int(struct json *json, const char *key, int64_t value);
void json_write_bool(struct json *json, const char *key, bool value);

/* Writes a time under the key "..._ns", as a number, or as a string if has_text_times. If is_unix,
 * also writes it as ISO 8601 under the key "..._time". */
void json_write_time(struct json *json, const char *key, int64_t ns);

/* Writes a member of which the key may have any bytes: a number (null if it is infinite), text or
 * boolean; null for other types. */
void json_write_member(struct json *json, ttr_text key, const ttr_value *value);

/* Writes a number with up to six digits; null if it is infinite or not a number. */
void json_write_float(struct json *json, const char *key, double value);

/* Returns the length of the well-formed UTF-8 character at p, 1 to 4 bytes, or 0 if there is none.
 */
size_t json_character_length(const unsigned char *p, size_t n);

#endif
