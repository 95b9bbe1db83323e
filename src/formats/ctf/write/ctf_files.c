/* Creates and writes files in the folder of an output trace. */
#include "base/status.h"
#include "formats/ctf/write/ctf_write.h"

struct sink *ctf_create_file(const char *folder, struct ttr_writer *out, const char *prefix,
                             const char *name, const char *suffix, ttr_error *error)
{
    struct buffer path;
    struct sink *sink = NULL;
    buffer_init(&path, &out->t->counted);
    buffer_add_text(&path, folder ? folder : "");
    buffer_add_text(&path, prefix);
    buffer_add_text(&path, name);
    buffer_add(&path, suffix, strlen(suffix) + 1);
    if (path.failed)
        (void)fail_memory(error);
    else
        sink = folder_create_file(out->folder, (const char *)path.bytes, error);
    buffer_free(&path);
    return sink;
}

ttr_status ctf_write_file(struct sink *sink, const struct buffer *bytes, ttr_error *error)
{
    if (!sink)
        return error ? error->status : TTR_E_IO;
    if (bytes->failed) {
        sink_abandon(sink);
        return fail_memory(error);
    }
    ttr_status status = sink_write(sink, bytes->bytes, bytes->n, error);
    if (status == TTR_OK)
        return sink_finish(sink, error);
    sink_abandon(sink);
    return status;
}
