// Trace points in C++11: zones and all types of values.
#include <string>

#include <tracetta/trace.h>

#define CXX_CATEGORIES(X) X(cxx, "cxx", "events of C++")
TTR_CATEGORIES_DECLARE(CXX_CATEGORIES);
TTR_CATEGORIES_DEFINE(CXX_CATEGORIES);

enum colour { red = 3 };

static int add_in_zone(int a, int b)
{
    TTR_ZONE(cxx, "add", TTR_ARG("a", a));
    TTR_ZONE_ARG("b", b);
    return a + b;
}

// Writes an event of each kind.
static void write_events()
{
    const std::string text = "of a std::string";
    const char *words = "a C string";
    TTR_INSTANT(cxx, "all", TTR_ARG("bool", true), TTR_ARG("int", -3), TTR_ARG("size", sizeof(int)),
                TTR_ARG("double", 1.5), TTR_ARG("float", 2.5f), TTR_ARG("string", text),
                TTR_ARG("chars", words), TTR_ARG("literal", "x"), TTR_ARG("enum", red),
                TTR_ARG("pointer", &text), TTR_ARG("null", nullptr), TTR_ARG("char", 'c'),
                TTR_ARG("short", static_cast<short>(-7)), TTR_ARG_KOID("koid", 11));
    (void)add_in_zone(1, 2);
    {
        TTR_ZONE(cxx, "first");
        TTR_LAP(cxx, "second");
    }
    TTR_COUNTER(cxx, "queue", 1, TTR_ARG("depth", 4));
    TTR_ASYNC_BEGIN(7, cxx, "request");
    TTR_ASYNC_END(7, cxx, "request");
    TTR_LOG(cxx, "sold %d", 3);
    TTR_BLOB(cxx, "bytes", words, 3);
    TTR_OBJECT(cxx, &text, "object");
}

// usage: trace_cxx OUTPUT
int main(int count, char **words)
{
    if (count != 2 || ttr_trace_start_file(words[1], nullptr) != 0)
        return 1;
    write_events();
    return ttr_trace_stop();
}
