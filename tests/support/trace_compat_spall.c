/* A part of a program that calls spall; the changed include is the only change. */
#include <tracetta/compat_spall.h>

void run_spall(void);

/* The functions of spall.h of 2023 and later. */
void run_spall(void)
{
    static unsigned char bytes[4096];
    SpallProfile profile;
    SpallBuffer buffer = {.data = bytes, .length = sizeof bytes, .tid = 1, .pid = 1};
    if (!spall_init_file("spall.fxt", 1, &profile) || !spall_buffer_init(&profile, &buffer))
        return;
    (void)spall_buffer_name_thread(&profile, &buffer, "physics thread", 14);
    for (uint64_t i = 0; i < 5; i++) {
        (void)spall_buffer_begin(&profile, &buffer, "physics and more", 7, 10 * i);
        (void)spall_buffer_begin_args(&profile, &buffer, "step", 4, "n=1", 3, 10 * i + 1);
        (void)spall_buffer_end(&profile, &buffer, 10 * i + 2);
        (void)spall_buffer_end(&profile, &buffer, 10 * i + 5);
    }
    (void)spall_buffer_quit(&profile, &buffer);
    spall_quit(&profile);
    profile = spall_init_file("spall.fxt", 1); /* as before 2023 */
    (void)spall_buffer_begin_ex(&profile, &buffer, "old", 3, 1, 1, 1);
    (void)spall_buffer_end_ex(&profile, &buffer, 2, 1, 1);
    spall_quit(&profile);
}
