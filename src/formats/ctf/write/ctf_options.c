/* Parses the options of the CTF writer: words from a list, numbers, and a key. */
#include "base/number.h"
#include "base/status.h"
#include "formats/ctf/write/ctf_write.h"

#define PACKET_DEFAULT ((uint64_t)256 << 10)
#define PACKET_SIZE_MAX ((uint64_t)1 << 30)
/* bytes; the RFC v1.1 requires packets "aligned on page size" (5) */
#define ALIGN_DEFAULT 4096u
#define PACKET_ALIGN_MAX (1u << 20)

/* Fails with TTR_E_MISUSE and the list of words that the option accepts. */
static ttr_status fail_choice(const char *key, const char *value, const char *words,
                              ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "option %s=%s of ctf: expected %s", key, value,
                words);
}

/* Sets *chosen to the index of the option's value in `words`, a list that is separated by '|'.
 * Does nothing if the option is not set. */
static ttr_status parse_choice(const struct ttr_writer *out, const char *key, const char *words,
                               unsigned *chosen, ttr_error *error)
{
    const char *value = output_option(out, key);
    if (!value)
        return TTR_OK;
    size_t n = strlen(value);
    unsigned place = 0;
    for (const char *word = words; word; place++) {
        const char *end = strchr(word, '|');
        size_t word_n = end ? (size_t)(end - word) : strlen(word);
        if (word_n == n && memcmp(word, value, n) == 0) {
            *chosen = place;
            return TTR_OK;
        }
        word = end ? end + 1 : NULL;
    }
    return fail_choice(key, value, words, error);
}

static ttr_status parse_number(const struct ttr_writer *out, const char *key, uint64_t most,
                               uint64_t *number, ttr_error *error)
{
    const char *value = output_option(out, key);
    if (!value)
        return TTR_OK;
    if (number_parse_u64(value, strlen(value), number) && *number > 0 && *number <= most)
        return TTR_OK;
    return fail(error, TTR_E_MISUSE, NO_OFFSET,
                "option %s=%s of ctf: expected a number from 1 to %llu", key, value,
                (unsigned long long)most);
}

static ttr_status read_encryption_key(const struct ttr_writer *out, struct ctf_options *options,
                                      ttr_error *error)
{
    const char *file = output_option(out, "key"), *variable = output_option(out, "key-env");
    if (options->packing.encryption == RFC11_ENCRYPTION_NONE)
        return TTR_OK;
    if (!file && !variable)
        return error_set_option(error,
                                fail(error, TTR_E_MISUSE, NO_OFFSET,
                                     "option cypher=aes of ctf needs a key: add " RFC11_KEY_ADVICE),
                                RFC11_KEY_OPTION);
    ttr_status status = file ? rfc11_read_key_file(file, options->key, error)
                             : rfc11_read_key_variable(variable, options->key, error);
    options->packing.key.bytes = options->key;
    return status;
}

/* --- Options that not all versions accept --- */

/* Options that only v1.1 output accepts. `key` and `key-env` are not in the list, because readers
 * have options with these names, too. */
static const char *const of_rfc[] = {"header", "alignment",    "checksum",   "compression",
                                     "cypher", "packet-align", "event-size", "text-metadata"};

static void record_options_set_by_user(const struct ttr_writer *out, struct ctf_options *options)
{
    for (size_t i = 0; i < sizeof of_rfc / sizeof *of_rfc && !options->rfc_option; i++)
        if (output_option(out, of_rfc[i]))
            options->rfc_option = of_rfc[i];
    options->has_packet_size = output_option(out, "packet-size") != NULL;
    options->changes_rfc = options->rfc_option || options->has_packet_size;
    options->has_alignment = output_option(out, "alignment") != NULL;
    options->has_event_size = output_option(out, "event-size") != NULL;
    options->has_checksum = output_option(out, "checksum") != NULL;
    options->has_compression = output_option(out, "compression") != NULL;
    options->has_cypher = output_option(out, "cypher") != NULL;
    options->has_packet_align = output_option(out, "packet-align") != NULL;
    options->has_text = output_option(out, "text-metadata") != NULL;
}

ttr_status ctf_options_check_version(const struct ctf_options *options, enum ctf_version version,
                                     ttr_error *error)
{
    if (version == CTF_RFC_1_1 && options->has_index)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option index=yes of ctf: version 1.1, which is to be written, has no index; "
                    "try version=1.8, version=2 or index=no");
    if (version == CTF_RFC_1_1 && options->has_packetised)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "option packetized-metadata of ctf is of versions 1.8 and 2 only, and 1.1 is "
                    "to be written; try text-metadata=yes or text-metadata=no");
    if (version != CTF_RFC_1_1 && options->rfc_option)
        return fail(
            error, TTR_E_MISUSE, NO_OFFSET,
            "option %s of ctf is of version 1.1 only, and %s is to be written; try version=1.1",
            options->rfc_option, version == CTF_2 ? "2" : "1.8");
    return TTR_OK;
}

/* --- Parsing of all options --- */

/* An option that accepts only certain words, which `words` separates by '|'. `place`: index of the
 * chosen word, initially of the default. */
struct choice {
    const char *key, *words;
    unsigned place;
};

enum {
    VERSION,
    ORDER,
    INDEX,
    METADATA_PACKETS,
    HEADER,
    ALIGNMENT,
    CHECKSUM,
    COMPRESSION,
    CYPHER,
    EVENT_SIZE,
    METADATA_TEXT,
    CHOICES
};

static void set_options_from_words(const struct choice *choice, struct ctf_options *options)
{
    static const enum ctf_version versions[] = {CTF_1_8, CTF_2, CTF_RFC_1_1, CTF_UNKNOWN};
    static const uint8_t compressions[] = {RFC11_COMPRESSION_NONE, RFC11_GZIP, RFC11_BZIP2};
    options->version = versions[choice[VERSION].place];
    options->is_big_endian = choice[ORDER].place == 1;
    options->has_order = choice[ORDER].place < 2;
    options->has_no_index = choice[INDEX].place == 1;
    options->has_index = choice[INDEX].place == 0;
    options->is_packetised = choice[METADATA_PACKETS].place == 0;
    options->has_packetised = choice[METADATA_PACKETS].place < 2;
    options->rfc_header = (uint8_t)(choice[HEADER].place < 2 ? choice[HEADER].place + 1 : 0);
    options->rfc_is_natural = choice[ALIGNMENT].place == 1;
    options->packing.checksum = (uint8_t)choice[CHECKSUM].place;
    options->packing.compression = compressions[choice[COMPRESSION].place];
    options->packing.encryption = (uint8_t)choice[CYPHER].place;
    options->rfc_has_event_size = choice[EVENT_SIZE].place == 0;
    options->is_text_metadata = choice[METADATA_TEXT].place == 0;
}

ttr_status ctf_options_read(const struct ttr_writer *out, struct ctf_options *options,
                            ttr_error *error)
{
    struct choice choice[CHOICES] = {
        [VERSION] = {"version", "1.8|2|1.1", 3},
        [ORDER] = {"byte-order", "le|be", 2},
        [INDEX] = {"index", "yes|no", 2},
        [METADATA_PACKETS] = {"packetized-metadata", "yes|no", 2},
        [HEADER] = {"header", "1|2", 2},
        [ALIGNMENT] = {"alignment", "packed|natural", 0},
        [CHECKSUM] = {"checksum", "none|md5|sha1|crc32", 0},
        [COMPRESSION] = {"compression", "none|gzip|bzip2", 0},
        [CYPHER] = {"cypher", "none|aes", 0},
        [EVENT_SIZE] = {"event-size", "yes|no", 2},
        [METADATA_TEXT] = {"text-metadata", "yes|no", 2},
    };
    uint64_t align = ALIGN_DEFAULT;
    ttr_status status = TTR_OK;
    *options = (struct ctf_options){.packet_size = PACKET_DEFAULT};
    for (size_t i = 0; i < CHOICES && status == TTR_OK; i++)
        status = parse_choice(out, choice[i].key, choice[i].words, &choice[i].place, error);
    if (status == TTR_OK)
        status = parse_number(out, "packet-size", PACKET_SIZE_MAX, &options->packet_size, error);
    if (status == TTR_OK)
        status = parse_number(out, "packet-align", PACKET_ALIGN_MAX, &align, error);
    if (status != TTR_OK)
        return status;
    set_options_from_words(choice, options);
    record_options_set_by_user(out, options);
    options->packing.align = (uint32_t)align;
    if (options->version != CTF_UNKNOWN)
        status = ctf_options_check_version(options, options->version, error);
    return status == TTR_OK ? read_encryption_key(out, options, error) : status;
}

/* Sets checksum, compression, padding and cipher to those of the source's first packet, except for
 * options that the user has set. */
static void copy_packing_options(struct ctf_options *options, const struct ctf_trace *source)
{
    const struct rfc11_packet *first = &source->first;
    struct rfc11_pack_options *packing = &options->packing;
    if (!options->has_checksum && first->checksum_scheme <= RFC11_CRC32)
        packing->checksum = first->checksum_scheme;
    if (!options->has_compression && first->compression_scheme <= RFC11_GZIP)
        packing->compression = first->compression_scheme;
    if (!options->has_packet_align)
        packing->align = first->packet_size % ALIGN_DEFAULT ? 1 : ALIGN_DEFAULT;
    if (options->has_cypher || first->encryption_scheme != RFC11_AES || !source->has_key)
        return;
    packing->encryption = RFC11_AES;
    memcpy(options->key, source->key, sizeof options->key);
    packing->key.bytes = options->key;
}

void ctf_options_inherit(struct ctf_options *options, const struct ctf_trace *source,
                         enum ctf_version version)
{
    const struct ctf_description *from = &source->class->description;
    bool is_packed =
        from->alignment != CTF_ALIGN_NATURAL_64 && from->alignment != CTF_ALIGN_NATURAL_32;
    options->is_big_endian = options->has_order ? options->is_big_endian : from->is_big_endian;
    if (version != CTF_RFC_1_1 || from->version != CTF_RFC_1_1)
        return;
    if (!options->has_alignment)
        options->rfc_is_natural = !is_packed;
    options->rfc_has_short_words =
        options->rfc_is_natural && from->alignment == CTF_ALIGN_NATURAL_32;
    if (!options->has_text)
        options->is_text_metadata =
            rfc11_is_text(source->class->metadata, source->class->metadata_n);
    if (source->has_first)
        copy_packing_options(options, source);
}
