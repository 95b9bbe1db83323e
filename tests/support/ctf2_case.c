/* Parsing and comparing for the tests of CTF 2 metadata. */
#include "support/ctf2_case.h"

#include <stdio.h>

#include "support/describe.h"
#include "support/json_check.h"
#include "support/support.h"

#define UUID "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255]"
#define STRUCT(members) "{'type':'structure','member-classes':[" members "]}"
#define UINT(bits, more) \
    "{'type':'fixed-length-unsigned-integer','length':" bits ",'byte-order':'big-endian'" more "}"
#define MEMBER(name, class) "{'name':'" name "','field-class':" class "}"
#define ROLE(role) ",'roles':['" role "']"

const char ctf2_everything
    [] = "^{'type':'preamble','version':2,'uuid':" UUID "}\n"
         "^{'type':'trace-class','namespace':'my.ns','name':'a "
         "trace','uid':'t1','environment':{'host':'here','neg':-5,'max':9223372036854775807},"
         "'attributes':{'my.ns':{'a':[1,2.50,true]}},'packet-header-field-class':" STRUCT(
             MEMBER("magic", UINT("32", ROLE("packet-magic-number"))) "," MEMBER(
                 "uuid", "{'type':'static-length-blob','length':16,'roles':['metadata-stream-uuid']"
                         "}") "," MEMBER("class", UINT("8", ROLE("data-stream-class-id"))) "," MEMBER("stream", UINT("8", ROLE("data-stream-id")))) "}\n"
                                                                                                                                                    "^{'type':'clock-class','id':'c','namespace':'cn','name':'mono','uid':'u','description':'A clock','frequency':1000,'precision':7,"
                                                                                                                                                    "'accuracy':18446744073709551615,'origin':'unix-epoch','offset-from-origin':{'seconds':-3,'cycles':999}}\n"
                                                                                                                                                    "^{'type':'clock-class','id':'d','frequency':1,'origin':{'namespace':'on','name':'boot','uid':'b1'}}\n"
                                                                                                                                                    "^{'type':'field-class-alias','name':'ts','field-class':" UINT("64", ROLE("default-clock-timestamp")) "}\n"
                                                                                                                                                                                                                                                          "^{'type':'field-class-alias','name':'u8','field-class':" UINT("8",
                                                                                                                                                                                                                                                                                                                         "") "}\n"
                                                                                                                                                                                                                                                                                                                             "^{'type':'data-stream-class','id':7,'name':'chan','default-clock-class-id':'c','packet-context-field-class':" STRUCT(MEMBER("begin", "'ts'") "," MEMBER("end", UINT("64", ROLE("packet-end-default-clock-timestamp"))) "," MEMBER("total", "{'type':'variable-length-unsigned-integer'" ROLE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "packet-total-length") "}") "," MEMBER("content", UINT("32",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    ROLE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "packet-content-length"))) "," MEMBER("lost",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              UINT(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "32", ROLE("discarded-event-record-counter-snapshot"))) "," MEMBER("seq", UINT("32", ROLE("packet-sequence-number"))) "," MEMBER("cpu_id", "'u8'")) ",'event-record-header-field-class':" STRUCT(MEMBER("id", UINT("16",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     ROLE("event-record-class-id"))) "," MEMBER("t", "'ts'")) ",'event-record-common-context-field-class':" STRUCT(MEMBER("cpu_id",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "'u8'")) "}\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "^{'type':'event-record-class','id':18446744073709551615,'data-stream-class-id':7,'namespace':'en','name':'ev','uid':'eu',"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "'attributes':{'lttng.org,2009':{'log-level':'debug:line','emf-uri':'http://x'}},"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "'specific-context-field-class':" STRUCT("") ",'payload-field-class':" STRUCT(MEMBER("x",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "'u8'")) "}\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "^{'type':'data-stream-class','id':8}\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "^{'type':'event-record-class','data-stream-class-id':8}\n";

static void take_note(void *ctx, ttr_severity severity, uint64_t offset, const char *code,
                      const char *text)
{
    struct ctf2_case *c = ctx;
    assert_true(offset <= c->text.n);
    assert_true(severity != TTR_SEVERITY_DAMAGE || strcmp(code, "ctf.duplicate-event") == 0 ||
                strcmp(code, "ctf.cut-metadata") == 0);
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
    c->text = (struct ctf_text){
        .p = (const char *)c->bytes.bytes, .n = c->bytes.n - 1, .file = "metadata"};
    ctf_description_init(&c->description, alloc);
    c->description.note = take_note;
    c->description.note_ctx = c;
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
    assert_true(snprintf(text, sizeof text, "%s%s%s", CTF2_BEFORE, quoted, CTF2_AFTER) <
                (int)sizeof text);
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
    assert_true(snprintf(member, sizeof member, "{'name':'x','field-class':%s}", quoted) <
                (int)sizeof member);
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
    ctf_text_line_column(&c.text, c.marked, &line, &column);
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "metadata:%u:%u: ", line, column),
           m = strlen(message);
    bool is_so = c.status == status && c.error.status == status && c.error.offset == c.marked &&
                 c.error.line == line && strncmp(c.error.text, prefix, n) == 0 &&
                 strncmp(c.error.text + n, message, m) == 0 && c.error.text[n + m] == '\n';
    if (!is_so)
        fail_msg("%s\n%s\noffset %llu, %s\nexpected offset %zu, %s%s", c.text.p,
                 c.status == TTR_OK ? "(taken)" : c.error.text, (unsigned long long)c.error.offset,
                 ttr_status_text(c.status), c.marked, prefix, message);
    ctf2_case_free(&c);
}

void ctf2_check_members_error(const char *quoted, ttr_status status, const char *message)
{
    char text[8192], full[512];
    assert_true(snprintf(text, sizeof text, "%s%s%s", CTF2_BEFORE, quoted, CTF2_AFTER) <
                (int)sizeof text);
    (void)snprintf(full, sizeof full, "event-record-class.payload-field-class.member-classes%s",
                   message);
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

void ctf2_check_lines(const struct buffer *printed)
{
    const char *p = (const char *)printed->bytes, *end = p + printed->n;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        assert_non_null(stop);
        assert_int_equal(*p, 0x1e);
        if (!json_check(p + 1, (size_t)(stop - p) - 1))
            fail_msg("no JSON: %.*s", (int)(stop - p), p);
        p = stop + 1;
    }
}

void ctf2_parse_printed(struct ctf_description *description, const struct buffer *printed)
{
    ttr_error error;
    struct ctf_text text = {.p = (const char *)printed->bytes, .n = printed->n, .file = "printed"};
    ctf_description_init(description, alloc_default());
    if (ctf2_parse(description, &text, &error) != TTR_OK)
        fail_msg("%s", error.text);
}

static bool has_clock_uuid(const struct ctf_description *description)
{
    for (size_t i = 0; i < description->clocks_n; i++)
        if (description->clocks[i]->has_uuid)
            return true;
    return false;
}

void ctf2_check_again(const struct ctf_description *description)
{
    struct ctf_description again;
    struct buffer printed, printed_again, said, said_again;
    ttr_error error;
    buffer_init(&printed, alloc_default());
    buffer_init(&printed_again, alloc_default());
    buffer_init(&said, alloc_default());
    buffer_init(&said_again, alloc_default());
    if (ctf2_print(description, &printed, &error) != TTR_OK)
        fail_msg("%s", error.text);
    ctf2_check_lines(&printed);
    ctf2_parse_printed(&again, &printed);
    describe_ctf(&said, description);
    describe_ctf(&said_again, &again);
    /* UUIDs of clocks become what CTF 2 has for them. */
    bool is_same = !has_clock_uuid(description);
    if (is_same && (said.n != said_again.n || memcmp(said.bytes, said_again.bytes, said.n) != 0))
        fail_msg("%.*s\nread again:\n%.*s\n%.*s", (int)said.n, (char *)said.bytes,
                 (int)said_again.n, (char *)said_again.bytes, (int)printed.n,
                 (char *)printed.bytes);
    assert_int_equal(ctf2_print(&again, &printed_again, &error), TTR_OK);
    assert_int_equal(printed.n, printed_again.n);
    assert_memory_equal(printed.bytes, printed_again.bytes, printed.n);
    ctf_description_free(&again);
    buffer_free(&printed);
    buffer_free(&printed_again);
    buffer_free(&said);
    buffer_free(&said_again);
}
