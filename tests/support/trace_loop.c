/* Loads and unloads a library with trace points. usage: trace_loop LIBRARY TIMES */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    const unsigned long n = count == 3 ? strtoul(words[2], NULL, 10) : 0;
    for (unsigned i = 0; i < n; i++) {
        void (*write_event)(unsigned);
        void *library = dlopen(words[1], RTLD_NOW);
        void *symbol = library ? dlsym(library, "trace_module_write") : NULL;
        if (!symbol) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        memcpy(&write_event, &symbol, sizeof write_event);
        write_event(i);
        dlclose(library);
    }
    return n == 0;
}
