/* Search for metadata files that are prefixes of others (see the header).
 *
 * One pass over the folders keeps the maximal texts: those that are not a prefix of another text
 * seen so far. A longer text replaces its prefix. Candidates have the same text up to their UUID
 * and are found by the hash of that part. Metadata without a UUID never belong to a trace of
 * several folders.
 *
 * Cost: one read of each metadata file; each text is compared only with candidates of the same
 * hash. Memory: the maximal texts. */
#include "formats/ctf/metadata/ctf_metadata_prefix.h"

#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_open.h"

/* the UUID is searched in this many bytes: tracers declare it near the start */
#define UUID_WITHIN ((size_t)64 << 10)
/* bytes needed after the name: "uuid = \"...\"", or most of sixteen numbers */
#define UUID_BYTES 64u

ttr_status ctf_read_metadata_file(ttr *t, const char *path, uint8_t **bytes, size_t *n,
                                  ttr_error *error)
{
    struct window window;
    struct source *source = source_open(&t->counted, path, NULL, error);
    if (!source)
        return error->status;
    ttr_status status = source_fill(source, 0, (size_t)CTF_METADATA_MAX, &window, error);
    if (status == TTR_OK && window.n == CTF_METADATA_MAX)
        status = fail(error, TTR_E_LIMIT, CTF_METADATA_MAX,
                      "%s is larger than %llu MiB, too large for metadata", path,
                      (unsigned long long)(CTF_METADATA_MAX >> 20));
    if (status == TTR_OK && !(*bytes = alloc_zero(&t->counted, window.n + 1, 1)))
        status = fail_memory(error);
    if (status == TTR_OK) {
        memcpy(*bytes, window.bytes, window.n);
        *n = window.n;
    }
    source_close(source);
    return status;
}

/* A metadata file in memory. */
struct stored {
    uint8_t *bytes; /* n + 1 bytes are allocated; NULL after the ownership was passed on */
    size_t n;
    uint64_t hash;
};

/* A maximal text: metadata that is not a prefix of any other. */
struct longest {
    struct stored file;
    const char *path;
    /* text without packets, text_n + 1 bytes, while folders are compared; NULL if the file is plain
     * text */
    char *unpacked;
    size_t text_n;
    struct ctf_trace *made; /* owner of the class made of this metadata */
    bool is_bad, has_notes;
    size_t quiet_n; /* length of the longest prefix that was parsed without diagnostics */
    uint64_t quiet_hash;
    uint32_t next; /* next entry with the same hash: index + 1 */
};

struct ctf_prefix_set {
    ttr *t;
    struct arena arena;
    struct pair_map by_beginning; /* hash to index + 1 */
    struct longest *longest;
    size_t n, capacity;
    struct of_folder {
        uint32_t longest; /* index + 1; 0: the folder's metadata is unknown */
        size_t text_n, bytes_n;
        uint64_t hash;
    } * folder;
    size_t folders_n; /* number of folders; the entry after them is the additional file */
};

static void free_file(struct ctf_prefix_set *grown, struct stored *file)
{
    if (file->bytes)
        alloc_free(&grown->t->counted, file->bytes, file->n + 1, 1);
    file->bytes = NULL;
}

static void free_unpacked(struct ctf_prefix_set *grown, struct longest *of)
{
    if (of->unpacked)
        alloc_free(&grown->t->counted, of->unpacked, of->text_n + 1, 1);
    of->unpacked = NULL;
}

static const char *plain_text_of(const struct longest *of)
{
    return of->unpacked ? of->unpacked : (const char *)of->file.bytes;
}

/* --- Comparing --- */

/* Unpacks the text if the file is in packets. The text stays empty if it cannot be used. */
static ttr_status unpack_candidate(struct ctf_prefix_set *grown, struct longest *of,
                                   ttr_error *error)
{
    const struct alloc *alloc = &grown->t->counted;
    struct ctf_description description;
    struct ctf_text text = {.file = ""};
    bool is_packetised;
    const enum ctf_version version =
        ctf_detect_metadata_language(of->file.bytes, of->file.n, &is_packetised);
    if (version != CTF_1_8 && version != CTF_2)
        return TTR_OK;
    if (!is_packetised) {
        of->text_n = of->file.n;
        return TTR_OK;
    }
    ctf_description_init(&description, alloc);
    ttr_error ctx = {0};
    ttr_status status = ctf_unpack_metadata(&description, of->file.bytes, of->file.n,
                                            &(struct ctf_key){NULL}, &text, &ctx);
    if (status == TTR_OK && !(of->unpacked = alloc_zero(alloc, text.n + 1, 1)))
        status = fail_memory(&ctx);
    if (status == TTR_OK) {
        memcpy(of->unpacked, text.p, text.n);
        of->text_n = text.n;
    }
    ctf_description_free(&description);
    return status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
}

/* Computes the hash of the text up to its UUID. Returns false if there is no UUID, or the text ends
 * before it. */
static bool hash_up_to_uuid(const char *text, size_t n, uint64_t *key)
{
    static const char word[] = "uuid";
    const char *at =
        n ? memmem(text, n < UUID_WITHIN ? n : UUID_WITHIN, word, sizeof word - 1) : NULL;
    if (!at || n - (size_t)(at - text) < UUID_BYTES)
        return false;
    *key = hash_bytes(text, (size_t)(at - text) + UUID_BYTES);
    return true;
}

static bool is_text_prefix(const struct longest *a, const struct longest *b)
{
    const size_t n = a->text_n < b->text_n ? a->text_n : b->text_n;
    return memcmp(plain_text_of(a), plain_text_of(b), n) == 0;
}

/* Adds metadata without a related text, and takes ownership of its bytes. */
static bool add_maximal_text(struct ctf_prefix_set *grown, struct longest *of, const char *path,
                             uint64_t key)
{
    const uint32_t *first = pair_map_get(&grown->by_beginning, key, 0);
    of->next = first ? *first : 0;
    of->path = arena_copy(&grown->arena, path, strlen(path));
    if (!of->path ||
        !alloc_reserve(&grown->t->counted, (void **)&grown->longest, &grown->capacity, grown->n + 1,
                       sizeof *grown->longest) ||
        !pair_map_put(&grown->by_beginning, key, 0, (uint32_t)grown->n + 1))
        return false;
    grown->longest[grown->n++] = *of;
    *of = (struct longest){.text_n = 0};
    return true;
}

/* Replaces a prefix by a longer text, and takes ownership of its bytes. */
static bool replace_prefix_text(struct ctf_prefix_set *grown, struct longest *old,
                                struct longest *of, const char *path)
{
    of->next = old->next;
    of->path = arena_copy(&grown->arena, path, strlen(path));
    if (!of->path)
        return false;
    free_unpacked(grown, old);
    free_file(grown, &old->file);
    *old = *of;
    *of = (struct longest){.text_n = 0};
    return true;
}

/* Finds a related text, or adds this one. `of` keeps the bytes if they are not needed. */
static ttr_status relate_metadata(struct ctf_prefix_set *grown, struct longest *of, size_t i,
                                  const char *path, ttr_error *error)
{
    uint64_t key;
    ttr_status status = unpack_candidate(grown, of, error);
    if (status != TTR_OK || !of->text_n || !hash_up_to_uuid(plain_text_of(of), of->text_n, &key))
        return status;
    of->file.hash = hash_bytes(of->file.bytes, of->file.n);
    struct of_folder *here = &grown->folder[i];
    *here = (struct of_folder){.text_n = of->text_n, .bytes_n = of->file.n, .hash = of->file.hash};
    const uint32_t *first = pair_map_get(&grown->by_beginning, key, 0);
    uint32_t k = first ? *first : 0;
    while (k && !is_text_prefix(&grown->longest[k - 1], of))
        k = grown->longest[k - 1].next;
    here->longest = k ? k : (uint32_t)grown->n + 1;
    const bool is_fine = !k ? add_maximal_text(grown, of, path, key)
                            : grown->longest[k - 1].text_n >= of->text_n ||
                                  replace_prefix_text(grown, &grown->longest[k - 1], of, path);
    return is_fine ? TTR_OK : fail_memory(error);
}

/* Reports whether a folder's metadata is identical to that of the previous folder, which is the
 * common case. */
static bool is_same_as_previous_folder(struct ctf_prefix_set *grown, const struct longest *of,
                                       size_t i)
{
    const uint32_t k = i ? grown->folder[i - 1].longest : 0;
    const struct stored *before = k ? &grown->longest[k - 1].file : NULL;
    if (!before || before->n != of->file.n || memcmp(before->bytes, of->file.bytes, before->n) != 0)
        return false;
    grown->folder[i] = (struct of_folder){.longest = k,
                                          .text_n = grown->longest[k - 1].text_n,
                                          .bytes_n = before->n,
                                          .hash = before->hash};
    return true;
}

/* Compares a file that was read with all others, and frees it if it is not kept. */
static ttr_status compare_metadata_file(struct ctf_prefix_set *grown, struct longest *of, size_t i,
                                        const char *path, ttr_error *error)
{
    ttr_status status = is_same_as_previous_folder(grown, of, i)
                            ? TTR_OK
                            : relate_metadata(grown, of, i, path, error);
    free_unpacked(grown, of);
    free_file(grown, &of->file);
    return status;
}

static ttr_status read_folder_metadata(struct ctf_prefix_set *grown, size_t i,
                                       struct folder *folder, ttr_error *error)
{
    char path[1024];
    struct longest of = {.text_n = 0};
    ttr_error ctx = {0};
    const struct folder_file *file = folder_find_file(folder, CTF_METADATA);
    ttr_status status =
        file ? folder_read_file(folder, file, CTF_METADATA_MAX, &of.file.bytes, &of.file.n, &ctx)
             : TTR_E_UNSUPPORTED;
    if (status != TTR_OK)
        return status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
    folder_file_path(folder, file, path, sizeof path);
    return compare_metadata_file(grown, &of, i, path, error);
}

static ttr_status read_further_metadata(struct ctf_prefix_set *grown, size_t i, const char *path,
                                        ttr_error *error)
{
    struct longest of = {.text_n = 0};
    ttr_status status = ctf_read_metadata_file(grown->t, path, &of.file.bytes, &of.file.n, error);
    return status == TTR_OK ? compare_metadata_file(grown, &of, i, path, error) : status;
}

struct ctf_prefix_set *ctf_prefix_set_new(ttr *t, const struct found_folders *found,
                                          const char *further, ttr_error *error)
{
    const struct alloc *alloc = &t->counted;
    struct ctf_prefix_set *grown = alloc_zero(alloc, 1, sizeof *grown);
    if (!grown) {
        (void)fail_memory(error);
        return NULL;
    }
    grown->t = t;
    arena_init_small(&grown->arena, alloc, 1024);
    pair_map_init(&grown->by_beginning, alloc);
    grown->folder = alloc_zero(alloc, found->n + 1, sizeof *grown->folder);
    grown->folders_n = grown->folder ? found->n + 1 : 0;
    ttr_status status = grown->folder ? TTR_OK : fail_memory(error);
    for (size_t i = 0; i < found->n && status == TTR_OK; i++)
        if (!found->list[i].unreadable_reason)
            status = read_folder_metadata(grown, i, found->list[i].folder, error);
    if (status == TTR_OK && further)
        status = read_further_metadata(grown, found->n, further, error);
    for (size_t i = 0; i < grown->n; i++)
        free_unpacked(grown, &grown->longest[i]);
    if (status == TTR_OK)
        return grown;
    ctf_prefix_set_free(grown);
    return NULL;
}

void ctf_prefix_set_free(struct ctf_prefix_set *grown)
{
    if (!grown)
        return;
    const struct alloc *alloc = &grown->t->counted;
    for (size_t i = 0; i < grown->n; i++) {
        free_unpacked(grown, &grown->longest[i]);
        free_file(grown, &grown->longest[i].file);
        ctf_trace_unref(grown->longest[i].made);
    }
    alloc_free(alloc, grown->longest, grown->capacity, sizeof *grown->longest);
    alloc_free(alloc, grown->folder, grown->folders_n, sizeof *grown->folder);
    pair_map_free(&grown->by_beginning);
    arena_free(&grown->arena);
    alloc_free(alloc, grown, 1, sizeof *grown);
}

/* --- What is known --- */

static struct longest *find_maximal_text(const struct ctf_prefix_set *grown, size_t folder)
{
    const uint32_t k = grown ? grown->folder[folder].longest : 0;
    return k ? &grown->longest[k - 1] : NULL;
}

/* Reports whether the folder's own metadata is the maximal text. */
static bool is_folder_text_maximal(const struct ctf_prefix_set *grown, size_t folder)
{
    const struct longest *of = find_maximal_text(grown, folder);
    return of && of->text_n == grown->folder[folder].text_n &&
           of->file.n == grown->folder[folder].bytes_n &&
           of->file.hash == grown->folder[folder].hash;
}

bool ctf_prefix_is_extended(const struct ctf_prefix_set *grown, size_t folder)
{
    const struct longest *of = find_maximal_text(grown, folder);
    return of && of->text_n > grown->folder[folder].text_n;
}

static bool pass_metadata_bytes(struct longest *of, struct ctf_trace *trace)
{
    if (!of->file.bytes)
        return false;
    trace->class->metadata = of->file.bytes;
    trace->class->metadata_n = of->file.n;
    of->file.bytes = NULL;
    return true;
}

bool ctf_prefix_pass_metadata(struct ctf_prefix_set *grown, size_t folder, struct ctf_trace *trace)
{
    return is_folder_text_maximal(grown, folder) &&
           pass_metadata_bytes(find_maximal_text(grown, folder), trace);
}

bool ctf_prefix_pass_longer_metadata(struct ctf_prefix_set *grown, size_t folder,
                                     struct ctf_trace *trace)
{
    return ctf_prefix_is_extended(grown, folder) &&
           pass_metadata_bytes(find_maximal_text(grown, folder), trace);
}

bool ctf_prefix_share_class(const struct ctf_prefix_set *grown, size_t folder,
                            struct ctf_trace *trace, size_t *bytes)
{
    const struct longest *of = find_maximal_text(grown, folder);
    if (!of || !of->made || of->is_bad)
        return false;
    const struct of_folder *here = &grown->folder[folder];
    const bool is_quiet = of->quiet_n && of->quiet_n == here->bytes_n &&
                          of->quiet_hash == here->hash && ctf_prefix_is_extended(grown, folder);
    if (!is_quiet && (of->has_notes || !is_folder_text_maximal(grown, folder)))
        return false;
    ctf_trace_set_class(trace, of->made->class);
    *bytes = here->bytes_n;
    return true;
}

static void keep_parsed_metadata(struct longest *of, struct ctf_trace *made, bool has_notes)
{
    of->is_bad = !made;
    of->has_notes = has_notes;
    of->made = made;
    if (made)
        made->users++;
}

void ctf_prefix_keep_class(struct ctf_prefix_set *grown, size_t folder, struct ctf_trace *made,
                           bool has_notes)
{
    struct longest *of = find_maximal_text(grown, folder);
    if (is_folder_text_maximal(grown, folder) && !of->made && !of->is_bad)
        keep_parsed_metadata(of, made, has_notes);
}

void ctf_prefix_keep_longer_class(struct ctf_prefix_set *grown, size_t folder,
                                  struct ctf_trace *made, bool has_notes)
{
    if (ctf_prefix_is_extended(grown, folder))
        keep_parsed_metadata(find_maximal_text(grown, folder), made, has_notes);
}

struct ctf_trace *ctf_prefix_longer_class(const struct ctf_prefix_set *grown, size_t folder,
                                          bool *is_bad)
{
    const struct longest *of = find_maximal_text(grown, folder);
    *is_bad = !ctf_prefix_is_extended(grown, folder) || of->is_bad;
    return *is_bad ? NULL : of->made;
}

void ctf_prefix_keep_without_notes(struct ctf_prefix_set *grown, size_t folder)
{
    struct longest *of = find_maximal_text(grown, folder);
    if (!of)
        return;
    of->quiet_n = grown->folder[folder].bytes_n;
    of->quiet_hash = grown->folder[folder].hash;
}

const char *ctf_prefix_longer_path(const struct ctf_prefix_set *grown, size_t folder)
{
    const struct longest *of = find_maximal_text(grown, folder);
    return of ? of->path : "";
}
