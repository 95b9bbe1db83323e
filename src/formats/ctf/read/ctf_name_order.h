/* Natural order of file names: numbers are compared by value, so channel_2 is before channel_10.
 * In v1.1 traces, events of equal time are returned in this order of their files, since the format
 * defines no other order. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_NAME_ORDER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_NAME_ORDER_H

/* Returns a negative number, 0 or a positive number if `a` is before, equal to or after `b`. Names
 * that spell a number differently ("a1", "a01") are not equal. */
int ctf_compare_names(const char *a, const char *b);

#endif
