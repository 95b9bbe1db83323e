/* Lines as `babeltrace2` prints them, to the byte, so that scripts made for its output go on working.
 *
 * The parts of an event that its class has are printed one after another in braces: packet context, common context, specific
 * context, payload.  Where nothing is known beforehand of an event (it comes from a format without classes) only the parts that it has
 * fields in are there. */
#ifndef TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H
#define TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_H

#include "model/output.h"

/* Which names are printed; as the options of that program. */
struct babeltrace2_names {
    bool payload, context, scope, header;
};

/* Appends ": { ... }, { ... }" without the colon: all parts of an event. */
void babeltrace2_add_parts(struct buffer *to, const ttr *t, const ttr_event *event, const struct babeltrace2_names *names,
                           bool with_color);

#define COLOR_OFF "\033[0m"
#define COLOR_VALUE "\033[1m"
#define COLOR_FIELD "\033[36m"
#define COLOR_SCOPE "\033[1m"
#define COLOR_UNKNOWN "\033[1m\033[91m"
#define COLOR_EVENT "\033[1m\033[95m"
#define COLOR_TIME "\033[1m\033[93m"

#endif
