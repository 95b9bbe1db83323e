/* Fuzzes symbols, profiles, span trees, statistics and summaries. The input is a list of symbol
 * ranges and events of all kinds (event_input.h). All results must keep their invariants, and all
 * profile formats must be writable. */
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/analyse.h>
#include <tracetta/profile.h>

#include "fuzz/event_input.h"
#include "model/context.h"

static void make_symbols(ttr *t, struct fuzz_bytes *from)
{
    const unsigned n = fuzz_u8(from) & 31;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t what = fuzz_u8(from);
        const ttr_id thread = context_thread(t, 0, what & 1, 1 + (what & 3u));
        struct symbol_range range = {
            .start = fuzz_u64(from),
            .size = fuzz_u64(from),
            .from = (int64_t)fuzz_u64(from),
            .offset = fuzz_u64(from),
            .process = t->threads[thread].process,
            .name = ttr_text_add(t, "function", 1 + what % 8),
            .module = symbols_add_module(&t->symbols, t->threads[thread].process, what % 4)};
        if (!range.module ||
            !symbols_add(&t->symbols, what & 64 ? SYMBOL_FUNCTION : SYMBOL_MAPPING, &range))
            fuzz_stop("memory runs out");
        symbols_set_module_name(&t->symbols, range.module, ttr_text_add(t, "lib.so", 6));
        symbols_set_module_path(&t->symbols, range.module, 0, ttr_text_add(t, "/lib.so", 7));
        if (what & 128 && thread)
            t->processes[range.process].parent = what % 4 < t->processes_n ? what % 4 + 1 : 0;
    }
}

static void look_symbols_up(ttr *t, struct fuzz_bytes *from)
{
    for (ttr_id thread = 0; thread < 8; thread++) {
        ttr_symbol symbol;
        const uint64_t address = fuzz_u64(from);
        if (ttr_symbol_get(t, thread, address, (int64_t)fuzz_u64(from), &symbol) &&
            symbol.size_bytes && address - symbol.start >= symbol.size_bytes)
            fuzz_stop("a function does not contain its address");
    }
}

static void locate_nothing(void *user_data, const ttr_binary *binary, uint64_t address,
                           ttr_location *place)
{
    (void)user_data;
    if (address & 1 && binary->path.n)
        place->function = (ttr_text){"found+0x1", 9};
}

static void check_profile(const ttr_profile *profile)
{
    const ttr_profile_node *node;
    const ttr_profile_frame *frame;
    const ttr_profile_thread *lane;
    const uint32_t n = ttr_profile_nodes(profile, &node),
                   frames = ttr_profile_frames(profile, &frame),
                   lanes = ttr_profile_threads(profile, &lane);
    uint64_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const bool is_root = node[i].parent == TTR_PROFILE_NONE;
        if (node[i].frame >= frames || node[i].lane >= lanes || node[i].total < node[i].self ||
            (!is_root && (node[i].parent >= i || node[i].depth != node[node[i].parent].depth + 1)))
            fuzz_stop("a node of a profile is wrong");
        count += node[i].count;
    }
    if (count != ttr_profile_count(profile))
        fuzz_stop("samples of a profile are missing");
}

static void profile_events(ttr *t, const struct fuzz_events *events, uint32_t flags)
{
    ttr_profile_format format;
    ttr_error error = {0};
    ttr_reader *in = fuzz_events_read(t, events);
    ttr_profile *profile = ttr_profile_new(
        t, in,
        &(ttr_profile_options){
            .size = sizeof(ttr_profile_options), .flags = flags, .locate = locate_nothing},
        &error);
    ttr_close(in);
    if (!profile || error.status != TTR_OK)
        fuzz_stop("no profile");
    check_profile(profile);
    for (size_t i = 0; ttr_profile_format_get(i, &format); i++)
        if (ttr_profile_write(profile, "/dev/null", format.name, "title", 0, &error) != TTR_OK)
            fuzz_stop("a profile cannot be written");
    ttr_profile_free(profile);
}

static void check_tree(ttr *t, const struct fuzz_events *events)
{
    const ttr_tree_span *span;
    ttr_error error = {0};
    ttr_reader *in = fuzz_events_read(t, events);
    ttr_tree *tree = ttr_tree_new(t, in, NULL, NULL, &error);
    ttr_close(in);
    if (!tree)
        fuzz_stop("no tree");
    const uint32_t n = ttr_tree_spans(tree, &span);
    for (uint32_t i = 0; i < n; i++)
        if (span[i].self > span[i].duration ||
            (span[i].parent != TTR_TREE_NONE && span[i].depth != span[span[i].parent].depth + 1))
            fuzz_stop("a span of a tree is wrong");
    ttr_tree_free(tree);
}

static void check_sums(ttr *t, const struct fuzz_events *events)
{
    ttr_summary summary;
    ttr_error error = {0};
    ttr_batch batch;
    ttr_reader *in = fuzz_events_read(t, events);
    if (ttr_summarize(t, in, &summary, NULL, NULL, &error) != TTR_OK ||
        (summary.has_times && summary.begin_ns > summary.end_ns))
        fuzz_stop("a summary is wrong");
    ttr_close(in);
    in = fuzz_events_read(t, events);
    ttr_stat *stat = ttr_stat_new(t, in, NULL, NULL, &error);
    ttr_close(in);
    if (!stat)
        fuzz_stop("no statistics");
    ttr_stat_free(stat);
    in = ttr_pair_spans(fuzz_events_read(t, events), &error);
    while (ttr_read(in, &batch, &error) == TTR_OK)
        ;
    ttr_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    struct fuzz_bytes from = {bytes, bytes + n};
    static struct fuzz_events events;
    ttr *t = fuzz_context(&heap);
    if (context_add_source(t, "here", "test") == UINT16_MAX)
        fuzz_stop("memory runs out");
    const uint8_t flags = fuzz_u8(&from);
    make_symbols(t, &from);
    fuzz_events_make(&events, t, &from);
    look_symbols_up(t, &(struct fuzz_bytes){bytes, bytes + n});
    profile_events(t, &events, flags & 31u & ~(flags & 4u ? TTR_PROFILE_TIMELINE : 0));
    check_tree(t, &events);
    check_sums(t, &events);
    fuzz_events_free(&events);
    fuzz_context_free(t, &heap, n, 0);
    return 0;
}
