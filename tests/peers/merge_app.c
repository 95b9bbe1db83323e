/* A program that is recorded by "tracetta record" and by LTTng at the same time. usage: merge_app
 * MARKS. Mark i is an event of one of the two, in turn, at least 50 us after mark i - 1. */
#include <lttng/tracef.h>
#include <stdlib.h>
#include <time.h>

#include <tracetta/trace.h>

#define MERGE_CATEGORIES(X) X(marks, "marks", "numbered marks")
TTR_CATEGORIES_DECLARE(MERGE_CATEGORIES);
TTR_CATEGORIES_DEFINE(MERGE_CATEGORIES);

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 50000};
    const long marks = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    for (long i = 0; i < marks; i++) {
        if (i % 2)
            lttng_ust_tracef("mark %ld.", i);
        else
            TTR_INSTANT(marks, "mark", TTR_ARG("number", i));
        nanosleep(&pause, NULL);
    }
    return 0;
}
