/* Short labels of frames. */
#include <tracetta/profile.h>

#include "support/support.h"

static void expect_label(const char *name, const char *expected)
{
    char to[100];
    size_t n = ttr_profile_label((ttr_text){name, strlen(name)}, to, sizeof to);
    support_assert_text(to, n, expected);
}

static void dotnet_name_becomes_class_and_method(void **state)
{
    (void)state;
    expect_label("System.Private.CoreLib!System.Threading.Thread.StartCallback()",
                 "Thread.StartCallback");
    expect_label("app!A.B.List`1[System.Int32].Add(!0,class [x]C.D)", "List`1.Add");
    expect_label("app!A.B..ctor(int32)", "B..ctor");
    expect_label("app!Program.<Main>$(string[])", "Program.<Main>$");
    expect_label("app!A.Task+<>c.<.cctor>b__274_0(class System.Object)", "Task+c.<.cctor>b__274_0");
    expect_label("ManagedModule!?", "?");
}

static void cxx_name_becomes_class_and_method(void **state)
{
    (void)state;
    expect_label("app!ns::Map<int, A<B> >::find(int const&) const", "Map::find");
    expect_label("std::vector<int, std::allocator<int> >::push_back(int const&)",
                 "vector::push_back");
    expect_label("(anonymous namespace)::f(int)", "f");
    expect_label("a::(anonymous namespace)::F::operator()(int) const", "F::operator()");
    expect_label("ns::A::operator<(ns::A const&)", "A::operator<");
    expect_label("core::fmt::Write::write_fmt", "Write::write_fmt");
}

static void return_type_of_template_is_left_out(void **state)
{
    (void)state;
    expect_label(
        "app!void ns::Index<std::basic_string<char>, std::shared_ptr<A> >::for_each<F::g() "
        "const::{lambda(int)#1}>(F::g() const::{lambda(int)#1}&&) const",
        "Index::for_each");
    expect_label("unsigned long std::count<A*, int>(A*, A*, int const&)", "std::count");
    expect_label("std::enable_if<true, int>::type ns::A::f<int>(int)", "A::f");
    expect_label("ns::A::operator std::string() const", "A::operator std::string");
    expect_label("operator new(unsigned long)", "operator new");
    expect_label("load file (x)", "load");
}

static void lambda_keeps_its_number(void **state)
{
    (void)state;
    expect_label("ns::A::f(int)::{lambda(int, char)#2}::operator()(int, char) const", "A::f");
    expect_label("ns::f::{lambda(int)#2}::operator()", "{lambda#2}::operator()");
    expect_label("app::main::{{closure}}", "main::{{closure}}");
}

static void rust_method_of_trait_has_its_type(void **state)
{
    (void)state;
    expect_label("<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", "Vec::drop");
    expect_label("<&mut T as core::fmt::Display>::fmt", "T::fmt");
    expect_label("<dyn app::Shape>::area::h0123456789abcdef", "area::h0123456789abcdef");
    expect_label("core::ops::function::FnOnce::call_once{{vtable.shim}}",
                 "FnOnce::call_once{{vtable.shim}}");
    expect_label("<closed", "<closed");
}

static void other_names_are_kept(void **state)
{
    (void)state;
    expect_label("libc.so.6!malloc", "malloc");
    expect_label("main", "main");
    expect_label("sort.constprop.0", "sort.constprop.0");
    expect_label("UNMANAGED_CODE_TIME", "UNMANAGED_CODE_TIME");
    expect_label("(no stack)", "(no stack)");
    expect_label("lib.so!0x2a1", "0x2a1");
    expect_label("", "");
    expect_label("A::", "A::");
    expect_label("x!", "x!");
}

static void label_fits_any_room(void **state)
{
    static const char name[] = "m!ns::Map<int>::find(int)";
    char to[40];
    (void)state;
    for (size_t room = 0; room <= sizeof to; room++)
        assert_true(ttr_profile_label((ttr_text){name, sizeof name - 1}, to, room) <= room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dotnet_name_becomes_class_and_method),
        cmocka_unit_test(cxx_name_becomes_class_and_method),
        cmocka_unit_test(return_type_of_template_is_left_out),
        cmocka_unit_test(lambda_keeps_its_number),
        cmocka_unit_test(rust_method_of_trait_has_its_type),
        cmocka_unit_test(other_names_are_kept),
        cmocka_unit_test(label_fits_any_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
