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
    TracyCZoneText(inner, "first", 5);
    TracyCZoneText(inner, "second", 6);
    TracyCZoneValue(inner, 7);
    TracyCZoneEnd(inner);
    TracyCZone(unnamed, 0); /* not active */
    TracyCZoneEnd(unnamed);
}

static void use_memory(void)
{
    char block[8];
    ZoneNamedN(outer, "memory", true);
    ZoneNameV(outer, "pool", 4);
    TracyAlloc(block, sizeof block);
    TracyCAllocN(block, sizeof block, "pool");
    TracyFree(block);
    FrameMarkStart("load");
    TracyCPlotI("memory used", 8);
    FrameMarkEnd("load");
    TracyFiberEnter("fiber");
    TracyCMessageL("on a fiber");
    TracyFiberLeave;
}

int main(void)
{
    TracySetThreadName("game");
    for (int i = 0; i < 10; i++) {
        load_level(i);
        FrameMark;
    }
    use_memory();
    TracyMessageL("level done");
    run_spall();
    return 0;
}
