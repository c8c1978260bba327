#include "data/patch/strategic_list.h"

#include <stdlib.h>

#include "data/json/path.h"

static struct json_object *identity(struct json_object *item, const char *key)
{
    return key ? sw_json_get(item, key) : item;
}

ssize_t sw_list_index(struct json_object *list, const char *key, struct json_object *item)
{
    struct json_object *value = identity(item, key);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_json_equal(identity(sw_json_at(list, i), key), value))
            return (ssize_t)i;
    return -1;
}

struct json_object *sw_list_of(struct json_object *list)
{
    struct json_object *copy = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(list); i++)
        (void)json_object_array_add(copy, json_object_get(sw_json_at(list, i)));
    return copy;
}

struct ranked {
    struct json_object *item;
    ssize_t rank;   /* in the order that decides among its like */
    ssize_t before; /* in the list as it was, or -1 */
    size_t place;   /* makes the sort stable */
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

void sw_list_order(struct json_object *list, const char *key, struct json_object *wanted,
                   struct json_object *before)
{
    size_t n = sw_json_len(list), n_wanted = 0, n_others = 0;
    struct ranked *w = sw_zalloc(n + 1, sizeof *w), *o = sw_zalloc(n + 1, sizeof *o);
    for (size_t i = 0; i < n; i++) {
        struct ranked r = { .item = sw_json_at(list, i), .place = i };
        r.before = sw_list_index(before, key, r.item);
        r.rank = sw_list_index(wanted, key, r.item);
        if (r.rank >= 0) {
            w[n_wanted++] = r;
        } else {
            r.rank = r.before;
            o[n_others++] = r;
        }
    }
    qsort(w, n_wanted, sizeof *w, compare);
    qsort(o, n_others, sizeof *o, compare);
    for (size_t i = 0; i < n; i++)
        (void)json_object_get(sw_json_at(list, i));
    for (size_t at = 0, iw = 0, io = 0; at < n; at++) {
        /* the other one comes first if both were in the list before, in that order */
        bool other = iw == n_wanted || (io < n_others && o[io].before >= 0 && w[iw].before >= 0 &&
                                        o[io].before < w[iw].before);
        (void)json_object_array_put_idx(list, at, other ? o[io++].item : w[iw++].item);
    }
    free(w);
    free(o);
}
