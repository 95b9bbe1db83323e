/* The file with the losses of a receiver. */
#include "formats/ctf/read/ctf_receiver_losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/status.h"

#define FILE_MAX 4096u /* bytes */
#define KERNEL "kernel_drops "
#define DROPPED "dropped_packets "

void ctf_write_receiver_losses(struct buffer *to, const struct packet_losses *losses)
{
    char text[128];
    const int n = snprintf(text, sizeof text, KERNEL "%" PRIu64 "\n" DROPPED "%" PRIu64 "\n",
                           losses->kernel_drops, losses->dropped_packets);
    buffer_add(to, text, (size_t)n);
}

/* Parses the number of a line that starts with `name`. Returns false if another name or no number
 * is there. */
static bool parse_line(const char *line, size_t n, const char *name, uint64_t *number)
{
    const size_t name_n = strlen(name);
    return n > name_n && memcmp(line, name, name_n) == 0 &&
           number_parse_u64(line + name_n, n - name_n, number);
}

static bool parse_losses(const char *text, size_t n, struct packet_losses *losses)
{
    bool is_valid = n > 0;
    for (size_t at = 0, line_n; at < n && is_valid; at += line_n + 1) {
        const char *end = memchr(text + at, '\n', n - at);
        line_n = end ? (size_t)(end - text) - at : n - at;
        is_valid = parse_line(text + at, line_n, KERNEL, &losses->kernel_drops) ||
                   parse_line(text + at, line_n, DROPPED, &losses->dropped_packets);
    }
    return is_valid;
}

/* Sets *id to the name of a gap event. Returns false if memory runs out. */
static bool name_gap(const struct ctf_trace *trace, uint64_t n, const char *cause, ttr_id *id)
{
    char name[80];
    if (n == 0)
        return true;
    const int name_n = snprintf(name, sizeof name, "%" PRIu64 " %s", n, cause);
    *id = intern_add(&trace->t->strings, name, (size_t)name_n);
    return *id != UINT32_MAX;
}

ttr_status ctf_load_receiver_losses(struct ctf_trace *trace, bool *is_valid, ttr_error *error)
{
    uint8_t *bytes = NULL;
    size_t n;
    ttr_error reason = {0};
    *is_valid = true;
    ttr_status status =
        folder_read_hidden_file(trace->folder, CTF_RECEIVER_LOSSES, FILE_MAX, &bytes, &n, &reason);
    if (status == TTR_E_NOMEM)
        return fail_memory(error);
    if (status == TTR_OK && !bytes)
        return TTR_OK;
    *is_valid = status == TTR_OK && parse_losses((const char *)bytes, n, &trace->losses);
    if (bytes)
        alloc_free(&trace->t->counted, bytes, n + 1, 1);
    if (!*is_valid)
        trace->losses = (struct packet_losses){0};
    const bool is_named = name_gap(trace, trace->losses.kernel_drops,
                                   "datagrams were dropped by the kernel", &trace->loss_names[0]) &&
                          name_gap(trace, trace->losses.dropped_packets,
                                   "packets were dropped by a full queue", &trace->loss_names[1]);
    return is_named ? TTR_OK : fail_memory(error);
}
