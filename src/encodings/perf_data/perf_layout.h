/* Byte layout of perf.data, shared by its reader and its writer. Constants and field offsets only.
 *
 * Sources: linux/include/uapi/linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt. A file has the byte order of the machine that
 * recorded it; the magic reveals it.
 *
 *   header   [0..7] "PERFILE2" | [8..15] header size | [16..23] attr_size
 *            | {offset, size} of attrs, data, event types (unused) | 256 feature bits
 *   attrs    entries of attr_size bytes: perf_event_attr | {offset, size} of its u64 ids
 *   data     records: [0..3] type | [4..5] misc | [6..7] size, including these eight bytes
 *   features after the data: {offset, size} per set feature bit, in ascending order
 *
 *   pipe     [0..7] "PERFILE2" | [8..15] 16, then records only; the parts of a file's header are
 *            records too */
#ifndef TRACETTA_ENCODINGS_PERF_DATA_PERF_LAYOUT_H
#define TRACETTA_ENCODINGS_PERF_DATA_PERF_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* bytes in a little-endian file; reversed in a big-endian file */
#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_BIG "2ELIFREP"
#define PERF_HEADER_BYTES 104u
#define PERF_PIPE_HEADER_BYTES 16u
#define PERF_SECTION_BYTES 16u
#define PERF_RECORD_HEADER 8u
#define PERF_RECORD_BYTES_MAX 65535u
#define PERF_FEATURES_MAX 256u

/* Byte offsets in the header of a file. */
enum perf_header_offset {
    PERF_AT_HEADER_SIZE = 8,
    PERF_AT_ATTR_SIZE = 16,
    PERF_AT_ATTRS = 24,
    PERF_AT_DATA = 40,
    PERF_AT_EVENT_TYPES = 56,
    PERF_AT_FEATURES = 72
};

/* Bit numbers of the feature sections in the header. */
enum perf_feature {
    /* set in a live file that is not finished (perf_data_writer_mark_readable); has no content */
    PERF_FEATURE_RESERVED = 0,
    PERF_FEATURE_TRACING_DATA = 1,
    PERF_FEATURE_BUILD_ID = 2,
    PERF_FEATURE_HOSTNAME = 3,
    PERF_FEATURE_OSRELEASE = 4,
    PERF_FEATURE_VERSION = 5,
    PERF_FEATURE_ARCH = 6,
    PERF_FEATURE_NRCPUS = 7,
    PERF_FEATURE_CPUDESC = 8,
    PERF_FEATURE_CPUID = 9,
    PERF_FEATURE_TOTAL_MEM = 10,
    PERF_FEATURE_CMDLINE = 11,
    PERF_FEATURE_EVENT_DESC = 12,
    PERF_FEATURE_CPU_TOPOLOGY = 13,
    PERF_FEATURE_NUMA_TOPOLOGY = 14,
    PERF_FEATURE_BRANCH_STACK = 15,
    PERF_FEATURE_PMU_MAPPINGS = 16,
    PERF_FEATURE_GROUP_DESC = 17,
    PERF_FEATURE_AUXTRACE = 18,
    PERF_FEATURE_STAT = 19,
    PERF_FEATURE_CACHE = 20,
    PERF_FEATURE_SAMPLE_TIME = 21,
    PERF_FEATURE_MEM_TOPOLOGY = 22,
    PERF_FEATURE_CLOCKID = 23,
    PERF_FEATURE_DIR_FORMAT = 24,
    PERF_FEATURE_BPF_PROG_INFO = 25,
    PERF_FEATURE_BPF_BTF = 26,
    PERF_FEATURE_COMPRESSED = 27,
    PERF_FEATURE_CPU_PMU_CAPS = 28,
    PERF_FEATURE_CLOCK_DATA = 29,
    PERF_FEATURE_HYBRID_TOPOLOGY = 30,
    PERF_FEATURE_PMU_CAPS = 31
};

/* Types of records. The kernel writes types below 64, the perf tool all others. */
enum perf_record {
    PERF_MMAP = 1,
    PERF_LOST = 2,
    PERF_COMM = 3,
    PERF_EXIT = 4,
    PERF_THROTTLE = 5,
    PERF_UNTHROTTLE = 6,
    PERF_FORK = 7,
    PERF_READ = 8,
    PERF_SAMPLE = 9,
    PERF_MMAP2 = 10,
    PERF_AUX = 11,
    PERF_ITRACE_START = 12,
    PERF_LOST_SAMPLES = 13,
    PERF_SWITCH = 14,
    PERF_SWITCH_CPU_WIDE = 15,
    PERF_NAMESPACES = 16,
    PERF_KSYMBOL = 17,
    PERF_BPF_EVENT = 18,
    PERF_CGROUP = 19,
    PERF_TEXT_POKE = 20,
    PERF_AUX_OUTPUT_HW_ID = 21,
    PERF_TOOL_FIRST = 64,
    PERF_HEADER_ATTR = 64,
    PERF_HEADER_EVENT_TYPE = 65,
    /* [8..11] number of bytes after the record; the size of the record does not include them */
    PERF_HEADER_TRACING_DATA = 66,
    PERF_HEADER_BUILD_ID = 67,
    PERF_FINISHED_ROUND = 68,
    PERF_ID_INDEX = 69,
    PERF_AUXTRACE_INFO = 70,
    /* [8..15] number of bytes after the record; the size of the record does not include them */
    PERF_AUXTRACE = 71,
    PERF_AUXTRACE_ERROR = 72,
    PERF_THREAD_MAP = 73,
    PERF_CPU_MAP = 74,
    PERF_STAT_CONFIG = 75,
    PERF_STAT = 76,
    PERF_STAT_ROUND = 77,
    PERF_EVENT_UPDATE = 78,
    PERF_TIME_CONV = 79,
    PERF_HEADER_FEATURE = 80,
    PERF_COMPRESSED = 81,
    PERF_FINISHED_INIT = 82,
    PERF_COMPRESSED2 = 83
};

/* Bits of a record's misc field. The meaning of some depends on the record type. */
#define PERF_MISC_CPUMODE 7u /* mask of the CPU mode (kernel, user ...) */
#define PERF_MISC_KERNEL 1u
#define PERF_MISC_USER 2u
#define PERF_MISC_COMM_EXEC 0x2000u  /* COMM: the thread executed a new program */
#define PERF_MISC_MMAP_DATA 0x2000u  /* MMAP, MMAP2: the mapping is not executable */
#define PERF_MISC_SWITCH_OUT 0x2000u /* SWITCH: the thread was scheduled out */
/* SWITCH out: the thread was preempted, so it was still runnable */
#define PERF_MISC_SWITCH_PREEMPT 0x4000u
#define PERF_MISC_BUILD_ID 0x4000u      /* MMAP2: a build id replaces device and inode */
#define PERF_MISC_BUILD_ID_SIZE 0x8000u /* BUILD_ID: the length of the id is stored */

/* Values of the type field of an attribute. */
enum perf_type {
    PERF_TYPE_HARDWARE_EVENT = 0,
    PERF_TYPE_SOFTWARE_EVENT = 1,
    PERF_TYPE_TRACEPOINT_EVENT = 2,
    PERF_TYPE_HW_CACHE_EVENT = 3,
    PERF_TYPE_RAW_EVENT = 4,
    PERF_TYPE_BREAKPOINT_EVENT = 5
};

/* Byte offsets of the fields of a perf_event_attr. */
enum perf_attr_offset {
    PERF_ATTR_TYPE = 0, /* u32: type of the event (enum perf_type) */
    /* u32: size of the attribute in bytes, which identifies its version */
    PERF_ATTR_SIZE = 4,
    /* u64: identifies the event within its type, such as a tracepoint id */
    PERF_ATTR_CONFIG = 8,
    /* u64: number of events per sample, or samples per second (Hz) if the flag FREQ is set */
    PERF_ATTR_PERIOD = 16,
    PERF_ATTR_SAMPLE_TYPE = 24, /* u64: fields of a sample, bits PERF_SAMPLE_HAS_... */
    /* u64: content of READ in a sample, bits PERF_READ_... */
    PERF_ATTR_READ_FORMAT = 32,
    PERF_ATTR_FLAGS = 40, /* 64 flags (enum perf_attr_flag) */
    /* u32: number of events or bytes until the reader is woken up */
    PERF_ATTR_WAKEUP = 48,
    PERF_ATTR_BP_TYPE = 52, /* u32: type of breakpoint */
    PERF_ATTR_CONFIG1 = 56, /* u64: meaning depends on the event type */
    /* u64: meaning depends on the event type; the first field that attributes of version 0 do
     * not have */
    PERF_ATTR_CONFIG2 = 64,
    PERF_ATTR_BRANCH_TYPE = 72, /* u64: kinds of branches to record */
    /* u64: mask of the user registers that a sample contains */
    PERF_ATTR_REGS_USER = 80,
    PERF_ATTR_STACK_USER = 88, /* u32: bytes of the user stack that a sample contains */
    /* s32: number of the clock for clock_gettime that provides times */
    PERF_ATTR_CLOCKID = 92,
    /* u64: mask of the registers at the interrupt that a sample contains */
    PERF_ATTR_REGS_INTR = 96,
    /* u32: bytes of AUX data until the reader is woken up */
    PERF_ATTR_AUX_WATERMARK = 104,
    PERF_ATTR_MAX_STACK = 108,  /* u16: maximum number of frames in a callchain */
    PERF_ATTR_AUX_SAMPLE = 112, /* u32: bytes of AUX data that a sample contains */
    PERF_ATTR_SIG_DATA = 120,   /* u64: value that is passed to the signal */
    PERF_ATTR_CONFIG3 = 128     /* u64: meaning depends on the event type */
};
#define PERF_ATTR_VER0 64u
#define PERF_ATTR_VER7 128u

/* Bit numbers in PERF_ATTR_FLAGS. Bit 0 is the least significant; on big-endian machines the most
 * significant. */
enum perf_attr_flag {
    PERF_FLAG_DISABLED = 0,
    PERF_FLAG_INHERIT = 1,
    PERF_FLAG_EXCLUDE_USER = 4,
    PERF_FLAG_EXCLUDE_KERNEL = 5,
    PERF_FLAG_EXCLUDE_HV = 6,
    PERF_FLAG_MMAP = 8,
    PERF_FLAG_COMM = 9,
    PERF_FLAG_FREQ = 10,
    PERF_FLAG_ENABLE_ON_EXEC = 12,
    PERF_FLAG_TASK = 13,
    PERF_FLAG_WATERMARK = 14,
    PERF_FLAG_PRECISE = 15, /* precision of the ip, two bits wide */
    PERF_FLAG_SAMPLE_ID_ALL = 18,
    PERF_FLAG_EXCLUDE_HOST = 19,
    PERF_FLAG_EXCLUDE_GUEST = 20,
    PERF_FLAG_EXCLUDE_CALLCHAIN_KERNEL = 21,
    PERF_FLAG_EXCLUDE_CALLCHAIN_USER = 22,
    PERF_FLAG_MMAP2 = 23,
    PERF_FLAG_COMM_EXEC = 24,
    PERF_FLAG_USE_CLOCKID = 25,
    PERF_FLAG_CONTEXT_SWITCH = 26,
    PERF_FLAG_WRITE_BACKWARD = 27
};

/* Bits of sample_type. Order of the values in a sample: IDENTIFIER IP TID TIME ADDR ID STREAM_ID
 * CPU PERIOD READ CALLCHAIN RAW BRANCH_STACK REGS_USER STACK_USER WEIGHT DATA_SRC TRANSACTION
 * REGS_INTR PHYS_ADDR CGROUP DATA_PAGE CODE_PAGE AUX. With SAMPLE_ID_ALL, other records end with
 * TID TIME ID STREAM_ID CPU IDENTIFIER. */
#define PERF_SAMPLE_HAS_IP (1u << 0)
#define PERF_SAMPLE_HAS_TID (1u << 1)
#define PERF_SAMPLE_HAS_TIME (1u << 2)
#define PERF_SAMPLE_HAS_ADDR (1u << 3)
#define PERF_SAMPLE_HAS_READ (1u << 4)
#define PERF_SAMPLE_HAS_CALLCHAIN (1u << 5)
#define PERF_SAMPLE_HAS_ID (1u << 6)
#define PERF_SAMPLE_HAS_CPU (1u << 7)
#define PERF_SAMPLE_HAS_PERIOD (1u << 8)
#define PERF_SAMPLE_HAS_STREAM_ID (1u << 9)
#define PERF_SAMPLE_HAS_RAW (1u << 10)
#define PERF_SAMPLE_HAS_BRANCH_STACK (1u << 11)
#define PERF_SAMPLE_HAS_REGS_USER (1u << 12)
#define PERF_SAMPLE_HAS_STACK_USER (1u << 13)
#define PERF_SAMPLE_HAS_WEIGHT (1u << 14)
#define PERF_SAMPLE_HAS_DATA_SRC (1u << 15)
#define PERF_SAMPLE_HAS_IDENTIFIER (1u << 16)
#define PERF_SAMPLE_HAS_TRANSACTION (1u << 17)
#define PERF_SAMPLE_HAS_REGS_INTR (1u << 18)
#define PERF_SAMPLE_HAS_PHYS_ADDR (1u << 19)
#define PERF_SAMPLE_HAS_AUX (1u << 20)
#define PERF_SAMPLE_HAS_CGROUP (1u << 21)
#define PERF_SAMPLE_HAS_DATA_PAGE (1u << 22)
#define PERF_SAMPLE_HAS_CODE_PAGE (1u << 23)
#define PERF_SAMPLE_HAS_WEIGHT_STRUCT (1u << 24)

/* Bits of read_format, the content of READ in a sample. */
#define PERF_READ_TIME_ENABLED 1u
#define PERF_READ_TIME_RUNNING 2u
#define PERF_READ_ID 4u
#define PERF_READ_GROUP 8u
#define PERF_READ_LOST 16u

/* Marker addresses in a callchain. The addresses after a marker belong to its CPU mode. */
/* all values from this one on are markers, not addresses */
#define PERF_CONTEXT_FIRST UINT64_C(0xfffffffffffff001)
#define PERF_CONTEXT_KERNEL_MARK UINT64_C(0xffffffffffffff80)
#define PERF_CONTEXT_USER_MARK UINT64_C(0xfffffffffffffe00)

/* Type of compression in the feature section COMPRESSED. */
#define PERF_COMPRESSION_ZSTD 1u

/* Magic number at the start of trace.dat and of the section TRACING_DATA. */
#define PERF_TRACING_MAGIC "\x17\x08\x44tracing"
#define PERF_TRACING_MAGIC_BYTES 10u

/* Values of ttr_event.stack in samples. The stack is: only the ip; the callchain; only the ip,
 * because the callchain has no addresses. */
enum { PERF_STACK_IP = 1, PERF_STACK_CHAIN = 2, PERF_STACK_EMPTY = 3 };

#define PERF_BUILD_ID_BYTES 20u

/* Returns the size of the build id in an MMAP2 record with the flag PERF_MISC_BUILD_ID; 0 if it
 * has none. The record has at least 64 bytes: [40] length | [41..43] zeros | [44..63] id, zeros.
 * The bytes are checked, because kernels (seen in 6.18) set the flag in the records of all
 * sessions if one session requests build ids. Records of the other sessions contain device and
 * inode instead. */
static inline uint32_t perf_mapping_build_id_size(const uint8_t *record)
{
    const uint32_t n = record[40];
    const bool may_be_device = n < 16 && (!(record[44] | record[45]) ||
                                          /* u32 major number of a device: one half is zero */
                                          !(record[46] | record[47]));
    uint8_t rest = record[41] | record[42] | record[43];
    for (uint32_t i = n; i < PERF_BUILD_ID_BYTES; i++)
        rest |= record[44 + i];
    return n > PERF_BUILD_ID_BYTES || rest || may_be_device ? 0 : n;
}

#endif
