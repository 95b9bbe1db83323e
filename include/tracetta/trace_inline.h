/* Implementation of the macros of trace.h.  Programs use only what trace.h documents.
 *
 * A record is written in four steps: reserve words in the ring of the calling thread, fill them,
 * advance the commit position with one release store, leave.  The words of a record that depend on
 * the trace point alone (header, headers of arguments) are computed once, when it is first used. */
#ifndef TRACETTA_TRACE_INLINE_H
#define TRACETTA_TRACE_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* The macros use extensions of gcc and clang; their warnings concern the program, not its users. */
#pragma GCC system_header

#ifdef __cplusplus
#define TTR_TRACE_EXTERN_ extern "C"
extern "C" {
#else
#define TTR_TRACE_EXTERN_ extern
#endif

#define TTR_TRACE_HIDDEN_ __attribute__((visibility("hidden")))
#define TTR_TRACE_API_ __attribute__((visibility("default")))
#define TTR_TRACE_INLINE_ \
    static inline __attribute__((always_inline, unused, no_instrument_function))
#define TTR_TRACE_UNLIKELY_(x) __builtin_expect(!!(x), 0)
#define TTR_TRACE_PAGE 4096
#define TTR_TRACE_ARGS_MAX 15
#define TTR_TRACE_TEXT_MAX 4096u /* bytes of a text argument; longer ones are cut */

/* Types of events; the numbers of FXT. */
enum ttr_trace_type {
    TTR_TRACE_INSTANT = 0,
    TTR_TRACE_COUNTER = 1,
    TTR_TRACE_BEGIN = 2,
    TTR_TRACE_END = 3,
    TTR_TRACE_COMPLETE = 4,
    TTR_TRACE_ASYNC_BEGIN = 5,
    TTR_TRACE_ASYNC_INSTANT = 6,
    TTR_TRACE_ASYNC_END = 7,
    TTR_TRACE_FLOW_BEGIN = 8,
    TTR_TRACE_FLOW_STEP = 9,
    TTR_TRACE_FLOW_END = 10
};

/* Types of arguments; the numbers of FXT. */
enum ttr_trace_value_type {
    TTR_TRACE_VALUE_NULL = 0,
    TTR_TRACE_VALUE_I32 = 1,
    TTR_TRACE_VALUE_U32 = 2,
    TTR_TRACE_VALUE_I64 = 3,
    TTR_TRACE_VALUE_U64 = 4,
    TTR_TRACE_VALUE_F64 = 5,
    TTR_TRACE_VALUE_TEXT = 6,
    TTR_TRACE_VALUE_POINTER = 7,
    TTR_TRACE_VALUE_KOID = 8,
    TTR_TRACE_VALUE_BOOL = 9
};

struct ttr_trace_value {
    uint64_t bits;    /* the number, sign-extended; of a float its bits */
    const void *text; /* of TTR_TRACE_VALUE_TEXT */
    uint32_t text_n;  /* bytes of text */
    uint32_t type;    /* enum ttr_trace_value_type */
};

struct ttr_trace_category {
    const char *name, *description;
};

/* A trace point.  The header is 0 until the point is first used. */
typedef struct ttr_trace_site {
    /* first word of the record without its size and thread; 0 = not registered */
    uint64_t header;
    uint64_t *arg_headers; /* first word of each argument, without the value; args_n of them */
    const struct ttr_trace_category *category;
    const char *name;
    const char *const *arg_names;
    const char *file, *function;
    uint32_t line;
    uint8_t type; /* enum ttr_trace_type */
    uint8_t level;
    uint8_t args_n;
    uint8_t zero;
    const volatile uint8_t *enabled; /* enable byte of the category */
} ttr_trace_site;

/* A ring as its thread sees it.  `cur` and `end` are never read from shared memory. */
struct ttr_trace_ring {
    uint64_t *cur, *end;  /* next free word, and the end of the chunk; NULL before the first use */
    uint64_t *commit;     /* commit position in shared memory, then the count of events */
    uint64_t bias;        /* address of `cur` minus commit position */
    uint64_t events;      /* events written */
    uint64_t thread_bits; /* thread reference, at its bits of an event's header */
    void *shared;         /* internal */
    uint64_t *open_zones; /* stack of open zones in shared memory: depth, then pairs of words */
};

/* Rings of a thread: for normal code, and for signal handlers that interrupt it while it writes
 * an event.  Events of handlers that interrupt such a handler are refused. */
struct ttr_trace_thread {
    struct ttr_trace_ring ring[2];
    uint8_t depth;                 /* number of events that are being written */
    uint8_t finished;              /* number of times that its rings were given back */
    uint64_t generation;           /* session of the rings */
    void *memory;                  /* of that session */
    uint64_t chunks;               /* per ring */
    uint64_t virtual_koid;         /* of the virtual thread that runs on it; 0 = none */
    struct ttr_trace_thread *next; /* list of threads with rings */
};

TTR_TRACE_API_ extern __thread struct ttr_trace_thread ttr_trace_thread
    __attribute__((tls_model("initial-exec")));
/* True while the thread has the lock of the library, or waits for it.  An event that it records
 * then, in a replacement of malloc, would be counted as lost. */
TTR_TRACE_API_ extern __thread volatile bool ttr_trace_is_inside
    __attribute__((tls_model("initial-exec")));
TTR_TRACE_API_ extern bool ttr_trace_uses_tsc; /* ticks are of the processor's time stamp counter */
TTR_TRACE_API_ extern uint64_t ttr_trace_zone_min_ticks; /* shorter zones are left out */

TTR_TRACE_API_ void ttr_trace_write_slow(ttr_trace_site *site, uint64_t time,
                                         const struct ttr_trace_value *values, unsigned n,
                                         const uint64_t *tail);

/* --- Enable bytes --- */

/* Value of an enable byte by which a manager asks the process to connect. */
#define TTR_TRACE_CONNECT_REQUEST 255

/* Connects to the manager that asks for it.  Returns true if the event is recorded then. */
TTR_TRACE_API_ bool ttr_trace_attach(const volatile uint8_t *enabled, uint8_t level);

/* Returns true if events of a level are recorded. */
TTR_TRACE_INLINE_ bool ttr_trace_is_enabled(const volatile uint8_t *enabled, uint8_t level)
{
    const uint8_t value = *enabled;
    if (__builtin_expect(value < level, 1))
        return false;
    return __builtin_expect(value != TTR_TRACE_CONNECT_REQUEST, 1) ||
           ttr_trace_attach(enabled, level);
}

/* --- Clock --- */

/* Reads CLOCK_MONOTONIC, in nanoseconds. */
TTR_TRACE_API_ uint64_t ttr_trace_now_slow(void);

TTR_TRACE_INLINE_ uint64_t ttr_trace_now(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(ttr_trace_uses_tsc, 1))
        return __rdtsc();
#endif
    return ttr_trace_now_slow();
}

/* --- Values --- */

#define TTR_TRACE_VALUE_FUNCTION_(suffix, ctype, kind, expression)                \
    TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of_##suffix(ctype x) \
    {                                                                             \
        struct ttr_trace_value value;                                             \
        value.bits = (uint64_t)(expression);                                      \
        value.text = NULL;                                                        \
        value.text_n = 0;                                                         \
        value.type = kind;                                                        \
        return value;                                                             \
    }
TTR_TRACE_VALUE_FUNCTION_(bool, bool, TTR_TRACE_VALUE_BOOL, x)
TTR_TRACE_VALUE_FUNCTION_(i32, int32_t, TTR_TRACE_VALUE_I32, (int64_t)x)
TTR_TRACE_VALUE_FUNCTION_(u32, uint32_t, TTR_TRACE_VALUE_U32, x)
TTR_TRACE_VALUE_FUNCTION_(i64, int64_t, TTR_TRACE_VALUE_I64, x)
TTR_TRACE_VALUE_FUNCTION_(u64, uint64_t, TTR_TRACE_VALUE_U64, x)
TTR_TRACE_VALUE_FUNCTION_(koid, uint64_t, TTR_TRACE_VALUE_KOID, x)
TTR_TRACE_VALUE_FUNCTION_(pointer, const volatile void *, TTR_TRACE_VALUE_POINTER, (uintptr_t)x)

TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of_nothing(void)
{
    struct ttr_trace_value value = {0, NULL, 0, TTR_TRACE_VALUE_NULL};
    return value;
}

TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of_double(double x)
{
    struct ttr_trace_value value = {0, NULL, 0, TTR_TRACE_VALUE_F64};
    memcpy(&value.bits, &x, sizeof x);
    return value;
}

TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of_bytes(const void *text, size_t n)
{
    struct ttr_trace_value value;
    value.bits = 0;
    value.text = text;
    value.text_n = (uint32_t)(n < TTR_TRACE_TEXT_MAX ? n : TTR_TRACE_TEXT_MAX);
    value.type = TTR_TRACE_VALUE_TEXT;
    return value;
}

TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of_text(const char *text)
{
    return ttr_trace_value_of_bytes(text, text ? strlen(text) : 0);
}

#ifdef __cplusplus
} /* extern "C" */
#include <type_traits>

TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of(const char *x)
{
    return ttr_trace_value_of_text(x);
}
TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of(char *x)
{
    return ttr_trace_value_of_text(x);
}
TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of(const volatile void *x)
{
    return ttr_trace_value_of_pointer(x);
}
TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of(decltype(nullptr))
{
    return ttr_trace_value_of_nothing();
}
TTR_TRACE_INLINE_ struct ttr_trace_value ttr_trace_value_of(bool x)
{
    return ttr_trace_value_of_bool(x);
}
template <class T>
static inline typename std::enable_if<std::is_floating_point<T>::value, ttr_trace_value>::type
ttr_trace_value_of(T x)
{
    return ttr_trace_value_of_double((double)x);
}
template <class T>
static inline typename std::enable_if<std::is_integral<T>::value || std::is_enum<T>::value,
                                      ttr_trace_value>::type
ttr_trace_value_of(T x)
{
    return sizeof(T) > 4        ? ((T)-1 < (T)1 ? ttr_trace_value_of_i64((int64_t)x)
                                                : ttr_trace_value_of_u64((uint64_t)x))
           : (int64_t)(T)-1 < 1 ? ttr_trace_value_of_i32((int32_t)x)
                                : ttr_trace_value_of_u32((uint32_t)x);
}
/* std::string and std::string_view, without including their headers. */
template <class T>
static inline auto ttr_trace_value_of(const T &x)
    -> decltype((void)(const char *)x.data(), ttr_trace_value_of_bytes(x.data(), x.size()))
{
    return ttr_trace_value_of_bytes(x.data(), x.size());
}
#define TTR_TRACE_VALUE_(value) ttr_trace_value_of(value)
extern "C" {
#else
#define TTR_TRACE_VALUE_(value) \
    _Generic((value),                                                                          \
        bool: ttr_trace_value_of_bool,                                                         \
        char: ttr_trace_value_of_i32,                                                          \
        signed char: ttr_trace_value_of_i32,                                                   \
        short: ttr_trace_value_of_i32,                                                         \
        int: ttr_trace_value_of_i32,                                                           \
        unsigned char: ttr_trace_value_of_u32,                                                 \
        unsigned short: ttr_trace_value_of_u32,                                                \
        unsigned: ttr_trace_value_of_u32,                                                      \
        long: ttr_trace_value_of_i64,                                                          \
        long long: ttr_trace_value_of_i64,                                                     \
        unsigned long: ttr_trace_value_of_u64,                                                 \
        unsigned long long: ttr_trace_value_of_u64,                                            \
        float: ttr_trace_value_of_double,                                                      \
        double: ttr_trace_value_of_double,                                                     \
        char *: ttr_trace_value_of_text,                                                       \
        const char *: ttr_trace_value_of_text,                                                 \
        default: ttr_trace_value_of_pointer)(value)
#endif

/* --- Records --- */

/* Returns the words of an argument of that type and text size. */
TTR_TRACE_INLINE_ size_t ttr_trace_value_words(const struct ttr_trace_value *value)
{
    switch (value->type) {
    case TTR_TRACE_VALUE_NULL:
    case TTR_TRACE_VALUE_I32:
    case TTR_TRACE_VALUE_U32:
    case TTR_TRACE_VALUE_BOOL:
        return 1;
    case TTR_TRACE_VALUE_TEXT:
        return 1 + (value->text_n + 7u) / 8;
    default:
        return 2;
    }
}

/* Writes an argument; `header` has its type, name, and its size unless it is a text.  Returns
 * the word after it. */
TTR_TRACE_INLINE_ uint64_t *ttr_trace_put_value(uint64_t *p, uint64_t header,
                                                const struct ttr_trace_value *value)
{
    switch (value->type) {
    case TTR_TRACE_VALUE_NULL:
        *p = header;
        return p + 1;
    case TTR_TRACE_VALUE_I32:
    case TTR_TRACE_VALUE_U32:
    case TTR_TRACE_VALUE_BOOL:
        *p = header | value->bits << 32;
        return p + 1;
    case TTR_TRACE_VALUE_TEXT: {
        const size_t words = (value->text_n + 7u) / 8;
        p[words] = 0;
        *p = header | (1 + (uint64_t)words) << 4 |
             (value->text_n ? (uint64_t)(0x8000u | value->text_n) << 32 : 0);
        if (value->text_n)
            memcpy(p + 1, value->text, value->text_n);
        return p + 1 + words;
    }
    default:
        p[0] = header;
        p[1] = value->bits;
        return p + 2;
    }
}

/* Writes an event of `n` arguments; a word `tail` follows them unless it is NULL.  Reserves the
 * words in the thread's first ring, fills them, and publishes them by one release store. Everything
 * else is done out of line: the first use of the trace point, a full chunk, and events of signal
 * handlers that interrupt these lines. */
TTR_TRACE_INLINE_ void ttr_trace_write(ttr_trace_site *site, const uint64_t *arg_headers,
                                       uint64_t time, const struct ttr_trace_value *values,
                                       unsigned n, const uint64_t *tail)
{
    struct ttr_trace_thread *thread = &ttr_trace_thread;
    struct ttr_trace_ring *ring = &thread->ring[0];
    const uint64_t header = __atomic_load_n(&site->header, __ATOMIC_ACQUIRE);
    size_t words = tail ? 3 : 2;
#pragma GCC unroll 15
    for (unsigned i = 0; i < n; i++)
        words += ttr_trace_value_words(&values[i]);
    if (__builtin_expect(header != 0 && thread->depth == 0, 1)) {
        thread->depth = 1;
        __asm__ volatile("" ::: "memory"); /* a handler uses another ring from here on */
        uint64_t *p = ring->cur;
        if (__builtin_expect((uintptr_t)p + words * 8 <= (uintptr_t)ring->end, 1)) {
            p[0] = header | ring->thread_bits | (uint64_t)words << 4;
            p[1] = time;
            p += 2;
#pragma GCC unroll 15
            for (unsigned i = 0; i < n; i++)
                p = ttr_trace_put_value(p, arg_headers[i], &values[i]);
            if (tail)
                *p++ = *tail;
            ring->cur = p;
            __atomic_store_n(&ring->commit[1], ++ring->events, __ATOMIC_RELAXED);
            __atomic_store_n(ring->commit, (uint64_t)(uintptr_t)p - ring->bias, __ATOMIC_RELEASE);
            __asm__ volatile("" ::: "memory");
            thread->depth = 0;
            return;
        }
        thread->depth = 0;
    }
    /* Copies, so that the compiler keeps the values themselves in registers. */
    struct ttr_trace_value copy[TTR_TRACE_ARGS_MAX];
    const uint64_t tail_copy = tail ? *tail : 0;
    for (unsigned i = 0; i < n; i++)
        copy[i] = values[i];
    ttr_trace_write_slow(site, time, copy, n, tail ? &tail_copy : NULL);
}

/* --- Zones --- */

/* Arguments of a zone. */
struct ttr_trace_zone_args {
    uint32_t n;     /* arguments */
    uint32_t added; /* of them by TTR_ZONE_ARG, at the end */
    struct ttr_trace_value values[TTR_TRACE_ARGS_MAX];
    const char *names[TTR_TRACE_ARGS_MAX]; /* of added ones */
};

/* A zone that is open. No function out of line has its address, so that the compiler keeps it in
 * registers. */
struct ttr_trace_zone {
    ttr_trace_site *site;             /* NULL = disabled, or ended */
    struct ttr_trace_zone_args *args; /* NULL = none */
    uint64_t start;
    uint64_t *open; /* stack of open zones that it is on; NULL = none */
    uint64_t depth; /* depth of the stack below it */
    unsigned n;     /* arguments, without added ones */
};

TTR_TRACE_API_ void ttr_trace_zone_add(struct ttr_trace_zone_args *args, const char *name,
                                       struct ttr_trace_value value);
TTR_TRACE_API_ void ttr_trace_zone_write(ttr_trace_site *site, uint64_t start, uint64_t end,
                                         const struct ttr_trace_zone_args *args);
TTR_TRACE_API_ uint64_t *ttr_trace_zone_open_slow(ttr_trace_site *site,
                                                  const struct ttr_trace_zone_args *args);

#define TTR_TRACE_OPEN_ZONES_MAX 63

/* Puts a zone on the stack of open zones, from which the manager recovers it if the process is
 * killed. */
TTR_TRACE_INLINE_ void ttr_trace_zone_open(struct ttr_trace_zone *zone)
{
    uint64_t *stack = ttr_trace_thread.ring[0].open_zones;
    uint64_t header = __atomic_load_n(&zone->site->header, __ATOMIC_RELAXED);
    if (TTR_TRACE_UNLIKELY_(!stack || !header)) {
        stack = ttr_trace_zone_open_slow(zone->site, zone->args);
        header = __atomic_load_n(&zone->site->header, __ATOMIC_RELAXED);
    }
    zone->open = NULL;
    zone->depth = stack ? __atomic_load_n(stack, __ATOMIC_RELAXED) : TTR_TRACE_OPEN_ZONES_MAX;
    if (TTR_TRACE_UNLIKELY_(zone->depth >= TTR_TRACE_OPEN_ZONES_MAX))
        return;
    stack[2 + 2 * zone->depth] = header;
    stack[3 + 2 * zone->depth] = zone->start;
    __atomic_store_n(stack, zone->depth + 1, __ATOMIC_RELEASE);
    zone->open = stack;
}

TTR_TRACE_INLINE_ void ttr_trace_zone_end_at(struct ttr_trace_zone *zone, uint64_t end)
{
    const struct ttr_trace_zone_args *args = zone->args;
    if (end - zone->start >= ttr_trace_zone_min_ticks) {
        if (!args)
            ttr_trace_write(zone->site, NULL, zone->start, NULL, 0, &end);
        else if (__builtin_constant_p(zone->n) && args->added == 0)
            ttr_trace_write(zone->site, zone->site->arg_headers, zone->start, args->values, zone->n,
                            &end);
        else
            ttr_trace_zone_write(zone->site, zone->start, end, args);
    }
    if (zone->open)
        __atomic_store_n(zone->open, zone->depth, __ATOMIC_RELEASE);
    zone->site = NULL;
}

TTR_TRACE_INLINE_ void ttr_trace_zone_end(struct ttr_trace_zone *zone)
{
    if (zone->site)
        ttr_trace_zone_end_at(zone, ttr_trace_now());
}

/* --- Out of line --- */

TTR_TRACE_API_ void ttr_trace_log(const struct ttr_trace_category *category, const char *format,
                                  ...) __attribute__((format(printf, 2, 3)));
TTR_TRACE_API_ void ttr_trace_blob(const char *name, const void *bytes, size_t n);
TTR_TRACE_API_ void ttr_trace_object(const volatile void *pointer, const char *name);

/* A program or library with its categories. */
struct ttr_trace_module {
    volatile uint8_t *enabled;                   /* page of enable bytes, one per category */
    const struct ttr_trace_category *categories; /* a row without a name ends the list */
    struct ttr_trace_module *next;               /* internal */
    uint64_t state;                              /* internal */
};

TTR_TRACE_API_ void ttr_trace_module_add(struct ttr_trace_module *module);
TTR_TRACE_API_ void ttr_trace_module_remove(struct ttr_trace_module *module);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* --- Macros --- */

#define TTR_TRACE_CATEGORY_ID_(identifier, name, description) ttr_trace_category_##identifier,
#define TTR_TRACE_CATEGORY_ROW_(identifier, name, description) {name, description},

#define TTR_TRACE_MODULE_                                                                   \
    static struct ttr_trace_module ttr_trace_this_module = {ttr_trace_enabled,              \
                                                            ttr_trace_categories, NULL, 0}; \
    __attribute__((constructor)) static void ttr_trace_enter_module(void)                   \
    {                                                                                       \
        ttr_trace_module_add(&ttr_trace_this_module);                                       \
    }                                                                                       \
    __attribute__((destructor)) static void ttr_trace_leave_module(void)                    \
    {                                                                                       \
        ttr_trace_module_remove(&ttr_trace_this_module);                                    \
    }                                                                                       \
    struct ttr_trace_module_end_

#define TTR_TRACE_JOIN_(a, b) TTR_TRACE_JOIN2_(a, b)
#define TTR_TRACE_JOIN2_(a, b) a##b

/* Number of arguments, 1 to 17. */
#define TTR_TRACE_COUNT_(...) \
    TTR_TRACE_COUNT2_(__VA_ARGS__, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TTR_TRACE_COUNT2_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, count, ...) count

#define TTR_TRACE_FIRST_(...) TTR_TRACE_FIRST2_(__VA_ARGS__, 0)
#define TTR_TRACE_FIRST2_(first, ...) first

/* Applies a macro to each argument after the first one. */
#define TTR_TRACE_EACH_(F, ...) \
    TTR_TRACE_JOIN_(TTR_TRACE_EACH_, TTR_TRACE_COUNT_(__VA_ARGS__))(F, __VA_ARGS__)
#define TTR_TRACE_EACH_1(F, z)
#define TTR_TRACE_EACH_2(F, z, a) F(a)
#define TTR_TRACE_EACH_3(F, z, a, ...) F(a) TTR_TRACE_EACH_2(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_4(F, z, a, ...) F(a) TTR_TRACE_EACH_3(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_5(F, z, a, ...) F(a) TTR_TRACE_EACH_4(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_6(F, z, a, ...) F(a) TTR_TRACE_EACH_5(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_7(F, z, a, ...) F(a) TTR_TRACE_EACH_6(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_8(F, z, a, ...) F(a) TTR_TRACE_EACH_7(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_9(F, z, a, ...) F(a) TTR_TRACE_EACH_8(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_10(F, z, a, ...) F(a) TTR_TRACE_EACH_9(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_11(F, z, a, ...) F(a) TTR_TRACE_EACH_10(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_12(F, z, a, ...) F(a) TTR_TRACE_EACH_11(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_13(F, z, a, ...) F(a) TTR_TRACE_EACH_12(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_14(F, z, a, ...) F(a) TTR_TRACE_EACH_13(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_15(F, z, a, ...) F(a) TTR_TRACE_EACH_14(F, z, __VA_ARGS__)
#define TTR_TRACE_EACH_16(F, z, a, ...) F(a) TTR_TRACE_EACH_15(F, z, __VA_ARGS__)

#define TTR_TRACE_ARG_NAME_(arg) TTR_TRACE_ARG_NAME2_ arg,
#define TTR_TRACE_ARG_NAME2_(name, value) name
#define TTR_TRACE_ARG_VALUE_(arg) TTR_TRACE_ARG_VALUE2_ arg,
#define TTR_TRACE_ARG_VALUE2_(name, value) value

#define TTR_TRACE_IS_ENABLED_(category, level) \
    ttr_trace_is_enabled(&ttr_trace_enabled[ttr_trace_category_##category], level)

/* Defines the trace point `ttr_trace_point` of an event. */
#define TTR_TRACE_POINT_(point, event_type, event_level, category, ...)                  \
    static const char *const point##_names[] = {                                         \
        TTR_TRACE_EACH_(TTR_TRACE_ARG_NAME_, __VA_ARGS__) ""};                           \
    static uint64_t point##_headers[TTR_TRACE_COUNT_(__VA_ARGS__)];                      \
    static ttr_trace_site point = {0,                                                    \
                                   point##_headers,                                      \
                                   &ttr_trace_categories[ttr_trace_category_##category], \
                                   TTR_TRACE_FIRST_(__VA_ARGS__),                        \
                                   point##_names,                                        \
                                   __FILE__,                                             \
                                   NULL,                                                 \
                                   __LINE__,                                             \
                                   event_type,                                           \
                                   event_level,                                          \
                                   TTR_TRACE_COUNT_(__VA_ARGS__) - 1,                    \
                                   0,                                                    \
                                   &ttr_trace_enabled[ttr_trace_category_##category]}

#ifdef TTR_TRACE_DISABLE
#undef TTR_TRACE_MODULE_
#define TTR_TRACE_MODULE_ struct ttr_trace_module_end_
#define TTR_TRACE_EVENT_(...) ((void)0)
#define TTR_TRACE_EVENT_WITH_ID_(...) ((void)0)
#define TTR_TRACE_ZONE_(...) ((void)0)
#define TTR_TRACE_LAP_(...) ((void)0)
#define TTR_TRACE_LOG_(...) ((void)0)
#undef TTR_TRACE_IS_ENABLED_
#define TTR_TRACE_IS_ENABLED_(category, level) false
#else

/* An event without an id. */
#define TTR_TRACE_EVENT_(event_type, level, category, ...)                               \
    do {                                                                                 \
        if (TTR_TRACE_IS_ENABLED_(category, level)) {                                    \
            const uint64_t ttr_trace_time = ttr_trace_now();                             \
            TTR_TRACE_POINT_(ttr_trace_point, event_type, level, category, __VA_ARGS__); \
            const struct ttr_trace_value ttr_trace_values[] = {                          \
                TTR_TRACE_EACH_(TTR_TRACE_ARG_VALUE_, __VA_ARGS__){0, NULL, 0, 0}};      \
            ttr_trace_write(&ttr_trace_point, ttr_trace_point_headers, ttr_trace_time,   \
                            ttr_trace_values, TTR_TRACE_COUNT_(__VA_ARGS__) - 1, NULL);  \
        }                                                                                \
    } while (0)

#define TTR_TRACE_EVENT_WITH_ID_(event_type, level, id, category, ...)                           \
    do {                                                                                         \
        if (TTR_TRACE_IS_ENABLED_(category, level)) {                                            \
            const uint64_t ttr_trace_time = ttr_trace_now(), ttr_trace_id = (uint64_t)(id);      \
            TTR_TRACE_POINT_(ttr_trace_point, event_type, level, category, __VA_ARGS__);         \
            const struct ttr_trace_value ttr_trace_values[] = {                                  \
                TTR_TRACE_EACH_(TTR_TRACE_ARG_VALUE_, __VA_ARGS__){0, NULL, 0, 0}};              \
            ttr_trace_write(&ttr_trace_point, ttr_trace_point_headers, ttr_trace_time,           \
                            ttr_trace_values, TTR_TRACE_COUNT_(__VA_ARGS__) - 1, &ttr_trace_id); \
        }                                                                                        \
    } while (0)

/* Fills a zone's values and opens it. */
#define TTR_TRACE_ZONE_FILL_(level, zone_start, category, ...)                           \
    TTR_TRACE_POINT_(ttr_trace_point, TTR_TRACE_COMPLETE, level, category, __VA_ARGS__); \
    const struct ttr_trace_value ttr_trace_values[] = {                                  \
        TTR_TRACE_EACH_(TTR_TRACE_ARG_VALUE_, __VA_ARGS__){0, NULL, 0, 0}};              \
    ttr_trace_zone_here.site = &ttr_trace_point;                                         \
    ttr_trace_zone_here.n = TTR_TRACE_COUNT_(__VA_ARGS__) - 1;                           \
    ttr_trace_zone_here.args = NULL;                                                     \
    ttr_trace_zone_args_here.n = TTR_TRACE_COUNT_(__VA_ARGS__) - 1;                      \
    ttr_trace_zone_args_here.added = 0;                                                  \
    if (TTR_TRACE_COUNT_(__VA_ARGS__) > 1) {                                             \
        memcpy(ttr_trace_zone_args_here.values, ttr_trace_values,                        \
               sizeof ttr_trace_values - sizeof ttr_trace_values[0]);                    \
        ttr_trace_zone_here.args = &ttr_trace_zone_args_here;                            \
    }                                                                                    \
    ttr_trace_zone_here.start = zone_start;                                              \
    ttr_trace_zone_open(&ttr_trace_zone_here)

#define TTR_TRACE_ZONE_(level, category, ...)                                                  \
    struct ttr_trace_zone_args ttr_trace_zone_args_here;                                       \
    __attribute__((cleanup(ttr_trace_zone_end))) struct ttr_trace_zone ttr_trace_zone_here = { \
        NULL, NULL, 0, NULL, 0, 0};                                                            \
    if (TTR_TRACE_IS_ENABLED_(category, level)) {                                              \
        TTR_TRACE_ZONE_FILL_(level, ttr_trace_now(), category, __VA_ARGS__);                   \
    }                                                                                          \
    (void)0

#define TTR_TRACE_LAP_(level, category, ...)                                        \
    do {                                                                            \
        if (ttr_trace_zone_here.site || TTR_TRACE_IS_ENABLED_(category, level)) {   \
            const uint64_t ttr_trace_time = ttr_trace_now();                        \
            if (ttr_trace_zone_here.site)                                           \
                ttr_trace_zone_end_at(&ttr_trace_zone_here, ttr_trace_time);        \
            if (TTR_TRACE_IS_ENABLED_(category, level)) {                           \
                TTR_TRACE_ZONE_FILL_(level, ttr_trace_time, category, __VA_ARGS__); \
            }                                                                       \
        }                                                                           \
    } while (0)

#define TTR_TRACE_LOG_(category, level, ...)                                                  \
    do {                                                                                      \
        if (TTR_TRACE_IS_ENABLED_(category, level))                                           \
            ttr_trace_log(&ttr_trace_categories[ttr_trace_category_##category], __VA_ARGS__); \
    } while (0)
#endif

#endif
