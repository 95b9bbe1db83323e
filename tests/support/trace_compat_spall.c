/* A part of a program that calls spall; the changed include is the only change. */
#include <tracetta/compat_spall.h>

void run_spall(void);

void run_spall(void)
{
    SpallProfile profile = spall_init_file("spall.fxt", 1);
    SpallBuffer buffer = {0};
    (void)spall_buffer_init(&profile, &buffer);
    for (int i = 0; i < 5; i++) {
        (void)spall_buffer_begin(&profile, &buffer, "physics", 7, 0);
        (void)spall_buffer_end(&profile, &buffer, 0);
    }
    (void)spall_buffer_quit(&profile, &buffer);
    spall_quit(&profile);
}
