/* Counts the events that survive damage, and detects reading that does not end. */
#include "campaigns/outcome.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/tracetta.h>

#include "base/hash.h"

#define SECONDS_HANG 20

/* Description of the current trial, printed by the signal handler. */
static char doing[200];

static void tell_and_leave(int number)
{
    static const char text[] = "Bail out! crash or hang in ";
    ssize_t ignored = write(STDOUT_FILENO, text, sizeof text - 1);
    ignored += write(STDOUT_FILENO, doing, strlen(doing));
    ignored += write(STDOUT_FILENO, "\n", 1);
    _exit(ignored < 0 ? 99 : 100 + number);
}

void outcome_catch(void)
{
    (void)signal(SIGSEGV, tell_and_leave);
    (void)signal(SIGBUS, tell_and_leave);
    (void)signal(SIGVTALRM, tell_and_leave);
}

void outcome_begin(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    (void)vsnprintf(doing, sizeof doing, what, arguments);
    va_end(arguments);
    (void)setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_sec = SECONDS_HANG}},
                    NULL);
}

double outcome_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t hash_text(uint64_t hash, ttr_text text)
{
    return hash_pair(hash, hash_bytes(text.p, text.n));
}

uint64_t outcome_hash(const ttr *t, const ttr_event *event)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(t, event->thread, &thread);
    uint64_t hash = hash_pair(event->kind, event->ticks);
    hash = hash_pair(hash, event->duration);
    hash = hash_pair(hash, event->link);
    hash = hash_pair(hash_pair(hash, thread.pid), thread.tid);
    hash = hash_text(hash, ttr_text_get(t, event->name));
    hash = hash_text(hash, ttr_text_get(t, event->category));
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field)) {
        hash = hash_text(hash, field.name);
        hash = hash_pair(hash, (uint64_t)field.depth << 32 | field.value.type);
        bool is_text = field.value.type == TTR_TYPE_TEXT || field.value.type == TTR_TYPE_BYTES;
        hash = is_text ? hash_text(hash, field.value.text) : hash_pair(hash, field.value.v.u);
    }
    return hash;
}

void outcome_add(struct outcome *outcome, uint64_t hash)
{
    if (outcome->n == outcome->capacity) {
        outcome->capacity = outcome->capacity ? outcome->capacity * 2 : 1024;
        outcome->hashes = realloc(outcome->hashes, outcome->capacity * sizeof *outcome->hashes);
        if (!outcome->hashes)
            abort();
    }
    outcome->hashes[outcome->n++] = hash;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void outcome_sort(struct outcome *outcome)
{
    if (outcome->n)
        qsort(outcome->hashes, outcome->n, sizeof *outcome->hashes, compare);
}

size_t outcome_exact(const uint64_t *intact, size_t n, const struct outcome *outcome)
{
    size_t exact = 0;
    for (size_t i = 0, j = 0; i < n && j < outcome->n;) {
        int order = compare(&intact[i], &outcome->hashes[j]);
        exact += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return exact;
}

bool outcome_same(const struct outcome *a, const struct outcome *b)
{
    return a->n == b->n &&
           (a->n == 0 || memcmp(a->hashes, b->hashes, a->n * sizeof *a->hashes) == 0);
}

bool outcome_complain(const char *what, const struct outcome *outcome)
{
    (void)printf("# %s: %s (%s %s)\n", doing, what, ttr_status_text(outcome->status),
                 outcome->text);
    return false;
}

bool outcome_is_bounded(const struct outcome *outcome, size_t bytes)
{
    if (outcome->seconds > OUTCOME_SECONDS_MAX)
        return outcome_complain("reading takes more than two seconds", outcome);
    if (outcome->peak > OUTCOME_MEMORY_BASE + OUTCOME_MEMORY_PER_BYTE * bytes)
        return outcome_complain("reading takes too much memory", outcome);
    return true;
}
