/* Signals.  A handler may only touch these two words, unlink and _exit. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static const char *volatile temporary;

static void on_signal(int number)
{
    if (came) {
        if (temporary)
            (void)unlink(temporary);
        _exit(128 + number);
    }
    came = number;
}

void interrupt_init(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

int interrupt_came(void)
{
    return came;
}

void interrupt_remove(const char *path)
{
    temporary = path;
}
