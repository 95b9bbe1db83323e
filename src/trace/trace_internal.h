/* State of the recording process, shared by the files of this folder.
 *
 * libtracetta-trace has one session at a time.  Threads claim a ring at their first event and keep
 * it until they end.  `session.lock` protects everything but the rings and the enable bytes. */
#ifndef TRACETTA_TRACE_TRACE_INTERNAL_H
#define TRACETTA_TRACE_TRACE_INTERNAL_H

#include <pthread.h>

#include <tracetta/trace.h>

#include "trace/trace_clock.h"
#include "trace/trace_filter.h"
#include "trace/trace_shared.h"

struct trace_session {
    pthread_mutex_t lock;
    uint8_t *memory; /* NULL = no session; atomic */
    uint64_t memory_size;
    uint32_t rings, chunks;  /* sizes, never read again from shared memory */
    uint64_t generation;     /* number of the session, atomic; rings of others are stale */
    struct trace_file *file; /* embedded mode: the file of this process; else NULL */
    int wake_fd;             /* eventfd of the manager; stays open; -1 = none yet */
    int socket_fd;           /* connection to the manager; -1 = none */
    struct trace_clock clock;
    struct ttr_trace_module *modules;
    char *filter;                     /* categories of the session; NULL = all */
    struct ttr_trace_thread *threads; /* threads that claimed rings */
};
extern struct trace_session trace_session;

/* --- trace_lock.c --- */

/* Acquires the lock of the session. Returns false if the calling thread holds it already: then a
 * signal handler interrupted the holder. */
bool trace_lock(void);

/* The same for events. Waits for 100 ms at most, because a signal handler may have interrupted a
 * function that the holder of the lock needs, like malloc. */
bool trace_lock_briefly(void);
void trace_unlock(void);

static inline struct trace_header *trace_header(void)
{
    return (struct trace_header *)(void *)trace_session.memory;
}

static inline struct trace_ring_header *trace_ring_at(uint32_t i)
{
    return (struct trace_ring_header *)(void *)(trace_session.memory + TRACE_PAGE +
                                                TRACE_STRINGS_SIZE +
                                                i * trace_ring_stride(trace_session.chunks));
}

/* Returns the memory of a chunk in a ring of `chunks` chunks. */
static inline uint8_t *trace_chunk_at(struct trace_ring_header *ring, uint64_t index,
                                      uint64_t chunks)
{
    return (uint8_t *)ring + TRACE_PAGE + index % chunks * TRACE_CHUNK;
}

/* --- trace_ring.c --- */

/* Reserves words in the ring that the calling thread may use now. Returns NULL if the event is
 * dropped, which is then counted. Each call that returned words is followed by trace_commit. */
uint64_t *trace_reserve(struct ttr_trace_ring **ring, size_t words);

/* Publishes the words up to `end`. */
static inline void trace_commit(struct ttr_trace_ring *ring, uint64_t *end)
{
    ring->cur = end;
    __atomic_store_n(&ring->commit[1], ++ring->events, __ATOMIC_RELAXED);
    __atomic_store_n(ring->commit, (uint64_t)(uintptr_t)end - ring->bias, __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory");
    ttr_trace_thread.depth--;
}

/* Counts an event that has no ring, or has a trace point without strings. */
void trace_count_lost(void);

/* --- trace_strings.c --- */

/* Returns the index of a string in the session's string table, adding it if it is new; 0 for the
 * empty string and for NULL. Returns -1 if the table or its memory is full. Requires the lock. */
int32_t trace_string_add(const char *text);

/* Copies the table to the memory of a new session. Requires the lock. */
void trace_strings_copy_to_session(void);

/* --- trace_threads.c --- */

/* Makes the next event of each thread claim a ring, or be dropped without a session. Requires the
 * lock. */
void trace_threads_reset(void);

/* Begins a session in memory that is ready: the next event of each thread claims a ring of it.
 * Requires the lock. */
void trace_session_begin(void);

/* Add and remove a thread that has rings. Require the lock. */
void trace_thread_add(struct ttr_trace_thread *thread);
void trace_thread_remove(struct ttr_trace_thread *thread);

/* --- trace_categories.c --- */

/* Sets the enable bytes of all modules by the session's filter, or to 0 without one. Requires the
 * lock. */
void trace_categories_enable(bool is_enabled);

/* Sets the enable bytes of a module by the session's filter, or to 0. Requires the lock. */
void trace_module_enable(struct ttr_trace_module *module, bool is_enabled);

/* Sends the enable byte of a category that was added to a module, or sets it. Requires the lock. */
void trace_category_added(struct ttr_trace_module *module, size_t i);

/* --- trace_connect.c --- */

/* Connects to the manager that the environment names, if any. Requires the lock. */
void trace_connect(void);

/* Makes the enable bytes of a new module ready, and sends its categories if a manager is connected.
 * Requires the lock. */
void trace_connect_module(struct ttr_trace_module *module);
void trace_send_category(const struct ttr_trace_module *module, size_t i);

/* Asks the manager for a snapshot. Requires the lock. */
void trace_send_trigger(const char *name);

/* Disables the categories of all modules. Requires the lock. */
void trace_modules_disable(void);

/* Disables all categories and closes the connection. Requires the lock. */
void trace_disconnect(void);

/* Wakes the manager if it waits. */
void trace_wake_manager(const struct trace_header *header);

/* Gives the memory of a module's enable bytes back before the module is unloaded. Requires the
 * lock. */
void trace_disconnect_module(struct ttr_trace_module *module);

/* Disconnects if the manager closed the connection. For the slow path of a thread. */
void trace_check_connection(void);

/* --- trace_attach.c --- */

/* Maps the enable bytes of a module, which become 0, to its page of the attach memory. */
void trace_attach_map_module(struct ttr_trace_module *module, uint32_t page);

/* Shows to managers whether the process has a session, and the socket of its manager ("" = none).
 */
void trace_attach_set_recorded(bool is_recorded, const char *socket);

/* Unmaps the attach memory of the parent in the child of a fork. */
void trace_attach_forget_after_fork(void);

/* Copies the socket path of a manager that asks the process to connect, and clears the request.
 * Returns false without a request. */
bool trace_attach_accept_request(char socket[108]);

/* --- trace_file.c --- */

struct trace_file;

/* Creates the file of a session. Returns 0 or an errno. */
int trace_file_open(struct trace_file **file, const char *path);

/* Writes all rings up to their commit positions, or in circular mode a copy of what they contain.
 * Returns 0 or the errno of the first failed write. */
int trace_file_flush(struct trace_file *file);

/* Flushes, completes and closes the file. */
int trace_file_close(struct trace_file *file);

/* Closes the parent's file in the child of a fork. */
void trace_file_close_after_fork(void);

/* Writes the records of a ring of the calling thread up to its commit position. Called when a chunk
 * is full. `may_wait` is false in signal handlers: then nothing is written while another thread
 * writes. Does nothing if the session of the ring is over. */
void trace_file_drain(struct trace_file *file, struct trace_ring_header *ring, bool may_wait);

#endif
