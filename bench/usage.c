/* Runs a command and measures its resource usage.
 *
 *   usage: usage OUT COMMAND [ARGUMENT...]
 *
 * Writes one line to OUT: exit status, CPU seconds, wall seconds, peak resident memory in KiB. A
 * program of its own, because the peak of a command includes that of the process it is forked from,
 * and a Python interpreter is large. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/wait.h>

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct timespec begin, end;
    struct rusage usage;
    int status;
    if (argc < 3)
        return 2;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t child = fork();
    if (child == 0) {
        (void)execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 1;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *out = fopen(argv[1], "w");
    if (!out)
        return 1;
    fprintf(out, "%d %.6f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 255,
            seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime),
            (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
            usage.ru_maxrss);
    return fclose(out) != 0;
}
