/* The format CTF: RFC v1.1 of 2010, CTF 1.8 and CTF 2. This file has only tables; the reader is in
 * read/, the writer in write/, live traces in live/. */
#include "formats/ctf/live/ctf_live.h"
#include "formats/ctf/read/ctf_bare_packets.h"
#include "formats/ctf/read/ctf_fast_loop.h"
#include "formats/ctf/read/ctf_receiver_losses.h"
#include "formats/ctf/write/ctf_write.h"

#define FOR_11 "for 1.1: "

static const ttr_option_info options[] = {
    {"metadata", "FILE", "read this metadata instead of the trace's own", false},
    {"longer-metadata", "FILE",
     "read this metadata where it begins with the trace's own and goes on: that of another folder "
     "of the trace",
     false},
    {"time", "exact|double",
     "double: nanoseconds computed as babeltrace2 does, some of which are off by one", false},
    {"mapped", "shown|hidden",
     "hidden: fields of events that are mapped to a clock are left out, as babeltrace2 does",
     false},
    {"stream-intersection", "yes|no",
     "yes: only the time in which all streams of a trace are active", false},
    {"key", "FILE",
     FOR_11 "file with the key of enciphered packets: 32 bytes, or 64 hexadecimal digits", false},
    {"key-env", "NAME", FOR_11 "environment variable with that key: 64 hexadecimal digits", false},
    {"unpacked-max", "BYTES", FOR_11 "how large a compressed packet may get (default 1 GiB)",
     false},
    {"assume-alignment", "packed|natural|natural-32",
     FOR_11 "where numbers begin in traces that do not record it (default: what fits their events)",
     false},
    {"live-start", "begin|now",
     "live traces: from the begin of what the relay daemon has (the default), or from now on",
     false},
    {"live-reconnect", "SECONDS",
     "live traces: how long to try to get a lost connection back (30); 0 = not at all", false},
    {"live-poll", "SECONDS",
     "live traces: how long to wait before asking again (0.1, or half the live timer where that is "
     "less)",
     false},
    {"live-patience", "SECONDS",
     "live traces: how long a silent stream holds others back (4 periods of the live timer, at "
     "least 2)",
     false},
    {"version", "1.8|2|1.1",
     "what to write: CTF 1.8, CTF 2 or the RFC of 2010; without it that of the source, else 1.8",
     true},
    {"byte-order", "le|be", "byte order of all numbers", true},
    {"packet-size", "BYTES",
     "packets end when they are as large (default 256 KiB); those of other CTF traces are split, "
     "never joined; one event may make a packet larger",
     true},
    {"index", "yes|no",
     "write LTTng's index files, index/NAME.idx (default: yes, of copies where the source has "
     "them; 1.1 has none)",
     true},
    {"packetized-metadata", "yes|no", "put the metadata in packets too (1.8 and 2; default: no)",
     true},
    {"header", "1|2",
     FOR_11 "event headers of type 1 (few event ids, 32 bits) or 2 (many, 48 bits; default, but "
            "what a source of 1.1 has)",
     true},
    {"alignment", "packed|natural",
     FOR_11 "where numbers may begin (default: as in a source of 1.1, else packed)", true},
    {"checksum", "none|md5|sha1|crc32",
     FOR_11 "of each packet (default: as in a source of 1.1, else none; so of the next two)", true},
    {"compression", "none|gzip|bzip2", FOR_11 "of each packet", true},
    {"cypher", "none|aes", FOR_11 "of each packet; needs a key", true},
    {"key", "FILE", FOR_11 "file with the key: 32 bytes, or 64 hexadecimal digits", true},
    {"key-env", "NAME", FOR_11 "environment variable with the key: 64 hexadecimal digits", true},
    {"packet-align", "BYTES",
     FOR_11 "packets are padded to a multiple of so many bytes (default 4096, or 1 where a source "
            "of 1.1 has no such padding)",
     true},
    {"event-size", "yes|no",
     FOR_11 "store the size of each event, which helps to read damaged packets (default: as in a "
            "source of 1.1, else no)",
     true},
    {"text-metadata", "yes|no",
     FOR_11 "metadata as bare text, not in packets (default: as in a source of 1.1, else no)",
     true},
};

static const struct option_use uses[] = {
    {"ctf.metadata", TTR_OPTION_METADATA, "directory.bad-main-file"},
    {"ctf.longer-metadata", TTR_OPTION_LONGER_METADATA, ""},
    {"ctf.stream-intersection", TTR_OPTION_INTERSECTION, ""},
    {"ctf.live-poll", TTR_OPTION_POLL_SECONDS, ""},
    {"ctf.assume-alignment", 0, "ctf.alignment-guess"},
    /* without the key, the reader fails to open a trace with encrypted metadata
     * ("trace.unreadable") */
    {"ctf.key", 0, "ctf.no-key trace.unreadable"},
    {"ctf.unpacked-max", 0, "ctf.unpacked-max"},
};

static const struct format_hints hints = {
    .uses = uses,
    .uses_n = sizeof uses / sizeof *uses,
    .warnings = "ctf.unreadable ctf.alignment-guess ctf.duplicate-event",
};

static const struct format_reader reader = {
    .order = TTR_ORDER_TIME,
    .bid = ctf_bid,
    .state_size = sizeof(struct ctf_reader),
    .open = ctf_open,
    .next = ctf_read_batch,
    .stops = true,
    .close = ctf_close,
    .range = ctf_set_range,
    .kinds = ctf_get_event_kinds,
    .input_options = "metadata longer-metadata stream-intersection",
};

static const struct format_folder folder = {
    .main_file = "metadata",
    .main_file_option = "metadata",
    .open = ctf_open_folder,
    .open_together = ctf_open_folders,
    .open_feed = ctf_open_feed,
    .packet_tag = CTF_DEFINITION_PACKET,
    .losses_file = CTF_RECEIVER_LOSSES,
    .write_losses = ctf_write_receiver_losses,
};

static const struct format_url url = {
    .schemes = "net net4 net6",
    .open = ctf_open_live,
};

static const struct format_description description = {
    .describe = ctf_describe_event_class,
    .print = ctf_print_description,
};

static const struct format_writer writer = {
    .losses = ctf_losses,
    .losses_n = CTF_LOSSES,
    .writes_folder = true,
    .is_part = ctf_is_stream_file,
    .ordered_kinds = READER_ANY_KIND,
    .stores_stacks_as_fields = true,
    .state_size = sizeof(struct ctf_writer),
    .create = ctf_create,
    .write = ctf_write,
    .finish = ctf_finish,
    .can_use_stream_order = ctf_writer_accepts_stream_order,
    .drop = ctf_free_writer,
};

const struct format format_ctf = {
    .name = "ctf",
    .title = "Common Trace Format",
    .extensions = "",
    .spec = "CTF 1.8.3, CTF 2.0, RFC v1.1 of 2010",
    .diagnostics = ctf_diagnostics,
    .reader = &reader,
    .folder = &folder,
    .url = &url,
    .description = &description,
    .bare = &ctf_bare_packets,
    .writer = &writer,
    .hints = &hints,
    .options = options,
    .options_n = sizeof options / sizeof *options,
};
