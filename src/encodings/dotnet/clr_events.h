/* What the .NET runtime's own events are called and which fields they have: they come without
 * metadata of their own.
 *
 * Fields are spelled "Name:code", with "=Map" behind the code where values have names,
 * "Name*Count:code" for as many elements as the field Count says (a number: as many; "+": as 16
 * bits right before them say), "Name*Count{fields}" for structs.  Codes: u1 u2 u4 u8 i4 i8 d
 * (double), p (address of the traced process), x (4 bytes that are there only where addresses have
 * 8), b (boolean of 4 bytes), g (GUID), z (UTF-16 up to a zero), a (8-bit characters up to a zero),
 * v (LEB128), t (16-bit length, UTF-8). Thread rule: constant. */
#ifndef TRACETTA_ENCODINGS_DOTNET_CLR_EVENTS_H
#define TRACETTA_ENCODINGS_DOTNET_CLR_EVENTS_H

#include "base/arena.h"
#include "model/type.h"

struct clr_event {
    uint16_t id;
    uint8_t version;
    const char *name, *fields;
};

struct clr_map {
    const char *name;
    bool is_flags;      /* labels name bits, from the lowest */
    const char *labels; /* of 0, 1, ..., blanks between; "-" = none */
};

struct clr_provider {
    const char *name;
    const struct clr_event *events; /* by id and version, up to one without a name */
};

/* The table. */
extern const struct clr_provider clr_providers[];
extern const size_t clr_providers_n;
extern const struct clr_map clr_maps[];
extern const size_t clr_maps_n;
extern const struct clr_event clr_runtime_events[];
extern const struct clr_event clr_private_events[];
extern const struct clr_event clr_mono_events[];

/* The event of that version, or of the latest version before it (the fields of later versions are
 * added behind); of one that is older than all that are known the first of these, whose name holds,
 * but not its fields.  NULL = not known. */
const struct clr_event *clr_event_find(ttr_text provider, uint32_t id, uint32_t version);

/* How types are made. */
struct clr_making {
    struct arena *arena;
    unsigned pointer_bytes;
    uint16_t guid_role; /* type.role of GUIDs, which are blobs of 16 bytes */
};

/* The fields of an event as a struct in the arena; NULL when memory is out. */
struct type *clr_event_type(const struct clr_making *making, const struct clr_event *event);

/* Gives fields that are described elsewhere the names of values that the event's fields of those
 * names have; false when memory is out. */
TTR_MUST bool clr_event_label(struct arena *arena, const struct clr_event *event,
                              struct type *type);

#endif
