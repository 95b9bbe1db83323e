/* JSON to a stdio stream: commas and indentation are kept right, text becomes valid UTF-8.
 *
 * Lists and objects may be nested 32 deep.  Failures of the stream show in ferror. */
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
};

/* Begins an object or list; `key` is NULL inside lists and at the top. */
void json_open(struct json *json, const char *key, char bracket);

/* Ends it; a new line follows the outermost. */
void json_close(struct json *json, char bracket);

void json_text(struct json *json, const char *key, ttr_text value);
void json_string(struct json *json, const char *key, const char *value);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);

/* A member under a name of any bytes: a number, text or boolean; else null. */
void json_member(struct json *json, ttr_text key, const ttr_value *value);

/* A number with six digits behind the point at most. */
void json_float(struct json *json, const char *key, double value);

#endif
