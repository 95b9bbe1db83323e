/* Converts folders of golden vectors to single fuzz inputs. */
#include "support/hexa_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hexa.h"

#define ENDING ".hexa"

static int is_vector(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), ending_n = strlen(ENDING);
    return n > ending_n && strcmp(entry->d_name + n - ending_n, ENDING) == 0;
}

/* A plus in the name is replaced by a slash. */
static bool add_file(const char *folder, const char *entry, struct buffer *to, char *message,
                     size_t message_n)
{
    char path[1024];
    struct hexa hexa;
    const size_t name_n = strlen(entry) - strlen(ENDING);
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry);
    if (!hexa_load(path, &hexa, message, message_n))
        return false;
    const size_t n = hexa.n < HEXA_FOLDER_SIZE ? hexa.n : HEXA_FOLDER_SIZE;
    buffer_add_byte(to, (uint8_t)n);
    buffer_add_byte(to, (uint8_t)((n | HEXA_FOLDER_NAMED) >> 8));
    buffer_add_byte(to, (uint8_t)name_n);
    for (size_t i = 0; i < name_n; i++)
        buffer_add_byte(to, entry[i] == '+' ? '/' : (uint8_t)entry[i]);
    buffer_add(to, hexa.bytes, n);
    hexa_free(&hexa);
    return !to->failed;
}

bool hexa_folder_load(const char *path, const char *main_file, struct buffer *to, char *message,
                      size_t message_n)
{
    char first[256];
    struct dirent **entries;
    int n = scandir(path, &entries, is_vector, alphasort);
    bool is_fine = n > 0;
    (void)snprintf(first, sizeof first, "%s" ENDING, main_file);
    (void)snprintf(message, message_n, "%s holds no vectors", path);
    if (is_fine)
        is_fine = add_file(path, first, to, message, message_n);
    for (int i = 0; i < n; i++) {
        if (is_fine && strcmp(entries[i]->d_name, first) != 0)
            is_fine = add_file(path, entries[i]->d_name, to, message, message_n);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return is_fine;
}
