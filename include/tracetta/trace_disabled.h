/* Functions of trace.h in a program that is compiled with TTR_TRACE_DISABLE: they do nothing, and
 * need no library. trace.h includes this file. */
#include <tracetta/trace.h> /* before the guard: it includes this file where it needs it */

#ifndef TRACETTA_TRACE_DISABLED_H
#define TRACETTA_TRACE_DISABLED_H

TTR_TRACE_INLINE_ void ttr_trace_disabled_name_(const char *name)
{
    (void)name;
}

TTR_TRACE_INLINE_ bool ttr_trace_disabled_enter_(uint64_t id, const char *name)
{
    (void)id;
    (void)name;
    return true;
}

TTR_TRACE_INLINE_ void ttr_trace_disabled_leave_(void)
{
}

TTR_TRACE_INLINE_ int ttr_trace_disabled_start_(const char *path, const ttr_trace_options *options)
{
    (void)path;
    (void)options;
    return 0;
}

TTR_TRACE_INLINE_ int ttr_trace_disabled_end_(void)
{
    return 0;
}

TTR_TRACE_INLINE_ void ttr_trace_disabled_stats_(ttr_trace_stats *stats)
{
    stats->written = stats->dropped = 0;
    stats->threads = 0;
    stats->is_active = false;
}

TTR_TRACE_INLINE_ uint64_t ttr_trace_disabled_clock_(void)
{
    return 0;
}

TTR_TRACE_INLINE_ ttr_trace_site *ttr_trace_disabled_site_(const char *category, const char *name,
                                                           enum ttr_trace_type type, uint8_t level,
                                                           const char *const *arg_names,
                                                           size_t args_n)
{
    (void)category;
    (void)name;
    (void)type;
    (void)level;
    (void)arg_names;
    (void)args_n;
    return NULL;
}

TTR_TRACE_INLINE_ bool ttr_trace_disabled_check_(const ttr_trace_site *site)
{
    (void)site;
    return false;
}

TTR_TRACE_INLINE_ void ttr_trace_disabled_write_(ttr_trace_site *site, uint64_t time,
                                                 uint64_t end_or_id,
                                                 const struct ttr_trace_value *values)
{
    (void)site;
    (void)time;
    (void)end_or_id;
    (void)values;
}

#define ttr_trace_thread_name ttr_trace_disabled_name_
#define ttr_trace_trigger ttr_trace_disabled_name_
#define ttr_trace_virtual_thread_enter ttr_trace_disabled_enter_
#define ttr_trace_virtual_thread_leave ttr_trace_disabled_leave_
#define ttr_trace_start_file ttr_trace_disabled_start_
#define ttr_trace_flush ttr_trace_disabled_end_
#define ttr_trace_stop ttr_trace_disabled_end_
#define ttr_trace_get_stats ttr_trace_disabled_stats_
#define ttr_trace_now ttr_trace_disabled_clock_
#define ttr_trace_read_clock ttr_trace_disabled_clock_
#define ttr_trace_site_new ttr_trace_disabled_site_
#define ttr_trace_site_is_enabled ttr_trace_disabled_check_
#define ttr_trace_site_write ttr_trace_disabled_write_

#undef TTR_ZONE_ARG
#define TTR_ZONE_ARG(name, value) ((void)0)
#undef TTR_ZONE_ARG_TEXT
#define TTR_ZONE_ARG_TEXT(name, text, n) ((void)0)
#undef TTR_BLOB
#define TTR_BLOB(category, name, bytes, n) ((void)0)
#undef TTR_OBJECT
#define TTR_OBJECT(category, pointer, name) ((void)0)

#endif
