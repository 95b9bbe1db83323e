/* A program in C++ with the macros of Tracy; the changed include is the only change. */
#include <tracetta/compat_tracy.h>

#include <mutex>
#include <string>

static TracyLockable(std::mutex, lock);

static int parse(int n)
{
    ZoneScoped;
    const std::string text = "line " + std::to_string(n);
    ZoneText(text.c_str(), text.size());
    ZoneTextF("and %d", n);
    ZoneValue(n);
    if (ZoneIsActive)
        ZoneNameF("parse %d", n);
    std::lock_guard<LockableBase(std::mutex)> guard(lock);
    LockMark(lock);
    return n;
}

int main()
{
    tracy::SetThreadName("parser");
    for (int i = 0; i < 3; i++) {
        ZoneScopedNC("turn", 0xff0000);
        TracyPlot("lines", (int64_t)parse(i));
        TracyMessageLC("parsed", 0xff);
        FrameMark;
    }
    const std::string name = "transient";
    ZoneTransientN(zone, name.c_str(), true);
    ZoneTextV(zone, "x", 1);
    FrameMarkNamed("end");
    return TracyIsStarted ? 0 : 1;
}
