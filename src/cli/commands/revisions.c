#include "cli/commands/revisions.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/releases.h"
#include "data/data.h"

static struct json_object *origin_of(struct json_object *release)
{
    const char *text = sw_json_str(release, "", "chart", "metadata", "annotations",
                                   SW_RELEASE_ORIGIN, NULL);
    struct json_object *origin = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &origin, &err) < 0)
        return NULL; /* an older version's, or Helm's */
    return origin;
}

static int by_number(const void *a, const void *b)
{
    const struct sw_revision *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

int sw_revisions_read(struct sw_connection *conn, struct json_object *resource,
                      struct sw_revisions *out, struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = sw_releases_list(conn, resource, &list, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++) {
        struct sw_revision r = { .number = sw_release_version(sw_json_at(list, i)) };
        char digest[SW_SHA256_HEX];
        rc = sw_releases_read(conn, sw_json_at(list, i), &r.record, &r.release, err);
        if (rc == SW_NOTFOUND) { /* it has just gone */
            sw_err_done(err);
            rc = 0;
            continue;
        }
        if (rc < 0)
            break;
        sw_json_set_str(r.record, sw_obj_kind(sw_json_at(list, i)), "kind", NULL);
        r.origin = origin_of(r.release);
        r.trust = sw_releases_check(resource, r.record, r.release, digest);
        SW_GROW(out->items, out->n, out->cap);
        out->items[out->n++] = r;
    }
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_number);
    return rc;
}

void sw_revisions_done(struct sw_revisions *all)
{
    for (size_t i = 0; i < all->n; i++) {
        json_object_put(all->items[i].record);
        json_object_put(all->items[i].release);
        json_object_put(all->items[i].origin);
    }
    free(all->items);
    *all = (struct sw_revisions){ 0 };
}

struct sw_revision *sw_revisions_find(struct sw_revisions *all, int64_t number)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].number == number)
            return &all->items[i];
    return NULL;
}

const char *sw_revision_time(const struct sw_revision *r)
{
    const char *created = sw_json_str(r->record, "", "metadata", "creationTimestamp", NULL);
    return sw_json_str(r->release, created, "info", "last_deployed", NULL);
}

const char *sw_revision_status(const struct sw_revision *r)
{
    return sw_text_or(sw_obj_label(r->record, "status"), "");
}

const char *sw_revision_by(const struct sw_revision *r, const struct sw_revision *before)
{
    int64_t generation = sw_json_int(r->origin, 0, "generation", NULL);
    if (generation && before && sw_json_int(before->origin, 0, "generation", NULL) == generation)
        return "the recipe";
    return sw_json_str(r->origin, "", "by", NULL);
}
