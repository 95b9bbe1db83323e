/* Frames: how a trace of several files is sent. A frame has one packet of a stream file, or one
 * part of a file that readers need complete (CTF: the metadata), and the name of that file. Packets
 * of CTF alone would not do: those of RFC v1.1 do not contain their section, and those of CTF 1.8
 * may lack size, number and magic.
 *
 * | [0..3]   magic D7 'T' 'R' 'F'         [4..7]   size of the frame in bytes
 * | [8..11]  CRC-32 of bytes 12 to end    [12..19] session: differs per start of the sender
 * | [20..27] name of the format, padded with zeros
 * | [28..31] number of the file; differs per name
 * | [32..35] number of the packet in its file, or of the part, from 0
 * | [36..39] number of parts; 0 = the frame has a packet
 * | [40..43] events in the packet         [44..51] events in the earlier packets of the file
 * | [52..53] length of the name           [54..]   name, then content
 *
 * Numbers are big-endian. A name is relative to the folder of the trace ("ust/channel0_0"). */
#ifndef TRACETTA_NETWORK_FILE_FRAME_H
#define TRACETTA_NETWORK_FILE_FRAME_H

#include "base/buffer.h"
#include "model/format.h"

#define FILE_FRAME_HEADER 54u
#define FILE_FRAME_FORMAT_AT 20u /* offset of the name of the format */
#define FILE_FRAME_NAME_MAX 255u
#define FILE_FRAME_LEVELS_MAX 8u /* parts of a name between slashes */
#define FILE_FRAME_PARTS_MAX 4096u
#define FILE_FRAME_FORMAT_MAX 8u

struct file_frame {
    uint64_t session;
    char format[FILE_FRAME_FORMAT_MAX + 1];
    uint32_t file, number, parts, events;
    uint64_t events_before;
    const char *name; /* name_n bytes without a terminating zero; borrowed */
    size_t name_n;
    const uint8_t *content; /* borrowed */
    size_t content_n;
};

/* Appends a frame. Sets to->failed if memory runs out. */
void file_frame_write(struct buffer *to, const struct file_frame *frame);

/* Parses a complete frame of the size that file_frame_transfer.get_size returned. Returns false if
 * its checksum is wrong or its content is invalid. */
bool file_frame_parse(const uint8_t *bytes, size_t n, struct file_frame *frame);

/* Returns true if the name stays inside of a folder and contains no hidden or special names. */
bool file_frame_is_valid_name(const char *name, size_t n);

/* Frames as packets of a source: facts.stream is the number of the file. */
extern const struct format_transfer file_frame_transfer;

#endif
