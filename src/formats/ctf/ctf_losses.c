/* What writing CTF may lose.  With the attributes of its dialect (ctf_dialect.h) CTF can say nearly everything; CTF's own older
 * language, the RFC, lacks some types. */
#include "formats/ctf/ctf_write.h"

const ttr_loss ctf_losses[CTF_LOSSES] = {
    [CTF_LOST_KIND] = {.code = "event.kind", .what = "events of unknown kind", .rule = "become events of kind none"},
    [CTF_LOST_TICKS] = {.code = "clock.ticks", .what = "raw clock ticks", .rule = "become nanoseconds"},
    [CTF_LOST_BACKWARD] = {.code = "time.backward", .what = "events that are given later than others of their stream, but were earlier",
                           .rule = "get the time of the event before them"},
    [CTF_LOST_ORDER] = {.code = "event.order", .what = "events at the same time on different cpus",
                        .rule = "come in the order of the names of their stream files"},
    [CTF_LOST_MIXED] = {.code = "field.mixed-array", .what = "arrays of unlike elements", .rule = "become structs with members 0, 1, ..."},
    [CTF_LOST_DEPTH] = {.code = "field.depth", .what = "fields more than 12 levels deep", .rule = "are left out", .kind = TTR_LOSS_DROPPED},
    [CTF_LOST_NUL] = {.code = "text.nul", .what = "texts with NUL characters", .rule = "become bytes"},
    [CTF_LOST_HINT] = {.code = "field.hint", .what = "references to threads, marks of raw bytes and the like",
                       .rule = "become plain numbers and bytes"},
    [CTF_LOST_FLOAT] = {.code = "field.float", .what = "floats, in version 1.1", .rule = "become texts of their shortest decimals"},
    [CTF_LOST_SIZE] = {.code = "event.size", .what = "sizes of events over 65535 bytes, in version 1.1 with event-size=yes",
                       .rule = "are stored as 65535"},
    [CTF_LOST_WRAP] = {.code = "time.wrap", .what = "times behind a hole left by events that are not copied, in packets that do not tell when they begin",
                       .rule = "are too early by a multiple of what their field holds"},
    [CTF_LOST_MOVED] = {.code = "event.moved", .what = "events that cannot be put where others were taken out", .rule = "are left out",
                        .kind = TTR_LOSS_DROPPED},
};
