/* A program with a known number of events. usage: perf_workload CALLS [SPIN_MS]. It makes CALLS
 * system calls that no other program makes (getpgid with a special number), then uses SPIN_MS of
 * processor time, so that the number of samples does not depend on the load of the machine. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t used_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

int main(int count, char **words)
{
    long calls = count > 1 ? strtol(words[1], NULL, 10) : 0;
    for (long i = 0; i < calls; i++)
        (void)getpgid(0);
    uint64_t until = used_ms() + (count > 2 ? strtoul(words[2], NULL, 10) : 0);
    while (used_ms() < until)
        for (volatile int i = 0; i < 100000; i++)
            continue;
    return 0;
}
