/* A file with symbols, read with libelf. */
#include "symbols/symbol_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "base/regular_file.h"

/* A function of the ELF symbol table. */
struct symbol {
    uint64_t value, size; /* size: if unknown, up to the end of the section */
    /* index in the symbol table; of the symbols at one address, the first is used */
    size_t index;
    /* offset of the name in a string table, and section number of that table */
    size_t name, section;
};

struct symbol_file {
    char *path;
    int fd; /* descriptor; -1 = closed */
    Elf *elf;
    struct dwarf_index *dwarf;
    struct symbol *symbol; /* functions sorted by address */
    size_t symbols_n;
    struct symbol_rules rules;
    /* has_looked_for_symbols: `symbol` is complete; is_partial: it has only exported functions */
    bool has_looked_for_symbols, is_partial;
};

static void close_descriptor(struct symbol_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
}

struct symbol_file *symbol_file_open(const char *path, const struct symbol_rules *rules,
                                     bool *is_damaged)
{
    struct stat about;
    struct symbol_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->rules = *rules;
    file->path = strdup(path);
    int fd = regular_file_open(path, &about);
    const bool is_other = fd < 0 && errno == EINVAL;
    if (file->path && fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
        file->elf = elf_begin(fd, rules->no_mmap ? ELF_C_READ : ELF_C_READ_MMAP, NULL);
    bool is_fine = file->elf && elf_kind(file->elf) == ELF_K_ELF;
    if (is_fine)
        file->dwarf = dwarf_index_new(file->elf, path, &file->rules);
    *is_damaged = is_other || (fd >= 0 && !is_fine);
    file->fd = fd;
    if (is_fine && !rules->no_mmap && elf_cntl(file->elf, ELF_C_FDREAD) == 0)
        close_descriptor(file); /* libelf has mapped the file, so the descriptor is not needed any
                                 * more */
    if (is_fine)
        return file;
    symbol_file_close(file);
    return NULL;
}

void symbol_file_close(struct symbol_file *file)
{
    if (!file)
        return;
    dwarf_index_free(file->dwarf);
    (void)elf_end(file->elf);
    close_descriptor(file);
    free(file->symbol);
    free(file->path);
    free(file);
}

const char *symbol_file_path(const struct symbol_file *file)
{
    return file->path;
}

size_t symbol_file_build_id(const struct symbol_file *file, const void **id)
{
    ssize_t n = dwelf_elf_gnu_build_id(file->elf, id);
    return n > 0 ? (size_t)n : 0;
}

const char *symbol_file_link(const struct symbol_file *file, uint32_t *crc)
{
    GElf_Word sum = 0;
    const char *name = dwelf_elf_gnu_debuglink(file->elf, &sum);
    *crc = sum;
    return name;
}

struct dwarf_index *symbol_file_dwarf(const struct symbol_file *file)
{
    return file->dwarf;
}

uint64_t symbol_file_address(const struct symbol_file *file, uint64_t offset)
{
    size_t n = 0;
    GElf_Phdr part;
    if (elf_getphdrnum(file->elf, &n) != 0)
        return offset;
    for (size_t i = 0; i < n && i < INT32_MAX; i++)
        if (gelf_getphdr(file->elf, (int)i, &part) && part.p_type == PT_LOAD &&
            offset >= part.p_offset && offset - part.p_offset < part.p_filesz)
            return offset - part.p_offset + part.p_vaddr;
    return offset;
}

/* --- The table of symbols --- */

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *left = a, *right = b;
    return left->value != right->value
               ? (left->value < right->value ? -1 : 1)
               : (left->index > right->index) - (left->index < right->index);
}

static bool is_function(const struct symbol_file *file, const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (file->rules.is_exact)
        return type == STT_FUNC;
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

/* Returns the size of a function. If the symbol has none, as those of assembly code, returns the
 * distance to the end of its section; 0 = unknown. */
static uint64_t symbol_size(const struct symbol_file *file, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    if (symbol->st_size || file->rules.is_exact || symbol->st_shndx >= SHN_LORESERVE)
        return symbol->st_size;
    Elf_Scn *section = elf_getscn(file->elf, symbol->st_shndx);
    if (!section || !gelf_getshdr(section, &header) || symbol->st_value < header.sh_addr ||
        symbol->st_value - header.sh_addr >= header.sh_size)
        return 0;
    return header.sh_size - (symbol->st_value - header.sh_addr);
}

static void list_table(struct symbol_file *file, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t size = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT),
           n = data && size ? data->d_size / size : 0;
    file->symbol = n ? calloc(n, sizeof *file->symbol) : NULL;
    for (size_t i = 0; file->symbol && i < n && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) && is_function(file, &symbol))
            file->symbol[file->symbols_n++] = (struct symbol){
                symbol.st_value, symbol_size(file, &symbol), i, symbol.st_name, header->sh_link};
    }
    if (file->symbols_n)
        qsort(file->symbol, file->symbols_n, sizeof *file->symbol, compare_symbols);
}

/* Lists the functions of the first section of a kind (SHT_SYMTAB, SHT_DYNSYM). Returns false if the
 * file has no such section. */
static bool list_symbols(struct symbol_file *file, uint32_t kind)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        if (!gelf_getshdr(section, &header) || header.sh_type != kind)
            continue;
        list_table(file, section, &header);
        return true;
    }
    return false;
}

const char *symbol_file_function(struct symbol_file *file, uint64_t address, uint64_t *low)
{
    if (!file->has_looked_for_symbols && !list_symbols(file, SHT_SYMTAB) && !file->rules.is_exact)
        file->is_partial = list_symbols(file, SHT_DYNSYM);
    file->has_looked_for_symbols = true;
    size_t from = 0, to = file->symbols_n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (file->symbol[middle].value <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return NULL;
    const struct symbol *symbol = &file->symbol[from - 1];
    while (symbol > file->symbol && symbol[-1].value == symbol->value)
        symbol--;
    /* The address is after the end of this function, so in a function without a symbol or in none.
     */
    if (!file->rules.is_exact && (symbol->size || file->is_partial) &&
        address - symbol->value >= symbol->size)
        return NULL;
    *low = symbol->value;
    return elf_strptr(file->elf, symbol->section, symbol->name);
}
