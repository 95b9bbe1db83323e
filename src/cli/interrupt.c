/* Signals.  A handler may only touch these words, write, unlink and _exit. */
#include "interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "command.h"

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

/* A mapped file was cut short by someone else.  Nothing can be read on, and what is written would look whole. */
static void on_cut(int number)
{
    static const char text[] = "tracetta: an input was cut while it was read; --no-mmap reads such files\n";
    (void)number;
    if (temporary)
        (void)unlink(temporary);
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? OUTCOME_OUTPUT : OUTCOME_INPUT);
}

/* What the caller made us ignore (nohup, jobs in the background of a script) stays so. */
static void take_signal(int number)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction(number, &action, NULL);
}

void interrupt_init(void)
{
    if (pipe2(wake, O_CLOEXEC) != 0)
        wake[0] = wake[1] = -1;
    take_signal(SIGINT);
    take_signal(SIGTERM);
    take_signal(SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGBUS, on_cut);
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
