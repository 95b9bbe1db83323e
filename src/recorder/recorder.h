/* State of a manager and of the programs that are connected to it. */
#ifndef TRACETTA_RECORDER_RECORDER_H
#define TRACETTA_RECORDER_RECORDER_H

#include <sys/types.h>

#include <tracetta/record.h>

#include "base/alloc.h"
#include "trace/trace_clock.h"
#include "trace/trace_fxt.h"
#include "trace/trace_protocol.h"
#include "trace/trace_shared.h"

#define RECORDER_VIOLATIONS_MAX 4u /* violations after which a program is disconnected */
/* number of bytes after which the next program is served; the rest of a chunk is still read */
#define RECORDER_PASS_BYTES (4u << 20)
#define PROGRAM_CATEGORIES_MAX 16384u /* more categories of a program are a violation */
/* maximum size of the rings of a program, in bytes */
#define PROGRAM_MEMORY_MAX (UINT64_C(16) << 30)
#define PROGRAM_RINGS_MIN 16u
#define MANAGER_FILTER_MAX 4096u
#define MANAGER_NAME_MAX 192u
#define OUTPUT_CHECK_MS 500u /* time between checks that the output file has not been deleted */

/* --- The archive (archive.c) --- */

/* Values of archive.reason besides those of errno. */
#define ARCHIVE_DELETED (-1) /* the file has no name any more */
#define ARCHIVE_LIMIT (-2)   /* max_bytes would be exceeded */

#define INDEX_ENTRIES_MAX 16384u

/* Index entry for consecutive pieces of an archive (archive_index.c). */
struct archive_index_entry {
    uint64_t offset, flags;
    uint64_t first, last; /* ticks; first > last = no event has a time */
};

struct archive_index {
    struct archive_index_entry *entries;
    size_t n, capacity;
    uint64_t group_bytes; /* bytes that an entry covers at least, except the last one */
};

/* Empties an index, for a new file. */
void archive_index_start(struct archive_index *index);

/* Frees the entries. */
void archive_index_free(struct archive_index *index);

/* Adds a piece after all others. */
void archive_index_add(struct archive_index *index, const struct archive_index_entry *entry);

/* Returns the bytes of the records of an index. */
uint64_t archive_index_size(const struct archive_index *index);

/* Writes the records of an index that starts at `offset` of the file. Returns their words. */
size_t archive_index_write(const struct archive_index *index, uint64_t offset, uint64_t *words);

struct archive {
    int fd;
    bool is_regular;
    bool has_name;             /* the file had a name when the archive was started */
    int reason;                /* errno of the first failed write, or ARCHIVE_...; 0 = none */
    uint64_t max_bytes;        /* maximum size of all files of a rotation together; 0 = no limit */
    uint64_t start;            /* offset of the archive in the file */
    uint64_t whole;            /* size of the file up to the end of the last complete piece */
    uint64_t before;           /* total size of the earlier files of a rotation */
    uint64_t started_ms;       /* when the file was started */
    int live_fd;               /* second output, which may fail; 0 = none */
    struct archive_zstd *zstd; /* NULL = pieces are not compressed */
    struct archive_index index;
    uint64_t unwritten;
    bool is_reported; /* the failed write was reported to the caller */
};

/* A byte range of a piece, as for writev. */
struct archive_part {
    const void *bytes;
    size_t n;
};

#define ARCHIVE_PARTS_MAX 4u

/* Writes a piece, or counts its bytes as unwritten. After a failed write a regular file is cut to
 * its complete pieces. Returns false if it was not written. */
bool archive_write(struct archive *archive, const struct archive_part *parts, size_t n);

/* Starts an archive in a file. The head of a file that follows another one is not written to the
 * second output. Returns false if it was not written. */
bool archive_start(struct archive *archive, int fd);

/* Ends the archive if its file was deleted: further records could not be found. */
void archive_check_name(struct archive *archive);

/* Returns a text for a value of archive.reason. */
const char *archive_explain_reason(int reason);

/* Completes the current file with its index, if it can have one and there is space for it. */
void archive_end_file(struct archive *archive);

/* Frees what archive_write allocated. */
void archive_free(struct archive *archive);

/* Makes archive_write compress each piece as a frame of its own. Returns false without memory. */
bool archive_compress(struct archive *archive);

/* Overwrites a word that was written before, if the output is a regular file and not compressed. */
void archive_rewrite(struct archive *archive, uint64_t at, uint64_t word);

/* --- Validation (records.c) --- */

struct records_report {
    size_t valid;          /* bytes of the valid prefix */
    uint64_t events;       /* number of events in the valid prefix */
    uint64_t first, last;  /* time of the first event and end of the last, in ticks; first > last =
                              no event has a time */
    uint64_t virtual_koid; /* virtual thread of the last thread record; 0 = none */
    bool has_names;        /* true if records name virtual threads or objects */
};

/* Validates records that a program wrote: complete, of the allowed types, with references to its
 * own threads. */
struct records_report records_validate(const uint64_t *words, size_t n_bytes, uint64_t pid);

/* Validates string records. `next` is the index that the first one must have; it is advanced.
 * Returns the bytes of the valid prefix. */
size_t records_validate_strings(const uint64_t *words, size_t n_bytes, uint32_t *next);

/* --- Programs that run already (attach.c) --- */

/* Withdraws the connection requests that no program has answered. */
void attach_requests_cancel(ttr_manager *manager);

/* --- Programs (connection.c, program.c) --- */

struct ring_state {
    uint64_t done;         /* position up to which the ring was read */
    uint64_t dropped;      /* dropped events that the archive reports */
    uint64_t name;         /* hash of the thread and name that are in the archive; 0 = none */
    uint64_t virtual_koid; /* virtual thread that records of `tid` refer to; 0 = none */
    uint32_t tid;          /* thread of the records that were read last */
};

/* The thread that a piece belongs to, and its losses: number, first and last time. */
struct piece_head {
    uint32_t tid;
    char name[TRACE_THREAD_NAME]; /* "" = unknown */
    uint64_t losses[3];
    uint64_t virtual_koid; /* virtual thread that is declared before the records; 0 = none */
    /* times of the first and last event, in ticks; first > last = no event has a time */
    uint64_t first, last;
    bool has_names;
};

struct program {
    int socket_fd; /* -1 = the connection has ended */
    int wake_fd;
    int flags_fd;
    uint8_t *memory;
    uint8_t *flags; /* enable bytes, one page per module */
    uint64_t pid;
    uint32_t provider; /* id of the provider record in the archive */
    uint32_t violations;
    bool is_welcomed;
    bool is_refused;      /* the rings of the program could not be allocated */
    uint64_t accepted_ms; /* time at which the connection was accepted */
    bool has_head;        /* true if the archive has the provider record */
    uint64_t lost; /* lost events of threads without a ring, as far as the archive reports them */
    uint64_t strings_done; /* bytes of string records that were copied to the archive */
    uint32_t next_string;
    struct ring_state *rings;
    uint32_t next_ring; /* ring that is read first in the next pass */
    char name[TRACE_MESSAGE_TEXT];
    bool is_controller; /* the connection is of a session command, which sends requests instead of
                           events */
    /* request of a controller that is not answered yet; kind 0 = none */
    struct trace_message request;
    uint64_t uid;
    struct program_category *categories;
    size_t categories_n, categories_capacity;
};

/* A category of a program, and its enable byte. */
struct program_category {
    uint32_t page, index;
    char name[TRACE_MESSAGE_TEXT];
};

/* A running program that was asked to connect, and the first page of its attach memory. */
struct attach_request {
    uint64_t pid;
    struct trace_attach_page *page;
};

struct ttr_manager {
    const struct alloc *alloc;
    struct archive archive;
    struct trace_clock clock;
    int listen_fd;
    char socket[108];
    enum ttr_manager_mode mode;
    /* The mode is or was circular: programs that have not noticed a change overwrite chunks. */
    bool may_overwrite;
    uint32_t chunks;
    uint64_t zone_min_ticks, ticks_per_second;
    uint64_t rotate_bytes, rotate_ms; /* limits after which a new file is begun; 0 = none */
    uint64_t rotation_failed_at;      /* size of the file when the next one could not be opened */
    int (*next_output)(void *user_data);
    void *user_data;
    char categories[MANAGER_FILTER_MAX]; /* filter; "" = all */
    char output_name[MANAGER_NAME_MAX];
    uint32_t rings; /* number of rings per program */
    int folder_fd;  /* lock of the folder of the socket (session_folder_make); -1 = none */
    bool is_stop_requested;
    uint64_t output_checked_ms; /* time of the last archive_check_name */
    struct program *programs;
    size_t programs_n, programs_capacity, programs_max;
    uint8_t *copy;    /* copy of one chunk of a ring */
    uint8_t *strings; /* copy of the string area */
    uint32_t next_provider;
    uint64_t *frequencies; /* offsets of the clock frequencies of all programs in the archive */
    size_t frequencies_n, frequencies_capacity;
    struct attach_request *attach_requests; /* programs that were asked to connect */
    size_t attach_requests_n, attach_requests_capacity;
    bool is_triggered;
    char trigger[TRACE_MESSAGE_TEXT];
    ttr_manager_stats stats;
};

static inline struct trace_header *get_shared_header(const struct program *program)
{
    return (struct trace_header *)(void *)program->memory;
}

/* Frees a program and closes its connection. */
void program_free(const ttr_manager *manager, struct program *program);

/* Counts an invalid record or message of a program. */
static inline void program_count_violation(struct program *program)
{
    program->violations++;
}

/* Enables the categories of all programs that match the manager's filter. */
void programs_enable(ttr_manager *manager);

/* Answers a request of a controller (control.c). Returns false if it is not allowed to ask. */
bool control_answer(ttr_manager *manager, const struct program *controller,
                    const struct trace_message *request);

/* Reports the first failed write of the output, once. */
ttr_status manager_check_output(ttr_manager *manager, ttr_error *error);

/* Returns CLOCK_MONOTONIC in ms. */
uint64_t recorder_now_ms(void);

/* Writes the clock frequency, which is known better now, into the current file. */
void rotation_complete_file(ttr_manager *manager);

/* Starts the next file of a rotation if the current one is too old, or too large for `bytes` more.
 */
void rotation_advance_if_due(ttr_manager *manager, uint64_t bytes);

/* Returns TTR_E_MISUSE for a filter that is malformed or too long. NULL is valid. */
ttr_status manager_check_filter(const char *filter, ttr_error *error);

/* Accepts a connection. Counts it as refused if it is not allowed. */
void program_accept(ttr_manager *manager);

/* Handles a message of a program. Returns false if the connection has ended. */
bool program_receive(ttr_manager *manager, struct program *program);

/* Reads the rings of a program. `reads_all` also reads the circular ones and ignores
 * RECORDER_PASS_BYTES. Returns true if bytes are left. */
bool program_drain(ttr_manager *manager, struct program *program, bool reads_all);

/* Reads everything that a program left, writes the zones that are open, and frees it. */
void program_end(ttr_manager *manager, struct program *program);

#endif
