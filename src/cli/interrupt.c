/* Signals.  A handler may only touch these words, write, unlink and _exit. */
#include "interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static const char *volatile temporary;
static int wake[2] = {-1, -1}; /* a pipe whose writing end the handler closes: then its reading end is ready, for every thread */

static void on_signal(int number)
{
    if (came) {
        if (temporary)
            (void)unlink(temporary);
        _exit(128 + number);
    }
    came = number;
    (void)close(wake[1]);
}

void interrupt_init(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    if (pipe2(wake, O_CLOEXEC) != 0)
        wake[0] = wake[1] = -1;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

int interrupt_came(void)
{
    return came;
}

int interrupt_wait_fd(void)
{
    return wake[0];
}

void interrupt_remove(const char *path)
{
    temporary = path;
}
