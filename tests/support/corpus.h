/* Recorded traces of other tools, which are not part of the project. The folder in TTR_CORPUS has
 * all or some of them, one sub-folder per format. */
#ifndef TRACETTA_TESTS_SUPPORT_CORPUS_H
#define TRACETTA_TESTS_SUPPORT_CORPUS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns that folder; if TTR_CORPUS is not set, a text that is not a valid path and explains
 * itself in messages. */
static inline const char *corpus_folder(void)
{
    const char *corpus = getenv("TTR_CORPUS");
    return corpus && corpus[0] ? corpus : "(TTR_CORPUS is not set)";
}

/* Stores the path of a file or folder of the corpus, cut to `size`. Returns false if it does not
 * exist. */
static inline bool corpus_has(const char *folder, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/%s/%s", corpus_folder(), folder, name);
    return n > 0 && (size_t)n < size && access(path, R_OK) == 0;
}

/* Does the same for a test that needs the file: if it does not exist, the test is skipped with the
 * reason. */
static inline bool corpus_find(const char *folder, const char *name, char *path, size_t size)
{
    bool is_there = corpus_has(folder, name, path, size);
    if (!is_there)
        (void)printf("# SKIP no %s: TTR_CORPUS names the folder of recorded traces\n", path);
    return is_there;
}

#endif
