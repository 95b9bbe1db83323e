/* Build id reader: ELF program headers, see elf(5), and the note NT_GNU_BUILD_ID. */
#include "perf_events/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/hash.h"
#include "base/regular_file.h"
#include "encodings/perf_data/perf_layout.h"
#include "perf_events/tracing_files.h"

#define PROGRAM_HEADERS_MAX 128u /* maximum number of program headers to read */
#define NOTES_MAX 65536u         /* limit in bytes of the notes that are read per program header */
#define ROOTED_PATH_SIZE 4160u
#define MAPPING_PATH_AT 72u /* offset of the path in an MMAP2 record */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ELF_DATA ELFDATA2LSB
#define read_u32 cursor_u32le
#else
#define NATIVE_ELF_DATA ELFDATA2MSB
#define read_u32 cursor_u32be
#endif

void build_ids_init(struct build_ids *ids)
{
    *ids = (struct build_ids){0};
    key_map_init(&ids->known, alloc_default());
    key_map_init(&ids->returned, alloc_default());
    buffer_init(&ids->text, alloc_default());
}

void build_ids_free(struct build_ids *ids)
{
    key_map_free(&ids->known);
    key_map_free(&ids->returned);
    buffer_free(&ids->text);
    alloc_free(alloc_default(), ids->list, ids->capacity, sizeof *ids->list);
}

/* --- Files --- */

static uint64_t pad_to_4(uint32_t n)
{
    return ((uint64_t)n + 3) & ~UINT64_C(3);
}

struct build_id find_build_id_in_notes(const void *bytes, size_t n)
{
    struct build_id id = {.n = 0};
    struct cursor at = cursor_init(bytes, n, 0);
    while (!at.failed && cursor_left(&at) >= 12) {
        uint32_t name_n = read_u32(&at), content_n = read_u32(&at), type = read_u32(&at);
        const uint8_t *name = cursor_read_bytes(&at, pad_to_4(name_n)),
                      *content = name ? cursor_read_bytes(&at, content_n) : NULL;
        if (content && type == NT_GNU_BUILD_ID && name_n == 4 && memcmp(name, "GNU", 4) == 0 &&
            content_n <= BUILD_ID_SIZE_MAX) {
            id.n = (uint8_t)content_n;
            memcpy(id.bytes, content, content_n);
            return id;
        }
        (void)cursor_skip(&at, pad_to_4(content_n) - content_n);
    }
    return id;
}

/* A note segment: range of the file, and type of the program header. */
struct note_range {
    uint64_t offset, n;
    uint32_t type;
};

/* Parses a program header of either ELF class; `bytes` may be unaligned. */
static struct note_range parse_program_header(const uint8_t *bytes, bool is_wide)
{
    Elf64_Phdr wide;
    Elf32_Phdr narrow;
    if (is_wide) {
        memcpy(&wide, bytes, sizeof wide);
        return (struct note_range){wide.p_offset, wide.p_filesz, wide.p_type};
    }
    memcpy(&narrow, bytes, sizeof narrow);
    return (struct note_range){narrow.p_offset, narrow.p_filesz, narrow.p_type};
}

static struct build_id read_notes_build_id(int fd, const struct note_range *part)
{
    struct build_id id = {.n = 0};
    struct buffer bytes;
    size_t n = part->n < NOTES_MAX ? (size_t)part->n : NOTES_MAX;
    buffer_init(&bytes, alloc_default());
    uint8_t *at = part->offset <= INT64_MAX ? buffer_room(&bytes, n) : NULL;
    ssize_t got = at ? pread(fd, at, n, (off_t)part->offset) : 0;
    if (got > 0)
        id = find_build_id_in_notes(at, (size_t)got);
    buffer_free(&bytes);
    return id;
}

static struct build_id read_elf_build_id(int fd)
{
    struct build_id id = {.n = 0};
    uint8_t parts[PROGRAM_HEADERS_MAX * sizeof(Elf64_Phdr)];
    union {
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr wide;
        Elf32_Ehdr narrow;
    } head;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.ident, ELFMAG, SELFMAG) != 0 || head.ident[EI_DATA] != NATIVE_ELF_DATA)
        return id;
    bool is_wide = head.ident[EI_CLASS] == ELFCLASS64;
    uint64_t at = is_wide ? head.wide.e_phoff : head.narrow.e_phoff;
    size_t n = is_wide ? head.wide.e_phnum : head.narrow.e_phnum,
           size = is_wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    n = n < PROGRAM_HEADERS_MAX ? n : PROGRAM_HEADERS_MAX;
    ssize_t got = at <= INT64_MAX ? pread(fd, parts, n * size, (off_t)at) : 0;
    for (size_t i = 0; !id.n && got > 0 && (i + 1) * size <= (size_t)got; i++) {
        struct note_range part = parse_program_header(parts + i * size, is_wide);
        if (part.type == PT_NOTE)
            id = read_notes_build_id(fd, &part);
    }
    return id;
}

struct build_id read_file_build_id(const char *path, uint64_t inode)
{
    struct build_id id = {.n = 0};
    struct stat about;
    int fd = regular_file_open(path, &about);
    if (fd < 0)
        return id;
    if (!inode || about.st_ino == inode)
        id = read_elf_build_id(fd);
    (void)close(fd);
    return id;
}

/* --- Processes and the kernel --- */

/* Reads the build id of a file as the process sees it, which may be in a container. If access is
 * denied, reads the file with this path outside of containers. */
static struct build_id read_id_in_process_root(uint64_t pid, const char *path, uint64_t inode)
{
    char rooted_path[ROOTED_PATH_SIZE];
    int n = snprintf(rooted_path, sizeof rooted_path, "/proc/%" PRIu64 "/root%s", pid, path);
    struct build_id id = n > 0 && n < (int)sizeof rooted_path
                             ? read_file_build_id(rooted_path, inode)
                             : (struct build_id){.n = 0};
    return id.n ? id : read_file_build_id(path, inode);
}

struct build_id build_ids_find(struct build_ids *ids, uint64_t pid, const char *path,
                               uint64_t inode)
{
    uint64_t key = hash_pair(hash_bytes(path, strlen(path)), inode);
    const uint32_t *known = key_map_get(&ids->known, key);
    if (known)
        return ids->list[*known];
    struct build_id id = path[0] == '/' && inode ? read_id_in_process_root(pid, path, inode)
                                                 : (struct build_id){.n = 0};
    void *list = ids->list;
    if (!alloc_reserve(alloc_default(), &list, &ids->capacity, ids->n + 1, sizeof *ids->list))
        return id;
    ids->list = list;
    ids->list[ids->n] = id;
    ids->n +=
        /* If memory runs out, the id is not cached and the file is read again next time. */
        key_map_put(&ids->known, key, (uint32_t)ids->n);
    return id;
}

struct build_id build_ids_get_from_record(struct build_ids *ids, const void *record, size_t n,
                                          ttr_text *path)
{
    const struct build_id none = {.n = 0};
    const uint8_t *bytes = record;
    uint64_t inode;
    uint32_t pid, prot;
    uint16_t misc;
    if (n <= MAPPING_PATH_AT)
        return none;
    memcpy(&misc, bytes + 4, sizeof misc);
    memcpy(&pid, bytes + 8, sizeof pid);
    memcpy(&inode, bytes + 48, sizeof inode);
    memcpy(&prot, bytes + 64, sizeof prot);
    *path = (ttr_text){(const char *)bytes + MAPPING_PATH_AT,
                       strnlen((const char *)bytes + MAPPING_PATH_AT, n - MAPPING_PATH_AT)};
    uint64_t key = hash_bytes(path->p, path->n);
    if ((misc & PERF_MISC_BUILD_ID && perf_mapping_build_id_size(bytes)) || !(prot & PROT_EXEC) ||
        path->n == n - MAPPING_PATH_AT || key_map_get(&ids->returned, key))
        return none;
    const struct build_id id = build_ids_find(ids, pid, path->p, inode);
    return id.n && key_map_put(&ids->returned, key, 1) ? id : none;
}

struct build_id build_ids_get_kernel(struct build_ids *ids, const char *module)
{
    char path[160] = "/sys/kernel/notes";
    if (module)
        (void)snprintf(path, sizeof path, "/sys/module/%s/notes/.note.gnu.build-id", module);
    if (!tracing_files_read_path(path, &ids->text))
        return (struct build_id){.n = 0};
    return find_build_id_in_notes(ids->text.bytes, ids->text.n);
}
