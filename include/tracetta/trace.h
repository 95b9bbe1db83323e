/* Trace points of a few nanoseconds in C11 and C++11 programs: zones, instants, counters, logs.
 *
 *     #include <tracetta/trace.h>
 *
 *     #define SHOP_CATEGORIES(X) X(orders, "orders", "customers' orders") X(disk, "disk", "files")
 *     TTR_CATEGORIES_DECLARE(SHOP_CATEGORIES);
 *     TTR_CATEGORIES_DEFINE(SHOP_CATEGORIES);
 *
 *     static void serve(int customer)
 *     {
 *         TTR_ZONE(orders, "serve", TTR_ARG("customer", customer));  // until the block ends
 *         TTR_INSTANT(disk, "opened", TTR_ARG("path", "/var/shop"));
 *     }
 *
 *     int main(void)
 *     {
 *         ttr_trace_start_file("shop.fxt", NULL);  // or run it by "tracetta record -- ./shop"
 *         serve(7);
 *         ttr_trace_stop();
 *     }
 *
 * Link with libtracetta-trace, which needs libc alone.  Each thread writes records of the Fuchsia
 * trace format (FXT) into a ring buffer of its own, without locks.  A manager ("tracetta record")
 * reads the rings through shared memory; without a manager, ttr_trace_start_file writes them to a
 * file.  A disabled trace point costs one load and one branch, and its arguments are not computed.
 * With TTR_TRACE_DISABLE defined before this header all macros compile to nothing, functions do
 * nothing, and the library is not needed.
 *
 * Ownership: category names, event names and argument names must be static texts.  Texts of
 * arguments are copied (at most 4,096 bytes).  Threads: every function and macro may be used by any
 * thread, and the macros in signal handlers too; an event that cannot be recorded there is counted
 * as dropped.  After fork the child has no session, unless the manager follows children. */
#ifndef TRACETTA_TRACE_H
#define TRACETTA_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_inline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Categories --- */

/* A list of categories is a macro X(identifier, "name", "description")...  Each program or library
 * (DSO) has one list, of at most 4,096 categories.  A category has an enable byte, the highest
 * level recorded; 0 = disabled. */

/* Declares the categories of a list, in a header or in the only file that uses them. */
#define TTR_CATEGORIES_DECLARE(LIST)                                                            \
    enum ttr_trace_category_ids { LIST(TTR_TRACE_CATEGORY_ID_) ttr_trace_categories_n };        \
    TTR_TRACE_EXTERN_ TTR_TRACE_HIDDEN_ const struct ttr_trace_category ttr_trace_categories[]; \
    TTR_TRACE_EXTERN_ TTR_TRACE_HIDDEN_ volatile uint8_t ttr_trace_enabled[TTR_TRACE_PAGE]

/* Defines the declared categories of a list, in one file of a program or library. */
#define TTR_CATEGORIES_DEFINE(LIST)                                                              \
    const struct ttr_trace_category ttr_trace_categories[] = {                                   \
        LIST(TTR_TRACE_CATEGORY_ROW_){NULL, NULL}};                                              \
    __attribute__((aligned(TTR_TRACE_PAGE))) volatile uint8_t ttr_trace_enabled[TTR_TRACE_PAGE]; \
    TTR_TRACE_MODULE_

/* Levels of events, as in provider.h.  An event without TTR_..._LEVEL has level 4. */
#define TTR_TRACE_CRITICAL 1
#define TTR_TRACE_ERROR 2
#define TTR_TRACE_WARNING 3
#define TTR_TRACE_INFORMATION 4
#define TTR_TRACE_VERBOSE 5

/* True if events of a category and level are recorded now. */
#define TTR_TRACE_ENABLED(category) TTR_TRACE_IS_ENABLED_(category, TTR_TRACE_INFORMATION)
#define TTR_TRACE_ENABLED_LEVEL(category, level) TTR_TRACE_IS_ENABLED_(category, level)

/* --- Arguments --- */

/* An argument of an event; at most 15 per event.  The record keeps the type of the value: boolean,
 * signed or unsigned integer of 32 or 64 bits, floating point, text (NUL-terminated), or pointer.
 * In C++ also std::string, std::string_view and enums. */
#define TTR_ARG(name, value) (name, TTR_TRACE_VALUE_(value))

/* An argument with a text of n bytes, a kernel object id, or no value. */
#define TTR_ARG_TEXT(name, text, n) (name, ttr_trace_value_of_bytes(text, n))
#define TTR_ARG_KOID(name, koid) (name, ttr_trace_value_of_koid(koid))
#define TTR_ARG_NULL(name) (name, ttr_trace_value_of_nothing())

/* --- Events --- */

/* A zone: the time from this line to the end of the enclosing block, one duration-complete record.
 * TTR_ZONE(category, "name", TTR_ARG...).  One zone per block; blocks nest.  Zones shorter than the
 * session's limit are left out. */
#define TTR_ZONE(...) TTR_TRACE_ZONE_(TTR_TRACE_INFORMATION, __VA_ARGS__)
#define TTR_ZONE_LEVEL(level, ...) TTR_TRACE_ZONE_(level, __VA_ARGS__)

/* Adds an argument to the innermost zone of the enclosing block: TTR_ZONE_ARG("rows", n). */
#define TTR_ZONE_ARG(name, value)                                                         \
    do {                                                                                  \
        if (ttr_trace_zone_here.site) {                                                   \
            ttr_trace_zone_here.args = &ttr_trace_zone_args_here;                         \
            ttr_trace_zone_add(&ttr_trace_zone_args_here, name, TTR_TRACE_VALUE_(value)); \
        }                                                                                 \
    } while (0)

/* The same with a text of n bytes, which must be valid until the zone ends. */
#define TTR_ZONE_ARG_TEXT(name, text, n)                           \
    do {                                                           \
        if (ttr_trace_zone_here.site) {                            \
            ttr_trace_zone_here.args = &ttr_trace_zone_args_here;  \
            ttr_trace_zone_add(&ttr_trace_zone_args_here, name,    \
                               ttr_trace_value_of_bytes(text, n)); \
        }                                                          \
    } while (0)

/* Ends the innermost zone here and starts another one that lasts to the end of the block.  The end
 * of the first is the start of the second: one clock read. */
#define TTR_LAP(...) TTR_TRACE_LAP_(TTR_TRACE_INFORMATION, __VA_ARGS__)

/* A zone that starts and ends in different blocks or functions of one thread. */
#define TTR_BEGIN(...) TTR_TRACE_EVENT_(TTR_TRACE_BEGIN, TTR_TRACE_INFORMATION, __VA_ARGS__)
#define TTR_END(...) TTR_TRACE_EVENT_(TTR_TRACE_END, TTR_TRACE_INFORMATION, __VA_ARGS__)

/* A moment: TTR_INSTANT(category, "name", TTR_ARG...). */
#define TTR_INSTANT(...) TTR_TRACE_EVENT_(TTR_TRACE_INSTANT, TTR_TRACE_INFORMATION, __VA_ARGS__)
#define TTR_INSTANT_LEVEL(level, ...) TTR_TRACE_EVENT_(TTR_TRACE_INSTANT, level, __VA_ARGS__)

/* A counter: each argument is the value of one series.  `id` distinguishes counters of one name. */
#define TTR_COUNTER(category, name, id, ...)                                               \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_COUNTER, TTR_TRACE_INFORMATION, id, category, name, \
                             __VA_ARGS__)

/* An operation that is not bound to one thread.  Events of one operation have the same `id`, 64
 * bits. */
#define TTR_ASYNC_BEGIN(id, ...) \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_ASYNC_BEGIN, TTR_TRACE_INFORMATION, id, __VA_ARGS__)
#define TTR_ASYNC_INSTANT(id, ...) \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_ASYNC_INSTANT, TTR_TRACE_INFORMATION, id, __VA_ARGS__)
#define TTR_ASYNC_END(id, ...) \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_ASYNC_END, TTR_TRACE_INFORMATION, id, __VA_ARGS__)

/* A flow: an arrow between zones of different threads.  Each call is inside the zone that the arrow
 * starts at, passes, or ends at. */
#define TTR_FLOW_BEGIN(id, ...) \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_FLOW_BEGIN, TTR_TRACE_INFORMATION, id, __VA_ARGS__)
#define TTR_FLOW_STEP(id, ...) \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_FLOW_STEP, TTR_TRACE_INFORMATION, id, __VA_ARGS__)
#define TTR_FLOW_END(id, ...) \
    TTR_TRACE_EVENT_WITH_ID_(TTR_TRACE_FLOW_END, TTR_TRACE_INFORMATION, id, __VA_ARGS__)

/* A message in the form of printf, at most 1,024 bytes: TTR_LOG(category, "sold %d", n). */
#define TTR_LOG(category, ...) TTR_TRACE_LOG_(category, TTR_TRACE_INFORMATION, __VA_ARGS__)
#define TTR_LOG_LEVEL(level, category, ...) TTR_TRACE_LOG_(category, level, __VA_ARGS__)

/* Binary data of at most 32,000 bytes. */
#define TTR_BLOB(category, name, bytes, n)                          \
    do {                                                            \
        if (TTR_TRACE_IS_ENABLED_(category, TTR_TRACE_INFORMATION)) \
            ttr_trace_blob(name, bytes, n);                         \
    } while (0)

/* Names the object at an address; pointer arguments with that address refer to it. */
#define TTR_OBJECT(category, pointer, name)                         \
    do {                                                            \
        if (TTR_TRACE_IS_ENABLED_(category, TTR_TRACE_INFORMATION)) \
            ttr_trace_object(pointer, name);                        \
    } while (0)

/* --- Threads and sessions --- */

/* Names the calling thread in the trace and in the kernel. */
TTR_TRACE_API_ void ttr_trace_thread_name(const char *name);

/* A virtual thread: a coroutine, a queue of a GPU.  Events between the two calls are recorded
 * on it instead of on the calling thread. Ids are the caller's; the name is copied.  Returns
 * false, and changes nothing, if the calling thread is already on a virtual thread. */
TTR_TRACE_API_ bool ttr_trace_virtual_thread_enter(uint64_t id, const char *name);
TTR_TRACE_API_ void ttr_trace_virtual_thread_leave(void);

/* ttr_trace_now() reads the clock of the trace, in ticks of the session's frequency. */

/* How rings behave when they are full.  STREAMING: the reader empties them; events that do not
 * fit are dropped and counted.  CIRCULAR: the newest events replace the oldest (flight
 * recorder). ONESHOT: recording ends when a thread's ring is full. */
enum ttr_trace_mode { TTR_TRACE_STREAMING, TTR_TRACE_CIRCULAR, TTR_TRACE_ONESHOT };

typedef struct ttr_trace_options {
    size_t size; /* sizeof(ttr_trace_options) */
    enum ttr_trace_mode mode;
    size_t buffer_bytes;    /* ring size per thread; 0 = 512 KiB; rounded up to 64 KiB */
    const char *categories; /* "net.*,-net.debug,disk:5"; NULL = all, up to level 5 */
    uint64_t zone_min_ns;   /* shorter zones are left out; 0 = none */
} ttr_trace_options;

/* Starts recording to a file of this process alone.  NULL options are the defaults.  Returns 0,
 * or an errno: EBUSY if a session is active, EINVAL for invalid options, or why the file or
 * memory cannot be had.  The file appears at once and grows; after a crash it holds every
 * complete chunk of each thread. */
TTR_TRACE_API_ int ttr_trace_start_file(const char *path, const ttr_trace_options *options);

/* Writes all events so far.  In circular mode this is a snapshot of the newest events.  Returns
 * 0 or the errno of the first failed write. */
TTR_TRACE_API_ int ttr_trace_flush(void);

/* Disables all categories, flushes and ends the session.  Returns as ttr_trace_flush.  Called
 * at the normal exit of the program if a session is active. */
TTR_TRACE_API_ int ttr_trace_stop(void);

/* Asks the manager to write a snapshot, as configured by "record --trigger=NAME".  Without a
 * manager it flushes. */
TTR_TRACE_API_ void ttr_trace_trigger(const char *name);

/* Counts since the start of the session. */
typedef struct ttr_trace_stats {
    uint64_t written; /* events written to rings */
    uint64_t dropped; /* events that found no space, or interrupted another event twice */
    uint32_t threads; /* rings in use or finished */
    bool is_active;   /* a session is active */
} ttr_trace_stats;

TTR_TRACE_API_ void ttr_trace_get_stats(ttr_trace_stats *stats);

/* --- Other languages --- */

/* Reads the clock of the trace, as ttr_trace_now. */
TTR_TRACE_API_ uint64_t ttr_trace_read_clock(void);

/* Names of arguments that a reader shows as attributes of an event instead of fields, if they come
 * before all others: level (as in provider.h), keyword and opcode.  A trace point has them, or has
 * them not. */
#define TTR_TRACE_ATTRIBUTE_LEVEL "tracetta.level"
#define TTR_TRACE_ATTRIBUTE_KEYWORD "tracetta.keyword"
#define TTR_TRACE_ATTRIBUTE_OPCODE "tracetta.opcode"

/* Makes a trace point at run time, for languages without macros.  Texts are copied.  Returns
 * NULL if memory is exhausted.  Points live until the program ends. */
TTR_TRACE_API_ ttr_trace_site *ttr_trace_site_new(const char *category, const char *name,
                                                  enum ttr_trace_type type, uint8_t level,
                                                  const char *const *arg_names, size_t args_n);

/* Returns true if events of such a trace point are recorded now. */
TTR_TRACE_API_ bool ttr_trace_site_is_enabled(const ttr_trace_site *site);

/* Records an event with as many values as the trace point has arguments.  `end_or_id` is the
 * end time of a TTR_TRACE_COMPLETE, and the id of counters, async events and flows. */
TTR_TRACE_API_ void ttr_trace_site_write(ttr_trace_site *site, uint64_t time, uint64_t end_or_id,
                                         const struct ttr_trace_value *values);

#ifdef __cplusplus
}
#endif

#ifdef TTR_TRACE_DISABLE
#include "trace_disabled.h"
#endif

#endif
