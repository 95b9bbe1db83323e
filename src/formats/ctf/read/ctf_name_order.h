/* Natural order of file names, for v1.1 files with events of equal time: nothing else defines their
 * order.
 *
 * Numbers are compared by value, so channel_2 is before channel_10, like processor 2 and processor
 * 10. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_NAME_ORDER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_NAME_ORDER_H

/* Returns a number below, equal to or above 0 if `a` is before, equal to or after `b`. Names with
 * one number in different spellings ("a1", "a01") are not equal. */
int ctf_compare_names(const char *a, const char *b);

#endif
