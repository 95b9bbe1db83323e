/* Transcoded events: every allocation fails once for every version; losses are exact. */
#include <string.h>

#include "support/support.h"

#include <tracetta/read.h>
#include <tracetta/write.h>

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 32; align = 8; } "
    ":= u32;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n"
    "env { host = \"h\"; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "stream { packet.context := struct { u32 content_size; u32 packet_size; u8 cpu_id; };\n"
    "  event.header := struct { u8 id; integer { size = 32; align = 8; map = clock.c.value; } "
    "timestamp; };\n"
    "  event.context := struct { u8 common; }; };\n"
    "event { name = a; id = 3; context := struct { u8 own; };\n"
    "  fields := struct { u8 _n_length; struct { u8 x; } s; u8 n[_n_length]; enum : u8 { OFF, ON } "
    "e; string t; }; };\n"
    "event { name = b; id = 4; fields := struct { enum : u8 { X, Y } tag; variant <tag> { u8 X; "
    "string Y; } v; }; };\n";

/* A packet of 36 bytes: event a with n = { 5, 6 }, event b with Y = "y". */
static const char stream[] = "c1 1f fc c1  20010000 20010000 07"
                             "  03 01000000 09 08  02 2a 05 06 01 74 00"
                             "  04 02000000 09     01 79 00";

/* Transcodes the trace without output and sets *lost to the count of a loss. Returns false if
 * memory runs out. */
static bool transcode_without_output(const struct alloc *alloc, const char *option,
                                     const char *loss, uint64_t *lost)
{
    uint8_t bytes[64];
    const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                              {"s", bytes, support_hex(bytes, sizeof bytes, stream)}};
    const char *const options[] = {option, NULL};
    const ttr_options memory = {.size = sizeof memory, .resize = alloc->resize, .ctx = alloc->ctx};
    const ttr_write_options how = {.size = sizeof how, .format_options = options};
    const ttr_loss *losses;
    ttr_batch batch;
    ttr *t = ttr_new(&memory);
    ttr_reader *in = t ? ttr_open_files(t, "plain", files, 2, NULL, NULL) : NULL;
    ttr_writer *out = in ? ttr_create(t, NULL, "ctf", &how, NULL) : NULL;
    ttr_status status = out ? TTR_OK : TTR_E_NOMEM;
    while (status == TTR_OK && (status = ttr_read(in, &batch, NULL)) == TTR_OK)
        status = ttr_write(out, &batch, NULL);
    for (size_t i = 0, n = out && lost ? ttr_losses(out, &losses) : 0; i < n; i++)
        if (strcmp(losses[i].code, loss) == 0)
            *lost = losses[i].count;
    if (status == TTR_END)
        status = ttr_finish(out, NULL);
    else
        ttr_writer_abort(out);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    ttr_close(in);
    ttr_free(t);
    return status == TTR_OK;
}

static bool transcode_to_rfc_1_1(const struct alloc *alloc)
{
    return transcode_without_output(alloc, "version=1.1", NULL, NULL);
}

static bool transcode_to_ctf_1_8(const struct alloc *alloc)
{
    return transcode_without_output(alloc, "version=1.8", NULL, NULL);
}

static bool transcode_to_ctf_2(const struct alloc *alloc)
{
    return transcode_without_output(alloc, "version=2", NULL, NULL);
}

static void failed_allocation_returns_nomem_without_leak(void **state)
{
    (void)state;
    support_fail_each(transcode_to_rfc_1_1);
    support_fail_each(transcode_to_ctf_1_8);
    support_fail_each(transcode_to_ctf_2);
}

static void transcoding_losses_are_exact(void **state)
{
    static const struct {
        const char *option, *loss;
        uint64_t count;
    } cases[] = {
        {"version=1.1", "field.variant", 1},  {"version=1.8", "field.variant", 1},
        {"version=1.1", "context.packet", 0}, {"version=1.1", "clock.ticks", 0},
        {"version=1.1", "field.label", 0},    {"version=2", "field.name", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t lost = 0;
        assert_true(
            transcode_without_output(alloc_default(), cases[i].option, cases[i].loss, &lost));
        assert_int_equal(lost, cases[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocation_returns_nomem_without_leak),
        cmocka_unit_test(transcoding_losses_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
