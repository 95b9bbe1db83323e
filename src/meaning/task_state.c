/* States of threads that leave a CPU: the bits of `prev_state`, by version of the kernel.
 *
 *   bit      1  2  4  8  0x10 0x20  0x40    0x80      0x100      0x200    0x400 ...
 *   < 4.14   S  D  T  t  X    Z     dead    wakekill  waking     parked   noload (from 4.2)
 *   4.14 on  S  D  T  t  X    Z     parked  idle      preempted
 *
 * Until 4.13 the bit above all others marks preempted threads: 0x400 until 4.1, 0x800 until 4.7,
 * 0x1000 until 4.13. Sources: include/linux/sched.h and include/trace/events/sched.h of these
 * versions. */
#include "meaning/meaning.h"

#define VERSION(major, minor) ((major)*256 + (minor))

#define BIT_INTERRUPTIBLE 0x1u
#define BIT_UNINTERRUPTIBLE 0x2u
#define BITS_STOPPED 0xcu
#define BITS_DEAD 0x30u
#define BIT_OLD_DEAD 0x40u

/* Returns the bits that mark a preempted thread. Of an unknown version, a bit that is set alone. */
static uint64_t get_preempted_bits(uint16_t release, uint64_t state)
{
    if (release >= VERSION(4, 14))
        return 0x100;
    if (release >= VERSION(4, 8))
        return 0x1000;
    if (release >= VERSION(4, 2))
        return 0x800;
    if (release)
        return 0x400;
    return state == 0x100 || state == 0x400 || state == 0x800 || state == 0x1000 ? state : 0;
}

uint16_t meaning_task_state(uint16_t release, uint64_t prev_state)
{
    if (prev_state == 0)
        return TTR_THREAD_RUNNING;
    if (prev_state & get_preempted_bits(release, prev_state))
        return TTR_THREAD_PREEMPTED;
    if (prev_state & BITS_DEAD)
        return TTR_THREAD_DEAD;
    if (prev_state & BIT_UNINTERRUPTIBLE)
        return TTR_THREAD_UNINTERRUPTIBLE;
    if (prev_state & BIT_INTERRUPTIBLE)
        return TTR_THREAD_BLOCKED;
    if (prev_state & BITS_STOPPED)
        return TTR_THREAD_SUSPENDED;
    if (prev_state & BIT_OLD_DEAD && release < VERSION(4, 14))
        return TTR_THREAD_DEAD;
    return TTR_THREAD_BLOCKED;
}

uint16_t meaning_parse_release(ttr_text text)
{
    unsigned part[2] = {0, 0};
    size_t i = 0;
    while (i < text.n && (text.p[i] < '0' || text.p[i] > '9'))
        i++;
    for (unsigned k = 0; k < 2; k++, i++)
        for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && part[k] < 100; i++)
            part[k] = part[k] * 10 + (unsigned)(text.p[i] - '0');
    return part[0] < 256 && part[1] < 256 ? (uint16_t)VERSION(part[0], part[1]) : 0;
}
