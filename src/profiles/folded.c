/* Folded stacks, the input of flamegraph.pl and its successors: one line per distinct stack, frames
 * separated by ';', outermost first, then a space and the weight. The format has only this
 * convention. Control characters in names become spaces: they would break a line or reach the
 * user's terminal as escape sequences. ';' becomes ':'. */
#include "base/number.h"
#include "base/utf.h"
#include "profiles/profiles.h"

/* longer names are cut, since each line repeats the names of all frames */
#define NAME_MAX_BYTES 1024u

static void append_folded_name(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    n = n > NAME_MAX_BYTES ? utf8_truncated_length(bytes, n, NAME_MAX_BYTES) : n;
    for (size_t i = 0; i < n;) {
        const size_t control = utf8_control_length(p + i, n - i),
                     length = control ? control : utf8_char_length(p + i, n - i);
        if (control)
            buffer_add_byte(to, ' ');
        else if (length == 0)
            buffer_add(to, "\xef\xbf\xbd", 3); /* U+FFFD for invalid UTF-8 */
        else
            buffer_add(to, p[i] == ';' ? (const uint8_t *)":" : p + i, length);
        i += length ? length : 1;
    }
}

/* Appends process and thread as the outermost frames, unless all threads are merged into one. */
static void append_thread_frames(struct profile_out *out, const ttr_profile_thread *lane,
                                 struct buffer *scratch)
{
    if (!lane->thread)
        return;
    void (*const append_label[])(const struct profile_out *, const ttr_profile_thread *,
                                 struct buffer *) = {profile_process_text, profile_thread_text};
    for (size_t i = 0; i < 2; i++) {
        buffer_clear(scratch);
        append_label[i](out, lane, scratch);
        append_folded_name(&out->to, scratch->bytes, scratch->n);
        buffer_add_byte(&out->to, ';');
    }
    out->to.failed |= scratch->failed;
}

static void append_folded_line(struct profile_out *out, uint32_t node, struct buffer *scratch)
{
    char digits[NUMBER_MAX];
    uint32_t n = profile_stack_frames(out, node);
    append_thread_frames(out, &out->lane[out->node[node].lane], scratch);
    for (uint32_t i = 0; i < n; i++) {
        ttr_text name = profile_frame_text(out, out->path[i]);
        append_folded_name(&out->to, name.p, name.n);
        buffer_add_byte(&out->to, i + 1 < n ? ';' : ' ');
    }
    buffer_add(&out->to, digits, number_format_u64(digits, out->node[node].self));
    buffer_add_byte(&out->to, '\n');
}

static ttr_status write_folded(struct profile_out *out, ttr_error *error)
{
    struct buffer scratch;
    ttr_status status = TTR_OK;
    buffer_init(&scratch, out->alloc);
    for (uint32_t i = 0; i < out->nodes_n && status == TTR_OK && !out->is_stopped; i++) {
        if (out->node[i].self)
            append_folded_line(out, i, &scratch);
        status = profile_flush_if_full(out, error);
    }
    buffer_free(&scratch);
    return status;
}

const struct profile_writer profile_folded = {
    .about = {"folded", "folded stacks, a line each, for flame graph tools", "folded txt",
              TTR_PROFILE_MERGED, PROFILE_STACK_MAX},
    .can_stop = true,
    .write = write_folded,
};
