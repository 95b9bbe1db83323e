/* Formats %p and its extensions: kernel functions, MAC and IP addresses, UUIDs, byte dumps. */
#include "base/number.h"
#include "encodings/tracepoint/tracepoint_print.h"

#define FAMILY_INET 2u
#define FAMILY_INET6 10u
#define SOCKADDR_IN_BYTES 16u
#define SOCKADDR_IN6_BYTES 28u

static void print_text(struct buffer *to, const char *text)
{
    buffer_add(to, text, strlen(text));
}

static void print_decimal(struct buffer *to, uint64_t x)
{
    char text[NUMBER_MAX];
    buffer_add(to, text, number_format_u64(text, x));
}

/* --- Kernel functions and pointers without extension --- */

void tracepoint_print_function(const struct tracepoint_run *run, uint64_t address, bool has_place)
{
    const struct tracepoint_symbols *kernel = &run->tp->all->names.kernel;
    const struct tracepoint_symbol *symbol = tracepoint_find_symbol(kernel, address);
    bool is_last = symbol && symbol == &kernel->symbol[kernel->n - 1];
    if (!symbol || (is_last && symbol->address != address)) {
        print_text(run->to, "0x");
        tracepoint_print_hex(run->to, address, 1);
        return;
    }
    buffer_add(run->to, symbol->name.p, symbol->name.n);
    if (!has_place)
        return;
    print_text(run->to, "+0x");
    tracepoint_print_hex(run->to, address - symbol->address, 1);
}

static void print_plain_pointer(const struct tracepoint_run *run, uint64_t x)
{
    if (x == 0) {
        print_text(run->to, "(nil)");
        return;
    }
    print_text(run->to, "0x");
    tracepoint_print_hex(run->to, x, 1);
}

/* --- Fields as bytes: %pM, %pU, %ph --- */

/* Returns the bytes of the field that is the argument, ignoring casts. If it is not a field of
 * `size` bytes, prints the error that libtraceevent prints, and returns NULL. */
static const uint8_t *require_field_bytes(const struct tracepoint_run *run, uint32_t index,
                                          uint32_t size, const char *otherwise)
{
    const struct tracepoint_node *node = &run->program->node[index];
    while (node->op == OP_CAST)
        node = &run->program->node[node->a];
    if (node->peer != PEER_FIELD) {
        print_text(run->to, "ARG TYPE NOT FIELD BUT ");
        print_decimal(run->to, node->peer);
        return NULL;
    }
    if (!node->field)
        return NULL;
    bool is_whole =
        node->field->offset <= run->raw.n && node->field->size <= run->raw.n - node->field->offset;
    if (node->field->size != size || !is_whole) {
        print_text(run->to, otherwise);
        return NULL;
    }
    return run->raw.p + node->field->offset;
}

static void print_mac(const struct tracepoint_run *run, const struct tracepoint_item *item)
{
    const uint8_t *p = require_field_bytes(run, item->node, 6, "INVALIDMAC");
    bool is_bare = item->conversion == 'm';
    for (unsigned i = 0; p && i < 6; i++) {
        if (i && !is_bare)
            buffer_add_byte(run->to, item->form == 'F' ? '-' : ':');
        tracepoint_print_hex(run->to, p[item->form == 'R' ? 5 - i : i], 2);
    }
}

static void print_uuid(const struct tracepoint_run *run, const struct tracepoint_item *item)
{
    static const uint8_t little[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t *p = require_field_bytes(run, item->node, 16, "INVALIDUUID");
    const char *digits =
        item->form == 'L' || item->form == 'B' ? "0123456789ABCDEF" : "0123456789abcdef";
    bool is_little = (item->form | 0x20) == 'l';
    for (unsigned i = 0; p && i < 16; i++) {
        uint8_t byte = p[is_little ? little[i] : i];
        buffer_add_byte(run->to, (uint8_t)digits[byte >> 4]);
        buffer_add_byte(run->to, (uint8_t)digits[byte & 15]);
        if (i == 3 || i == 5 || i == 7 || i == 9)
            buffer_add_byte(run->to, '-');
    }
}

/* Prints the first `star` bytes of a dynamic array in hexadecimal (%*ph). */
static void print_byte_dump(const struct tracepoint_run *run, const struct tracepoint_item *item,
                            int star)
{
    const struct tracepoint_node *node = &run->program->node[item->node];
    if (node->op != OP_ARRAY) {
        print_text(run->to, "ARG TYPE NOT FIELD BUT ");
        print_decimal(run->to, node->peer);
        return;
    }
    ttr_text bytes = tracepoint_get_array_bytes(run, node->field);
    int n = item->has_star ? star : 1;
    for (int i = 0; i < n && (size_t)i < bytes.n; i++) {
        if (i && item->form != 'N')
            buffer_add_byte(run->to, item->form == 'C' ? ':' : item->form == 'D' ? '-' : ' ');
        tracepoint_print_hex(run->to, (uint8_t)bytes.p[i], 2);
    }
}

/* --- Network addresses: %pI4, %pI6, %pIS --- */

static void print_ipv4(const struct tracepoint_run *run, const struct tracepoint_item *item,
                       const uint8_t *p)
{
    bool is_reversed = item->order == 'l' || (item->order == 'h' && !run->is_big_endian);
    for (unsigned i = 0; i < 4; i++) {
        uint8_t byte = p[is_reversed ? 3 - i : i];
        if (i)
            buffer_add_byte(run->to, '.');
        if (item->conversion == 'i' && byte < 100)
            print_text(run->to, byte < 10 ? "00" : "0");
        print_decimal(run->to, byte);
    }
}

static void print_ipv6_long(const struct tracepoint_run *run, const struct tracepoint_item *item,
                            const uint8_t *p)
{
    for (unsigned i = 0; i < 16; i += 2) {
        tracepoint_print_hex(run->to, load_u16be(p + i), 4);
        if (item->conversion == 'I' && i < 14)
            buffer_add_byte(run->to, ':');
    }
}

/* Returns the index of the longest run of at least two zero words, the first of several, and
 * stores its length in `n` (RFC 5952, 4.2.2). Returns -1 if there is none. */
static int find_longest_zero_words(const uint8_t *p, int words, int *n)
{
    int at = -1;
    *n = 1;
    for (int i = 0; i < words; i++) {
        int run = 0;
        while (i + run < words && load_u16be(p + (size_t)(i + run) * 2) == 0)
            run++;
        if (run > *n) {
            *n = run;
            at = i;
        }
    }
    return at;
}

static void print_ipv6_short(const struct tracepoint_run *run, const struct tracepoint_item *item,
                             const uint8_t *p)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool has_ip4 = memcmp(p, mapped, 12) == 0 ||
                   (load_u32be(p + 8) | UINT32_C(0x02000000)) == UINT32_C(0x02005efe);
    int words = has_ip4 ? 6 : 8, n, zeros = find_longest_zero_words(p, words, &n);
    bool needs_colon = false;
    for (int i = 0; i < words; i++) {
        if (i == zeros) {
            print_text(run->to, needs_colon || i == 0 ? "::" : ":");
            needs_colon = false;
            i += n - 1;
            continue;
        }
        if (needs_colon)
            buffer_add_byte(run->to, ':');
        tracepoint_print_hex(run->to, load_u16be(p + (size_t)i * 2), 1);
        needs_colon = true;
    }
    if (!has_ip4)
        return;
    if (needs_colon)
        buffer_add_byte(run->to, ':');
    print_ipv4(run, item, p + 12);
}

static void print_ipv6(const struct tracepoint_run *run, const struct tracepoint_item *item,
                       const uint8_t *p)
{
    if (item->is_short)
        print_ipv6_short(run, item, p);
    else
        print_ipv6_long(run, item, p);
}

/* Prints a struct sockaddr (%pIS): [0..1] family, in the byte order of the machine | [2..3] port |
 * IPv4: [4..7] address | IPv6: [8..23] address. Port and address are in network order. */
static void print_sockaddr(const struct tracepoint_run *run, const struct tracepoint_item *item)
{
    const struct tracepoint_node *node = &run->program->node[item->node];
    while (node->op == OP_CAST)
        node = &run->program->node[node->a];
    if (node->peer != PEER_FIELD && node->op != OP_ARRAY) {
        print_text(run->to, "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE ");
        print_decimal(run->to, node->peer);
        return;
    }
    const struct tracepoint_field *field = node->field;
    ttr_text bytes = {"", 0};
    if (node->op == OP_ARRAY)
        bytes = tracepoint_get_array_bytes(run, field);
    else if (field && field->offset <= run->raw.n && field->size <= run->raw.n - field->offset)
        bytes = (ttr_text){(const char *)run->raw.p + field->offset, field->size};
    if (bytes.n < 2)
        return;
    const uint8_t *p = (const uint8_t *)bytes.p;
    uint64_t family = tracepoint_load_integer(p, 2, run->is_big_endian);
    if (family != FAMILY_INET && family != FAMILY_INET6)
        return;
    bool is_ip6 = family == FAMILY_INET6;
    if (bytes.n < (is_ip6 ? SOCKADDR_IN6_BYTES : SOCKADDR_IN_BYTES)) {
        print_text(run->to, is_ip6 ? "INVALIDIPv6" : "INVALIDIPv4");
        return;
    }
    if (is_ip6 && item->has_port)
        buffer_add_byte(run->to, '[');
    if (is_ip6)
        print_ipv6(run, item, p + 8);
    else
        print_ipv4(run, item, p + 4);
    if (!item->has_port)
        return;
    print_text(run->to, is_ip6 ? "]:" : ":");
    print_decimal(run->to, load_u16be(p + 2));
}

static void print_network_address(const struct tracepoint_run *run,
                                  const struct tracepoint_item *item)
{
    const uint8_t *p;
    if (item->form == 'S') {
        print_sockaddr(run, item);
        return;
    }
    bool is_ip6 = item->form == '6';
    p = require_field_bytes(run, item->node, is_ip6 ? 16 : 4,
                            is_ip6 ? "INVALIDIPv6" : "INVALIDIPv4");
    if (p && is_ip6)
        print_ipv6(run, item, p);
    else if (p)
        print_ipv4(run, item, p);
}

/* Prints the set bits among the first `star` bits of an array as a list of ranges (%*pbl). */
static void print_bit_list(const struct tracepoint_run *run, const struct tracepoint_item *item,
                           int star)
{
    const struct tracepoint_node *node = &run->program->node[item->node];
    const struct tracepoint_field *field = node->field;
    ttr_text mask = {"", 0};
    if (node->op == OP_ARRAY || node->op == OP_BITS)
        mask = tracepoint_get_array_bytes(run, field);
    else if (node->op == OP_FIELD && field && field->offset <= run->raw.n &&
             field->size <= run->raw.n - field->offset)
        mask = (ttr_text){(const char *)run->raw.p + field->offset, field->size};
    if (mask.n)
        tracepoint_print_bit_ranges(
            run, mask,
            item->has_star && star >= 0 && (size_t)star < 8 * mask.n ? (size_t)star : 8 * mask.n);
    else if (node->op != OP_ARRAY && node->op != OP_BITS)
        print_plain_pointer(run, tracepoint_eval_number(run, item->node));
}

void tracepoint_print_pointer(const struct tracepoint_run *run, const struct tracepoint_item *item,
                              int star)
{
    const struct tracepoint_node *node = &run->program->node[item->node];
    if (node->op == OP_ARGUMENT && node->value < run->arguments_n &&
        run->argument[node->value].is_text) {
        buffer_add(run->to, run->argument[node->value].text.p, run->argument[node->value].text.n);
        return;
    }
    switch (item->conversion) {
    case 'S':
    case 's':
    case 'F':
    case 'f':
        tracepoint_print_function(run, tracepoint_eval_number(run, item->node),
                                  item->conversion == 'S' || item->conversion == 'F');
        break;
    case 'M':
    case 'm':
        print_mac(run, item);
        break;
    case 'I':
    case 'i':
        print_network_address(run, item);
        break;
    case 'U':
        print_uuid(run, item);
        break;
    case 'h':
        print_byte_dump(run, item, star);
        break;
    case 'b':
        print_bit_list(run, item, star);
        break;
    default:
        print_plain_pointer(run, tracepoint_eval_number(run, item->node));
    }
}
