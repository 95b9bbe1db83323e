/* A program without trace points: its functions, allocations, locks and writes are recorded by
 * libtracetta-functions and libtracetta-preload. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int inner_step(int n)
{
    __asm__ volatile("" ::: "memory");
    return n * 3;
}

int outer_step(int n);

__attribute__((noinline)) int outer_step(int n)
{
    return inner_step(n) + 1;
}

static void *wait_for_lock(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *end_with_lock(void *mutex)
{
    (void)pthread_mutex_lock(mutex);
    return NULL;
}

/* Returns true if a robust mutex of a thread that ended is acquired with EOWNERDEAD. */
static int acquires_robust_mutex(void)
{
    static pthread_mutex_t robust;
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_create(&thread, NULL, end_with_lock, &robust);
    pthread_join(thread, NULL);
    return pthread_mutex_lock(&robust) == EOWNERDEAD && pthread_mutex_consistent(&robust) == 0 &&
           pthread_mutex_unlock(&robust) == 0;
}

int main(void)
{
    static void *volatile kept;
    pthread_t thread;
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += outer_step(i);
    for (size_t i = 1; i <= 100; i++) {
        kept = malloc(i);
        free(kept);
    }
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wait_for_lock, NULL);
    usleep(20000);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    if (!acquires_robust_mutex())
        return 2;
    return write(STDOUT_FILENO, "done\n", 5) == 5 && sum == 1499500 ? 0 : 1;
}
