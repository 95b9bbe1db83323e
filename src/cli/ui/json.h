/* Writes JSON to a stdio stream: sets commas and indentation, and makes text valid UTF-8.
 *
 * Lists and objects may be nested 32 deep.  Errors of the stream are found by ferror. */
#ifndef TRACETTA_CLI_UI_JSON_H
#define TRACETTA_CLI_UI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tracetta/event.h>

struct json {
    FILE *to;
    unsigned depth;
    uint32_t has_members; /* bit per depth */
    bool is_flat;         /* all in one line */
    bool has_text_times;  /* --json-times=string */
    bool is_unix;         /* times count from the Unix epoch */
};

/* Starts an object or list; `key` is NULL inside lists and at the top. */
void json_open(struct json *json, const char *key, char bracket);

/* Ends it, and the line after the outermost one. */
void json_close(struct json *json, char bracket);

void json_write_text(struct json *json, const char *key, ttr_text value);
void json_write_string(struct json *json, const char *key, const char *value);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_write_bool(struct json *json, const char *key, bool value);

/* Prints a time under a key "..._ns": a number, or a string if has_text_times.  If is_unix, the
 * same time follows as ISO 8601 under the key "..._time". */
void json_time(struct json *json, const char *key, int64_t ns);

/* Prints a member with a key of any bytes: a number, text or boolean; null for other types. */
void json_member(struct json *json, ttr_text key, const ttr_value *value);

/* Prints a number with at most six digits. */
void json_float(struct json *json, const char *key, double value);

#endif
