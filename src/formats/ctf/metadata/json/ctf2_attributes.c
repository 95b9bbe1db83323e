/* Attributes of CTF 2: data that tracers add to objects in their own namespaces. They do not
 * affect decoding. Stores them as text, so that copies keep them, and evaluates log levels and EMF
 * URIs. */
#include "base/json_writer.h"
#include "base/status.h"
#include "formats/ctf/metadata/json/ctf2_parser.h"

/* Prints a JSON value without blanks. Numbers are copied as written. The limit on the depth of JSON
 * texts also limits the recursion. */
static void print_attribute_value(const struct ctf_text *text, struct json *json,
                                  const struct json_value *value)
{
    const struct json_token *token = &value->token;
    switch (token->kind) {
    case JSON_NULL:
        json_write_null(json);
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        json_write_bool(json, token->kind == JSON_TRUE);
        break;
    case JSON_TEXT:
        json_write_text(json, token->text, token->n);
        break;
    case JSON_ARRAY:
        json_begin_array(json);
        for (const struct json_value *item = value->first; item; item = item->next)
            print_attribute_value(text, json, item);
        json_end_array(json);
        break;
    case JSON_OBJECT:
        json_begin_object(json);
        for (const struct json_value *item = value->first; item; item = item->next) {
            json_write_key_text(json, item->key, item->key_n);
            print_attribute_value(text, json, item);
        }
        json_end_object(json);
        break;
    default:
        json_write_raw(json, text->p + token->offset, (size_t)(token->end - token->offset));
        break;
    }
}

/* Returns the attributes of an object; NULL if it has none. CTF 2 and its release candidate have
 * different property names for them. */
static const struct json_value *find_attributes(struct ctf2_parser *parser,
                                                const struct ctf2_object *object)
{
    if (object->at[CTF2_ATTRIBUTES] || !object->at[CTF2_USER_ATTRIBUTES])
        return object->at[CTF2_ATTRIBUTES];
    ctf2_report_rc7_syntax(parser, object->at[CTF2_USER_ATTRIBUTES],
                           "the property \"user-attributes\"");
    return object->at[CTF2_USER_ATTRIBUTES];
}

ttr_status ctf2_get_attributes(struct ctf2_parser *parser, const struct ctf2_object *object,
                               ttr_text *text)
{
    const struct json_value *attributes = find_attributes(parser, object);
    struct buffer buffer;
    struct json json;
    if (!attributes)
        return TTR_OK;
    ttr_status status = ctf2_expect_kind(parser, attributes, JSON_OBJECT);
    if (status != TTR_OK)
        return status;
    buffer_init(&buffer, parser->description->alloc);
    json_init(&json, &buffer);
    print_attribute_value(parser->text, &json, attributes);
    text->p =
        buffer.failed ? NULL : arena_copy(&parser->description->arena, buffer.bytes, buffer.n);
    text->n = buffer.n;
    buffer_free(&buffer);
    return text->p ? TTR_OK : fail_memory(parser->error);
}

/* Reads log level and EMF URI from the attributes of one namespace (LTTng's or Babeltrace's). */
static ttr_status read_attribute_namespace(struct ctf2_parser *parser,
                                           const struct json_value *attributes,
                                           struct ctf_event_class *event)
{
    const struct json_value *level = json_find_member(attributes, "log-level"),
                            *uri = json_find_member(attributes, "emf-uri");
    int number = level && level->token.kind == JSON_TEXT
                     ? ctf2_parse_log_level(level->token.text, level->token.n)
                     : -1;
    if (number >= 0) {
        event->log_level = number;
        event->has_log_level = true;
    } else if (level) {
        ctf2_add_diagnostic(parser, TTR_SEVERITY_REMARK, level, "ctf.unknown-log-level",
                            "the log level \"%.60s\" is not known", level->token.text);
    }
    return uri && uri->token.kind == JSON_TEXT ? ctf2_get_text(parser, uri, &event->emf_uri)
                                               : TTR_OK;
}

ttr_status ctf2_get_event_attributes(struct ctf2_parser *parser, const struct ctf2_object *object,
                                     struct ctf_event_class *event)
{
    static const char *const namespaces[] = {"babeltrace.org,2020", "lttng.org,2009"};
    const struct json_value *all = object->at[CTF2_ATTRIBUTES] ? object->at[CTF2_ATTRIBUTES]
                                                               : object->at[CTF2_USER_ATTRIBUTES];
    ttr_status status = ctf2_get_attributes(parser, object, &event->attributes);
    for (size_t i = 0; i < 2 && all && status == TTR_OK; i++) {
        const struct json_value *attributes = json_find_member(all, namespaces[i]);
        if (attributes)
            status = read_attribute_namespace(parser, attributes, event);
    }
    return status;
}
