/* CTF as a format: the RFC of 2010 (v1.1), CTF 1.8, CTF 2.  The reader's parts are in ctf_reader.h. */
#include "formats/ctf/ctf_live.h"

static const ttr_option_info options[] = {
    {"metadata", "FILE", "read this metadata instead of the trace's own", false},
    {"time", "exact|double", "double: nanoseconds computed as babeltrace2 does, some of which are off by one", false},
    {"key", "FILE", "1.1: file with the key of enciphered packets: 32 bytes, or 64 hexadecimal digits", false},
    {"key-env", "NAME", "1.1: environment variable with that key: 64 hexadecimal digits", false},
    {"unpacked-max", "BYTES", "1.1: how large a compressed packet may get (default 1 GiB)", false},
    {"live-start", "begin|now", "live traces: from the begin of what the relay daemon has (the default), or from now on", false},
    {"live-reconnect", "SECONDS", "live traces: how long to try to get a lost connection back (30); 0 = not at all", false},
    {"live-patience", "SECONDS", "live traces: how long a silent stream holds others back (4 periods of the live timer, at least 2)", false},
};

const struct format format_ctf = {
    .name = "ctf",
    .title = "Common Trace Format",
    .extensions = "",
    .spec = "CTF 1.8.3, CTF 2.0, RFC v1.1 of 2010",
    .abilities = TTR_FORMAT_READS,
    .order = TTR_ORDER_TIME,
    .bid = ctf_bid,
    .reader_size = sizeof(struct ctf_reader),
    .open = ctf_open,
    .next = ctf_next,
    .ahead = ctf_ahead,
    .close = ctf_close,
    .range = ctf_range,
    .anchor = "metadata",
    .open_folder = ctf_open_folder,
    .schemes = "net net4 net6",
    .open_url = ctf_open_live,
    .describe = ctf_describe,
    .print = ctf_print,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
