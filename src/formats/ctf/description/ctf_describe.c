/* Answers queries about an open trace: its event classes one by one, and its metadata as text in
 * any of the three languages. */
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_reader.h"

/* Returns the number of events of a class that the input has returned so far. Adds up all streams
 * of the stream class, since the input's file may contain several. */
static uint64_t count_returned_events(const struct ctf_reader *reader,
                                      const struct ctf_stream_class *class, size_t index)
{
    const uint64_t id = class->events[index]->id;
    uint64_t events_read = 0;
    for (size_t i = 0; i < reader->streams_n; i++) {
        const struct ctf_stream *stream = reader->streams[i];
        const struct ctf_stream_class *ctx =
            stream->kind ? stream->kind->first->class : stream->class;
        const struct ctf_event_decoder *met =
            ctx == class && index < stream->by_index_n ? stream->by_index[index] : NULL;
        if (met)
            events_read +=
                met->events_read + (id < stream->by_id_n && stream->by_id[id].class == met
                                        ? stream->by_id[id].events_read
                                        : 0);
    }
    return events_read;
}

bool ctf_describe_event_class(struct input *in, size_t i, struct event_class *about,
                              uint64_t *events)
{
    struct ctf_reader *reader = in->ctx;
    const struct ctf_description *description = &reader->trace->class->description;
    struct ctf_described *at = &reader->described;
    /* callers ask for one class after the other, so the search continues at the last class, unless
     * added metadata changed the numbering */
    if (i < at->first || at->events_n != description->events_n)
        *at = (struct ctf_described){.events_n = description->events_n};
    while (at->stream < description->streams_n &&
           i - at->first >= description->streams[at->stream]->events_n)
        at->first += description->streams[at->stream++]->events_n;
    if (at->stream == description->streams_n)
        return false;
    const struct ctf_stream_class *stream = description->streams[at->stream];
    ctf_describe_declared_class(reader->trace, stream->events[i - at->first], about);
    about->root[ROOT_PACKET_CONTEXT] = stream->packet_context;
    *events = count_returned_events(reader, stream, i - at->first);
    return true;
}

ttr_status ctf_print_description(struct input *in, const char *language, struct buffer *to,
                                 ttr_error *error)
{
    static const struct {
        const char *name;
        ttr_status (*print)(const struct ctf_description *description, struct buffer *to,
                            ttr_error *error);
    } languages[] = {
        {"ctf2", ctf2_print_indented}, {"ctf1.8", tsdl_print}, {"ctf1.1", rfc11_print}};
    const struct ctf_reader *reader = in->ctx;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(languages[i].name, language) == 0)
            return languages[i].print(&reader->trace->class->description, to, error);
    return fail(error, TTR_E_MISUSE, NO_OFFSET,
                "metadata is written in ctf2, ctf1.8 or ctf1.1, not in \"%s\"", language);
}
