/* The command: finds the verb and runs it.  One file per verb beside this one. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("tracetta " TTR_VERSION_TEXT);
        return 0;
    }
    (void)fputs("usage: tracetta --version\n", stderr);
    return 2;
}
