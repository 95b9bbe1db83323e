/* Writer of trace-cmd's description of tracepoints. Byte layout: tracing_data.h. */
#include "encodings/tracepoint/tracing_data_write.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/endian.h"
#include "encodings/perf_data/perf_layout.h"

#define EVENT_HEADER_SYSTEM "user_events"

void tracing_writer_init(struct tracing_writer *writer, const struct alloc *alloc)
{
    *writer = (struct tracing_writer){.alloc = alloc};
    buffer_init(&writer->texts, alloc);
}

void tracing_writer_free(struct tracing_writer *writer)
{
    alloc_free(writer->alloc, writer->formats, writer->formats_capacity, sizeof *writer->formats);
    buffer_free(&writer->texts);
}

void tracing_writer_add_format(struct tracing_writer *writer, ttr_text system, ttr_text format)
{
    void *formats = writer->formats;
    if (!alloc_reserve(writer->alloc, &formats, &writer->formats_capacity, writer->formats_n + 1,
                       sizeof *writer->formats)) {
        writer->is_out_of_memory = true;
        return;
    }
    writer->formats = formats;
    size_t at = writer->texts.n;
    buffer_add(&writer->texts, system.p, system.n);
    buffer_add(&writer->texts, format.p, format.n);
    writer->is_out_of_memory |= writer->texts.failed;
    if (!writer->is_out_of_memory)
        writer->formats[writer->formats_n++] =
            (struct tracing_format){at, system.n, at + system.n, format.n};
}

void tracing_writer_add_event_header(struct tracing_writer *writer, ttr_text name, uint32_t id)
{
    static const char fields[] =
        "format:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\n"
        "\tfield:u8 eventheader_flags;\toffset:8;\tsize:1;\tsigned:0;\n"
        "\tfield:u8 version;\toffset:9;\tsize:1;\tsigned:0;\n"
        "\tfield:u16 id;\toffset:10;\tsize:2;\tsigned:0;\n"
        "\tfield:u16 tag;\toffset:12;\tsize:2;\tsigned:0;\n"
        "\tfield:u8 opcode;\toffset:14;\tsize:1;\tsigned:0;\n"
        "\tfield:u8 level;\toffset:15;\tsize:1;\tsigned:0;\n"
        "\n"
        "print fmt: \"eventheader_flags=%u version=%u id=%u tag=%u opcode=%u level=%u\", "
        "REC->eventheader_flags, REC->version, REC->id, "
        "REC->tag, REC->opcode, REC->level\n";
    char text[1024 + sizeof fields];
    int n = snprintf(text, sizeof text, "name: %.*s\nID: %" PRIu32 "\n%s",
                     (int)(name.n < 512 ? name.n : 512), name.p, id, fields);
    tracing_writer_add_format(writer, (ttr_text){EVENT_HEADER_SYSTEM, strlen(EVENT_HEADER_SYSTEM)},
                              (ttr_text){text, (size_t)n});
}

/* State of the functions while a block is written. */
struct block_writer {
    const struct tracing_writer *writer;
    const struct tracing_machine *machine;
    struct buffer *to;
};

static void append_block_u32(const struct block_writer *block, uint32_t x)
{
    uint8_t bytes[4];
    if (block->machine->is_big_endian)
        store_u32be(bytes, x);
    else
        store_u32le(bytes, x);
    buffer_add(block->to, bytes, sizeof bytes);
}

static void append_block_u64(const struct block_writer *block, uint64_t x)
{
    uint8_t bytes[8];
    if (block->machine->is_big_endian)
        store_u64be(bytes, x);
    else
        store_u64le(bytes, x);
    buffer_add(block->to, bytes, sizeof bytes);
}

static void append_long_text(const struct block_writer *block, ttr_text text)
{
    append_block_u64(block, text.n);
    buffer_add(block->to, text.p, text.n);
}

static void append_short_text(const struct block_writer *block, ttr_text text)
{
    append_block_u32(block, (uint32_t)text.n);
    buffer_add(block->to, text.p, text.n);
}

/* Writes the text of tracefs events/header_page, as a machine with this `long` and page size
 * prints it. */
static ttr_text make_header_page(const struct tracing_machine *machine, char *text, size_t size)
{
    unsigned n = machine->long_bytes;
    int length = snprintf(text, size,
                          "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                          "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
                          "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                          "\tfield: char data;\toffset:%u;\tsize:%" PRIu32 ";\tsigned:0;\n",
                          n, 8 + n, machine->page_bytes - 8 - n);
    return (ttr_text){text, (size_t)length};
}

static const char header_event[] = "# compressed entry header\n\ttype_len    :    5 "
                                   "bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
                                   "\tpadding     : type == 29\n\ttime_extend : type == "
                                   "30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

static bool is_same_system(const struct block_writer *block, size_t a, size_t b)
{
    const struct tracing_format *one = &block->writer->formats[a],
                                *other = &block->writer->formats[b];
    const uint8_t *texts = block->writer->texts.bytes;
    return one->system_n == other->system_n &&
           memcmp(texts + one->system_at, texts + other->system_at, one->system_n) == 0;
}

/* Returns true if format `i` is the first of its system, with which all formats of that system are
 * written. */
static bool is_first_event_of_system(const struct block_writer *block, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_same_system(block, k, i))
            return false;
    return true;
}

static void append_formats_of_system(const struct block_writer *block, size_t first)
{
    const struct tracing_writer *writer = block->writer;
    const struct tracing_format *format = &writer->formats[first];
    uint32_t n = 0;
    for (size_t i = first; i < writer->formats_n; i++)
        n += is_same_system(block, i, first);
    buffer_add(block->to, writer->texts.bytes + format->system_at, format->system_n);
    buffer_add_byte(block->to, 0);
    append_block_u32(block, n);
    for (size_t i = first; i < writer->formats_n; i++)
        if (is_same_system(block, i, first))
            append_long_text(
                block, (ttr_text){(const char *)writer->texts.bytes + writer->formats[i].text_at,
                                  writer->formats[i].text_n});
}

static void append_systems(const struct block_writer *block)
{
    uint32_t systems = 0;
    for (size_t i = 0; i < block->writer->formats_n; i++)
        systems += is_first_event_of_system(block, i);
    append_block_u32(block, systems);
    for (size_t i = 0; i < block->writer->formats_n; i++)
        if (is_first_event_of_system(block, i))
            append_formats_of_system(block, i);
}

void tracing_writer_append_block(const struct tracing_writer *writer,
                                 const struct tracing_machine *machine, struct buffer *to)
{
    const struct block_writer block = {writer, machine, to};
    char made[512];
    if (writer->is_out_of_memory) {
        to->failed = true;
        return;
    }
    buffer_add(to, PERF_TRACING_MAGIC, PERF_TRACING_MAGIC_BYTES);
    buffer_add(to, "0.6", 4);
    buffer_add_byte(to, machine->is_big_endian);
    buffer_add_byte(to, machine->long_bytes);
    append_block_u32(&block, machine->page_bytes);
    buffer_add(to, "header_page", 12);
    append_long_text(&block, machine->header_page.n ? machine->header_page
                                                    : make_header_page(machine, made, sizeof made));
    buffer_add(to, "header_event", 13);
    append_long_text(&block, machine->header_event.n
                                 ? machine->header_event
                                 : (ttr_text){header_event, sizeof header_event - 1});
    append_block_u32(&block, 0);
    append_systems(&block);
    append_short_text(&block, machine->kallsyms);
    append_short_text(&block, machine->printk);
    append_long_text(&block, machine->comms);
}
