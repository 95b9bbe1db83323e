/* A program to be traced by LTTng: usage: live_app EVENTS THREADS.  Each event is a line of text.
 */
#include <lttng/tracef.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS_MAX = 16 };

static long events;

static void *trace(void *ctx)
{
    for (long i = 0; i < events; i++)
        lttng_ust_tracef("thread %d counts %ld of %ld, which is the %s part", *(int *)ctx, i,
                         events, i % 3 ? "larger" : "smaller");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    int number[THREADS_MAX];
    long threads = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    events = strtol(argv[1], NULL, 10);
    for (int i = 0; i < (int)threads; i++) {
        number[i] = i;
        if (pthread_create(&thread[i], NULL, trace, &number[i]) != 0)
            return 1;
    }
    for (int i = 0; i < (int)threads; i++)
        (void)pthread_join(thread[i], NULL);
    return 0;
}
