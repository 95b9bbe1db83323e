/* Ids of activities: random, so that those of different processes and machines do not meet. */
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/provider.h>

/* Where the kernel has no random bytes yet: time, process and place are no less different, only
 * less hard to guess. */
static void make_otherwise(uint8_t id[16])
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t words[2] = {(uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec,
                         (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)id};
    words[1] *= UINT64_C(0x9E3779B97F4A7C15);
    memcpy(id, words, 16);
}

void ttr_activity_make(uint8_t id[16])
{
    if (getrandom(id, 16, GRND_NONBLOCK) != 16)
        make_otherwise(id);
    id[6] = (uint8_t)((id[6] & 0x0F) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3F) | 0x80);
}
