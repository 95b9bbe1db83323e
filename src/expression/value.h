/* Values of expressions, with the rules of SQLite: types, affinities, comparison, conversion.
 *
 * Sections below name those of "Datatypes In SQLite" (sqlite.org/datatype3.html). */
#ifndef TRACETTA_EXPRESSION_VALUE_H
#define TRACETTA_EXPRESSION_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

#define VALUE_TEXT_MAX (1u << 20) /* bytes of a text that an expression creates */
#define VALUE_NUMBER_MAX 64u      /* bytes of a number as text */

enum value_type { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT };

/* Column affinities (section 3). Columns and fields have the affinity of their type. */
enum affinity { AFFINITY_NONE, AFFINITY_TEXT, AFFINITY_NUMERIC, AFFINITY_INTEGER, AFFINITY_REAL };

struct value {
    union {
        int64_t i;
        double d;
        ttr_text text; /* borrowed from the event, the context or the arena of the evaluation */
    } v;
    uint8_t type;     /* enum value_type */
    uint8_t affinity; /* enum affinity */
};

/* The truth of a value: three-valued logic. */
enum truth { TRUTH_FALSE = 0, TRUTH_TRUE = 1, TRUTH_UNKNOWN = 2 };

static inline struct value value_null(void)
{
    return (struct value){.type = VALUE_NULL};
}

static inline struct value value_int(int64_t i)
{
    return (struct value){.v.i = i, .type = VALUE_INT};
}

/* Returns a REAL, or NULL for NaN, which SQLite does not store. */
static inline struct value value_real(double d)
{
    return d == d ? (struct value){.v.d = d, .type = VALUE_REAL} : value_null();
}

static inline struct value value_text(ttr_text text)
{
    return (struct value){.v.text = text, .type = VALUE_TEXT};
}

static inline struct value value_of_truth(enum truth truth)
{
    return truth == TRUTH_UNKNOWN ? value_null() : value_int(truth);
}

/* Returns whether a value counts as true in WHERE. */
enum truth value_truth(const struct value *value);

/* Converts a value to a number: the longest prefix of a text that is a number, else 0. NULL stays
 * NULL. */
struct value value_to_number(const struct value *value);

/* Converts as CAST(... AS INTEGER) and CAST(... AS REAL); not for NULL. */
int64_t value_to_int(const struct value *value);
double value_to_real(const struct value *value);

/* Formats a number as SQLite does, for `||`, LIKE and TEXT affinity. Returns the number of bytes.
 */
size_t value_format(const struct value *number, char to[VALUE_NUMBER_MAX]);

/* Returns the affinity that a comparison applies to its operands (section 4.2). */
enum affinity value_comparison_affinity(unsigned left, unsigned right);

/* Compares two values that are not NULL after applying an affinity: negative, 0 or positive
 * (sections 4.1 and 4.2). */
int value_compare(struct value left, struct value right, enum affinity affinity);

/* Return whether a pattern matches a complete text, as in SQLite. LIKE ignores the case of ASCII
 * letters; `escape` is a code point, 0 = none. Steps: at most |pattern| * |text|. */
bool value_matches_like(ttr_text pattern, ttr_text text, uint32_t escape);
bool value_matches_glob(ttr_text pattern, ttr_text text);

/* Decodes a character of UTF-8 and advances *p; an invalid byte is a character. *p < end. */
uint32_t value_next_character(const char **p, const char *end);

#endif
