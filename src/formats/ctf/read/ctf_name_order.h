/* In which order the files of a section of v1.1 are read where events have the same time: their
 * names tell it, and nothing else does.
 *
 * Numbers in names are compared as numbers, so that channel_2 comes before channel_10, as processor
 * 2 does before processor 10. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_NAME_ORDER_H
#define TRACETTA_FORMATS_CTF_READ_CTF_NAME_ORDER_H

/* Less than, equal to or greater than 0 as the first name comes before the other, is the same, or
 * comes behind; names that say the same number in different ways
 * ("a1", "a01") are not the same. */
int ctf_compare_names(const char *a, const char *b);

#endif
