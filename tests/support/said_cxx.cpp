// The events of said.h from C++, and those that only the C++ half of that program says.
#include "support/said_both.h"

TTR_PROVIDER_DEFINE(said_cxx, "TestProviderCpp");
TTR_PROVIDER_DEFINE(said_cxx_late, "Test_Late");
TTR_PROVIDER_DEFINE_GROUP(said_cxx_group, "TestProviderCpp", "msft");
#define PROVIDER said_cxx
#include "support/said.h"

static void say_values()
{
    TTR_WRITE(PROVIDER, "Value:bool", TTR_BOOL("false", false, 0x1234), TTR_BOOL("true", true));
    TTR_WRITE(PROVIDER, "Value:char", TTR_CHAR("0", '\0'), TTR_CHAR("A", 'A'));
    TTR_WRITE(PROVIDER, "Value:char16", TTR_CHAR16("0", 0x0000), TTR_CHAR16("A", u'A'));
    TTR_WRITE(PROVIDER, "Value:char32", TTR_CHAR32("0", 0x0000u), TTR_CHAR32("A", U'A'));
    TTR_WRITE(PROVIDER, "Value:wchar", TTR_WCHAR("0", 0x0000), TTR_WCHAR("A", L'A'));
    TTR_WRITE(PROVIDER, "Value:schar", TTR_I8("0", 0), TTR_I8("A", 65));
    TTR_WRITE(PROVIDER, "Value:uchar", TTR_U8("0", 0), TTR_U8("A", 65));
    TTR_WRITE(PROVIDER, "Value:sshort", TTR_I16("0", 0), TTR_I16("A", 65));
    TTR_WRITE(PROVIDER, "Value:ushort", TTR_U16("0", 0), TTR_U16("A", 65));
    TTR_WRITE(PROVIDER, "Value:sint", TTR_I32("0", 0), TTR_I32("A", 65));
    TTR_WRITE(PROVIDER, "Value:uint", TTR_U32("0", 0), TTR_U32("A", 65));
    TTR_WRITE(PROVIDER, "Value:slong", TTR_LONG("0", 0), TTR_LONG("A", 65));
    TTR_WRITE(PROVIDER, "Value:ulong", TTR_ULONG("0", 0), TTR_ULONG("A", 65));
    TTR_WRITE(PROVIDER, "Value:slonglong", TTR_I64("0", 0), TTR_I64("A", 65));
    TTR_WRITE(PROVIDER, "Value:ulonglong", TTR_U64("0", 0), TTR_U64("A", 65));
    TTR_WRITE(PROVIDER, "Value:float", TTR_F32("0", 0.0f), TTR_F32("65", 65.0f));
    TTR_WRITE(PROVIDER, "Value:double", TTR_F64("0", 0.0), TTR_F64("65", 65.0));
    TTR_WRITE(PROVIDER, "Value:void*", TTR_POINTER("0", nullptr), TTR_POINTER("p", reinterpret_cast<const void *>(static_cast<intptr_t>(-12345))));
    TTR_WRITE(PROVIDER, "Value:cvoid*", TTR_POINTER("0", nullptr), TTR_POINTER("p", reinterpret_cast<const void *>(static_cast<intptr_t>(-12345))));
    TTR_WRITE(PROVIDER, "Value:char*", TTR_LATIN1("0", NULL), TTR_LATIN1("hello", "hello"));
    TTR_WRITE(PROVIDER, "Value:cchar*", TTR_LATIN1("0", NULL), TTR_LATIN1("hello", "hello"));
    TTR_WRITE(PROVIDER, "Value:char16_t*", TTR_TEXT16("0", NULL), TTR_TEXT16("hello", u"hello"));
    TTR_WRITE(PROVIDER, "Value:cchar16_t*", TTR_TEXT16("0", NULL), TTR_TEXT16("hello", u"hello"));
    TTR_WRITE(PROVIDER, "Value:char32_t*", TTR_TEXT32("0", NULL), TTR_TEXT32("hello", U"hello"));
    TTR_WRITE(PROVIDER, "Value:cchar32_t*", TTR_TEXT32("0", NULL), TTR_TEXT32("hello", U"hello"));
    TTR_WRITE(PROVIDER, "Value:wchar_t*", TTR_WTEXT("0", NULL), TTR_WTEXT("hello", L"hello"));
    TTR_WRITE(PROVIDER, "Value:cwchar_t*", TTR_WTEXT("0", NULL), TTR_WTEXT("hello", L"hello"));
}

// Places that exist as often as their template is used, and an inline function: registered when they are passed.
template <class T> static ttr_status say_late(T value)
{
    return TTR_WRITE_LATE(said_cxx_late, "Late", TTR_LEVEL(2), TTR_U64("size", sizeof(T)), TTR_I64("value", value));
}

struct Speaker {
    ttr_status speak(int number) const
    {
        return TTR_WRITE_LATE(said_cxx_late, "Member", TTR_LEVEL(3), TTR_I32("number", number));
    }
};

struct Text {
    char bytes[8];
    bool *is_gone;
    ~Text() { *is_gone = true, bytes[0] = '!'; }
};

static Text make_text(bool *is_gone)
{
    return Text{{'t', 'e', 'm', 'p', 0}, is_gone};
}

bool say_cxx_late(void)
{
    bool is_gone = false;
    ttr_status status = TTR_WRITE(said_cxx_late, "Temporary", TTR_LEVEL(1), TTR_TEXT("text", make_text(&is_gone).bytes));
    auto lambda = [](int x) { return TTR_WRITE_LATE(said_cxx_late, "Lambda", TTR_LEVEL(1), TTR_I32("x", x)); };
    return is_gone && status == TTR_OK && say_late<char>(1) == TTR_OK && say_late<long>(2) == TTR_OK && Speaker().speak(3) == TTR_OK && lambda(4) == TTR_OK;
}

void say_cxx(void)
{
    say_all();
    say_values();
}
