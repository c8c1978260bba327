#include "cli/recipe/fetched.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/package/pack.h"
#include "data/data.h"

void sw_fetched_charts_done(struct sw_fetched_charts *charts)
{
    for (size_t i = 0; i < charts->n; i++) {
        struct sw_fetched_chart *c = &charts->items[i];
        free(c->repository);
        free(c->name);
        free(c->version);
        free(c->bytes);
        free(c->provenance);
    }
    free(charts->items);
    *charts = (struct sw_fetched_charts){ 0 };
}

void sw_fetched_charts_add(void *arg, const struct sw_recipe_ask *ask,
                           const struct sw_recipe_got *got)
{
    struct sw_fetched_charts *charts = arg;
    if (!ask->name)
        return;
    SW_GROW(charts->items, charts->n, charts->cap);
    struct sw_fetched_chart *c = &charts->items[charts->n++];
    *c = (struct sw_fetched_chart){
        .repository = sw_strdup(ask->url),
        .name = sw_strdup(ask->name),
        .version = got->version ? sw_strdup(got->version) : NULL,
        .provenance = got->provenance ? sw_strdup(got->provenance) : NULL,
        .is_stand_in = got->is_stand_in,
    };
    const struct sw_files files = { .items = got->files, .n = got->n_files };
    SW_ERR(ignored); /* what is malformed is told when it is read */
    if (got->archive) {
        c->bytes = sw_strndup(got->archive, got->archive_len);
        c->len = got->archive_len;
    } else if (sw_files_pack(&files, ask->name, &c->bytes, &c->len, &ignored) < 0) {
        c->len = 0;
    }
}

const struct sw_fetched_chart *sw_fetched_charts_find(const struct sw_fetched_charts *charts,
                                                      const char *repository, const char *name,
                                                      const char *version)
{
    for (size_t i = 0; i < charts->n; i++) {
        const struct sw_fetched_chart *c = &charts->items[i];
        if (sw_streq(c->name, name) && sw_streq(c->repository, repository) &&
            (!c->version || sw_streq(c->version, version)))
            return c;
    }
    return NULL;
}
