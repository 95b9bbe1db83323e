/* A reader in place of an unreadable trace, among other traces. It has no events and reports the
 * reason as damage, `trace.unreadable`. It has a separate format, because the trace's format may be
 * unknown. This format is not in the table of formats: users cannot select it, and its name appears
 * only in reports. */
#include <string.h>

#include "base/status.h"
#include "formats/open.h"
#include "model/input.h"

static ttr_status unreadable_open(struct input *in, ttr_error *error)
{
    (void)in;
    (void)error;
    return TTR_OK;
}

static ttr_status unreadable_read_batch(struct input *in, ttr_error *error)
{
    (void)in;
    (void)error;
    return TTR_END;
}

static void unreadable_close(struct input *in)
{
    (void)in;
}

static uint32_t unreadable_get_kinds(struct input *in)
{
    (void)in;
    return 0;
}

static const struct format_reader unreadable_reader = {
    .order = TTR_ORDER_TIME,
    .state_size = 1,
    .open = unreadable_open,
    .next = unreadable_read_batch,
    .close = unreadable_close,
    .kinds = unreadable_get_kinds,
};

static const struct format unreadable = {.name = "unreadable", .reader = &unreadable_reader};

ttr_reader *open_unreadable(ttr *t, const char *path, const ttr_error *reason, ttr_error *error)
{
    struct source *source = source_open_memory(&t->counted, "", 0, NULL, error);
    struct input *in = source ? input_new(t, source, &unreadable, path, NULL, error) : NULL;
    if (!in)
        return NULL;
    if (input_add_damage(in, NO_OFFSET, 0, "trace.unreadable", error, "%.*s",
                         (int)strcspn(reason->text, "\n"), reason->text) == TTR_OK)
        return &in->base;
    ttr_close(&in->base);
    return NULL;
}
