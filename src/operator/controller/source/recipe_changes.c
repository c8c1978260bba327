/* A recipe that changes at its source: ConfigMaps are watched, other sources are loaded again after
 * a time, which is shorter after a failure, and where a chart is needed that was not to be had. */
#include "operator/controller/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/account/account.h"

enum { RETRY_MS = 5000, RETRY_MAX_MS = 300000, POSTPONE_MS = 500 };

struct map_watch {
    struct refresh *f;
    char *ns, *name;
    char *version; /* resourceVersion; NULL: it does not exist */
    struct sw_kube_watch *watch;
};

struct refresh {
    const struct sources *all;
    void (*changed)(void *arg);
    void *arg;
    struct sw_timer *timer;
    int64_t usual_ms; /* between two loads; 0: there is only one */
    int64_t retry_ms; /* the next pause after a failure */
    bool has_failed, is_missing, is_needed;
    struct map_watch *maps;
    size_t n;
};

static void maps_close(struct refresh *f)
{
    for (size_t i = 0; i < f->n; i++) {
        sw_kube_watch_close(f->maps[i].watch);
        free(f->maps[i].ns);
        free(f->maps[i].name);
        free(f->maps[i].version);
    }
    free(SW_TAKE(f->maps));
    f->n = 0;
}

void refresh_free(struct refresh *f)
{
    if (!f)
        return;
    maps_close(f);
    sw_timer_free(f->timer);
    free(f);
}

static void on_timer(void *arg)
{
    struct refresh *f = arg;
    f->changed(f->arg);
}

static void on_map(const struct sw_watch_event *w, void *arg)
{
    struct map_watch *m = arg;
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    if (!there && w->type != SW_WATCH_DELETED)
        return;
    const char *version = there ? w->resource_version : NULL;
    if (sw_streq(version, m->version))
        return;
    sw_text_set(&m->version, version);
    sw_timer_set(m->f->timer, 0); /* by a timer, since loading again may close this watch */
}

static bool is_watched(const struct refresh *f, struct json_object *maps)
{
    if (f->n != sw_json_len(maps))
        return false;
    for (size_t i = 0; i < f->n; i++) {
        struct json_object *map = sw_json_at(maps, i);
        if (!sw_streq(f->maps[i].ns, sw_obj_namespace(map)) ||
            !sw_streq(f->maps[i].name, sw_obj_name(map)))
            return false;
    }
    return true;
}

static void watch_maps(struct refresh *f, struct json_object *maps)
{
    struct sw_kube *kube = f->all->kube;
    const struct sw_kind *kind = sw_kube_kind_find(kube, "v1", "ConfigMap");
    static const char *const fields[] = { "metadata.name", NULL }; /* only changes matter */
    if (is_watched(f, maps) || !kind)
        return;
    maps_close(f);
    f->n = sw_json_len(maps);
    f->maps = sw_zalloc(f->n + 1, sizeof *f->maps);
    for (size_t i = 0; i < f->n; i++) {
        struct json_object *map = sw_json_at(maps, i);
        const char *version = sw_json_str(map, NULL, "metadata", "resourceVersion", NULL);
        struct map_watch *m = &f->maps[i];
        *m = (struct map_watch){ .f = f,
                                 .ns = sw_strdup(sw_obj_namespace(map)),
                                 .name = sw_strdup(sw_obj_name(map)),
                                 .version = sw_strdup(version) };
        m->watch = sw_kube_watch_open(
            kube, kind,
            WATCH_OWN(RECIPES, .ns = m->ns, .name = m->name, .fields = fields, .unlisted = true),
            on_map, m); /* without a list: it was read just now */
    }
}

struct refresh *refresh_new(const struct sources *all, void (*changed)(void *arg), void *arg)
{
    struct refresh *f = sw_zalloc(1, sizeof *f);
    *f = (struct refresh){ .all = all, .changed = changed, .arg = arg, .retry_ms = RETRY_MS };
    f->timer = sw_timer_new(all->loop, on_timer, f);
    return f;
}

void refresh_postpone(struct refresh *f)
{
    sw_timer_set(f->timer, POSTPONE_MS);
}

static void set_timer(struct refresh *f)
{
    bool again = f->has_failed || (f->is_missing && f->is_needed);
    int64_t in_ms = again ? f->retry_ms : f->usual_ms;
    if (in_ms > 0 && !f->all->one_shot)
        sw_timer_set(f->timer, in_ms);
    else
        sw_timer_stop(f->timer); /* no timer without end: simulated clocks jump to the next one */
    int64_t next_ms = f->retry_ms * 2 < RETRY_MAX_MS ? f->retry_ms * 2 : RETRY_MAX_MS;
    f->retry_ms = again ? next_ms : RETRY_MS;
}

void refresh_update(struct refresh *f, const struct source *s, int code)
{
    f->has_failed = code == SW_UNAVAILABLE ||
                    (code == SW_FORBIDDEN && source_account(s)); /* it may be given the right */
    f->is_missing = source_is_missing(s);
    f->usual_ms = source_is_remote(s) ? f->all->refresh_ms : 0;
    set_timer(f);
    if (!f->has_failed) /* else the ConfigMaps are not known */
        watch_maps(f, source_maps(s));
}

void refresh_need(struct refresh *f, bool is_needed)
{
    if (!f || f->is_needed == is_needed)
        return;
    f->is_needed = is_needed;
    if (f->is_missing && !f->has_failed)
        set_timer(f);
}
