/* Build ids: notes written by hand, files made by hand, and files of this machine as readelf shows
 * them. */
#include "perf_events/build_id.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encodings/perf_data/perf_layout.h"
#include "support/support.h"

/* A note in the byte order of this machine. */
static size_t put_note(uint8_t *to, uint32_t type, const char *name, const void *content,
                       uint32_t n)
{
    uint32_t name_n = (uint32_t)strlen(name) + 1, name_padded = (name_n + 3) / 4 * 4,
             padded = (n + 3) / 4 * 4;
    memset(to, 0, 12 + name_padded + padded);
    memcpy(to, &name_n, 4);
    memcpy(to + 4, &n, 4);
    memcpy(to + 8, &type, 4);
    memcpy(to + 12, name, name_n);
    memcpy(to + 12 + name_padded, content, n);
    return 12 + name_padded + padded;
}

static void the_id_is_found_among_other_notes(void **state)
{
    uint8_t notes[256];
    (void)state;
    size_t n = put_note(notes, NT_GNU_BUILD_ID, "Other", "xxxxx", 5);
    n += put_note(notes + n, NT_GNU_ABI_TAG, "GNU", "\0\0\0", 4);
    n += put_note(notes + n, NT_GNU_BUILD_ID, "GNU", "\xaa\xbb\xcc", 3);
    struct build_id id = build_id_in_notes(notes, n);
    assert_int_equal(id.n, 3);
    assert_memory_equal(id.bytes, "\xaa\xbb\xcc", 3);
}

static void notes_that_are_cut_or_too_long_have_none(void **state)
{
    uint8_t notes[128], whole[64] = {0};
    (void)state;
    size_t n = put_note(notes, NT_GNU_BUILD_ID, "GNU", "01234567890123456789", 20);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(build_id_in_notes(notes, i).n, 0);
    assert_int_equal(build_id_in_notes(notes, n).n, 20);
    assert_int_equal(build_id_in_notes(notes, put_note(notes, NT_GNU_BUILD_ID, "GNU", whole, 21)).n,
                     0);
    memset(notes, 0xff, sizeof notes);
    assert_int_equal(build_id_in_notes(notes, sizeof notes).n, 0);
}

/* A file of 32 bits whose second part has the note. */
static void write_narrow(const char *path)
{
    uint8_t notes[64];
    size_t n = put_note(notes, NT_GNU_BUILD_ID, "GNU", "narrow", 6);
    Elf32_Ehdr head = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32,
                    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB},
        .e_phoff = sizeof head,
        .e_phnum = 2,
        .e_phentsize = sizeof(Elf32_Phdr)};
    const Elf32_Phdr parts[] = {{.p_type = PT_LOAD},
                                {.p_type = PT_NOTE,
                                 .p_offset = sizeof head + 2 * sizeof(Elf32_Phdr),
                                 .p_filesz = (Elf32_Word)n}};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&head, sizeof head, 1, file) + fwrite(parts, sizeof parts, 1, file) +
                         fwrite(notes, n, 1, file),
                     3);
    assert_int_equal(fclose(file), 0);
}

static void a_file_is_the_mapped_one_by_its_inode(void **state)
{
    char path[] = "/tmp/build-id-test-XXXXXX";
    struct stat about;
    struct build_ids ids;
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    write_narrow(path);
    assert_int_equal(fstat(fd, &about), 0);
    build_ids_init(&ids);
    assert_int_equal(build_id_of_file(path, 0).n, 6);
    assert_memory_equal(build_ids_find(&ids, (uint64_t)getpid(), path, about.st_ino).bytes,
                        "narrow", 6);
    assert_int_equal(build_ids_find(&ids, (uint64_t)getpid(), path, about.st_ino + 1).n, 0);
    assert_int_equal(truncate(path, 90), 0);
    assert_int_equal(build_id_of_file(path, 0).n, 0);
    assert_int_equal(build_ids_find(&ids, (uint64_t)getpid(), path, about.st_ino).n,
                     6); /* looked at once */
    assert_int_equal(build_id_of_file("/tmp", 0).n, 0);
    assert_int_equal(build_id_of_file("/nowhere/at/all", 0).n, 0);
    build_ids_free(&ids);
    (void)close(fd);
    (void)unlink(path);
}

/* An MMAP2 record of the kernel of 96 bytes, as it stands in memory: a part of a file, with device
 * and inode. */
static void mapping_record(uint8_t to[96], const char *path, uint64_t inode, uint16_t misc,
                           uint32_t prot)
{
    const struct {
        uint32_t type;
        uint16_t misc, size;
        uint32_t pid, tid;
    } head = {10, misc, 96, (uint32_t)getpid(), (uint32_t)getpid()};
    memset(to, 0, 96);
    memcpy(to, &head, sizeof head);
    memcpy(to + 48, &inode, sizeof inode);
    memcpy(to + 64, &prot, sizeof prot);
    memcpy(to + 72, path, strlen(path));
}

static void a_mapping_without_an_id_gets_it_from_its_file_once(void **state)
{
    char path[] = "/tmp/build-id-XXXXXX";
    uint8_t record[96];
    struct stat about;
    struct build_ids ids;
    ttr_text told;
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    write_narrow(path);
    assert_int_equal(fstat(fd, &about), 0);
    build_ids_init(&ids);
    mapping_record(record, path, about.st_ino, PERF_MISC_BUILD_ID | 2, PROT_READ | PROT_EXEC);
    memset(record + 44, 7, record[40] = 20);
    assert_int_equal(build_ids_of_record(&ids, record, sizeof record, &told).n,
                     0); /* told already */
    mapping_record(record, path, about.st_ino, 2, PROT_READ);
    assert_int_equal(build_ids_of_record(&ids, record, sizeof record, &told).n, 0); /* data */
    mapping_record(record, path, about.st_ino, PERF_MISC_BUILD_ID | 2, PROT_READ | PROT_EXEC);
    record[40] = 0xfe; /* of a device: the bit is another session's */
    assert_int_equal(build_ids_of_record(&ids, record, 72, &told).n, 0);
    assert_int_equal(build_ids_of_record(&ids, record, 80, &told).n, 0);
    assert_memory_equal(build_ids_of_record(&ids, record, sizeof record, &told).bytes, "narrow", 6);
    assert_int_equal(told.n, strlen(path));
    assert_memory_equal(told.p, path, told.n);
    assert_int_equal(build_ids_of_record(&ids, record, sizeof record, &told).n, 0);
    build_ids_free(&ids);
    (void)close(fd);
    (void)unlink(path);
}

/* The id of this program, as readelf prints it. */
static void files_have_the_ids_that_readelf_shows(void **state)
{
    char command[600], path[512], text[128] = "", own[2 * BUILD_ID_MOST + 1] = "";
    (void)state;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    (void)snprintf(command, sizeof command,
                   "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
    FILE *shown = popen(command, "r");
    char *line = shown ? fgets(text, sizeof text, shown) : NULL;
    if (shown)
        (void)pclose(shown);
    if (!line || strlen(line) < 8) {
        print_message("# SKIP there is no readelf, or this program has no build id\n");
        return;
    }
    const struct build_id id = build_id_of_file(path, 0);
    for (size_t i = 0; i < id.n; i++)
        (void)snprintf(own + 2 * i, 3, "%02x", id.bytes[i]);
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(own, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id_is_found_among_other_notes),
        cmocka_unit_test(notes_that_are_cut_or_too_long_have_none),
        cmocka_unit_test(a_file_is_the_mapped_one_by_its_inode),
        cmocka_unit_test(a_mapping_without_an_id_gets_it_from_its_file_once),
        cmocka_unit_test(files_have_the_ids_that_readelf_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
