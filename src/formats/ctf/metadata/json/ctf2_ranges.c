/* Sets of integer ranges, and the labels that mappings and flags assign to them. JSON integers are
 * stored as two's complement. Whether they compare as signed or unsigned depends on the field. If
 * the ranges belong to a selector, its sign is known only after its location was resolved. */
#include "base/number.h"
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

static bool is_negative_number(const struct json_value *json)
{
    return json->token.is_negative && json->token.size;
}

/* Returns true if an integer exceeds 64 bits, as in mappings of very long integers. */
static bool exceeds_64_bits(const struct json_value *json)
{
    const bool is_integer = json->token.kind == JSON_INTEGER;
    return is_integer && (is_negative_number(json) ? json->token.size > UINT64_C(1) << 63
                                                   : json->token.overflows);
}

/* Reads one end of a range: a signed or unsigned number of 64 bits. A larger number is an error,
 * or, if `clips`, becomes the largest number of 64 bits. */
static ttr_status read_range_end(struct ctf2_parser *parser, const struct json_value *json,
                                 bool clips, uint64_t *x)
{
    int64_t s = 0;
    if (clips && exceeds_64_bits(json)) {
        *x = is_negative_number(json) ? (uint64_t)INT64_MIN : UINT64_MAX;
        return TTR_OK;
    }
    if (json->token.kind != JSON_INTEGER || !is_negative_number(json))
        return ctf2_get_u64(parser, json, x);
    ttr_status status = ctf2_get_i64(parser, json, &s);
    *x = (uint64_t)s;
    return status;
}

static ttr_status read_range(struct ctf2_parser *parser, const struct json_value *json, bool clips,
                             struct type_range *range)
{
    if (json->token.kind != JSON_ARRAY || json->count != 2)
        return ctf2_fail(parser, json, "expected a range: [lowest, highest]");
    const struct json_value *low = json->first, *high = json->last;
    ttr_status status = read_range_end(parser, low, clips, &range->low);
    if (status == TTR_OK)
        status = read_range_end(parser, high, clips, &range->high);
    if (status != TTR_OK)
        return status;
    bool same_sign = is_negative_number(low) == is_negative_number(high);
    if (same_sign ? range->low > range->high : is_negative_number(high))
        return ctf2_fail(parser, json, "a range must not end below its begin");
    return TTR_OK;
}

/* Returns true if all values of the range are numbers of that sign. If not, sets `*beyond` to the
 * end of the range that does not fit. */
static bool range_fits(const struct json_value *json, const struct type_range *range,
                       enum ctf2_sign sign, const struct json_value **beyond)
{
    bool begins_negative = is_negative_number(json->first),
         ends_wide = !is_negative_number(json->last) && range->high > INT64_MAX;
    *beyond = begins_negative && sign != CTF2_SIGNED ? json->first : json->last;
    if (exceeds_64_bits(json->first) || exceeds_64_bits(json->last))
        return false;
    return sign == CTF2_SIGNED     ? !ends_wide
           : sign == CTF2_UNSIGNED ? !begins_negative
                                   : !(begins_negative && ends_wide);
}

/* Limits a range to numbers of a sign. Returns false if no value is left. */
static bool clip_range(const struct json_value *json, struct type_range *range, enum ctf2_sign sign)
{
    if (sign == CTF2_UNSIGNED) {
        range->low = is_negative_number(json->first) ? 0 : range->low;
        return !is_negative_number(json->last);
    }
    bool begins_wide = !is_negative_number(json->first) && range->low > INT64_MAX;
    range->high =
        is_negative_number(json->last) || range->high <= INT64_MAX ? range->high : INT64_MAX;
    return !begins_wide;
}

/* Returns true if all values of a range exceed 64 bits. */
static bool range_exceeds_64_bits(const struct json_value *json)
{
    return is_negative_number(json->first)
               ? exceeds_64_bits(json->last) && is_negative_number(json->last)
               : exceeds_64_bits(json->first);
}

ttr_status ctf2_get_ranges(struct ctf2_parser *parser, const struct json_value *json,
                           enum ctf2_sign sign, bool clips, struct ctf2_ranges *ranges)
{
    ttr_status status = ctf2_expect_kind(parser, json, JSON_ARRAY);
    if (status != TTR_OK)
        return status;
    if (json->count == 0)
        return ctf2_fail(parser, json, "a set of ranges must not be empty");
    struct type_range *range = ctf2_alloc(parser, json->count, sizeof *range);
    if (!range)
        return TTR_E_NOMEM;
    *ranges = (struct ctf2_ranges){.range = range};
    for (const struct json_value *item = json->first, *beyond; item; item = item->next) {
        range = &ranges->range[ranges->n];
        status = read_range(parser, item, clips, range);
        if (status != TTR_OK)
            return status;
        bool fits = range_fits(item, range, sign, &beyond);
        if (!fits && !clips)
            return ctf2_fail(parser, beyond, "%s number cannot have this value",
                             sign == CTF2_SIGNED ? "a signed" : "an unsigned");
        if (!fits)
            ctf2_add_diagnostic(parser, TTR_SEVERITY_ODD, item, "ctf.range-beyond",
                                "a range goes beyond what its number can be");
        ranges->n += !range_exceeds_64_bits(item) && (fits || clip_range(item, range, sign));
    }
    return TTR_OK;
}

/* Reads one label of a mapping: a name and its ranges. */
static ttr_status read_label(struct ctf2_parser *parser, const struct json_value *json,
                             enum ctf2_sign sign, bool clips, struct type_label *label)
{
    struct ctf2_ranges ranges = {.n = 0};
    label->name =
        (ttr_text){arena_copy(&parser->description->arena, json->key, json->key_n), json->key_n};
    if (!label->name.p)
        return fail_memory(parser->error);
    ttr_status status = ctf2_get_ranges(parser, json, sign, clips, &ranges);
    label->ranges = ranges.range;
    label->ranges_n = ranges.n;
    return status;
}

ttr_status ctf2_get_labels(struct ctf2_parser *parser, const struct json_value *json,
                           enum ctf2_sign sign, bool clips, const struct type_labels **labels)
{
    const struct json_value *second;
    ttr_status status = ctf2_expect_kind(parser, json, JSON_OBJECT);
    if (status == TTR_OK && json_find_duplicate(json, &parser->scratch, &second) != TTR_OK)
        return fail_memory(parser->error);
    if (status == TTR_OK && second)
        return ctf2_fail(parser, second, "this name comes twice");
    if (status != TTR_OK || json->count == 0)
        return status;
    struct type_labels *made = ctf2_alloc(parser, 1, sizeof *made);
    struct type_label *label = made ? ctf2_alloc(parser, json->count, sizeof *label) : NULL;
    if (!label)
        return TTR_E_NOMEM;
    *made = (struct type_labels){.label = label, .is_signed = sign == CTF2_SIGNED};
    for (const struct json_value *item = json->first; item && status == TTR_OK; item = item->next) {
        status = read_label(parser, item, sign, clips, &label[made->n]);
        made->n += status == TTR_OK && label[made->n].ranges_n > 0;
    }
    type_labels_cache_counts(made);
    *labels = made->n ? made : NULL;
    return status;
}

static ttr_status fail_option_overlap(struct ctf2_parser *parser, const struct json_value *json,
                                      uint64_t value, bool is_signed)
{
    char digits[NUMBER_MAX];
    size_t n =
        is_signed ? number_format_i64(digits, (int64_t)value) : number_format_u64(digits, value);
    return ctf2_fail(parser, json, "two options are selected by %.*s", (int)n, digits);
}

ttr_status ctf2_check_options(struct ctf2_parser *parser, const struct json_value *json,
                              const struct type *variant)
{
    bool overlaps;
    uint64_t value;
    if (ctf2_find_option_overlap(variant, &parser->scratch, &overlaps, &value) != TTR_OK)
        return fail_memory(parser->error);
    return overlaps ? fail_option_overlap(parser, json, value, variant->is_selector_signed)
                    : TTR_OK;
}
