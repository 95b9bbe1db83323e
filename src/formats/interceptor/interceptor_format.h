/* File format of the test interceptor in Microsoft's EventHeader libraries: consecutive events, as
 * the libraries pass them to the kernel.
 *
 *   record   size u32 | name of the tracepoint, NUL | event
 *
 * encodings/event_header/event_header_format.h has the layout of the event. The size is that of the
 * complete record, including the size field. Size and event are in the byte order of the machine.
 * A file has no header, and records have no time and no thread. */
#ifndef TRACETTA_FORMATS_INTERCEPTOR_INTERCEPTOR_FORMAT_H
#define TRACETTA_FORMATS_INTERCEPTOR_INTERCEPTOR_FORMAT_H

#include "encodings/event_header/event_header_format.h"

#define INTERCEPTOR_SIZE_BYTES 4u /* size of the size field, in bytes */
/* minimum size of a record in bytes: the shortest name is "_L0K0" and its NUL */
#define INTERCEPTOR_RECORD_MIN (INTERCEPTOR_SIZE_BYTES + 6u + EVENT_HEADER_BYTES)
/* maximum size of a record in bytes: the writer's limit for an event is 16 MiB */
#define INTERCEPTOR_RECORD_MAX (INTERCEPTOR_SIZE_BYTES + EVENT_HEADER_NAME_MAX + 0x1000000u)

#endif
