/* NanoLog in bench_trace: the macro of its C++17 library, without the preprocessor. */
#include "trace_peer.h"

#include <array>
#include <exception>

/* This header uses std::array without including it. */
#include <NanoLogCpp17.h>

bool start_nanolog(void)
{
    try {
        NanoLog::setLogFile("/dev/null");
    } catch (const std::exception &) {
        return false;
    }
    NanoLog::setLogLevel(NanoLog::NOTICE);
    NanoLog::preallocate();
    return true;
}

void run_nanolog_integer(int n)
{
    for (int i = 0; i < n; i++)
        NANO_LOG(NOTICE, "instant %d", i);
}

void run_nanolog_disabled(int n)
{
    for (int i = 0; i < n; i++)
        NANO_LOG(DEBUG, "disabled %d", i);
}
