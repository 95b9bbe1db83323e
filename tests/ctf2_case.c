/* Parsing and comparing for the tests of CTF 2 metadata. */
#include "ctf2_case.h"

#include <stdio.h>

#include "describe.h"
#include "support.h"

static void take_note(void *own, ttr_severity severity, uint64_t offset, const char *code, const char *text)
{
    struct ctf2_case *c = own;
    assert_true(offset <= c->text.n);
    assert_true(severity == TTR_NOTE_REMARK || severity == TTR_NOTE_ODD);
    buffer_add_text(&c->notes, code);
    buffer_add_text(&c->notes, ": ");
    buffer_add_text(&c->notes, text);
    buffer_add_text(&c->notes, "\n");
}

void ctf2_case_parse(struct ctf2_case *c, const struct alloc *alloc, const char *quoted)
{
    *c = (struct ctf2_case){.marked = SIZE_MAX};
    buffer_init(&c->bytes, alloc_default());
    buffer_init(&c->notes, alloc_default());
    for (const char *p = quoted; *p; p++) {
        if (*p == '@')
            c->marked = c->bytes.n;
        else
            buffer_add_byte(&c->bytes, *p == '\'' ? '"' : *p == '^' ? 0x1e : (uint8_t)*p);
    }
    buffer_add_byte(&c->bytes, 0);
    c->text = (struct ctf_text){.p = (const char *)c->bytes.bytes, .n = c->bytes.n - 1, .file = "metadata"};
    ctf_description_init(&c->description, alloc);
    c->description.note = take_note;
    c->description.note_own = c;
    c->status = ctf2_parse(&c->description, &c->text, &c->error);
    buffer_add_byte(&c->notes, 0);
}

void ctf2_case_free(struct ctf2_case *c)
{
    ctf_description_free(&c->description);
    buffer_free(&c->bytes);
    buffer_free(&c->notes);
}

static void check_taken(const struct ctf2_case *c)
{
    if (c->status != TTR_OK)
        fail_msg("%s\n%s", c->text.p, c->error.text);
}

void ctf2_check(const char *quoted, const char *description)
{
    struct ctf2_case c;
    struct buffer got;
    ctf2_case_parse(&c, alloc_default(), quoted);
    check_taken(&c);
    buffer_init(&got, alloc_default());
    describe_ctf(&got, &c.description);
    support_assert_text(got.bytes, got.n, description);
    buffer_free(&got);
    ctf2_case_free(&c);
}

void ctf2_check_members(const char *quoted, const char *members)
{
    char text[8192], expected[4096];
    struct ctf2_case c;
    struct buffer got;
    assert_true(snprintf(text, sizeof text, "%s%s%s", CTF2_BEFORE, quoted, CTF2_AFTER) < (int)sizeof text);
    (void)snprintf(expected, sizeof expected, "struct(%s)", members);
    ctf2_case_parse(&c, alloc_default(), text);
    check_taken(&c);
    buffer_init(&got, alloc_default());
    describe_type(&got, c.description.streams[0]->events[0]->payload);
    size_t n = strlen(expected);
    /* The alignment of the structure itself may follow. */
    if (got.n < n || memcmp(got.bytes, expected, n) != 0 || (got.n > n && got.bytes[n] != ' '))
        fail_msg("got \"%.*s\", expected \"%s\"", (int)got.n, (const char *)got.bytes, expected);
    buffer_free(&got);
    ctf2_case_free(&c);
}

void ctf2_check_class(const char *quoted, const char *type)
{
    char member[4096], expected[4096];
    assert_true(snprintf(member, sizeof member, "{'name':'x','field-class':%s}", quoted) < (int)sizeof member);
    (void)snprintf(expected, sizeof expected, "x: %s", type);
    ctf2_check_members(member, expected);
}

void ctf2_check_error(const char *quoted, ttr_status status, const char *message)
{
    struct ctf2_case c;
    char prefix[64];
    unsigned line, column;
    ctf2_case_parse(&c, alloc_default(), quoted);
    assert_true(c.marked != SIZE_MAX);
    ctf_text_place(&c.text, c.marked, &line, &column);
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "metadata:%u:%u: ", line, column), m = strlen(message);
    bool is_so = c.status == status && c.error.status == status && c.error.offset == c.marked && c.error.line == line &&
                 strncmp(c.error.text, prefix, n) == 0 && strncmp(c.error.text + n, message, m) == 0 && c.error.text[n + m] == '\n';
    if (!is_so)
        fail_msg("%s\n%s\noffset %llu, %s\nexpected offset %zu, %s%s", c.text.p, c.status == TTR_OK ? "(taken)" : c.error.text,
                 (unsigned long long)c.error.offset, ttr_status_text(c.status), c.marked, prefix, message);
    ctf2_case_free(&c);
}

void ctf2_check_members_error(const char *quoted, ttr_status status, const char *message)
{
    char text[8192], full[512];
    assert_true(snprintf(text, sizeof text, "%s%s%s", CTF2_BEFORE, quoted, CTF2_AFTER) < (int)sizeof text);
    (void)snprintf(full, sizeof full, "event-record-class.payload-field-class.member-classes%s", message);
    ctf2_check_error(text, status, full);
}

void ctf2_check_notes(const char *quoted, const char *notes)
{
    struct ctf2_case c;
    ctf2_case_parse(&c, alloc_default(), quoted);
    check_taken(&c);
    support_assert_text(c.notes.bytes, c.notes.n - 1, notes);
    ctf2_case_free(&c);
}
