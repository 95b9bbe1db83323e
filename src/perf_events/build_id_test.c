/* Tests for build ids: notes and ELF files built by hand, and this program compared with readelf.
 */
#include "perf_events/build_id.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encodings/perf_data/perf_layout.h"
#include "support/support.h"

/* Writes a note in the byte order of this machine and returns its size. */
static size_t append_note(uint8_t *to, uint32_t type, const char *name, const void *content,
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

static void build_id_among_other_notes_is_found(void **state)
{
    uint8_t notes[256];
    (void)state;
    size_t n = append_note(notes, NT_GNU_BUILD_ID, "Other", "xxxxx", 5);
    n += append_note(notes + n, NT_GNU_ABI_TAG, "GNU", "\0\0\0", 4);
    n += append_note(notes + n, NT_GNU_BUILD_ID, "GNU", "\xaa\xbb\xcc", 3);
    struct build_id id = find_build_id_in_notes(notes, n);
    assert_int_equal(id.n, 3);
    assert_memory_equal(id.bytes, "\xaa\xbb\xcc", 3);
}

static void truncated_or_oversized_note_has_no_build_id(void **state)
{
    uint8_t notes[128], whole[64] = {0};
    (void)state;
    size_t n = append_note(notes, NT_GNU_BUILD_ID, "GNU", "01234567890123456789", 20);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(find_build_id_in_notes(notes, i).n, 0);
    assert_int_equal(find_build_id_in_notes(notes, n).n, 20);
    assert_int_equal(
        find_build_id_in_notes(notes, append_note(notes, NT_GNU_BUILD_ID, "GNU", whole, 21)).n, 0);
    memset(notes, 0xff, sizeof notes);
    assert_int_equal(find_build_id_in_notes(notes, sizeof notes).n, 0);
}

/* Writes a 32-bit ELF file; its second program header has the note. */
static void write_elf32_file(const char *path)
{
    uint8_t notes[64];
    size_t n = append_note(notes, NT_GNU_BUILD_ID, "GNU", "narrow", 6);
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

static void replaced_file_has_no_build_id(void **state)
{
    char path[] = "/tmp/build-id-test-XXXXXX";
    struct stat about;
    struct build_ids ids;
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    write_elf32_file(path);
    assert_int_equal(fstat(fd, &about), 0);
    build_ids_init(&ids);
    assert_int_equal(read_file_build_id(path, 0).n, 6);
    assert_memory_equal(build_ids_find(&ids, (uint64_t)getpid(), path, about.st_ino).bytes,
                        "narrow", 6);
    assert_int_equal(build_ids_find(&ids, (uint64_t)getpid(), path, about.st_ino + 1).n, 0);
    assert_int_equal(truncate(path, 90), 0);
    assert_int_equal(read_file_build_id(path, 0).n, 0);
    assert_int_equal(build_ids_find(&ids, (uint64_t)getpid(), path, about.st_ino).n,
                     6); /* cached: the truncated file is not read again */
    assert_int_equal(read_file_build_id("/tmp", 0).n, 0);
    assert_int_equal(read_file_build_id("/nowhere/at/all", 0).n, 0);
    build_ids_free(&ids);
    (void)close(fd);
    (void)unlink(path);
}

/* Builds a 96-byte MMAP2 record of the variant with device and inode. */
static void build_mmap2_record(uint8_t to[96], const char *path, uint64_t inode, uint16_t misc,
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

static void mapping_without_build_id_gets_it_once_from_file(void **state)
{
    char path[] = "/tmp/build-id-XXXXXX";
    uint8_t record[96];
    struct stat about;
    struct build_ids ids;
    ttr_text mapped_path;
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    write_elf32_file(path);
    assert_int_equal(fstat(fd, &about), 0);
    build_ids_init(&ids);
    build_mmap2_record(record, path, about.st_ino, PERF_MISC_BUILD_ID | 2, PROT_READ | PROT_EXEC);
    memset(record + 44, 7, record[40] = 20);
    assert_int_equal(build_ids_get_from_record(&ids, record, sizeof record, &mapped_path).n,
                     0); /* the record has a build id already */
    build_mmap2_record(record, path, about.st_ino, 2, PROT_READ);
    /* not executable */
    assert_int_equal(build_ids_get_from_record(&ids, record, sizeof record, &mapped_path).n, 0);
    build_mmap2_record(record, path, about.st_ino, PERF_MISC_BUILD_ID | 2, PROT_READ | PROT_EXEC);
    /* byte 40 is a device number here; misc bit 14 means another session's data */
    record[40] = 0xfe;
    assert_int_equal(build_ids_get_from_record(&ids, record, 72, &mapped_path).n, 0);
    assert_int_equal(build_ids_get_from_record(&ids, record, 80, &mapped_path).n, 0);
    assert_memory_equal(build_ids_get_from_record(&ids, record, sizeof record, &mapped_path).bytes,
                        "narrow", 6);
    assert_int_equal(mapped_path.n, strlen(path));
    assert_memory_equal(mapped_path.p, path, mapped_path.n);
    assert_int_equal(build_ids_get_from_record(&ids, record, sizeof record, &mapped_path).n, 0);
    build_ids_free(&ids);
    (void)close(fd);
    (void)unlink(path);
}

/* Compares the build id of this program with the output of readelf. */
static void build_id_equals_readelf_output(void **state)
{
    char command[600], path[512], text[128] = "", id_text[2 * BUILD_ID_SIZE_MAX + 1] = "";
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
    const struct build_id id = read_file_build_id(path, 0);
    for (size_t i = 0; i < id.n; i++)
        (void)snprintf(id_text + 2 * i, 3, "%02x", id.bytes[i]);
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(id_text, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_id_among_other_notes_is_found),
        cmocka_unit_test(truncated_or_oversized_note_has_no_build_id),
        cmocka_unit_test(replaced_file_has_no_build_id),
        cmocka_unit_test(mapping_without_build_id_gets_it_once_from_file),
        cmocka_unit_test(build_id_equals_readelf_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
