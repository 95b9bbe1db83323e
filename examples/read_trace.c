/* Prints every event of a trace with its fields: time in ns, kind, name, then name=value for each
 * field.  Usage: read_trace FILE */
#include <inttypes.h>
#include <stdio.h>
#include <tracetta/read.h>

static void print_field(const ttr_field *field)
{
    const ttr_value *value = &field->value;
    printf(" %.*s=", (int)field->name.n, field->name.p);
    switch (value->type) {
    case TTR_TYPE_UINT:
        printf("%" PRIu64, value->v.u);
        break;
    case TTR_TYPE_INT:
        printf("%" PRId64, value->v.s);
        break;
    case TTR_TYPE_FLOAT:
        printf("%g", value->v.f);
        break;
    case TTR_TYPE_TEXT:
        printf("%.*s", (int)value->text.n, value->text.p);
        break;
    default:
        printf("(%s)", ttr_type_text(value->type));
        break;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    ttr_error error = {.status = TTR_OK};
    ttr *t = ttr_new(NULL);
    ttr_reader *in = t ? ttr_open(t, argv[1], NULL, &error) : NULL;
    ttr_status status = in ? TTR_OK : error.status;
    ttr_batch batch;
    while (in && (status = ttr_read(in, &batch, &error)) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_fields fields;
            ttr_field field;
            printf("%" PRId64 " %s %s", event->time, ttr_kind_text(event->kind),
                   ttr_text_get(t, event->name).p);
            ttr_fields_begin(t, event, &fields);
            while (ttr_fields_next(&fields, &field))
                print_field(&field);
            putchar('\n');
        }
    }
    if (status != TTR_END)
        fprintf(stderr, "%s: %s\n", argv[1], error.text);
    ttr_close(in);
    ttr_free(t);
    return status != TTR_END;
}
