/* Search for metadata files that are a prefix of another one; ctf_metadata_prefix.h has the
 * purpose.
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
/* bytes that must follow the word uuid: "uuid = \"...\"", or most of an array of sixteen numbers */
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
struct metadata_file {
    /* content of the file; n + 1 bytes are allocated; NULL after a trace became owner of them */
    uint8_t *bytes;
    size_t n;
    uint64_t hash;
};

/* A maximal text: metadata that is not a prefix of any other text compared so far. */
struct maximal_text {
    struct metadata_file file;
    const char *path;
    /* text extracted from packets, followed by a zero byte after text_n bytes. Only allocated
     * while folders are compared. NULL if the file is plain text. */
    char *unpacked;
    size_t text_n;
    struct ctf_trace
        /* trace that parsed this text and owns the resulting trace class; NULL until parsed */
        *parsed;
    bool is_bad, has_notes;
    /* length in bytes of the longest prefix of the text that was parsed without diagnostics */
    size_t quiet_n;
    uint64_t quiet_hash;
    uint32_t next; /* next maximal text with the same hash: index + 1; 0 if none */
};

struct ctf_prefix_set {
    ttr *t;
    struct arena arena;
    /* maps the hash of a text up to its UUID to the index of the first maximal text, plus 1 */
    struct pair_map by_beginning;
    struct maximal_text *longest;
    size_t n, capacity;
    struct of_folder {
        /* index, plus 1, of the maximal text that starts with the folder's metadata; 0 if the
         * metadata are unusable */
        uint32_t longest;
        size_t text_n, bytes_n;
        uint64_t hash;
    } * folder;
    /* number of folders; the array has one more element, for the additional metadata file of the
     * caller */
    size_t folders_n;
};

static void free_file(struct ctf_prefix_set *set, struct metadata_file *file)
{
    if (file->bytes)
        alloc_free(&set->t->counted, file->bytes, file->n + 1, 1);
    file->bytes = NULL;
}

static void free_unpacked_text(struct ctf_prefix_set *set, struct maximal_text *of)
{
    if (of->unpacked)
        alloc_free(&set->t->counted, of->unpacked, of->text_n + 1, 1);
    of->unpacked = NULL;
}

static const char *get_plain_text(const struct maximal_text *of)
{
    return of->unpacked ? of->unpacked : (const char *)of->file.bytes;
}

/* --- Comparison of metadata texts --- */

/* Extracts the text if the file is in packets. The text stays empty if the packets are invalid. */
static ttr_status unpack_candidate_metadata(struct ctf_prefix_set *set, struct maximal_text *of,
                                            ttr_error *error)
{
    const struct alloc *alloc = &set->t->counted;
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

/* Computes the hash of the text up to its UUID. Returns false if the text has no UUID or ends
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

static bool is_text_prefix(const struct maximal_text *a, const struct maximal_text *b)
{
    const size_t n = a->text_n < b->text_n ? a->text_n : b->text_n;
    return memcmp(get_plain_text(a), get_plain_text(b), n) == 0;
}

/* Adds metadata that is neither a prefix nor an extension of a known text. The set becomes owner of
 * its bytes. */
static bool add_maximal_text(struct ctf_prefix_set *set, struct maximal_text *of, const char *path,
                             uint64_t key)
{
    const uint32_t *first = pair_map_get(&set->by_beginning, key, 0);
    of->next = first ? *first : 0;
    of->path = arena_copy(&set->arena, path, strlen(path));
    if (!of->path ||
        !alloc_reserve(&set->t->counted, (void **)&set->longest, &set->capacity, set->n + 1,
                       sizeof *set->longest) ||
        !pair_map_put(&set->by_beginning, key, 0, (uint32_t)set->n + 1))
        return false;
    set->longest[set->n++] = *of;
    *of = (struct maximal_text){.text_n = 0};
    return true;
}

/* Replaces a known text by a longer text that starts with it. The set becomes owner of the bytes of
 * the longer text. */
static bool replace_prefix_text(struct ctf_prefix_set *set, struct maximal_text *old,
                                struct maximal_text *of, const char *path)
{
    of->next = old->next;
    of->path = arena_copy(&set->arena, path, strlen(path));
    if (!of->path)
        return false;
    free_unpacked_text(set, old);
    free_file(set, &old->file);
    *old = *of;
    *of = (struct maximal_text){.text_n = 0};
    return true;
}

/* Compares a text with the known texts of the same hash: drops it if it is a prefix of one,
 * replaces one that is its prefix, else adds it. `of` remains owner of the bytes if they are not
 * needed. */
static ttr_status compare_with_maximal_texts(struct ctf_prefix_set *set, struct maximal_text *of,
                                             size_t i, const char *path, ttr_error *error)
{
    uint64_t key;
    ttr_status status = unpack_candidate_metadata(set, of, error);
    if (status != TTR_OK || !of->text_n || !hash_up_to_uuid(get_plain_text(of), of->text_n, &key))
        return status;
    of->file.hash = hash_bytes(of->file.bytes, of->file.n);
    struct of_folder *here = &set->folder[i];
    *here = (struct of_folder){.text_n = of->text_n, .bytes_n = of->file.n, .hash = of->file.hash};
    const uint32_t *first = pair_map_get(&set->by_beginning, key, 0);
    uint32_t k = first ? *first : 0;
    while (k && !is_text_prefix(&set->longest[k - 1], of))
        k = set->longest[k - 1].next;
    here->longest = k ? k : (uint32_t)set->n + 1;
    const bool is_fine = !k ? add_maximal_text(set, of, path, key)
                            : set->longest[k - 1].text_n >= of->text_n ||
                                  replace_prefix_text(set, &set->longest[k - 1], of, path);
    return is_fine ? TTR_OK : fail_memory(error);
}

/* Reports whether a folder's metadata is identical to that of the previous folder, which is the
 * common case. */
static bool is_same_as_previous_folder(struct ctf_prefix_set *set, const struct maximal_text *of,
                                       size_t i)
{
    const uint32_t k = i ? set->folder[i - 1].longest : 0;
    const struct metadata_file *before = k ? &set->longest[k - 1].file : NULL;
    if (!before || before->n != of->file.n || memcmp(before->bytes, of->file.bytes, before->n) != 0)
        return false;
    set->folder[i] = (struct of_folder){.longest = k,
                                        .text_n = set->longest[k - 1].text_n,
                                        .bytes_n = before->n,
                                        .hash = before->hash};
    return true;
}

/* Compares a metadata file with all known texts, and frees it if it is not kept. */
static ttr_status compare_metadata_file(struct ctf_prefix_set *set, struct maximal_text *of,
                                        size_t i, const char *path, ttr_error *error)
{
    ttr_status status = is_same_as_previous_folder(set, of, i)
                            ? TTR_OK
                            : compare_with_maximal_texts(set, of, i, path, error);
    free_unpacked_text(set, of);
    free_file(set, &of->file);
    return status;
}

static ttr_status read_folder_metadata(struct ctf_prefix_set *set, size_t i, struct folder *folder,
                                       ttr_error *error)
{
    char path[1024];
    struct maximal_text of = {.text_n = 0};
    ttr_error ctx = {0};
    const struct folder_file *file = folder_find_file(folder, CTF_METADATA);
    ttr_status status =
        file ? folder_read_file(folder, file, CTF_METADATA_MAX, &of.file.bytes, &of.file.n, &ctx)
             : TTR_E_UNSUPPORTED;
    if (status != TTR_OK)
        return status == TTR_E_NOMEM ? fail_memory(error) : TTR_OK;
    folder_file_path(folder, file, path, sizeof path);
    return compare_metadata_file(set, &of, i, path, error);
}

static ttr_status read_further_metadata(struct ctf_prefix_set *set, size_t i, const char *path,
                                        ttr_error *error)
{
    struct maximal_text of = {.text_n = 0};
    ttr_status status = ctf_read_metadata_file(set->t, path, &of.file.bytes, &of.file.n, error);
    return status == TTR_OK ? compare_metadata_file(set, &of, i, path, error) : status;
}

struct ctf_prefix_set *ctf_prefix_set_new(ttr *t, const struct found_folders *found,
                                          const char *further, ttr_error *error)
{
    const struct alloc *alloc = &t->counted;
    struct ctf_prefix_set *set = alloc_zero(alloc, 1, sizeof *set);
    if (!set) {
        (void)fail_memory(error);
        return NULL;
    }
    set->t = t;
    arena_init_small(&set->arena, alloc, 1024);
    pair_map_init(&set->by_beginning, alloc);
    set->folder = alloc_zero(alloc, found->n + 1, sizeof *set->folder);
    set->folders_n = set->folder ? found->n + 1 : 0;
    ttr_status status = set->folder ? TTR_OK : fail_memory(error);
    for (size_t i = 0; i < found->n && status == TTR_OK; i++)
        if (!found->list[i].unreadable_reason)
            status = read_folder_metadata(set, i, found->list[i].folder, error);
    if (status == TTR_OK && further)
        status = read_further_metadata(set, found->n, further, error);
    for (size_t i = 0; i < set->n; i++)
        free_unpacked_text(set, &set->longest[i]);
    if (status == TTR_OK)
        return set;
    ctf_prefix_set_free(set);
    return NULL;
}

void ctf_prefix_set_free(struct ctf_prefix_set *set)
{
    if (!set)
        return;
    const struct alloc *alloc = &set->t->counted;
    for (size_t i = 0; i < set->n; i++) {
        free_unpacked_text(set, &set->longest[i]);
        free_file(set, &set->longest[i].file);
        ctf_trace_unref(set->longest[i].parsed);
    }
    alloc_free(alloc, set->longest, set->capacity, sizeof *set->longest);
    alloc_free(alloc, set->folder, set->folders_n, sizeof *set->folder);
    pair_map_free(&set->by_beginning);
    arena_free(&set->arena);
    alloc_free(alloc, set, 1, sizeof *set);
}

/* --- Lookup of the longest text by folder --- */

static struct maximal_text *find_maximal_text(const struct ctf_prefix_set *set, size_t folder)
{
    const uint32_t k = set ? set->folder[folder].longest : 0;
    return k ? &set->longest[k - 1] : NULL;
}

/* Reports whether the metadata of a folder is itself a maximal text. */
static bool is_folder_text_maximal(const struct ctf_prefix_set *set, size_t folder)
{
    const struct maximal_text *of = find_maximal_text(set, folder);
    return of && of->text_n == set->folder[folder].text_n &&
           of->file.n == set->folder[folder].bytes_n && of->file.hash == set->folder[folder].hash;
}

bool ctf_prefix_has_longer_metadata(const struct ctf_prefix_set *set, size_t folder)
{
    const struct maximal_text *of = find_maximal_text(set, folder);
    return of && of->text_n > set->folder[folder].text_n;
}

static bool move_metadata_bytes_to_trace(struct maximal_text *of, struct ctf_trace *trace)
{
    if (!of->file.bytes)
        return false;
    trace->class->metadata = of->file.bytes;
    trace->class->metadata_n = of->file.n;
    of->file.bytes = NULL;
    return true;
}

bool ctf_prefix_move_metadata(struct ctf_prefix_set *set, size_t folder, struct ctf_trace *trace)
{
    return is_folder_text_maximal(set, folder) &&
           move_metadata_bytes_to_trace(find_maximal_text(set, folder), trace);
}

bool ctf_prefix_move_longer_metadata(struct ctf_prefix_set *set, size_t folder,
                                     struct ctf_trace *trace)
{
    return ctf_prefix_has_longer_metadata(set, folder) &&
           move_metadata_bytes_to_trace(find_maximal_text(set, folder), trace);
}

bool ctf_prefix_share_class(const struct ctf_prefix_set *set, size_t folder,
                            struct ctf_trace *trace, size_t *bytes)
{
    const struct maximal_text *of = find_maximal_text(set, folder);
    if (!of || !of->parsed || of->is_bad)
        return false;
    const struct of_folder *here = &set->folder[folder];
    const bool is_quiet = of->quiet_n && of->quiet_n == here->bytes_n &&
                          of->quiet_hash == here->hash &&
                          ctf_prefix_has_longer_metadata(set, folder);
    if (!is_quiet && (of->has_notes || !is_folder_text_maximal(set, folder)))
        return false;
    ctf_trace_set_class(trace, of->parsed->class);
    *bytes = here->bytes_n;
    return true;
}

static void store_parsed_class(struct maximal_text *of, struct ctf_trace *parsed, bool has_notes)
{
    of->is_bad = !parsed;
    of->has_notes = has_notes;
    of->parsed = parsed;
    if (parsed)
        parsed->users++;
}

void ctf_prefix_store_class(struct ctf_prefix_set *set, size_t folder, struct ctf_trace *parsed,
                            bool has_notes)
{
    struct maximal_text *of = find_maximal_text(set, folder);
    if (is_folder_text_maximal(set, folder) && !of->parsed && !of->is_bad)
        store_parsed_class(of, parsed, has_notes);
}

void ctf_prefix_store_class_of_longer(struct ctf_prefix_set *set, size_t folder,
                                      struct ctf_trace *parsed, bool has_notes)
{
    if (ctf_prefix_has_longer_metadata(set, folder))
        store_parsed_class(find_maximal_text(set, folder), parsed, has_notes);
}

struct ctf_trace *ctf_prefix_get_longer_class(const struct ctf_prefix_set *set, size_t folder,
                                              bool *is_bad)
{
    const struct maximal_text *of = find_maximal_text(set, folder);
    *is_bad = !ctf_prefix_has_longer_metadata(set, folder) || of->is_bad;
    return *is_bad ? NULL : of->parsed;
}

void ctf_prefix_mark_undamaged(struct ctf_prefix_set *set, size_t folder)
{
    struct maximal_text *of = find_maximal_text(set, folder);
    if (!of)
        return;
    of->quiet_n = set->folder[folder].bytes_n;
    of->quiet_hash = set->folder[folder].hash;
}

const char *ctf_prefix_get_longer_path(const struct ctf_prefix_set *set, size_t folder)
{
    const struct maximal_text *of = find_maximal_text(set, folder);
    return of ? of->path : "";
}
