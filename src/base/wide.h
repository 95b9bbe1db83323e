/* 128-bit integers, for exact products of two 64-bit words. ISO C has no such type; __extension__
 * silences -Wpedantic for all users of the type. */
#ifndef TRACETTA_BASE_WIDE_H
#define TRACETTA_BASE_WIDE_H

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

#endif
