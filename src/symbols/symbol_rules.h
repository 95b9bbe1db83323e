/* Options that all parts of a symbolizer share. */
#ifndef TRACETTA_SYMBOLS_SYMBOL_RULES_H
#define TRACETTA_SYMBOLS_SYMBOL_RULES_H

#include <tracetta/symbols.h>

struct symbol_rules {
    bool is_exact; /* find only what babeltrace2 finds */
    bool no_mmap;
    ttr_progress progress; /* false ends all further work; NULL = never */
    void *user_data;       /* passed to progress */
};

/* Returns true if the caller wants no further work. */
static inline bool symbol_rules_is_cancelled(const struct symbol_rules *rules)
{
    return rules->progress && !rules->progress(rules->user_data);
}

#endif
