/* A program with the macros of Tracy; the changed include is the only change. */
#include <tracetta/compat_tracy.h>

void run_spall(void);

static void load_level(int level)
{
    ZoneScopedN("load level");
    ZoneValue(level);
    ZoneText("castle", 6);
    TracyCZoneN(inner, "decode", 1);
    TracyPlot("monsters", 7);
    TracyCZoneEnd(inner);
}

int main(void)
{
    TracySetThreadName("game");
    for (int i = 0; i < 10; i++) {
        load_level(i);
        FrameMark;
    }
    TracyMessageL("level done");
    run_spall();
    return 0;
}
