/* Fuzzes the languages of CTF metadata: a description that was parsed can be printed in its own
 * language, is equal when parsed again, and is then printed identically. PARSE and PRINT are the
 * functions of the language. Memory is limited in proportion to the input; MEMORY_TIMES is a factor
 * for languages that expand named types, which FORGETS_NAMES declares. */
#include <stdio.h>

#include "support/describe.h"
#include "formats/ctf/description/ctf_description.h"
#include "fuzz/fuzz.h"

#ifndef MEMORY_TIMES
#define MEMORY_TIMES 1u
#endif

static ttr_status parse(struct ctf_description *description, const struct alloc *alloc,
                        const uint8_t *bytes, size_t n)
{
    struct ctf_text text = {.p = (const char *)bytes, .n = n, .file = "metadata"};
    ttr_error error;
    ctf_description_init(description, alloc);
    ttr_status status = PARSE(description, &text, &error);
    if (status != TTR_OK && status != error.status)
        fuzz_stop("a failure without its error");
    if (status != TTR_OK && error.offset != UINT64_MAX && error.offset > n)
        fuzz_stop("an error behind the end of the text");
#ifdef FORGETS_NAMES
    describe_forget_names(description);
#endif
    return status;
}

/* UUIDs of clocks exist in one syntax but not in its printed language. */
static bool has_clock_uuid(const struct ctf_description *description)
{
    for (size_t i = 0; i < description->clocks_n; i++)
        if (description->clocks[i]->has_uuid)
            return true;
    return false;
}

/* Floating-point formats other than those of IEEE 754 are read as bit fields, and TSDL prints bit
 * fields as integers. */
static bool has_bits(const struct buffer *described)
{
#ifdef FORGETS_NAMES
    return described->n && memmem(described->bytes, described->n, " bits", 5);
#else
    return described->n == SIZE_MAX;
#endif
}

static void compare(const struct ctf_description *description, const struct ctf_description *again)
{
    struct buffer one, two;
    buffer_init(&one, alloc_default());
    buffer_init(&two, alloc_default());
    describe_ctf(&one, description);
    describe_ctf(&two, again);
    if (!has_clock_uuid(description) && !has_bits(&one) &&
        (one.n != two.n || memcmp(one.bytes, two.bytes, one.n) != 0)) {
        (void)fprintf(stderr, "%.*s\n%.*s\n", (int)one.n, (char *)one.bytes, (int)two.n,
                      (char *)two.bytes);
        fuzz_stop("what was printed says something else");
    }
    buffer_free(&one);
    buffer_free(&two);
}

static void check_again(const struct ctf_description *description, const struct alloc *alloc)
{
    struct buffer printed, printed_again;
    struct ctf_description again;
    ttr_error error;
    buffer_init(&printed, alloc);
    buffer_init(&printed_again, alloc);
    if (PRINT(description, &printed, &error) != TTR_OK)
        fuzz_stop(error.text);
    buffer_add_byte(&printed, 0);
    printed.n--;
    if (parse(&again, alloc, printed.bytes, printed.n) != TTR_OK)
        fuzz_stop("what was printed cannot be read");
    /* CTF 2 requires a data stream class: the printer adds one if there is none. */
    const bool is_added = description->streams_n == 0 && again.streams_n > 0;
    if (!is_added)
        compare(description, &again);
    if (PRINT(&again, &printed_again, &error) != TTR_OK)
        fuzz_stop(error.text);
    if (!is_added && (printed.n != printed_again.n ||
                      memcmp(printed.bytes, printed_again.bytes, printed.n) != 0))
        fuzz_stop("printed again, it is another text");
    ctf_description_free(&again);
    buffer_free(&printed);
    buffer_free(&printed_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct support_heap heap;
    struct ctf_description description;
    struct buffer text;
    support_heap_init(&heap, 0);
    buffer_init(&text, alloc_default());
    buffer_add(&text, bytes, n);
    buffer_add_byte(&text, 0);
    if (parse(&description, &heap.alloc, text.bytes, n) == TTR_OK)
        check_again(&description, &heap.alloc);
    ctf_description_free(&description);
    buffer_free(&text);
    if (heap.blocks || heap.bytes)
        fuzz_stop("memory was not given back");
    if (heap.peak > MEMORY_TIMES * (FUZZ_MEMORY_BASE + FUZZ_MEMORY_PER_BYTE * n))
        fuzz_stop("metadata takes too much memory");
    return 0;
}
