#pragma once
/* Small recipes made on the spot, for scenarios of one behaviour each. */
#include "run_world.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SR_VERSION "sro.openshift.io/v1beta1"
#define SRO "specialresource.openshift.io/"

struct chart_file {
    const char *path, *text;
};

/* A chart in a folder of its own under @root (made), which is returned: heap. */
static inline char *chart_write(const char *root, const char *name, const struct chart_file *files)
{
    SW_ERR(err);
    char *dir = sw_printf("%s/%s", root, name);
    SW_AUTO_CHARS *templates = sw_printf("%s/templates", dir);
    SW_AUTO_CHARS *chart = sw_printf("%s/Chart.yaml", dir);
    SW_AUTO_CHARS *text = sw_printf("apiVersion: v2\nname: %s\nversion: 0.0.1\n", name);
    (void)mkdir(root, 0755);
    (void)mkdir(dir, 0755);
    (void)mkdir(templates, 0755);
    if (sw_file_write(chart, text, strlen(text), &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (; files->path; files++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", dir, files->path);
        for (char *c = strchr(path + strlen(dir) + 1, '/'); c; c = strchr(c + 1, '/')) {
            *c = '\0';
            (void)mkdir(path, 0755);
            *c = '/';
        }
        if (sw_file_write(path, files->text, strlen(files->text), &err) < 0)
            fail_msg("%s", sw_err_text(&err));
    }
    return dir;
}
#define CHART(root, name, ...)                                                                     \
    chart_write(root, name, (const struct chart_file[]){ __VA_ARGS__, { 0 } })

static inline char *chart_root(void)
{
    char *root = sw_strdup("/tmp/run_sro_test.XXXXXX");
    assert_non_null(mkdtemp(root));
    return root;
}

static inline void chart_remove(char *root)
{
    SW_AUTO_CHARS *command = sw_printf("rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
    free(root);
}

/* Apply the chart's resource; the controller is not started. */
static inline void sro_apply(struct world *w, const char *dir)
{
    world_apply(w, &(struct sw_resource_opts){ .recipe = dir });
}

static inline void sro_run(struct world *w, const char *dir)
{
    sro_apply(w, dir);
    if (!w->controller)
        world_start(w);
}

static inline struct json_object *sro_get(struct world *w, const char *name)
{
    return world_get(w, SR_VERSION, "SpecialResource", NULL, name);
}

struct sro_wanted {
    const char *name;  /* of the resource */
    const char *type;  /* of the condition that is True */
    const char *words; /* somewhere in the status; NULL: any */
};

static inline bool sro_says(struct world *w, void *arg)
{
    const struct sro_wanted *wanted = arg;
    struct json_object *sr = sro_get(w, wanted->name);
    const char *status = sw_json_str(sw_obj_condition(sr, wanted->type), "", "status", NULL);
    const char *text = json_object_to_json_string(sw_json_get(sr, "status"));
    SW_AUTO_CHARS *plain = sw_strdup(text ? text : "");
    char *to = plain;
    for (const char *c = plain; *c; c++)
        if (*c != '\\')
            *to++ = *c;
    *to = '\0';
    return sw_streq(status, "True") && (!wanted->words || strstr(plain, wanted->words));
}

/* The resource's condition @type is True and its status holds @words, within ten minutes. */
static inline void sro_until(struct world *w, const char *name, const char *type, const char *words)
{
    struct sro_wanted wanted = { name, type, words };
    if (world_until(w, sro_says, &wanted, 10 * 60000))
        return;
    struct json_object *status = sw_json_get(sro_get(w, name), "status");
    (void)sw_json_del(status, "inventory", NULL);
    fail_msg("%s is never %s with '%s': %s", name, type, words ? words : "",
             json_object_to_json_string(status));
}

/* Does an object come to be there? */
struct sro_object {
    const char *api_version, *kind, *ns, *name;
    bool absent;
};

static inline bool sro_is_there(struct world *w, void *arg)
{
    const struct sro_object *o = arg;
    return (world_get(w, o->api_version, o->kind, o->ns, o->name) == NULL) == o->absent;
}

static inline void sro_until_there(struct world *w, const char *api_version, const char *kind,
                                   const char *ns, const char *name)
{
    struct sro_object o = { api_version, kind, ns, name, false };
    if (!world_until(w, sro_is_there, &o, 10 * 60000))
        fail_msg("%s %s/%s never came", kind, ns ? ns : "", name);
}

static inline void sro_until_gone(struct world *w, const char *api_version, const char *kind,
                                  const char *ns, const char *name)
{
    struct sro_object o = { api_version, kind, ns, name, true };
    if (!world_until(w, sro_is_there, &o, 10 * 60000))
        fail_msg("%s %s/%s never went", kind, ns ? ns : "", name);
}

/* Delete the resource, and wait until it is gone. */
static inline void sro_delete(struct world *w, const char *name)
{
    assert_int_equal(world_delete(w, SR_VERSION, "SpecialResource", NULL, name), 0);
    sro_until_gone(w, SR_VERSION, "SpecialResource", NULL, name);
}

/* What Events of @reason say, one a line; the caller's. */
static inline char *sro_events(struct world *w, const char *reason)
{
    struct json_object *list = world_get(w, "v1", "Event", NULL, NULL);
    char *all = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *event = sw_json_at(list, i);
        if (!sw_streq(sw_json_str(event, "", "reason", NULL), reason))
            continue;
        SW_AUTO_CHARS *before = all;
        all = sw_printf("%s%s\n", before, sw_json_str(event, "", "message", NULL));
    }
    return all;
}
