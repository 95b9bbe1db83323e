/* Losses of the CTF writer. With the attributes of our dialect (ctf_dialect.h) CTF can express
 * nearly everything; v1.1 lacks some types. */
#include "formats/ctf/write/ctf_write.h"

const ttr_loss ctf_losses[CTF_LOSSES] = {
    [CTF_LOST_KIND] = {.code = "event.kind",
                       .what = "events of unknown kind",
                       .rule = "become events of kind none"},
    [CTF_LOST_TICKS] = {.code = "clock.ticks",
                        .what = "raw clock ticks",
                        .rule = "become nanoseconds"},
    [CTF_LOST_BACKWARD] =
        {.code = "time.backward",
         .what = "events that arrive later than others of their stream, but are earlier",
         .rule = "get the time of the event before them"},
    [CTF_LOST_TIME] = {.code = "time.between",
                       .what = "times between two ticks of their clock, or before its zero",
                       .rule = "become those of the next tick"},
    [CTF_LOST_ORDER] = {.code = "event.order",
                        .what = "events at the same time on different CPUs",
                        .rule = "are read in the order of the names of their stream files"},
    [CTF_LOST_MIXED] = {.code = "field.mixed-array",
                        .what = "arrays whose elements differ in type",
                        .rule = "become structs with members 0, 1, ..."},
    [CTF_LOST_DEPTH] = {.code = "field.depth",
                        .what = "fields more than 12 levels deep",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NUL] = {.code = "text.nul",
                      .what = "texts with NUL characters",
                      .rule = "become bytes"},
    [CTF_LOST_HINT] = {.code = "field.hint",
                       .what = "references to threads, marks of raw bytes and similar hints",
                       .rule = "become plain numbers and bytes"},
    [CTF_LOST_AFTER_NUL] =
        {.code = "text.behind",
         .what = "bytes after the zero that ends a text of fixed size, of transcoded events",
         .rule = "are left out",
         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_WIDE] = {.code = "field.wide",
                       .what = "integers of more than 64 bits, of transcoded events",
                       .rule = "become strings of their decimal digits"},
    [CTF_LOST_LENGTH] =
        {.code = "field.length",
         .what = "lengths in another struct than the array, lengths that are not fields in version "
                 "1.1, and arrays of elements with a length, of transcoded events",
         .rule = "become a field NAME_length before the array; become arrays of structs with "
                 "elements_length and elements"},
    [CTF_LOST_FLOAT] = {.code = "field.float",
                        .what = "floats of 128 bits, of transcoded events",
                        .rule = "become floats of 64 bits"},
    [CTF_LOST_SIZE] = {.code = "event.size",
                       .what =
                           "sizes of events above 65535 bytes, in version 1.1 with event-size=yes",
                       .rule = "are stored as 65535"},
    [CTF_LOST_WRAP] =
        {.code = "time.wrap",
         .what = "times after events that are not copied, in packets without a start time",
         .rule = "may be early by a multiple of the range of the time field"},
    [CTF_LOST_MOVED] = {.code = "event.moved",
                        .what = "events that cannot be moved to the place of dropped ones",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NAME] =
        {.code = "field.name",
         .what =
             "names of fields that are not identifiers of the target, or occur twice in a struct",
         .rule = "get underscores for other characters, or a number appended"},
    [CTF_LOST_ABSENT] = {.code = "field.absent",
                         .what = "absent optional fields",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_TYPE] = {.code = "field.type",
                       .what = "booleans, bits, bytes, optional fields and selectors without "
                               "labels, in versions without them",
                       .rule = "become numbers and enumerations, arrays of numbers, and variants"},
    [CTF_LOST_VARIANT] = {.code = "field.variant",
                          .what = "variants and present optional fields, of transcoded events",
                          .rule = "become the selected field, each in an event class of its own"},
    [CTF_LOST_PROPERTY] =
        {.code = "trace.about",
         .what = "namespaces, UIDs, accuracies and origins of clocks, attributes and similar "
                 "properties that only some versions have, and clocks that nanoseconds replace",
         .rule = "are left out",
         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_CONTEXT] = {.code = "context.place",
                          .what = "common contexts in version 1.1 with event-size=yes, and context "
                                  "fields that follow fields of another group",
                          .rule = "become fields of the payload"},
    [CTF_LOST_PACKET] = {.code = "context.packet",
                         .what =
                             "fields of event headers other than id and time; fields of packets "
                             "other than sizes, times, counters and CPU, in version 1.1, or if "
                             "their shape differs from that in the first packet of the stream",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_PACKET_TIME] = {.code = "time.mark",
                              .what =
                                  "events whose only time is that of their packet, in version 1.1",
                              .rule = "keep it as a time of their own"},
    [CTF_LOST_GAP] = {.code = "event.gap",
                      .what = "gaps of unknown size",
                      .rule = "are left out",
                      .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_GAP_TIME] = {.code = "gap.time",
                           .what = "times of gaps that overlap after sorting, or extend to the end "
                                   "of a packet of more than 8 MiB, which is split",
                           .rule = "become times between written packets"},
    [CTF_LOST_EVENTS] = {.code = "events.missing",
                         .what = "counts of missing events, in streams without events, before the "
                                 "first kept packet, or in packets without such a counter",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_PACKETS] = {.code = "packets.missing",
                          .what = "counts of missing packets, in streams without events, before "
                                  "the first kept packet, or in packets without numbers",
                          .rule = "are left out",
                          .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_LABEL] =
        {.code = "field.label",
         .what = "labels of values if the source does not declare all of them, of more values than "
                 "version 1.1 can list, of flags before version 2, and of both in listed events",
         .rule = "are left out; the numbers are kept",
         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NUMBER] = {.code = "event.number",
                         .what = "providers' event numbers and versions, of listed events",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_UUID] =
        {.code = "trace.uuid",
         .what = "UUIDs of traces if another input with the same UUID has packets of the same time",
         .rule = "become other ones",
         .kind = TTR_LOSS_CHANGED},
    [CTF_LOST_FILE] = {.code = "stream.file",
                       .what = "packets that follow one without a size in their file",
                       .rule =
                           "are written to files of their own; counters of missing events start "
                           "again there if packets have no times or their stream no number",
                       .kind = TTR_LOSS_CHANGED},
    [CTF_LOST_CHECKSUM] =
        {.code = "packet.checksum",
         .what = "checksums of a scheme that version 1.1 does not define, of rebuilt packets",
         .rule = "become those of the trace's first packet, or none",
         .kind = TTR_LOSS_CHANGED},
    [CTF_LOST_INDEX] = {.code = "stream.index",
                        .what =
                            "indexes whose file name would be longer than the file system allows",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_THREAD] = {.code = "thread.name",
                         .what = "names of threads, in version 1.1",
                         .rule = "are kept as fields only",
                         .kind = TTR_LOSS_DROPPED},
};
