/* Encoder of attributes and packets. All numbers are big-endian. Losses are counted in the writer's
 * list of losses. */
#ifndef TRACETTA_FORMATS_HEPH_HEPH_ENCODE_H
#define TRACETTA_FORMATS_HEPH_HEPH_ENCODE_H

#include "formats/heph/heph_format.h"
#include "model/output.h"

/* Kinds of losses of the Heph writer, used as indices into heph_losses. */
enum heph_loss {
    HEPH_LOST_INSTANT,
    HEPH_LOST_PAIR,
    HEPH_LOST_UNMATCHED,
    HEPH_LOST_COUNTER,
    HEPH_LOST_ASYNC,
    HEPH_LOST_STEP,
    HEPH_LOST_FLOW,
    HEPH_LOST_SWITCH,
    HEPH_LOST_WAKE,
    HEPH_LOST_SAMPLE,
    HEPH_LOST_LOG,
    HEPH_LOST_BLOB,
    HEPH_LOST_OBJECT,
    HEPH_LOST_GAP,
    HEPH_LOST_MISSING,
    HEPH_LOST_CATEGORY,
    HEPH_LOST_PROVIDER,
    HEPH_LOST_CPU,
    HEPH_LOST_LEVEL,
    HEPH_LOST_ACTIVITY,
    HEPH_LOST_ID,
    HEPH_LOST_END,
    HEPH_LOST_THREAD,
    HEPH_LOST_PID,
    HEPH_LOST_NAME,
    HEPH_LOST_TIME,
    HEPH_LOST_MARK,
    HEPH_LOST_BACKWARD,
    HEPH_LOST_CONTENT,
    HEPH_LOST_TEXT,
    HEPH_LOST_ELEMENTS,
    HEPH_LOST_MIXED,
    HEPH_LOST_STRUCT,
    HEPH_LOST_NULL,
    HEPH_LOST_BOOL,
    HEPH_LOST_BYTES,
    HEPH_LOST_HINT,
    HEPH_LOST_LABEL,
    HEPH_LOST_CONTEXT,
    HEPH_LOST_DEPTH,
    HEPH_LOST_PACKET,
    HEPH_LOSSES
};

extern const ttr_loss heph_losses[HEPH_LOSSES];

/* Output and temporary buffers of the encoder. */
struct heph_encoder {
    struct ttr_writer *out;
    struct buffer *to;
    struct buffer *path; /* buffer in which the dotted name of a field is built */
    /* file offset of the event in its source, which is recorded with its losses */
    uint64_t offset;
};

void heph_append_u16(struct buffer *to, uint16_t x);
void heph_append_u32(struct buffer *to, uint32_t x);
void heph_append_u64(struct buffer *to, uint64_t x);

/* Appends a string with its length. Truncates a string that is too long at a character boundary. */
void heph_append_text(const struct heph_encoder *encoder, ttr_text text);

/* Append an attribute: name, type and value. */
void heph_append_uint(const struct heph_encoder *encoder, const char *name, uint64_t value);
void heph_append_string(const struct heph_encoder *encoder, const char *name, ttr_text value);
void heph_append_bytes(const struct heph_encoder *encoder, const char *name, ttr_text bytes);

/* Appends all fields of an event as attributes. */
void heph_append_fields(const struct heph_encoder *encoder, const ttr_event *event);

#endif
