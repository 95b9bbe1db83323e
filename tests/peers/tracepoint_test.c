/* Evaluates print formats here and with libtraceevent, which perf and trace-cmd use. The texts of
 * random records must be equal for every format of a real kernel (TTR_CORPUS), except for the
 * differences in docs/user/known-differences.md. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#include "support/corpus.h"
#include "encodings/tracepoint/tracepoint_print.h"
#include "support/support.h"
#include "support/zip.h"

#define RECORD_BYTES 2048u
#define ROUNDS 40
#define PADDING 300u /* lengths have 8 bits, so fields may extend this far */

struct peer {
    ttr *t;
    struct tracepoints *all;
    struct tep_handle *tep;
    struct buffer text;
    uint64_t seed;
    unsigned kinds, failed, known, crashed, differing;
    bool is_verbose;
};

/* Events that libtraceevent prints differently: see docs/user/known-differences.md. */
static const char *const known[] = {
    "raid56_",            /* libtraceevent evaluates a - b + 1 as a - (b + 1) */
    "kvm_nested_vmenter", /* libtraceevent evaluates !a ? b : c as !(a ? b : c) */
    "timer_start",        /* libtraceevent evaluates a & (b | c) as (a & b) | c */
    /* libtraceevent does not print bytes as text after they were not text once */
    "scsi_dispatch_cmd_",
    "bprint", /* its format string is in the kernel's memory, which is not recorded */
    /* ~0U is a signed number of 64 bits in libtraceevent, here an unsigned one */
    "nfs_direct_",
};

/* LeakSanitizer calls this. Ignores leaks of libtraceevent for formats it cannot parse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libtraceevent";
}

static bool is_known(const char *name, const char *format, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(name, known[i], strlen(known[i])) == 0)
            return true;
    const char *text = memmem(format, n, "print fmt:", 10);
    return text &&
           /* libtraceevent ends the text at a tab */
           memchr(text, '\t', n - (size_t)(text - format));
}

static struct tracepoint_raw raw_of(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = raw_of};

/* --- Random records --- */

static void fill_text(uint8_t *p, size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)("abcdefghijklmnopqrstuvwxyz /_-.%0123"[support_random(seed) % 36]);
    p[n ? support_random(seed) % n : 0] = 0;
    p[n ? n - 1 : 0] = 0;
}

/* Returns a number that is often small enough to have a label, or a single bit. */
static uint64_t some_number(uint64_t *seed)
{
    uint64_t x = support_random(seed);
    switch (x & 3) {
    case 0:
        return x >> 8 & 15;
    case 1:
        return UINT64_C(1) << (x >> 8 & 63);
    case 2:
        return support_random_word(seed);
    default:
        return support_random(seed);
    }
}

static void store(uint8_t *p, size_t n, uint64_t x)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(i < 8 ? x >> 8 * i : i);
}

/* Fills the data that a dynamic field refers to. Returns their size in bytes. */
static size_t fill_elsewhere(uint8_t *p, const struct tracepoint_field *field, uint64_t *seed)
{
    size_t n = 1 + support_random(seed) % 40;
    if (field->shape == TRACEPOINT_TEXT) {
        fill_text(p, n, seed);
        return n;
    }
    n = field->name.n >= 4 && support_random(seed) % 2 ? 28 : (n + 7) / 8 * 8;
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)support_random_word(seed);
    if (n == 28)
        store(p, 2, support_random(seed) % 2 ? 2 : 10);
    return n;
}

static size_t make_record(const struct tracepoint *tp, uint8_t *bytes, uint64_t *seed)
{
    size_t n = tp->fixed_bytes;
    memset(bytes, 0, RECORD_BYTES);
    for (uint32_t i = 0; i < tp->fields_n; i++) {
        const struct tracepoint_field *field = &tp->field[i];
        uint8_t *at = bytes + field->offset;
        if (field->place == TRACEPOINT_REST) {
            fill_text(at, 20, seed);
            n = field->offset + 20u;
        } else if (field->place != TRACEPOINT_HERE) {
            size_t more = fill_elsewhere(bytes + n, field, seed);
            size_t from = field->place == TRACEPOINT_REL_LOC ? n - field->offset - field->size : n;
            store(at, field->size, more << 16 | from);
            n += more;
        } else if (field->shape == TRACEPOINT_TEXT) {
            fill_text(at, field->size, seed);
        } else {
            bool is_length = memmem(field->name.p, field->name.n, "len", 3) !=
                             NULL; /* libtraceevent crashes on a negative one */
            uint64_t x = some_number(seed);
            store(at, field->size, is_length ? x & 63 : x);
        }
    }
    store(bytes, 2, tp->id);
    return n;
}

/* --- Comparison --- */

static void print_there(struct peer *peer, const uint8_t *bytes, size_t n, char *to, size_t size)
{
    struct trace_seq seq;
    struct tep_record record = {.data = (void *)(uintptr_t)bytes, .size = (int)n};
    trace_seq_init(&seq);
    tep_print_event(peer->tep, &seq, &record, "%s", TEP_PRINT_INFO);
    trace_seq_terminate(&seq);
    (void)snprintf(to, size, "%s", seq.buffer);
    trace_seq_destroy(&seq);
}

static bool is_same(struct peer *peer, const struct tracepoint *tp)
{
    static uint8_t bytes[RECORD_BYTES];
    static char there[65536];
    const char *why = NULL;
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t n = make_record(tp, bytes, &peer->seed) + PADDING;
        ttr_event event = {.payload = bytes, .payload_size = (uint32_t)n, .thread = 0};
        if (!tracepoint_decode(peer->all, tp, (struct tracepoint_raw){bytes, n}, &event, &why))
            return false;
        buffer_clear(&peer->text);
        if (!tracepoint_print(peer->t, &event, &peer->text))
            return false;
        buffer_add_byte(&peer->text, 0);
        print_there(peer, bytes, n, there, sizeof there);
        if (strcmp((const char *)peer->text.bytes, there) == 0)
            continue;
        if (peer->is_verbose)
            (void)printf("# %.*s\n#  here  %s\n#  there %s\n", (int)tp->name.n, tp->name.p,
                         (const char *)peer->text.bytes, there);
        return false;
    }
    return true;
}

/* Runs in a child process, since libtraceevent crashes on some records. */
static void compare(struct peer *peer, const struct tracepoint *tp)
{
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        (void)signal(SIGFPE, SIG_DFL);
        bool is_fine = is_same(peer, tp);
        (void)fflush(stdout);
        _exit(is_fine ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    peer->crashed += !WIFEXITED(status);
    peer->differing += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    if (peer->is_verbose && !WIFEXITED(status))
        (void)printf("# %.*s: the library does not survive it\n", (int)tp->name.n, tp->name.p);
}

static bool see(void *ctx, const char *name, const char *bytes, size_t n)
{
    struct peer *peer = ctx;
    char system[64];
    ttr_error error;
    const char *blank = strchr(name, ' ');
    (void)snprintf(system, sizeof system, "%.*s", (int)(blank - name), name);
    assert_int_equal(tracepoints_add(peer->all, (ttr_text){system, strlen(system)},
                                     (ttr_text){bytes, n}, &error),
                     TTR_OK);
    const char *line = memmem(bytes, n, "ID:", 3);
    const struct tracepoint *tp =
        tracepoints_find(peer->all, (uint32_t)strtoul(line + 3, NULL, 10));
    assert_non_null(tp);
    assert_true(tracepoint_prepare_decoding(tp));
    peer->kinds++;
    const struct tracepoint_program *program = tp->lazy ? tp->lazy->program : NULL;
    if (program && program->why) {
        peer->failed++;
        if (peer->is_verbose)
            (void)printf("# %s: %s %.*s\n", name, program->why, (int)program->what.n,
                         program->what.p);
    }
    peer->tep = tep_alloc();
    tep_set_loglevel(TEP_LOG_NONE);
    tep_set_long_size(peer->tep, 8);
    tep_set_page_size(peer->tep, 4096);
    (void)tep_parse_event(peer->tep, bytes, n, system);
    if (is_known(blank + 1, bytes, n))
        peer->known++;
    else
        compare(peer, tp);
    tep_free(peer->tep);
    return true;
}

static void events_are_printed_as_libtraceevent_does(void **state)
{
    char path[1024];
    struct peer peer = {.t = ttr_new(NULL), .seed = 1, .is_verbose = getenv("TTR_VERBOSE") != NULL};
    (void)state;
    if (!corpus_find("eventheader", "linuxtracepoints-net/formats0.zip", path, sizeof path)) {
        ttr_free(peer.t);
        return;
    }
    buffer_init(&peer.text, alloc_default());
    uint16_t source = context_add_source(peer.t, "here", "test");
    peer.all = tracepoints_new(&(struct tracepoints_spec){
        .t = peer.t, .container = &container, .source = source, .long_bytes = 8});
    assert_int_equal(zip_each(path, see, &peer), 2751);
    (void)printf("# %u kinds, %u cannot be evaluated; %u differ as is known, of %u that library "
                 "does not survive records, %u differ\n",
                 peer.kinds, peer.failed, peer.known, peer.crashed, peer.differing);
    assert_int_equal(peer.differing, 0);
    buffer_free(&peer.text);
    tracepoints_free(peer.all);
    ttr_free(peer.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_are_printed_as_libtraceevent_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
