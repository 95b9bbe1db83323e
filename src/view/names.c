/* Names that the page shows, cut to 256 bytes at a character. reply_json_text replaces control
 * characters.
 *
 * Texts of the context are looked up once: name_of_text maps their ids to names. */
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>

#include "view/view.h"

/* Grows an array to hold `need` items. Returns false if memory is exhausted. */
static bool reserve(void *array, size_t *capacity, size_t need, size_t size)
{
    void **items = array;
    if (need <= *capacity)
        return true;
    const size_t larger = need + need / 2 + 16;
    void *grown = realloc(*items, larger * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = larger;
    return true;
}

uint32_t view_add_name(struct view_data *view, const char *text, size_t n)
{
    const size_t offset = view->text_bytes.n;
    if (view->texts_n >= VIEW_NAMES_MAX)
        return 0;
    if (n > VIEW_NAME_MAX) {
        for (n = VIEW_NAME_MAX; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
            ;
    }
    if (!reserve(&view->texts, &view->texts_capacity, view->texts_n + 1, sizeof *view->texts))
        return UINT32_MAX;
    reply_append(&view->text_bytes, text, n);
    if (view->text_bytes.failed || view->text_bytes.n > UINT32_MAX)
        return UINT32_MAX;
    view->texts[view->texts_n] = (struct view_name){(uint32_t)offset, (uint32_t)n};
    return (uint32_t)view->texts_n++;
}

uint32_t view_name_of(struct view_data *view, int64_t text)
{
    if (text <= 0 || text > UINT32_MAX)
        return 0;
    const size_t old = view->name_of_text_n, id = (size_t)text;
    if (id >= old) {
        const size_t larger = id + id / 2 + 64;
        uint32_t *grown = realloc(view->name_of_text, larger * sizeof *grown);
        if (!grown)
            return UINT32_MAX;
        memset(grown + old, 0, (larger - old) * sizeof *grown);
        view->name_of_text = grown;
        view->name_of_text_n = larger;
    }
    if (!view->name_of_text[id]) {
        const ttr_text name = ttr_text_get(view->t, (ttr_id)id);
        const uint32_t added = view_add_name(view, name.p, name.n);
        if (added == UINT32_MAX)
            return UINT32_MAX;
        view->name_of_text[id] = added + 1;
    }
    return view->name_of_text[id] - 1;
}

ttr_text view_name(const struct view_data *view, uint32_t name)
{
    if (name >= view->texts_n)
        return (ttr_text){"", 0};
    return (ttr_text){view->text_bytes.p + view->texts[name].offset, view->texts[name].n};
}

/* Copies n items. Returns NULL if memory is exhausted. */
static void *copy_items(const void *items, size_t n, size_t size)
{
    void *copy = malloc((n + 1) * size);
    if (copy && n)
        memcpy(copy, items, n * size);
    return copy;
}

bool view_copy_names(struct view_data *view, const struct view_data *from)
{
    view->texts = copy_items(from->texts, from->texts_n, sizeof *view->texts);
    view->texts_n = view->texts_capacity = from->texts_n;
    view->name_of_text =
        copy_items(from->name_of_text, from->name_of_text_n, sizeof *view->name_of_text);
    view->name_of_text_n = from->name_of_text_n;
    reply_append(&view->text_bytes, from->text_bytes.p, from->text_bytes.n);
    return view->texts && view->name_of_text && !view->text_bytes.failed;
}
