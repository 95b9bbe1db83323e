/* Contents of options that both versions have. */
#include <inttypes.h>

#include "base/number.h"
#include "base/status.h"
#include "formats/trace_dat/trace_dat.h"

ttr_text trace_dat_read_string(struct cursor *c)
{
    size_t left = cursor_left(c);
    const uint8_t *zero = left ? memchr(c->p, 0, left) : NULL;
    ttr_text text = {(const char *)c->p, zero ? (size_t)(zero - c->p) : left};
    (void)cursor_skip(c, text.n + (zero != NULL));
    return text;
}

void trace_dat_parse_clock(struct trace_dat_reader *reader, ttr_text text)
{
    const char *begin = text.n ? memchr(text.p, '[', text.n) : NULL;
    if (begin) {
        size_t left = text.n - (size_t)(begin + 1 - text.p);
        const char *end = memchr(begin + 1, ']', left);
        text = (ttr_text){begin + 1, end ? (size_t)(end - begin - 1) : left};
    }
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == ' '))
        text.n--;
    if (text.n == 0 || text.n >= sizeof reader->options.clock)
        return;
    memcpy(reader->options.clock, text.p, text.n);
    reader->options.clock[text.n] = 0;
}

/* Parses a number in C notation ("0x1f", "-12"). Returns false if the text is not a number. */
static bool parse_c_number(ttr_text text, int64_t *value)
{
    bool is_negative = text.n && text.p[0] == '-';
    size_t i = is_negative || (text.n && text.p[0] == '+') ? 1 : 0;
    unsigned base = text.n - i > 2 && text.p[i] == '0' && (text.p[i + 1] | 32) == 'x' ? 16 : 10;
    uint64_t sum = 0;
    size_t digits = 0;
    for (i += base == 16 ? 2 : 0; i < text.n; i++, digits++) {
        unsigned char c = (unsigned char)(text.p[i] | 32);
        unsigned digit = text.p[i] >= '0' && text.p[i] <= '9' ? (unsigned)(text.p[i] - '0')
                         : c >= 'a' && c <= 'f'               ? c - 'a' + 10u
                                                              : 16u;
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(sum, base, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = is_negative ? -(int64_t)sum : (int64_t)sum;
    return digits > 0 && sum <= INT64_MAX;
}

static void parse_time_offset(struct trace_dat_reader *reader, struct cursor *c, int64_t unit,
                              const char *what)
{
    uint64_t offset = c->offset;
    int64_t value, ns;
    if (!parse_c_number(trace_dat_read_string(c), &value) ||
        __builtin_mul_overflow(value, unit, &ns) ||
        __builtin_add_overflow(reader->options.add_ns, ns, &reader->options.add_ns)) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "trace_dat.bad-option",
                             "the %s is not a number; it is not applied to times", what);
        return;
    }
    reader->options.has_unix_times |= unit != 1;
}

/* Parses TSC2NSEC, by which TSC ticks are converted to nanoseconds: u32 multiplier, u32 shift, u64
 * offset. */
static void parse_tsc2nsec(struct trace_dat_reader *reader, struct cursor *c)
{
    uint64_t offset = c->offset;
    uint32_t multiplier = (uint32_t)tracing_data_read_number(&reader->data, c, 4),
             shift = (uint32_t)tracing_data_read_number(&reader->data, c, 4);
    if (c->failed || multiplier == 0 || shift > 63) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "trace_dat.bad-option",
                             "the factor of the clock is impossible; times are in ticks");
        return;
    }
    reader->options.multiplier = multiplier;
    reader->options.shift = shift;
}

static bool add_option_text(struct trace_dat_reader *reader, const char *name, ttr_text text)
{
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    return context_add_attribute(reader->t, reader->in->id, name,
                                 &(ttr_value){.type = TTR_TYPE_TEXT, .text = text});
}

/* Returns the number that follows "
 * KEY: " in the statistics of a CPU; 0 if the key is missing. */
static uint64_t find_statistic_value(ttr_text text, const char *key)
{
    const char *at = text.n ? memmem(text.p, text.n, key, strlen(key)) : NULL;
    uint64_t value = 0;
    if (!at)
        return 0;
    at += strlen(key);
    size_t n = 0, left = text.n - (size_t)(at - text.p);
    while (n < left && at[n] >= '0' && at[n] <= '9')
        n++;
    return n && number_parse_u64(at, n, &value) ? value : 0;
}

/* Adds two counts. The sum is at most INT64_MAX, which only damaged text can exceed. */
static uint64_t add_counts_saturated(uint64_t a, uint64_t b)
{
    const uint64_t most = INT64_MAX;
    a = a < most ? a : most;
    return b < most - a ? a + b : most;
}

/* Parses CPUSTAT: "CPU: 0", followed by the text of per_cpu/cpu0/stats in tracefs. */
static void parse_cpustat(struct trace_dat_reader *reader, struct cursor *c)
{
    uint64_t offset = c->offset;
    ttr_text text = trace_dat_read_string(c);
    uint64_t overrun = find_statistic_value(text, "\noverrun: "),
             dropped = find_statistic_value(text, "\ndropped events: ");
    dropped = add_counts_saturated(dropped, find_statistic_value(text, "\ncommit overrun: "));
    reader->kernel_lost =
        add_counts_saturated(reader->kernel_lost, add_counts_saturated(overrun, dropped));
    if (overrun || dropped)
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, offset, "trace_dat.kernel-lost",
                             "the kernel reports that on CPU %" PRIu64 " it overwrote %" PRIu64
                             " events before they were read, and dropped %" PRIu64,
                             find_statistic_value(text, "CPU: "), overrun, dropped);
}

ttr_status trace_dat_parse_option(struct trace_dat_reader *reader, unsigned option, struct cursor c)
{
    bool is_fine = true;
    switch (option) {
    case TRACE_DAT_DATE:
        parse_time_offset(reader, &c, 1000, "date");
        break;
    case TRACE_DAT_OFFSET:
        parse_time_offset(reader, &c, 1, "offset of times");
        break;
    case TRACE_DAT_TSC2NSEC:
        parse_tsc2nsec(reader, &c);
        break;
    case TRACE_DAT_CPUSTAT:
        parse_cpustat(reader, &c);
        break;
    case TRACE_DAT_TRACECLOCK:
        reader->options.has_clock = true;
        trace_dat_parse_clock(reader, trace_dat_read_string(&c));
        break;
    case TRACE_DAT_CPUCOUNT:
        reader->options.cpus = (uint32_t)tracing_data_read_number(&reader->data, &c, 4);
        break;
    case TRACE_DAT_UNAME:
        is_fine = add_option_text(reader, "uname", trace_dat_read_string(&c));
        break;
    case TRACE_DAT_VERSION:
        is_fine = add_option_text(reader, "trace_cmd_version", trace_dat_read_string(&c));
        break;
    case TRACE_DAT_TIME_SHIFT:
        reader->options.is_guest = true;
        break;
    case TRACE_DAT_TRACEID: {
        uint64_t id = tracing_data_read_number(&reader->data, &c, 8);
        is_fine =
            c.failed || context_add_attribute(
                            reader->t, reader->in->id, "trace_id",
                            &(ttr_value){.type = TTR_TYPE_UINT, .bits = 64, .base = 16, .v.u = id});
        break;
    }
    default:
        break;
    }
    return is_fine ? TTR_OK : fail_memory(reader->error);
}
