/* Writes a small FXT trace: ten spans with a field, and a counter.  Usage: write_trace OUT.fxt */
#include <stdio.h>
#include <tracetta/write.h>

static ttr_status write_step(ttr_builder *event, ttr_writer *out, int i, ttr_error *error)
{
    ttr_event_begin(event, TTR_KIND_SPAN, i * 1000, "example", "step");
    ttr_event_set_thread(event, 1, 2);
    ttr_add_int(event, "number", i);
    ttr_event_attributes(event)->duration = 600;
    ttr_status status = ttr_event_end(event, out, error);
    if (status != TTR_OK)
        return status;
    ttr_event_begin(event, TTR_KIND_COUNTER, i * 1000 + 300, "example", "level");
    ttr_event_set_thread(event, 1, 2);
    ttr_add_float(event, "value", i * 0.5);
    return ttr_event_end(event, out, error);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    ttr_error error = {.status = TTR_OK};
    ttr_write_options options = {.size = sizeof options, .flags = TTR_WRITE_OVERWRITE};
    ttr *t = ttr_new(NULL);
    ttr_writer *out = t ? ttr_create(t, argv[1], "fxt", &options, &error) : NULL;
    ttr_builder *event = out ? ttr_builder_new(t) : NULL;
    ttr_status status = event ? TTR_OK : TTR_E_NOMEM;
    for (int i = 0; i < 10 && status == TTR_OK; i++)
        status = write_step(event, out, i, &error);
    ttr_builder_free(event);
    if (status == TTR_OK)
        status = ttr_finish(out, &error);
    else
        ttr_writer_abort(out);
    if (status != TTR_OK)
        fprintf(stderr, "%s: %s\n", argv[1], error.text);
    ttr_free(t);
    return status != TTR_OK;
}
