/* What every ttr_reader is, whether it decodes a file or wraps others. */
#ifndef TRACETTA_MODEL_READER_H
#define TRACETTA_MODEL_READER_H

#include <tracetta/read.h>

struct reader_ops {
    ttr_status (*next)(struct ttr_reader *reader, ttr_batch *batch, ttr_error *error);
    void (*close)(struct ttr_reader *reader); /* frees the reader itself too */
    bool (*report)(struct ttr_reader *reader, size_t index, ttr_report *report);
};

struct ttr_reader {
    ttr *t;
    const struct reader_ops *ops;
    ttr_order order;
    ttr_status stuck; /* TTR_OK, or what every later read gives */
    ttr_error stuck_error;
};

#endif
