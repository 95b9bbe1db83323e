/* Writes golden vectors as binary to standard output, for shell tests and fuzzing.
 *
 *   hexa_cat FILE.hexa       one vector
 *   hexa_cat FOLDER MAIN_FILE   a folder of vectors as one fuzz input (hexa_folder.h) */
#include <stdio.h>

#include "support/hexa.h"
#include "support/hexa_folder.h"

static bool put_file(const char *path, char *message, size_t message_n)
{
    struct hexa hexa;
    bool is_fine = hexa_load(path, &hexa, message, message_n);
    is_fine = is_fine && fwrite(hexa.bytes, 1, hexa.n, stdout) == hexa.n;
    hexa_free(&hexa);
    return is_fine;
}

static bool put_folder(const char *path, const char *main_file, char *message, size_t message_n)
{
    struct buffer bytes;
    buffer_init(&bytes, alloc_default());
    bool is_fine = hexa_folder_load(path, main_file, &bytes, message, message_n) &&
                   fwrite(bytes.bytes, 1, bytes.n, stdout) == bytes.n;
    buffer_free(&bytes);
    return is_fine;
}

int main(int argc, char **argv)
{
    char message[256] = "cannot write";
    if (argc != 2 && argc != 3) {
        (void)fputs("usage: hexa_cat FILE.hexa | FOLDER MAIN_FILE\n", stderr);
        return 2;
    }
    bool is_fine = argc == 2 ? put_file(argv[1], message, sizeof message)
                             : put_folder(argv[1], argv[2], message, sizeof message);
    is_fine = is_fine && fflush(stdout) == 0;
    if (!is_fine)
        (void)fprintf(stderr, "hexa_cat: %s\n", message);
    return is_fine ? 0 : 1;
}
