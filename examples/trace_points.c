/* A program with trace points: two processes, each with three threads, sell books.  The second
 * process is killed by SIGKILL half-way, which the trace survives.
 *
 *   tracetta record -o shop.fxt -- example-trace-points [ORDERS]
 *
 * Prints how many orders each process had served, to compare with the trace. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/trace.h>

#define SHOP_CATEGORIES(X) X(orders, "orders", "customers' orders") X(disk, "disk", "files")
TTR_CATEGORIES_DECLARE(SHOP_CATEGORIES);
TTR_CATEGORIES_DEFINE(SHOP_CATEGORIES);

#define THREADS 3

/* The numbers of served orders, in memory that both processes share. */
static uint64_t *served;
static uint64_t orders = 2000;
static uint64_t *own; /* the number of this process */

static void write_to_disk(uint64_t order)
{
    const struct timespec rest = {0, 20000};
    TTR_ZONE(disk, "write", TTR_ARG("bytes", 100 + order % 50));
    nanosleep(&rest, NULL);
}

static void serve(uint64_t order)
{
    {
        TTR_ZONE(orders, "serve", TTR_ARG("order", order));
        write_to_disk(order);
        TTR_COUNTER(orders, "stock", 0, TTR_ARG("books", orders - order));
    }
    TTR_INSTANT(orders, "served", TTR_ARG("order", order));
    __atomic_fetch_add(own, 1, __ATOMIC_RELEASE); /* the event before this line is committed */
}

static void *run_thread(void *name)
{
    ttr_trace_thread_name(name);
    for (uint64_t i = 0; i < orders / THREADS; i++) {
        serve(i);
        if (own == &served[1] && __atomic_load_n(own, __ATOMIC_ACQUIRE) >= orders / 2)
            kill(getpid(), SIGKILL);
    }
    return NULL;
}

static void run_process(unsigned i)
{
    static char names[THREADS][8] = {"till 1", "till 2", "till 3"};
    pthread_t threads[THREADS];
    own = &served[i];
    for (size_t k = 0; k < THREADS; k++)
        if (pthread_create(&threads[k], NULL, run_thread, names[k]) != 0)
            exit(1);
    for (size_t k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
}

int main(int count, char **words)
{
    int status = 0;
    if (count > 1)
        orders = strtoull(words[1], NULL, 10);
    served = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (served == MAP_FAILED)
        return 1;
    const pid_t child = fork();
    if (child < 0)
        return 1;
    run_process(child == 0);
    if (child == 0)
        return 0;
    waitpid(child, &status, 0);
    printf("process %d served %" PRIu64 " orders\n", (int)getpid(), served[0]);
    printf("process %d served %" PRIu64 " orders, then it was %s\n", (int)child, served[1],
           WIFSIGNALED(status) ? "killed" : "done");
    return 0;
}
