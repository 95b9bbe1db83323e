/* Tests of print formats: every conversion, operator and macro in hand-written formats, with the
 * output of libtraceevent; formats that cannot be evaluated; allocation failures.
 * tests/peers/tracepoint_test.c compares all formats of a real kernel with that library. */
#include "encodings/tracepoint/tracepoint_print.h"

#include <stdio.h>

#include "support/support.h"

/* Fields shared by all formats in this file. */
#define FIELDS                                                             \
    "name: it\nID: 5\nformat:\n"                                           \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
    "\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"                       \
    "\tfield:s16 b;\toffset:10;\tsize:2;\tsigned:1;\n"                     \
    "\tfield:int c;\toffset:12;\tsize:4;\tsigned:1;\n"                     \
    "\tfield:unsigned long d;\toffset:16;\tsize:8;\tsigned:0;\n"           \
    "\tfield:char e[8];\toffset:24;\tsize:8;\tsigned:0;\n"                 \
    "\tfield:__data_loc char[] f;\toffset:32;\tsize:4;\tsigned:0;\n"       \
    "\tfield:__data_loc u8[] g;\toffset:36;\tsize:4;\tsigned:0;\n"         \
    "\tfield:u8 m[6];\toffset:40;\tsize:6;\tsigned:0;\n"                   \
    "\tfield:u16 n[2];\toffset:46;\tsize:4;\tsigned:0;\n"                  \
    "\tfield:__u8 i4[4];\toffset:50;\tsize:4;\tsigned:0;\n"                \
    "\tfield:__u8 i6[16];\toffset:54;\tsize:16;\tsigned:0;\n"              \
    "\tfield:__data_loc char[] none;\toffset:70;\tsize:4;\tsigned:0;\n"    \
    "\tfield:long l;\toffset:74;\tsize:8;\tsigned:1;\n\nprint fmt: "

/* type 5, pid 42 | a 200 | b -2 | c -3 | d 0x1122334455667788 | e "hello" | f "dyn" at 82 | g 01 02
 * c0 04 at 86 | m | n 7, 65535 | 10.0.0.255 | 2001:db8::1 | none | l -4 | "dyn" | bytes */
#define RECORD                                                                                  \
    "05000000 2a000000 c800 feff fdffffff 8877665544332211 68656c6c6f000000 52000400 56000400 " \
    "a0b0c0d0e0f0 0700ffff "                                                                    \
    "0a0000ff 20010db8000000000000000000000001 00000000 fcffffffffffffff 64796e00 0102c004"

static ttr_text make_text(const char *p)
{
    return (ttr_text){p, strlen(p)};
}

static struct tracepoint_raw raw_of_payload(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = raw_of_payload};

struct scene {
    ttr *t;
    struct tracepoints *all;
    struct buffer text;
};

static bool begin_scene(struct scene *scene, const struct alloc *alloc)
{
    *scene = (struct scene){.t = ttr_new(&(ttr_options){.size = sizeof(ttr_options),
                                                        .resize = alloc->resize,
                                                        .ctx = alloc->ctx})};
    uint16_t source = scene->t ? context_add_source(scene->t, "here", "test") : UINT16_MAX;
    if (source != UINT16_MAX)
        scene->all = tracepoints_new(&(struct tracepoints_spec){
            .t = scene->t, .container = &container, .source = source, .long_bytes = 8});
    buffer_init(&scene->text, alloc);
    return scene->all != NULL;
}

static void end_scene(struct scene *scene)
{
    buffer_free(&scene->text);
    tracepoints_free(scene->all);
    ttr_free(scene->t);
}

/* Prints RECORD by a print format; returns "" if out of memory. */
static const char *print_record(struct scene *scene, const char *print_format)
{
    static uint8_t bytes[256];
    static char format[4096];
    const char *why;
    size_t n = support_hex(bytes, sizeof bytes, RECORD);
    (void)snprintf(format, sizeof format, "%s%s\n", FIELDS, print_format);
    buffer_clear(&scene->text);
    if (tracepoints_add(scene->all, make_text("sys"), make_text(format), NULL) != TTR_OK)
        return "";
    ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n};
    const struct tracepoint_raw raw = {bytes, n};
    if (!tracepoint_decode(scene->all, tracepoints_find(scene->all, 5), raw, &event, &why) ||
        !tracepoint_print(scene->t, &event, &scene->text))
        return "";
    buffer_add_byte(&scene->text, 0);
    return scene->text.failed ? "" : (const char *)scene->text.bytes;
}

struct example {
    const char *format, *text;
};

static void check_examples(const struct example *examples, size_t n)
{
    struct scene scene;
    assert_true(begin_scene(&scene, alloc_default()));
    assert_true(tracepoints_add_kallsyms(
        scene.all, make_text("1122334455667780 t near\n2000000000000000 t far\n")));
    assert_true(tracepoints_add_printk(scene.all, make_text("0x1122334455667788 : \"told\"\n")));
    for (size_t i = 0; i < n; i++) {
        const char *printed = print_record(&scene, examples[i].format);
        if (strcmp(printed, examples[i].text) != 0)
            fail_msg("%s prints \"%s\", not \"%s\"", examples[i].format, printed, examples[i].text);
    }
    end_scene(&scene);
}

#define CHECK(examples) check_examples(examples, sizeof(examples) / sizeof *(examples))

static void conversion_truncates_to_length_modifier(void **state)
{
    static const struct example examples[] = {
        {"\"%d %u %x %X %o\", REC->c, REC->c, REC->c, REC->c, REC->a",
         "-3 4294967293 fffffffd FFFFFFFD 310"},
        {"\"%d %hd %hhd %ld\", REC->b, REC->b, REC->b, REC->b", "65534 -2 -2 65534"},
        {"\"%i|%ld|%lu|%llx|%zu|%Lx\", REC->l, REC->l, REC->l, REC->d, REC->d, REC->d",
         "-4|-4|18446744073709551612|1122334455667788|1234605616436508552|1122334455667788"},
        {"\"[%5d][%-5d][%05d][%.3d][%5.3d][%+d][% d]\", REC->c, REC->c, REC->c, REC->a, REC->a, "
         "REC->a, REC->a",
         "[   -3][-3   ][-0003][200][  200][+200][ 200]"},
        {"\"[%#x][%#o][%#X][%#10x][%#010x][%-#10x]\", REC->a, REC->a, REC->a, REC->a, REC->a, "
         "REC->a",
         "[0xc8][0310][0XC8][      0xc8][0x000000c8][0xc8      ]"},
        {"\"[%*d][%.*d]\", 6, REC->a, 6, REC->a", "[   200][000200]"},
        {"\"[%.0d][%x]\", 0, 0", "[][0]"},
        {"\"%c%c|%3c|\", 'x', 65, 'y'", "xA|  y|"},
        {"\"100%% of %d\\n\\t\\\\\\\"\", 1", "100% of 1\n\t\\\""},
        {"\"\"", ""},
        {"\"one\" \" two\"", "one two"},
    };
    (void)state;
    CHECK(examples);
}

static void string_comes_from_field_or_location(void **state)
{
    static const struct example examples[] = {
        {"\"%s|%8s|%-8s|%.2s|%*s\", REC->e, REC->e, REC->e, REC->e, 7, REC->e",
         "hello|   hello|hello   |he|  hello"},
        {"\"%s %s [%5s]\", __get_str(f), \"const\", __get_str(none)", "dyn const []"},
        {"\"%s %s\", REC->l, REC->d", "fffffffffffffffc told"},
        {"\"%s\", REC->c ? \"yes\" : \"no\"", "yes"},
        {"\"%s\", REC->c == 7 ? \"seven\" : REC->a == 200 ? \"two hundred\" : \"other\"",
         "two hundred"},
        {"\"%s%s\", (char *)REC->e, REC->nothing", ""},
        {"\"%.*s|\", 2, __get_str(f)", "dy|"},
        {"\"%.*s|\", -1, __get_str(f)", "dyn|"},
    };
    (void)state;
    CHECK(examples);
}

static void operator_precedence_is_c_and_unsigned(void **state)
{
    static const struct example examples[] = {
        {"\"%d\", 1 + 2 * 3 - 4 / 2 % 3", "5"},
        {"\"%d\", 10 - 2 - 3", "5"},
        {"\"%d\", 1 << 4 | 3 & 2 ^ 1", "19"},
        {"\"%d %d %d\", 1 < 2, 2 >= 3, 4 != 4", "1 0 0"},
        {"\"%d\", REC->c < 0", "0"},
        {"\"%d\", 1 && 0 || 1", "1"},
        {"\"%d\", !REC->c ? 1 : 2", "2"},
        {"\"%d\", ~0 + -5 + +1 + !0", "-4"},
        {"\"%d\", REC->a & (1 | 0x40)", "64"},
        {"\"%d %d\", REC->a / 0, REC->a % 0", "0 0"},
        {"\"%d\", (int)(REC->a)", "200"},
        {"\"%d:%d\", ((unsigned int) ((REC->d) >> 20)), ((unsigned int) ((REC->d) & ((1U << 20) - "
         "1)))",
         "590628182:423816"},
        {"\"%u %llu %llu %llu\", (u8)REC->c, (s32)REC->l, (unsigned short)REC->l, (u64)REC->l",
         "253 4294967292 65532 18446744073709551612"},
        {"\"%d %d %d\", REC->n[0], REC->n[1], REC->m[5]", "7 65535 240"},
        {"\"%d\", ((u8 *)REC->n)[1]", "255"},
        {"\"%d\", REC->n[70000]", "0"},
        {"\"%lu %lu %lu %lu %lu\", sizeof(int), sizeof(unsigned long), sizeof(long long), "
         "sizeof(REC->b), sizeof(u16)",
         "4 8 8 2 2"},
        {"\"%d %d\", __get_dynamic_array_len(g), __builtin_expect(REC->a, 1)", "4 200"},
        {"\"%d %d\", 010, 0x1fULL", "8 31"},
        {"\"%d\", SOME_NAME", "0"},
        {"\"%d %d\", REC->common_pid, (REC)->a", "42 200"},
        {"\"%d\", 1 ? 2 ? 3 : 4 : 5", "3"},
    };
    (void)state;
    CHECK(examples);
}

static void symbolic_values_print_names(void **state)
{
    static const struct example examples[] = {
        {"\"%s %s\", __print_symbolic(REC->a, { 1, \"one\" }, { 200, \"many\" }), "
         "__print_symbolic(REC->b, { 1, \"one\" })",
         "many 0xfffe"},
        {"\"%s\", __print_flags(REC->a, \"|\", { 0x80, \"high\" }, { 1 << 6, \"next\" }, { 1, "
         "\"low\" })",
         "high|next|0x8"},
        {"\"%s %s\", __print_flags(REC->a & 0, \"|\", { 1, \"a\" }, { -1, \"none\" }), "
         "__print_flags(0, \"\", { 1, \"a\" })",
         "none "},
        {"\"[%8s]\", __print_symbolic(REC->a, { 200, \"many\" })", "[    many]"},
        {"\"%s\", __print_symbolic(1, { HI_SOFTIRQ, \"HI\" }, { TIMER_SOFTIRQ, \"TIMER\" })",
         "TIMER"},
        {"\"%s\", (REC->a & (((1 | 2) + 1) << 1)) ? __print_flags(REC->a & 0xff, \"|\", { 0x08, "
         "\"S\" }) : \"R\"",
         "S|0xc0"},
    };
    (void)state;
    CHECK(examples);
}

static void byte_dumps_and_masks_print(void **state)
{
    static const struct example examples[] = {
        {"\"%s %s\", __print_hex(REC->m, 3), __print_hex_str(__get_dynamic_array(g), 4)",
         "a0 b0 c0 0102c004"},
        {"\"%s\", __print_array(REC->n, 2, 2)", "7 65535"},
        {"\"%s\", __print_hex(__get_dynamic_array(g), 400)", "01 02 c0 04"},
        {"\"%s [%12s] [%-9s]\", __get_bitmask(g), __get_bitmask(g), __get_bitmask(g)",
         "04c00201 [    04c00201] [04c00201 ]"},
        {"\"%s %*pbl\", __get_cpumask(g), 32, __get_dynamic_array(g)", "0,9,22-23,26 0,9,22-23,26"},
        {"\"%*pbl %*pbl\", 32, REC->i4, 24, __get_dynamic_array(g)", "1,3,24-31 0,9,22-23"},
        {"\"%*ph %*phC %*phD %*phN\", 4, __get_dynamic_array(g), 2, __get_dynamic_array(g), 3, "
         "__get_dynamic_array(g), 9, __get_dynamic_array(g)",
         "01 02 c0 04 01:02 01-02-c0 0102c004"},
        {"\"%*ph\", 4, REC->m", "ARG TYPE NOT FIELD BUT 2"},
    };
    (void)state;
    CHECK(examples);
}

static void pointer_prints_function_or_address(void **state)
{
    static const struct example examples[] = {
        {"\"%p %p\", REC->d, 0", "0x1122334455667788 (nil)"},
        {"\"%ps %pS %pf %pF\", REC->d, REC->d, (void *)REC->d, REC->d",
         "near near+0x8 near near+0x8"},
        {"\"%ps %pS\", 5, REC->l", "0x5 0xfffffffffffffffc"},
        {"\"%pM %pMR %pMF %pm\", REC->m, REC->m, REC->m, REC->m",
         "a0:b0:c0:d0:e0:f0 f0:e0:d0:c0:b0:a0 a0-b0-c0-d0-e0-f0 a0b0c0d0e0f0"},
        {"\"%pM\", REC->n", "INVALIDMAC"},
        {"\"%pI4 %pi4 %pI4h\", REC->i4, REC->i4, REC->i4", "10.0.0.255 010.000.000.255 255.0.0.10"},
        {"\"%pI6 %pi6 %pI6c\", REC->i6, REC->i6, REC->i6",
         "2001:0db8:0000:0000:0000:0000:0000:0001 20010db8000000000000000000000001 2001:db8::1"},
        {"\"%pI4 %pI6\", __get_str(f), REC->m", "ARG TYPE NOT FIELD BUT 8 INVALIDIPv6"},
        {"\"%pU %pUl %pUB\", REC->i6, REC->i6, REC->i6",
         "20010db8-0000-0000-0000-000000000001 b80d0120-0000-0000-0000-000000000001 "
         "20010DB8-0000-0000-0000-000000000001"},
        {"\"%pISpc|\", __get_sockaddr(g)", "|"},
        {"\"%pK\", 255", "0xffK"},
    };
    (void)state;
    CHECK(examples);
}

static void sockaddr_of_both_families_prints(void **state)
{
    static const struct {
        const char *hex, *text;
    } examples[] = {
        {"0200 1f90 7f000001 0000000000000000", "127.0.0.1:8080 127.0.0.1"},
        {"0a00 1f90 00000000 20010db8000000000000000000000001 00000000",
         "[2001:db8::1]:8080 2001:0db8:0000:0000:0000:0000:0000:0001"},
        {"0a00 1f90 00000000 00000000000000000000ffff01020304 00000000",
         "[::ffff:1.2.3.4]:8080 0000:0000:0000:0000:0000:ffff:0102:0304"},
        {"0a00 1f90 00000000", "INVALIDIPv6 INVALIDIPv6"},
        {"0200 1f90", "INVALIDIPv4 INVALIDIPv4"},
        {"0100 1f90", " "},
    };
    const char *format =
        "name: it\nID: 5\nformat:\n\tfield:u16 common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:__data_loc u8[] s;\toffset:2;\tsize:4;\tsigned:0;\nprint fmt: \"%pISpc %pIS\", "
        "__get_sockaddr(s), __get_sockaddr(s)\n";
    struct scene scene;
    uint8_t bytes[64];
    char hex[200];
    const char *why;
    (void)state;
    assert_true(begin_scene(&scene, alloc_default()));
    assert_int_equal(tracepoints_add(scene.all, make_text("sys"), make_text(format), NULL), TTR_OK);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        size_t n = support_hex(bytes, sizeof bytes, examples[i].hex);
        (void)snprintf(hex, sizeof hex, "0500 0600%02x00 %s", (unsigned)n, examples[i].hex);
        n = support_hex(bytes, sizeof bytes, hex);
        ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n};
        assert_true(tracepoint_decode(scene.all, tracepoints_find(scene.all, 5),
                                      (struct tracepoint_raw){bytes, n}, &event, &why));
        buffer_clear(&scene.text);
        assert_true(tracepoint_print(scene.t, &event, &scene.text));
        buffer_add_byte(&scene.text, 0);
        assert_string_equal(scene.text.bytes, examples[i].text);
    }
    end_scene(&scene);
}

static void unsupported_format_prints_fields_by_name(void **state)
{
    static const struct {
        const char *format, *why, *what;
    } cases[] = {
        {"\"%s\", of_the_kernel(REC->a)", "unknown function", "of_the_kernel"},
        {"\"%d\"", "conversion has no argument", ""},
        {"\"%d\", REC->a +", "expected a value", ""},
        {"\"%d\", (REC->a", "unexpected", ""},
        {"\"%d\", &REC->a", "unexpected", "&"},
        {"\"%d\", *(u8 *)REC->a", "unexpected", "*"},
        {"\"%d\", REC->a->b", "unexpected", "->"},
        {"\"%d\", ({ 1; })", "unexpected", "{"},
        {"\"%d\", \"open", "expected a value", ""},
        {"\"%lllx\", 1", "length modifier is invalid", ""},
        {"\"%q\", 1", "conversion is unknown", ""},
        {"\"%5", "print format does not begin with a string", ""},
        {"\"%5\"", "conversion has no letter", ""},
        {"\"%**d\", 1, 2, 3", "conversion has two widths", ""},
        {"\"%d\", sizeof(struct x)", "sizeof of an unknown type", "struct x"},
        {"\"%s\", __print_symbolic(REC->a, { REC->b, \"x\" })", "labelled value is not constant",
         ""},
        {"\"%s\", __print_hex(1 + REC->a, 3)", "argument is not an array", ""},
        {"\"%d\", __get_dynamic_array_len(other)", "unknown field", "other"},
        {"\"%d\", (1)[2]", "index of something that is not an array", ""},
        {"\"%d\", REC->", "expected the name of a field", ""},
        {"\"%d\", REC->a REC->b", "unexpected", "REC"},
        {"\"%d\", (-1)REC->a", "cast to something that is not a type", "REC"},
        {"nothing", "print format does not begin with a string", ""},
    };
    struct scene scene;
    (void)state;
    assert_true(begin_scene(&scene, alloc_default()));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(
            print_record(&scene, cases[i].format),
            "[FAILED TO PARSE] a=200 b=-2 c=-3 d=0x1122334455667788 e=hello f=dyn g=ARRAY[01, 02, "
            "c0, 04] "
            "m=ARRAY[a0, b0, c0, d0, e0, f0] n=ARRAY[07, 00, ff, ff] i4=\n "
            "i6=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 01] none= l=-4");
        const struct tracepoint_program *program = tracepoints_find(scene.all, 5)->lazy->program;
        assert_non_null(program->why);
        if (strcmp(program->why, cases[i].why) != 0 || program->what.n != strlen(cases[i].what) ||
            memcmp(program->what.p, cases[i].what, program->what.n) != 0)
            fail_msg("%s: \"%s\" \"%.*s\"", cases[i].format, program->why, (int)program->what.n,
                     program->what.p);
    }
    (void)print_record(&scene, "\"fine\"");
    assert_null(tracepoints_find(scene.all, 5)->lazy->program->why);
    assert_false(tracepoint_print(scene.t, &(ttr_event){.schema = 0}, &scene.text));
    end_scene(&scene);
}

static void expression_depth_is_limited(void **state)
{
    static const char *const parts[][2] = {{"(", ")"},      {"- ", ""},   {"1+(", ")"},
                                           {"1?2:", ""},    {"(u8)", ""}, {"1?", ":2"},
                                           {"REC->n[", "]"}};
    char format[2048];
    struct scene scene;
    (void)state;
    assert_true(begin_scene(&scene, alloc_default()));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (unsigned times = 10; times <= 200; times += 190) {
            size_t n = (size_t)snprintf(format, sizeof format, "\"%%d\", ");
            for (unsigned j = 0; j < times; j++)
                n += (size_t)snprintf(format + n, sizeof format - n, "%s", parts[i][0]);
            n += (size_t)snprintf(format + n, sizeof format - n, "REC->a");
            for (unsigned j = 0; j < times; j++)
                n += (size_t)snprintf(format + n, sizeof format - n, "%s", parts[i][1]);
            bool has_failed = strncmp(print_record(&scene, format), "[FAILED", 7) == 0;
            assert_int_equal(has_failed, times > 100);
        }
    }
    end_scene(&scene);
}

#define BPRINT                                                                                  \
    "name: bprint\nID: 6\nformat:\n\tfield:u16 common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:const char * "           \
    "fmt;\toffset:16;\tsize:8;\tsigned:0;\n"                                                    \
    "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\nprint fmt: \"%ps: %s\", (void "      \
    "*)REC->ip, REC->fmt\n"
#define BPRINT_HEAD "0600000000000000 8077665544332211 "

/* Prints a trace_printk record given in hexadecimal; returns "" if out of memory. */
static const char *print_trace_printk(struct scene *scene, const char *hex)
{
    static uint8_t bytes[256];
    const char *why;
    size_t n = support_hex(bytes, sizeof bytes, hex);
    ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n};
    buffer_clear(&scene->text);
    if (!tracepoint_decode(scene->all, tracepoints_find(scene->all, 6),
                           (struct tracepoint_raw){bytes, n}, &event, &why) ||
        !tracepoint_print(scene->t, &event, &scene->text))
        return "";
    buffer_add_byte(&scene->text, 0);
    return scene->text.failed ? "" : (const char *)scene->text.bytes;
}

static bool begin_printk(struct scene *scene, const struct alloc *alloc)
{
    return begin_scene(scene, alloc) &&
           tracepoints_add(scene->all, make_text("ftrace"), make_text(BPRINT), NULL) == TTR_OK &&
           tracepoints_add_kallsyms(
               scene->all, make_text("1122334455667780 t near\n2000000000000000 t far\n")) &&
           tracepoints_add_printk(scene->all,
                                  make_text("0x1000 : \"a=%d s=%s b=%llx\\n\"\n0x2000 : \"[%*d] "
                                            "%ld %pS %pM|%c%%\"\n0x3000 : \"%q\"\n"));
}

static void trace_printk_uses_format_of_record(void **state)
{
    struct scene scene;
    (void)state;
    assert_true(begin_printk(&scene, alloc_default()));
    assert_string_equal(
        print_trace_printk(&scene, BPRINT_HEAD
                           "0010000000000000 feffffff 68656c6c6f00 0000 8877665544332211"),
        "near: a=-2 s=hello b=1122334455667788\n");
    assert_string_equal(print_trace_printk(&scene, BPRINT_HEAD
                                           "0020000000000000 05000000 2a000000 ffffffffffffffff "
                                           "9077665544332211 61623a00 41000000"),
                        "near: [   42] -1 near+0x10 ab:|A%");
    assert_string_equal(print_trace_printk(&scene, BPRINT_HEAD "0010000000000000 01000000 6869"),
                        "near: a=1 s=hi b=0\n");
    assert_string_equal(print_trace_printk(&scene, BPRINT_HEAD "0020000000000000"),
                        "near: [0] 0 0x0 ARG TYPE NOT FIELD BUT 1|%");
    end_scene(&scene);
}

static void trace_printk_unknown_format_is_reported(void **state)
{
    struct scene scene;
    (void)state;
    assert_true(begin_printk(&scene, alloc_default()));
    assert_string_equal(print_trace_printk(&scene, BPRINT_HEAD "0040000000000000 01000000"),
                        "near: (NO FORMAT FOUND at 4000)\n");
    assert_string_equal(print_trace_printk(&scene, BPRINT_HEAD "0030000000000000 01000000"),
                        "near: (NO FORMAT FOUND at 3000)\n");
    end_scene(&scene);
}

static void event_text_is_limited(void **state)
{
    static char format[66000];
    static const char *const piece = "%1024d";
    struct scene scene;
    const char *why;
    uint8_t bytes[8] = {5};
    size_t n = (size_t)snprintf(format, sizeof format,
                                "name: it\nID: 5\nformat:\n\tfield:u16 "
                                "common_type;\toffset:0;\tsize:2;\tsigned:0;\nprint fmt: \"");
    (void)state;
    for (unsigned i = 0; i < 2000; i++)
        n += (size_t)snprintf(format + n, sizeof format - n, "%s", piece);
    n += (size_t)snprintf(format + n, sizeof format - n, "\"");
    for (unsigned i = 0; i < 2000; i++)
        n += (size_t)snprintf(format + n, sizeof format - n, ",1");
    assert_true(begin_scene(&scene, alloc_default()));
    assert_int_equal(tracepoints_add(scene.all, make_text("sys"), (ttr_text){format, n}, NULL),
                     TTR_OK);
    ttr_event event = {.payload = bytes, .payload_size = sizeof bytes};
    assert_true(tracepoint_decode(scene.all, tracepoints_find(scene.all, 5),
                                  (struct tracepoint_raw){bytes, sizeof bytes}, &event, &why));
    assert_true(tracepoint_print(scene.t, &event, &scene.text));
    assert_in_range(scene.text.n, TRACEPOINT_TEXT_MAX, TRACEPOINT_TEXT_MAX + 1024);
    end_scene(&scene);
}

static bool print_with(const struct alloc *alloc)
{
    struct scene scene;
    bool is_fine =
        begin_scene(&scene, alloc) &&
        strcmp(print_record(&scene, "\"%s %d\" \" %s\", __print_symbolic(REC->a, { 1, \"o\" "
                                    "\"ne\" }, { 200, \"many\" }), REC->a + 1, REC->e"),
               "many 201 hello") == 0;
    end_scene(&scene);
    return is_fine;
}

static bool print_printk_with(const struct alloc *alloc)
{
    struct scene scene;
    bool is_fine = begin_printk(&scene, alloc) &&
                   strcmp(print_trace_printk(&scene, BPRINT_HEAD "0010000000000000 01000000 6869"),
                          "near: a=1 s=hi b=0\n") == 0;
    end_scene(&scene);
    return is_fine;
}

static void allocation_failure_is_reported(void **state)
{
    (void)state;
    support_fail_each(print_with);
    support_fail_each(print_printk_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversion_truncates_to_length_modifier),
        cmocka_unit_test(string_comes_from_field_or_location),
        cmocka_unit_test(operator_precedence_is_c_and_unsigned),
        cmocka_unit_test(symbolic_values_print_names),
        cmocka_unit_test(byte_dumps_and_masks_print),
        cmocka_unit_test(pointer_prints_function_or_address),
        cmocka_unit_test(sockaddr_of_both_families_prints),
        cmocka_unit_test(unsupported_format_prints_fields_by_name),
        cmocka_unit_test(expression_depth_is_limited),
        cmocka_unit_test(trace_printk_uses_format_of_record),
        cmocka_unit_test(trace_printk_unknown_format_is_reported),
        cmocka_unit_test(event_text_is_limited),
        cmocka_unit_test(allocation_failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
