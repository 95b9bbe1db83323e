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
         .what = "events that are given later than others of their stream, but were earlier",
         .rule = "get the time of the event before them"},
    [CTF_LOST_TIME] = {.code = "time.between",
                       .what =
                           "times that lie between two ticks of their clock, or before its zero",
                       .rule = "become those of the next tick"},
    [CTF_LOST_ORDER] = {.code = "event.order",
                        .what = "events at the same time on different cpus",
                        .rule = "come in the order of the names of their stream files"},
    [CTF_LOST_MIXED] = {.code = "field.mixed-array",
                        .what = "arrays of unlike elements",
                        .rule = "become structs with members 0, 1, ..."},
    [CTF_LOST_DEPTH] = {.code = "field.depth",
                        .what = "fields more than 12 levels deep",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NUL] = {.code = "text.nul",
                      .what = "texts with NUL characters",
                      .rule = "become bytes"},
    [CTF_LOST_HINT] = {.code = "field.hint",
                       .what = "references to threads, marks of raw bytes and the like",
                       .rule = "become plain numbers and bytes"},
    [CTF_LOST_AFTER_NUL] = {.code = "text.behind",
                            .what = "bytes behind the zero that ends a text of a given room, of "
                                    "events that are encoded anew",
                            .rule = "are left out",
                            .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_WIDE] = {.code = "field.wide",
                       .what = "integers of more than 64 bits, of events that are encoded anew",
                       .rule = "become strings of their decimal digits"},
    [CTF_LOST_LENGTH] = {.code = "field.length",
                         .what = "lengths that stand in another structure than what they count or, "
                                 "in version 1.1, are no field, and arrays of what has lengths of "
                                 "its own, in classes of events that are encoded anew",
                         .rule = "become a field NAME_length before it; become arrays of structs "
                                 "with elements_length and elements"},
    [CTF_LOST_FLOAT] = {.code = "field.float",
                        .what = "floats of 128 bits, of events that are encoded anew",
                        .rule = "become floats of 64 bits"},
    [CTF_LOST_SIZE] = {.code = "event.size",
                       .what =
                           "sizes of events over 65535 bytes, in version 1.1 with event-size=yes",
                       .rule = "are stored as 65535"},
    [CTF_LOST_WRAP] = {.code = "time.wrap",
                       .what = "times behind a hole left by events that are not copied, in packets "
                               "that do not tell when they begin",
                       .rule = "are too early by a multiple of what their field holds"},
    [CTF_LOST_MOVED] = {.code = "event.moved",
                        .what = "events that cannot be put where others were taken out",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NAME] =
        {.code = "field.name",
         .what =
             "names of fields that are no identifiers of the target, or stand twice in a struct",
         .rule = "have underscores in place of what cannot be, or a number behind them"},
    [CTF_LOST_ABSENT] = {.code = "field.absent",
                         .what = "optional fields that are not there",
                         .rule = "are left out",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_TYPE] = {.code = "field.type",
                       .what = "booleans, bits, bytes, optional fields and selectors without "
                               "labels, in versions that have none",
                       .rule = "become numbers and enumerations, arrays of numbers, and variants"},
    [CTF_LOST_VARIANT] =
        {.code = "field.variant",
         .what = "variants, and optional fields that are there, of events that are encoded anew",
         .rule = "become the field that was chosen, each in a class of events of its own"},
    [CTF_LOST_PROPERTY] =
        {.code = "trace.about",
         .what = "namespaces, uids, accuracies and origins of clocks, attributes and the like, "
                 "which only some versions have, and clocks that nanoseconds stand for",
         .rule = "are left out",
         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_CONTEXT] = {.code = "context.place",
                          .what = "contexts of all events of a stream, in version 1.1 with "
                                  "event-size=yes, and fields of contexts that come behind others",
                          .rule = "become fields of the payload"},
    [CTF_LOST_PACKET] = {.code = "context.packet",
                         .what = "what headers of events say beyond id and time; what packets say "
                                 "beyond sizes, times, counters and cpu, in version 1.1, or where "
                                 "it is of another shape than in the stream's first",
                         .rule = "is left out",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_PACKET_TIME] = {.code = "time.mark",
                              .what =
                                  "events without a time but that of their packet, in version 1.1",
                              .rule = "keep it, as one of their own"},
    [CTF_LOST_GAP] = {.code = "event.gap",
                      .what = "gaps of which nobody knows how much is missing",
                      .rule = "are left out",
                      .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_GAP_TIME] =
        {.code = "gap.time",
         .what = "times in which events are missing, where they overlap behind sorting, "
                 "or go up to the end of a packet of more than 8 MiB, which is split",
         .rule = "become times between packets that are written"},
    [CTF_LOST_EVENTS] = {.code = "events.missing",
                         .what =
                             "missing events, by their number, of streams without events, before "
                             "the first packet that is kept, or whose packets do not count them",
                         .rule = "are not told",
                         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_PACKETS] = {.code = "packets.missing",
                          .what =
                              "missing packets, by their number, of streams without events, before "
                              "the first packet that is kept, or whose packets have no numbers",
                          .rule = "are not told",
                          .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_LABEL] = {.code = "field.label",
                        .what = "names of enumerated values whose source does not tell all names, "
                                "or of more values than version 1.1 can list, of flags before "
                                "version 2, and of both in events that are listed",
                        .rule = "are left out; the numbers stay",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NUMBER] =
        {.code = "event.number",
         .what =
             "numbers and versions that providers have for their events, of events that are listed",
         .rule = "are left out",
         .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_UUID] = {.code = "trace.uuid",
                       .what =
                           "uuids of traces of which another input has packets of the same time",
                       .rule = "become other ones",
                       .kind = TTR_LOSS_CHANGED},
    [CTF_LOST_FILE] = {.code = "stream.file",
                       .what = "packets behind others of a file that do not tell where they end",
                       .rule = "stand in files of their own; counters of what is missing begin "
                               "anew there where packets have no times or their stream no number",
                       .kind = TTR_LOSS_CHANGED},
    [CTF_LOST_CHECKSUM] =
        {.code = "packet.checksum",
         .what = "checksums of a scheme that version 1.1 does not define, of packets made anew",
         .rule = "become those of the trace's first packet, or none",
         .kind = TTR_LOSS_CHANGED},
    [CTF_LOST_INDEX] = {.code = "stream.index",
                        .what = "indexes of stream files that are called so that the index would "
                                "have a longer name than the file system takes",
                        .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_THREAD] = {.code = "thread.name",
                         .what = "names of threads, in version 1.1",
                         .rule = "are fields only",
                         .kind = TTR_LOSS_DROPPED},
};
