/* The providers of said_c.c and said_cxx.cpp, and functions that write their events. */
#ifndef TRACETTA_TESTS_PROVIDER_SAID_BOTH_H
#define TRACETTA_TESTS_PROVIDER_SAID_BOTH_H

#include <tracetta/provider.h>

TTR_PROVIDER_DECLARE(said_c);
TTR_PROVIDER_DECLARE(said_c_group);
TTR_PROVIDER_DECLARE(said_cxx);
TTR_PROVIDER_DECLARE(said_cxx_group);
TTR_PROVIDER_DECLARE(said_cxx_late);

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the events of said.h with said_c; say_cxx writes the same and some more with said_cxx. */
void say_c(void);
void say_cxx(void);

/* Writes five events with said_cxx_late: from a template, a member function, a lambda, and with a
 * temporary value. Returns false if one failed. */
bool say_cxx_late(void);

#ifdef __cplusplus
}
#endif

#endif
