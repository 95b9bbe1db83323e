/* The file that the tests of Microsoft's EventHeader libraries write: events as they would go to
 * the kernel, one behind the other.
 *
 *   record   size u32 | name of the tracepoint, NUL | event
 * (encodings/event_header/event_header_format.h)
 *
 * The size counts all of the record, itself too, and stands in the byte order of the machine, as
 * the events do.  There is no head, no time and no thread. */
#ifndef TRACETTA_FORMATS_INTERCEPTOR_INTERCEPTOR_FORMAT_H
#define TRACETTA_FORMATS_INTERCEPTOR_INTERCEPTOR_FORMAT_H

#include "encodings/event_header/event_header_format.h"

#define INTERCEPTOR_SIZE 4u /* bytes of the size */
/* the shortest name is "_L0K0" with its zero */
#define INTERCEPTOR_LEAST (INTERCEPTOR_SIZE + 6u + EVENT_HEADER_BYTES)
/* the writer's: 16 MiB */
#define INTERCEPTOR_MOST (INTERCEPTOR_SIZE + EVENT_HEADER_NAME_MAX + 0x1000000u)

#endif
