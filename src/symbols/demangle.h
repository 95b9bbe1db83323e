/* Names of C++ and Rust functions as their source has them. */
#ifndef TRACETTA_SYMBOLS_DEMANGLE_H
#define TRACETTA_SYMBOLS_DEMANGLE_H

/* Returns a mangled name as text ("ns::f(int)"), allocated with malloc, or NULL if it is not a
 * mangled name of C++ or Rust, or if the library was built without a demangler. */
char *symbols_demangle(const char *name);

#endif
