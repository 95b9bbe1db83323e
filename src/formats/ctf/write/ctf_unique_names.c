/* File names and stream classes in use by transcoded traces, found by hash in constant time,
 * however many streams exist.
 *
 * One map (struct key_map) holds five kinds of entries. The key is a hash of the trace, the kind
 * and:
 *
 * |  RECORD_FILE      file name -> 1: a file has the name
 * |  RECORD_NUMBER    hash of similar streams -> last number that was appended to their names
 * |  RECORD_CLASS     hash of similar streams -> index of their stream class
 * |  RECORD_SECTION   v1.1 section name -> 2 * index of its stream class, plus 1 if several have it
 * |  RECORD_PREFIX    v1.1: start of file names -> length of the shortest section name of these */
#include "base/hash.h"
#include "formats/ctf/write/ctf_write.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"

enum name_record { RECORD_FILE = 1, RECORD_NUMBER, RECORD_CLASS, RECORD_SECTION, RECORD_PREFIX };

static uint64_t make_record_key(const struct ctf_trace_out *trace, enum name_record record,
                                uint64_t hash)
{
    /* adding `record` to the address gives different keys, because traces are structs larger than
     * its values */
    return hash_pair(hash, (uintptr_t)trace + record);
}

static uint64_t make_text_record_key(const struct ctf_trace_out *trace, enum name_record record,
                                     ttr_text text)
{
    return make_record_key(trace, record, hash_bytes(text.p, text.n));
}

/* Sets *section to a v1.1 file name without its suffix _CPU. Returns false if the name has no such
 * suffix. */
static bool split_cpu_suffix(ttr_text file, ttr_text *section)
{
    bool has_cpu;
    uint32_t cpu;
    size_t n = file.n;
    while (n > 0 && file.p[n - 1] >= '0' && file.p[n - 1] <= '9')
        n--;
    if (n == 0)
        return false;
    *section = (ttr_text){file.p, n - 1};
    return rfc11_is_file_of_section(*section, file.p, &has_cpu, &cpu);
}

/* --- Numbers appended to names --- */

uint32_t ctf_find_last_name_number(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                   uint64_t like)
{
    const uint32_t *number =
        key_map_get(&w->names_in_use, make_record_key(trace, RECORD_NUMBER, like));
    return number ? *number : 0;
}

bool ctf_record_name_number(struct ctf_writer *w, const struct ctf_trace_out *trace, uint64_t like,
                            uint32_t number)
{
    return key_map_put(&w->names_in_use, make_record_key(trace, RECORD_NUMBER, like), number);
}

/* --- File names --- */

bool ctf_is_file_name_used(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text file)
{
    return key_map_get(&w->names_in_use, make_text_record_key(trace, RECORD_FILE, file)) != NULL;
}

bool ctf_section_has_files(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text section)
{
    const uint32_t *shortest =
        key_map_get(&w->names_in_use, make_text_record_key(trace, RECORD_PREFIX, section));
    return shortest && *shortest <= section.n;
}

/* Records the section name `section` as forbidden for later sections: readers assign files to
 * sections by names, and would assign the current file to it. The section of the current file has
 * a name of n bytes. */
static bool record_section_files(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                 ttr_text section, size_t n)
{
    const uint64_t key = make_text_record_key(trace, RECORD_PREFIX, section);
    const uint32_t *shortest = key_map_get(&w->names_in_use, key);
    return (shortest && *shortest <= n) || key_map_put(&w->names_in_use, key, (uint32_t)n);
}

bool ctf_record_file_name(struct ctf_writer *w, const struct ctf_trace_out *trace,
                          const struct ctf_stream_class_out *kind, ttr_text file)
{
    ttr_text section;
    const size_t n = kind->class->name.n;
    if (!key_map_put(&w->names_in_use, make_text_record_key(trace, RECORD_FILE, file), 1))
        return false;
    if (trace->description.version != CTF_RFC_1_1)
        return true;
    return record_section_files(w, trace, file, n) &&
           (!split_cpu_suffix(file, &section) || record_section_files(w, trace, section, n));
}

/* --- Stream classes --- */

struct ctf_stream_class_out *ctf_find_similar_class(const struct ctf_writer *w,
                                                    const struct ctf_trace_out *trace,
                                                    uint64_t like)
{
    const uint32_t *index =
        key_map_get(&w->names_in_use, make_record_key(trace, RECORD_CLASS, like));
    return index ? trace->kinds[*index] : NULL;
}

bool ctf_record_similar_class(struct ctf_writer *w, const struct ctf_trace_out *trace,
                              uint64_t like)
{
    const uint32_t index = (uint32_t)trace->kinds_n - 1;
    const ttr_text name = trace->kinds[index]->class->name;
    const uint64_t section = make_text_record_key(trace, RECORD_SECTION, name);
    const uint32_t *same = key_map_get(&w->names_in_use, section);
    return key_map_put(&w->names_in_use, section, same ? *same | 1 : index * 2) &&
           key_map_put(&w->names_in_use, make_record_key(trace, RECORD_CLASS, like), index);
}

/* Returns true if a stream class other than `kind` has the section name `section`. */
static bool section_has_other_class(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                    ttr_text section, const struct ctf_stream_class_out *kind)
{
    const uint32_t *found =
        key_map_get(&w->names_in_use, make_text_record_key(trace, RECORD_SECTION, section));
    return found && (*found & 1 || trace->kinds[*found / 2] != kind);
}

bool ctf_is_file_of_other_section(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                  const struct ctf_file_candidate *file)
{
    ttr_text section;
    return section_has_other_class(w, trace, file->name, file->kind) ||
           (split_cpu_suffix(file->name, &section) && section.n >= file->section_n &&
            section_has_other_class(w, trace, section, file->kind));
}
