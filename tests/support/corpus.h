/* Recorded traces of others, which are not part of the project: the folder that TTR_CORPUS names
 * has them, or some of them, in one folder a format. */
#ifndef TRACETTA_TESTS_SUPPORT_CORPUS_H
#define TRACETTA_TESTS_SUPPORT_CORPUS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* That folder; where none is named, what is no path of anything and says so in messages. */
static inline const char *corpus_folder(void)
{
    const char *corpus = getenv("TTR_CORPUS");
    return corpus && corpus[0] ? corpus : "(TTR_CORPUS is not set)";
}

/* The path of a file or folder of the corpus, as long as `size` allows; false where it is not
 * there. */
static inline bool corpus_has(const char *folder, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/%s/%s", corpus_folder(), folder, name);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

/* The same for a test that needs it: where it is not there, the test counts as skipped and says
 * why. */
static inline bool corpus_find(const char *folder, const char *name, char *path, size_t size)
{
    bool is_there = corpus_has(folder, name, path, size);
    if (!is_there)
        (void)printf("# SKIP no %s: TTR_CORPUS names the folder of recorded traces\n", path);
    return is_there;
}

#endif
