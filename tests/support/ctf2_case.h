/* Short CTF 2 metadata for tests, written with ' for " and ^ for the record separator to be
 * readable in C. @ marks the expected position of an error and is removed before parsing. */
#ifndef TRACETTA_TESTS_SUPPORT_CTF2_CASE_H
#define TRACETTA_TESTS_SUPPORT_CTF2_CASE_H

#include "base/buffer.h"
#include "formats/ctf/description/ctf_description.h"

/* A preamble, a data stream class 0 and an event record class up to the field class of its only
 * member, x; then the closing brackets. */
#define CTF2_BEFORE                                                     \
    "^{'type':'preamble','version':2}\n^{'type':'data-stream-class'}\n" \
    "^{'type':'event-record-class','payload-field-class':{'type':'structure','member-classes':["
#define CTF2_AFTER "]}}\n"
#define CTF2_UINT(name, bits)                                                                 \
    "{'name':'" name "','field-class':{'type':'fixed-length-unsigned-integer','length':" bits \
    ",'byte-order':'little-endian'}}"
#define CTF2_INT(name, bits)                                                                \
    "{'name':'" name "','field-class':{'type':'fixed-length-signed-integer','length':" bits \
    ",'byte-order':'little-endian'}}"
#define CTF2_BOOL(name) \
    "{'name':'" name    \
    "','field-class':{'type':'fixed-length-boolean','length':8,'byte-order':'little-endian'}}"

/* Metadata with every construct that a tracer could write. */
extern const char ctf2_everything[];

struct ctf2_case {
    struct ctf_description description;
    struct ctf_text text;
    struct buffer bytes, notes; /* notes: "code: text\n" each */
    size_t marked;              /* offset of @, or SIZE_MAX if there is none */
    ttr_status status;
    ttr_error error;
};

/* Parses the text. `alloc` allocates the description. */
void ctf2_case_parse(struct ctf2_case *c, const struct alloc *alloc, const char *quoted);
void ctf2_case_free(struct ctf2_case *c);

/* Fails the test unless the text is accepted with this description (tests/support/describe.h). */
void ctf2_check(const char *quoted, const char *description);

/* Fails the test unless the members of a payload have these types: "x: u8 le, y: ..." */
void ctf2_check_members(const char *quoted, const char *members);

/* Fails the test unless the field class of the member x has this type. */
void ctf2_check_class(const char *quoted, const char *type);

/* Fails the test unless the text is refused at the mark, with this message after
 * "metadata:LINE:COLUMN: ". */
void ctf2_check_error(const char *quoted, ttr_status status, const char *message);
void ctf2_check_members_error(const char *quoted, ttr_status status, const char *message);

/* Fails the test unless the text is accepted with these notes, each "code: text\n". */
void ctf2_check_notes(const char *quoted, const char *notes);

/* Fails the test unless every line is 0x1E and one JSON value. */
void ctf2_check_lines(const struct buffer *printed);

/* Parses what was printed; the caller frees the description. */
void ctf2_parse_printed(struct ctf_description *description, const struct buffer *printed);

/* Fails the test unless the printed description, when parsed, is equal and is printed identically.
 */
void ctf2_check_again(const struct ctf_description *description);

#endif
