/* Laws that hold for any trace, tried on generated files of both formats: pieces of any size read
 * like the whole; a filter and its opposite share out all events; two cuts that meet give what one
 * cut over both gives, but for the spans across their border; merging does not depend on the order
 * in which readers are named. Events are told by hashes of all they say.  usage: laws_test
 * GENERATOR; speaks TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/analyse.h>
#include <tracetta/read.h>
#include <tracetta/write.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "matrix/sources.h"
#include "support/support.h"
#include "support/tap.h"
#include "support/writing.h"

enum { SOURCES = 8 };

/* What was read: its hashes added (for sets of events), and one after another (for sequences), also
 * for each source apart. */
struct sum {
    uint64_t n, set, sequence, of_source[SOURCES], backward;
    int64_t last;
    bool is_good;
};

struct pieces {
    const struct buffer *bytes;
    size_t at;
    uint64_t state, most;
};

static int64_t pull(void *ctx, void *to, size_t n)
{
    struct pieces *pieces = ctx;
    size_t left = pieces->bytes->n - pieces->at,
           give = 1 + (size_t)(support_random(&pieces->state) % pieces->most);
    give = give < left ? give : left;
    give = give < n ? give : n;
    if (give)
        memcpy(to, pieces->bytes->bytes + pieces->at, give);
    pieces->at += give;
    return (int64_t)give;
}

static uint64_t hash_text(uint64_t hash, ttr_text text)
{
    return hash_pair(hash, hash_bytes(text.p, text.n));
}

static uint64_t hash_event(const ttr *t, const ttr_event *e)
{
    ttr_fields fields;
    ttr_field field;
    uint64_t hash = hash_pair(hash_pair(e->kind, (uint64_t)e->time), e->duration);
    hash = hash_pair(hash_pair(hash, e->offset), e->source);
    hash = hash_text(hash_text(hash, ttr_text_get(t, e->name)), ttr_text_get(t, e->category));
    ttr_fields_begin(t, e, &fields);
    while (ttr_fields_next(&fields, &field)) {
        bool is_text = field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES;
        hash = hash_text(hash, field.name);
        hash = is_text ? hash_text(hash, field.value.text) : hash_pair(hash, field.value.v.u);
    }
    return hash;
}

/* Reads to the end and closes. */
static struct sum add_up(ttr *t, ttr_reader *in)
{
    struct sum sum = {.n = 0};
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    while (in && (status = ttr_read(in, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            uint64_t hash = hash_event(t, event), *ctx = &sum.of_source[event->source % SOURCES];
            *ctx = hash_pair(*ctx, hash);
            sum.backward += sum.n && event->time < sum.last;
            sum.last = event->time;
            sum.n++;
            sum.set += hash;
            sum.sequence = hash_pair(sum.sequence, hash);
        }
    sum.is_good = status == TTR_END;
    ttr_close(in);
    return sum;
}

static ttr_reader *open_bytes(ttr *t, const struct buffer *bytes)
{
    return ttr_open_memory(t, bytes->bytes, bytes->n, "law", NULL, NULL);
}

static struct sum add_up_filtered(const struct buffer *bytes, const ttr_filter *filter)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in = open_bytes(t, bytes);
    struct sum sum = add_up(t, filter ? ttr_filter_new(in, filter, NULL) : in);
    ttr_free(t);
    return sum;
}

static bool pieces_read_like_the_whole(const struct buffer *bytes)
{
    static const uint64_t most[] = {1, 7, 64, 1000, 70000};
    struct sum whole = add_up_filtered(bytes, NULL);
    bool ok = whole.is_good && whole.n > 0;
    for (size_t i = 0; i < 20 && ok; i++) {
        struct pieces pieces = {.bytes = bytes, .state = i, .most = most[i % 5]};
        ttr *t = ttr_new(NULL);
        struct sum sum = add_up(t, ttr_open_pull(t, pull, &pieces, "law", NULL, NULL));
        ok = sum.is_good && sum.n == whole.n && sum.sequence == whole.sequence;
        ttr_free(t);
    }
    return ok;
}

static bool filter_and_opposite_share_out_all(const struct buffer *bytes)
{
    static const char *const names[] = {"*1*", "Init*", NULL},
                             *const categories[] = {"category[0-4]", NULL},
                             *const threads[] = {"*1", NULL};
    struct sum whole = add_up_filtered(bytes, NULL);
    bool ok = whole.is_good;
    for (unsigned i = 0; i < 6 && ok; i++) {
        ttr_filter filter;
        ttr_filter_init(&filter);
        filter.names = i & 1 ? names : NULL;
        filter.categories = i & 2 ? categories : NULL;
        filter.threads = i & 4 ? threads : NULL;
        filter.kinds = i % 4 ? 0 : 1u << TTR_KIND_SPAN | 1u << TTR_KIND_COUNTER;
        struct sum with = add_up_filtered(bytes, &filter);
        filter.invert = true;
        struct sum without = add_up_filtered(bytes, &filter);
        ok = with.is_good && without.is_good && with.n + without.n == whole.n &&
             with.set + without.set == whole.set;
    }
    return ok;
}

/* Spans that begin before the border and end behind it are in both parts; so is what always passes.
 */
static struct sum add_up_across(const struct buffer *bytes, const int64_t range[2], int64_t border)
{
    struct sum sum = {.n = 0};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.from_ns = range[0];
    filter.to_ns = range[1];
    ttr_reader *in = ttr_filter_new(open_bytes(t, bytes), &filter, NULL);
    ttr_batch batch;
    ttr_status status = TTR_E_IO;
    while (in && (status = ttr_read(in, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *e = ttr_batch_at(&batch, i);
            bool always = e->kind == TTR_KIND_OBJECT || e->kind == TTR_KIND_GAP ||
                          e->kind == TTR_KIND_DEFINITION;
            bool is_across = e->kind == TTR_KIND_SPAN && e->time < border &&
                             (uint64_t)(border - e->time) < e->duration;
            sum.n += always || is_across;
            sum.set += always || is_across ? hash_event(t, e) : 0;
        }
    sum.is_good = status == TTR_END;
    ttr_close(in);
    ttr_free(t);
    return sum;
}

static bool cuts_that_meet_give_the_whole_cut(const struct buffer *bytes)
{
    ttr *t = ttr_new(NULL);
    ttr_summary summary;
    ttr_reader *in = open_bytes(t, bytes);
    bool ok = in && ttr_summarize(t, in, &summary, NULL, NULL, NULL) == TTR_OK;
    ttr_close(in);
    ttr_free(t);
    uint64_t state = bytes->n;
    for (unsigned i = 0; i < 8 && ok; i++) {
        uint64_t length = (uint64_t)(summary.end_ns - summary.begin_ns), at[3];
        for (unsigned j = 0; j < 3; j++)
            at[j] = (support_random(&state) % (length / 3 + 1)) + j * (length / 3);
        int64_t a = summary.begin_ns + (int64_t)at[0], b = summary.begin_ns + (int64_t)at[1],
                c = summary.begin_ns + (int64_t)at[2];
        ttr_filter filter;
        ttr_filter_init(&filter);
        filter.from_ns = a;
        filter.to_ns = b;
        struct sum first = add_up_filtered(bytes, &filter);
        filter.from_ns = b;
        filter.to_ns = c;
        struct sum second = add_up_filtered(bytes, &filter);
        filter.from_ns = a;
        struct sum both = add_up_filtered(bytes, &filter),
                   across = add_up_across(bytes, (int64_t[]){a, c}, b);
        ok = first.n + second.n == both.n + across.n &&
             first.set + second.set == both.set + across.set;
        if (!ok)
            printf("# %llu and %llu events are not %llu and %llu\n", (unsigned long long)first.n,
                   (unsigned long long)second.n, (unsigned long long)both.n,
                   (unsigned long long)across.n);
    }
    return ok;
}

/* Ids of inputs are given when they are opened, so only the order of the array changes, which
 * decides between equal times. */
static bool merging_does_not_depend_on_the_order(const struct buffer *files)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct sum sums[6];
    bool ok = true;
    for (unsigned i = 0; i < 6; i++) {
        ttr *t = ttr_new(NULL);
        ttr_reader *opened[3], *in[3];
        for (unsigned j = 0; j < 3; j++)
            opened[j] = open_bytes(t, &files[j]);
        for (unsigned j = 0; j < 3; j++)
            in[j] = opened[orders[i][j]];
        sums[i] = add_up(t, ttr_merge(t, in, 3, NULL));
        ok = ok && sums[i].is_good && sums[i].n > 0 && sums[i].backward == 0 &&
             sums[i].set == sums[0].set &&
             memcmp(sums[i].of_source, sums[0].of_source, sizeof sums[i].of_source) == 0;
        ttr_free(t);
    }
    return ok;
}

static void make_file(const char *generator, const char *options, struct buffer *to)
{
    char path[64], block[4096];
    buffer_init(to, alloc_default());
    FILE *file = sources_generate(generator, options, path) ? fopen(path, "rb") : NULL;
    for (size_t n; file && (n = fread(block, 1, sizeof block, file)) > 0;)
        buffer_add(to, block, n);
    if (file)
        (void)fclose(file);
    (void)remove(path);
}

/* The same events as Heph. */
static void make_heph(const struct buffer *fxt, struct buffer *to)
{
    ttr *t = ttr_new(NULL);
    buffer_init(to, alloc_default());
    ttr_reader *in = open_bytes(t, fxt);
    ttr_writer *out = ttr_create_push(t, writing_to_buffer, to, "heph", NULL, NULL);
    if (!in || !out || ttr_copy(in, out, NULL, NULL, NULL) != TTR_OK ||
        ttr_finish(out, NULL) != TTR_OK)
        to->n = 0;
    ttr_close(in);
    ttr_free(t);
}

static void check(const struct buffer *bytes, const char *what)
{
    (void)tap_case(pieces_read_like_the_whole(bytes), "pieces of any size read like the whole: %s",
                   what);
    (void)tap_case(filter_and_opposite_share_out_all(bytes),
                   "a filter and its opposite share out all events: %s", what);
    (void)tap_case(cuts_that_meet_give_the_whole_cut(bytes),
                   "cuts that meet give the whole cut: %s", what);
}

int main(void)
{
    const char *generator = getenv("TTR_GENERATE_FXT");
    struct buffer files[4];
    if (!generator)
        return 2;
    make_file(generator, "--events 3000 --seed 21 --mix everything", &files[0]);
    make_file(generator, "--events 3000 --seed 22", &files[1]);
    make_heph(&files[1], &files[2]);
    make_heph(&files[0], &files[3]);
    check(&files[0], "everything FXT has");
    check(&files[1], "a busy system");
    check(&files[2], "a busy system as Heph");
    check(&files[3], "everything as Heph");
    (void)tap_case(merging_does_not_depend_on_the_order(files),
                   "merging does not depend on the order of readers: two FXT and one Heph");
    for (unsigned i = 0; i < 4; i++)
        buffer_free(&files[i]);
    return tap_end();
}
