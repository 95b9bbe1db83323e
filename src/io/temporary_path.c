/* Names for temporary files: 6 random letters and digits after the target's name. */
#include "io/temporary_path.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* bytes of the target's name to keep, because file names are limited to 255 bytes */
enum { NAME_KEPT_MAX = 200 };

void temporary_path(char *to, size_t size, const char *target)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash + 1 - target) : 0;
    uint8_t random[6] = {0};
    if (getrandom(random, sizeof random, GRND_NONBLOCK) <
        0) /* getrandom fails only early in boot; O_EXCL in the caller then prevents collisions */
        memcpy(random, &(pid_t){getpid()}, sizeof(pid_t));
    char end[7] = {0};
    for (size_t i = 0; i < sizeof random; i++)
        end[i] = letters[random[i] % (sizeof letters - 1)];
    (void)snprintf(to, size, "%.*s.%.*s.%s", folder, target, NAME_KEPT_MAX, target + folder, end);
}
