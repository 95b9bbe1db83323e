/* Field numbers of the Perfetto trace format's protobuf messages, as far as the writer uses them
 * (public schema, 2026).
 *
 * A file is a `Trace`: a sequence of packets, each a field 1 with a TracePacket. A packet contains
 * one item (an event, a track, a clock snapshot), the id of its sequence, and possibly interned
 * data: strings, frames and call stacks. Later packets of the sequence refer to them by a number
 * (iid, never 0) until a packet clears them.
 *
 *   Trace          [0a] length  TracePacket
 *   TracePacket    [50] 1  [68] flags  [40] time  [5a] length TrackEvent  [62] length InternedData
 *   TrackEvent     [48] type  [58] track  [18] category  [50] name  [22] length DebugAnnotation
 *
 * The byte in brackets is the tag: field number << 3 | wire type. Integers are varints; flow ids
 * and doubles have eight bytes. */
#ifndef TRACETTA_FORMATS_PERFETTO_FORMAT_H
#define TRACETTA_FORMATS_PERFETTO_FORMAT_H

enum { TRACE_PACKET = 1 };

enum trace_packet {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8, /* ns on the boot time clock */
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST_ON_SEQUENCE = 87,
    PACKET_TASK_STATE = 117,   /* field with a GenericKernelTaskStateEvent */
    PACKET_PROCESS_TREE = 122, /* field with a GenericKernelProcessTree */
    PACKET_STACK_SAMPLE = 135
};

/* Bits of PACKET_SEQUENCE_FLAGS. */
enum sequence_flags { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDED = 2 };

enum clock_snapshot { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum clock_entry { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum clock_number { CLOCK_REALTIME_NUMBER = 1, CLOCK_BOOTTIME_NUMBER = 6 };

enum interned_data {
    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_KEYS = 3, /* field with a name of a debug annotation */
    INTERNED_FUNCTIONS = 5,
    INTERNED_FRAMES = 6,
    INTERNED_CALLSTACKS = 7,
    INTERNED_BUILD_IDS = 16,
    INTERNED_MAPPING_PATHS = 17,
    INTERNED_MAPPINGS = 19,
    INTERNED_LOG_BODIES = 20,
    INTERNED_VALUES = 29 /* field with a text value of a debug annotation */
};

enum interned_string { STRING_IID = 1, STRING_TEXT = 2 };

enum track_descriptor {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_DESCRIPTION = 14
};

enum process_descriptor { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum thread_descriptor { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum counter_descriptor { COUNTER_CATEGORIES = 2 };

enum track_event {
    EVENT_CATEGORY_IIDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_LOG_MESSAGE = 21,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_COUNTER_DOUBLE = 44,
    EVENT_CALLSTACK_IID = 56
};

/* Flows are written as legacy events of the Chrome format: Perfetto's own flow ids would need an
 * extra slice for each flow event. */
enum legacy_event { LEGACY_PHASE = 2, LEGACY_ID = 6, LEGACY_BIND_TO_ENCLOSING = 12 };

enum track_event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum debug_annotation {
    ANNOTATION_KEY_IID = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_KEY = 10,
    ANNOTATION_DICT = 11,
    ANNOTATION_ARRAY = 12,
    ANNOTATION_TEXT_IID = 17
};

enum log_message { LOG_BODY_IID = 2, LOG_PRIORITY = 3 };
enum log_priority { LOG_VERBOSE = 2, LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR, LOG_FATAL };

enum task_state_event {
    TASK_CPU = 1,
    TASK_NAME = 2,
    TASK_TID = 3,
    TASK_STATE = 4,
    TASK_PRIORITY = 5
};
enum task_state {
    STATE_RUNNABLE = 2,
    STATE_RUNNING = 3,
    STATE_SLEEPING = 4, /* thread sleeps and can be interrupted */
    STATE_WAITING = 5,  /* thread sleeps and cannot be interrupted */
    STATE_STOPPED = 6,
    STATE_DESTROYED = 8
};

enum process_tree { TREE_THREADS = 2 };
enum process_tree_thread { TREE_TID = 1, TREE_PID = 2, TREE_NAME = 3, TREE_IS_IDLE = 5 };

enum stack_sample {
    SAMPLE_TASK = 1,
    SAMPLE_EXECUTION = 3,
    SAMPLE_CALLSTACK_IID = 6,
    SAMPLE_COUNTER = 9,
    SAMPLE_WEIGHT = 11
};
enum sample_counter { SAMPLE_COUNTER_NAME = 2 };
enum sample_task { SAMPLE_PID = 2, SAMPLE_TID = 3 };
enum sample_execution { SAMPLE_CPU = 2 };

/* the first frame is the outermost one */
enum callstack { CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum frame_field { FRAME_IID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_RELATIVE_PC = 4 };
enum mapping {
    MAPPING_IID = 1,
    MAPPING_BUILD_ID = 2,
    MAPPING_START = 4,
    MAPPING_END = 5,
    MAPPING_PATHS = 7,
    MAPPING_EXACT_OFFSET = 8
};

#endif
