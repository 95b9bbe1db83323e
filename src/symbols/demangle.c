/* Demangling by libiberty, the demangler of GNU binutils: C++ (Itanium ABI) and Rust (v0 and
 * legacy). Only its functions that report lack of memory are used; others end the program. Left
 * out: Swift, for which no C library is packaged, and D. */
#include "symbols/demangle.h"

#include <stddef.h>

#if HAVE_DEMANGLER
#include <libiberty/demangle.h>

char *symbols_demangle(const char *name)
{
    char *text = NULL;
    if (name[0] != '_')
        return NULL;
    /* Rust's legacy names are also valid names of C++, so Rust is first. */
    text = rust_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    return text ? text : cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
}
#else
char *symbols_demangle(const char *name)
{
    (void)name;
    return NULL;
}
#endif
