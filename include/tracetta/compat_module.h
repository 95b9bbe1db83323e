/* One category for a program with macros of another library; see compat_tracy.h.
 *
 * Each file that includes this header defines the category weakly, so that a program or library has
 * it once.  Not together with TTR_CATEGORIES_DECLARE in one program or library. */
#ifndef TRACETTA_COMPAT_MODULE_H
#define TRACETTA_COMPAT_MODULE_H

#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTR_TRACE_WEAK_ __attribute__((weak, visibility("hidden")))

enum ttr_trace_category_ids { ttr_trace_category_compat, ttr_trace_categories_n };

/* The attributes are in declarations: in C++ they would come too late in the definition of a
 * constant. */
extern TTR_TRACE_WEAK_ const struct ttr_trace_category ttr_trace_categories[2];
extern TTR_TRACE_WEAK_ volatile uint8_t ttr_trace_enabled[TTR_TRACE_PAGE];
extern TTR_TRACE_WEAK_ struct ttr_trace_module ttr_trace_compat_module;
extern TTR_TRACE_WEAK_ int ttr_trace_compat_files; /* files that have entered */

const struct ttr_trace_category ttr_trace_categories[2] = {
    {"compat", "events of macros of another library"}, {NULL, NULL}};
__attribute__((aligned(TTR_TRACE_PAGE))) volatile uint8_t ttr_trace_enabled[TTR_TRACE_PAGE] = {0};
struct ttr_trace_module ttr_trace_compat_module = {ttr_trace_enabled, ttr_trace_categories, NULL,
                                                   0};
int ttr_trace_compat_files = 0;

__attribute__((constructor, unused)) static void ttr_trace_compat_enter(void)
{
    if (ttr_trace_compat_files++ == 0)
        ttr_trace_module_add(&ttr_trace_compat_module);
}

__attribute__((destructor, unused)) static void ttr_trace_compat_leave(void)
{
    if (--ttr_trace_compat_files == 0)
        ttr_trace_module_remove(&ttr_trace_compat_module);
}

#ifdef __cplusplus
}
#endif

#endif
