/* A program without trace points: its functions, allocations, locks and writes are recorded by
 * libtracetta-functions and libtracetta-preload. */
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
    return write(STDOUT_FILENO, "done\n", 5) == 5 && sum == 1499500 ? 0 : 1;
}
