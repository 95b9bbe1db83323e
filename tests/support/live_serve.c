/* Serves the session of two streams (tests/support/live_scene.h) until its standard input ends, for
 * tests of the command. Prints the session's URL.
 *
 *   usage: live_serve [stay|mute|cut|holed|lazy|lazy-cut]
 *
 *   stay     the session does not end
 *   mute     never answers
 *   cut      closes the first connection in the middle of a packet
 *   holed    a packet is missing
 *   lazy     answers several requests at once, to record conversations for fuzz/live.c */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/live_scene.h"

int main(int argc, char **argv)
{
    static struct scene_pair pair;
    char byte;
    scene_make_pair(&pair);
    const char *how = argc > 1 ? argv[1] : "";
    pair.streams[0].stays = pair.streams[1].stays = strcmp(how, "stay") == 0;
    if (strcmp(how, "holed") == 0)
        pair.a[1] = pair.a[--pair.streams[0].steps_n];
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].stall_at = strcmp(how, "mute") == 0;
    scene.relay.fault[0].cut_at = strstr(how, "cut") ? 15000 : 0;
    scene.relay.fault[0].pause_ms = scene.relay.fault[1].pause_ms = strstr(how, "lazy") ? 20 : 0;
    relay_start(&scene.relay, scene.url, sizeof scene.url);
    (void)printf("%s\n", scene.url);
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    relay_stop(&scene.relay);
    return 0;
}
