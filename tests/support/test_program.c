/* The main of a test program (test_program.h).
 *
 * usage: PROGRAM [--list | FILE [PATTERN]]
 *
 * Without arguments it runs all its test files, with FILE only that one, with PATTERN only those of
 * its cmocka cases with matching names ("*" matches any text).  --list prints the names of the
 * files.
 *
 * Each file runs in a process of its own, so that it cannot disturb the files after it, and a crash
 * or a leak fails that file alone.  The TAP output of the files is joined to one TAP output, in
 * which the name of a case is "file_test: case".  A file that ends before its plan is complete, or
 * with an exit status other than 0 although no case failed, adds a failed case. */
#include "support/test_program.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

static unsigned cases, failed_cases; /* of all files */

struct progress { /* of one file */
    const char *name;
    unsigned planned, seen, failed;
};

/* Skips digits and blanks. */
static const char *after_number(const char *p)
{
    while (isdigit((unsigned char)*p) || *p == ' ')
        p++;
    return p;
}

/* Prints a line of a file's output: cases get a new number and the file's name, a plan is only
 * remembered, and all else becomes a comment. */
static void print_line(struct progress *file, const char *line)
{
    bool is_bad = strncmp(line, "not ok ", 7) == 0;
    if (is_bad || strncmp(line, "ok ", 3) == 0) {
        const char *name = after_number(line + (is_bad ? 7 : 3));
        if (strncmp(name, "- ", 2) == 0)
            name += 2;
        file->seen++;
        if (strncmp(name, "# SKIP ", 7) == 0) { /* cmocka's line for a case that called skip() */
            printf("ok %u - %s: %.*s # SKIP for the reason above\n", ++cases, file->name,
                   (int)strcspn(name + 7, "\n"), name + 7);
            (void)fflush(stdout);
            return;
        }
        file->failed += is_bad;
        printf("%sok %u - %s: %s", is_bad ? "not " : "", ++cases, file->name, name);
    } else if (strncmp(line, "1..", 3) == 0) {
        file->planned += (unsigned)strtoul(line + 3, NULL, 10);
        if (strstr(line, "SKIP"))
            printf("ok %u - %s: nothing to do # %s", ++cases, file->name, strstr(line, "SKIP"));
    } else {
        printf("%s%s", *line == '#' ? "" : "# ", line);
    }
    (void)fflush(stdout);
}

/* Adds a failed case for the file itself if it did not complete its plan. */
static void check_end(struct progress *file, int status)
{
    char why[80] = "";
    if (WIFSIGNALED(status))
        (void)snprintf(why, sizeof why, "killed by signal %d", WTERMSIG(status));
    else if (file->seen < file->planned)
        (void)snprintf(why, sizeof why, "%u cases did not run", file->planned - file->seen);
    else if (WEXITSTATUS(status) != 0 && file->failed == 0)
        (void)snprintf(why, sizeof why, "exit status %d", WEXITSTATUS(status));
    if (*why) {
        file->failed++;
        printf("not ok %u - %s: %s\n", ++cases, file->name, why);
    }
    failed_cases += file->failed;
}

/* Runs the file in this process; does not return. */
static _Noreturn void run_here(const struct test_file *file, const int ends[2])
{
    if (dup2(ends[1], STDOUT_FILENO) < 0)
        _exit(127);
    (void)close(ends[0]);
    (void)close(ends[1]);
    exit(file->run());
}

static void run_file(const struct test_file *file)
{
    struct progress progress = {.name = file->name};
    int ends[2], status = 0;
    char *line = NULL;
    size_t size = 0;
    if (pipe(ends) != 0)
        abort();
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_here(file, ends);
    (void)close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    while (child > 0 && output && getline(&line, &size, output) > 0)
        print_line(&progress, line);
    free(line);
    if (child < 0 || waitpid(child, &status, 0) != child || !output || fclose(output) != 0)
        abort();
    check_end(&progress, status);
}

int main(int argc, char **argv)
{
    bool is_list = argc == 2 && strcmp(argv[1], "--list") == 0;
    unsigned files = 0;
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    if (setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1) != 0 ||
        setenv("TTR_SOURCE_ROOT", test_source_root, 0) != 0)
        return 2;
    for (const struct test_file *file = test_files; file->name; file++) {
        if (is_list)
            printf("%s\n", file->name);
        else if (argc > 1 && strcmp(argv[1], file->name) != 0)
            continue;
        else
            run_file(file);
        files++;
    }
    if (files == 0) {
        (void)fprintf(stderr, "%s: no such test file; --list prints their names\n", argv[1]);
        return 2;
    }
    if (!is_list)
        printf("1..%u\n", cases);
    return failed_cases > 0;
}
