/* Names in use: files and stream classes of transcoded traces, found by hash in constant time,
 * however many streams exist.
 *
 * One map holds all of it (base/key_map.h); the key is hashed with the trace and one of these
 * kinds: |  NAME      name -> 1: a file has it |  NUMBER    hash of similar streams -> last number
 * used in their names, as are lower ones |  KIND      hash of similar streams -> index of their
 * stream class |  SECTION   v1.1: section name -> 2 * index of its stream class, plus 1 if not
 * unique |  FILES     v1.1: section name -> length of the shortest section name whose files match
 * it */
#include "base/hash.h"
#include "formats/ctf/write/ctf_write.h"
#include "formats/ctf/metadata/rfc11/rfc11.h"

enum given { GIVEN_NAME = 1, GIVEN_NUMBER, GIVEN_KIND, GIVEN_SECTION, GIVEN_FILES };

static uint64_t make_used_name_key(const struct ctf_trace_out *trace, enum given given,
                                   uint64_t hash)
{
    /* traces are allocated structs, so their addresses differ by more than the values of `given` */
    return hash_pair(hash, (uintptr_t)trace + given);
}

static uint64_t make_used_text_key(const struct ctf_trace_out *trace, enum given given,
                                   ttr_text text)
{
    return make_used_name_key(trace, given, hash_bytes(text.p, text.n));
}

/* Sets *section to the start of a file name, before the CPU number. Returns false if the name does
 * not end with a CPU number. */
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

/* --- Numbers in names --- */

uint32_t ctf_find_last_name_number(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                   uint64_t like)
{
    const uint32_t *number = key_map_get(&w->given, make_used_name_key(trace, GIVEN_NUMBER, like));
    return number ? *number : 0;
}

bool ctf_record_name_number(struct ctf_writer *w, const struct ctf_trace_out *trace, uint64_t like,
                            uint32_t number)
{
    return key_map_put(&w->given, make_used_name_key(trace, GIVEN_NUMBER, like), number);
}

/* --- Files --- */

bool ctf_is_file_name_used(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text file)
{
    return key_map_get(&w->given, make_used_text_key(trace, GIVEN_NAME, file)) != NULL;
}

bool ctf_section_has_files(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                           ttr_text section)
{
    const uint32_t *shortest =
        key_map_get(&w->given, make_used_text_key(trace, GIVEN_FILES, section));
    return shortest && *shortest <= section.n;
}

/* Records that a file name starts with `section` although the file belongs to a section whose name
 * has n bytes. */
static bool record_section_files(struct ctf_writer *w, const struct ctf_trace_out *trace,
                                 ttr_text section, size_t n)
{
    const uint64_t key = make_used_text_key(trace, GIVEN_FILES, section);
    const uint32_t *shortest = key_map_get(&w->given, key);
    return (shortest && *shortest <= n) || key_map_put(&w->given, key, (uint32_t)n);
}

bool ctf_record_file_name(struct ctf_writer *w, const struct ctf_trace_out *trace,
                          const struct ctf_stream_class_out *kind, ttr_text file)
{
    ttr_text section;
    const size_t n = kind->class->name.n;
    if (!key_map_put(&w->given, make_used_text_key(trace, GIVEN_NAME, file), 1))
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
    const uint32_t *index = key_map_get(&w->given, make_used_name_key(trace, GIVEN_KIND, like));
    return index ? trace->kinds[*index] : NULL;
}

bool ctf_record_similar_class(struct ctf_writer *w, const struct ctf_trace_out *trace,
                              uint64_t like)
{
    const uint32_t index = (uint32_t)trace->kinds_n - 1;
    const ttr_text name = trace->kinds[index]->class->name;
    const uint64_t section = make_used_text_key(trace, GIVEN_SECTION, name);
    const uint32_t *same = key_map_get(&w->given, section);
    return key_map_put(&w->given, section, same ? *same | 1 : index * 2) &&
           key_map_put(&w->given, make_used_name_key(trace, GIVEN_KIND, like), index);
}

/* Returns true if the section name is used by a stream class other than `kind`. */
static bool section_has_other_class(const struct ctf_writer *w, const struct ctf_trace_out *trace,
                                    ttr_text section, const struct ctf_stream_class_out *kind)
{
    const uint32_t *found =
        key_map_get(&w->given, make_used_text_key(trace, GIVEN_SECTION, section));
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
