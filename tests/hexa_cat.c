/* hexa_cat FILE.hexa: the bytes of a golden vector on standard output, for tests that work from a shell. */
#include <stdio.h>

#include "hexa.h"

int main(int argc, char **argv)
{
    struct hexa hexa;
    char message[256];
    if (argc != 2) {
        (void)fputs("usage: hexa_cat FILE.hexa\n", stderr);
        return 2;
    }
    bool is_fine = hexa_load(argv[1], &hexa, message, sizeof message);
    if (!is_fine)
        (void)fprintf(stderr, "hexa_cat: %s\n", message);
    is_fine = is_fine && fwrite(hexa.bytes, 1, hexa.n, stdout) == hexa.n && fflush(stdout) == 0;
    hexa_free(&hexa);
    return is_fine ? 0 : 1;
}
