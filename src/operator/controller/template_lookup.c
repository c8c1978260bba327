/* `lookup` in templates: rendering stops at an object that is not known, the object is read, then
 * it is rendered again. */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/large.h"

enum {
    MAX_LOOKUPS = 200,
    LOOKUP_RETRIES = 4,
    MAX_BYTES = 16 << 20, /* of all that a render has looked up, in memory */
    PAGE_SIZE = 50,
};

struct lookup {
    struct lookups *all;
    struct lookup *next;
    struct sw_key key; /* strings owned; name "" is the list */
    struct sw_kube_request *req;
    bool answered;
    int code;
    char *message;
    struct json_object *object; /* NULL: there is none */
};

struct lookups {
    struct resource *r;
    struct lookup *first;
    size_t n, n_waiting;
    size_t bytes; /* of what was found */
    void (*answered)(void *arg);
    void *arg;
    struct sw_render_wait *wait;
};

struct sw_render_wait *lookups_wait(struct lookups *l)
{
    return l->wait;
}

struct lookups *lookups_new(struct resource *r, void (*answered)(void *arg), void *arg)
{
    struct lookups *l = sw_zalloc(1, sizeof *l);
    *l = (struct lookups){ .r = r, .answered = answered, .arg = arg };
    l->wait = sw_render_wait_new(answered, arg);
    return l;
}

void lookups_free(struct lookups *l)
{
    if (!l)
        return;
    sw_render_wait_free(l->wait); /* it looks up through this */
    while (l->first) {
        struct lookup *k = l->first;
        l->first = k->next;
        sw_kube_cancel(k->req);
        sw_key_done(&k->key);
        free(k->message);
        json_object_put(k->object);
        free(k);
    }
    free(l);
}

static void settle(struct lookup *k, int code, const char *message)
{
    struct lookups *l = k->all;
    k->answered = true;
    if (code == SW_NOTFOUND && *k->key.name)
        informer_is_absent(l->r->c->informer, &k->key);
    if (code < 0 &&
        code != SW_NOTFOUND) { /* an object that does not exist is no error, as in Helm */
        k->code = code;
        k->message = account_message(l->r, code, message);
    }
    if (--l->n_waiting == 0)
        l->answered(l->arg);
}

static void on_answer(const struct sw_kube_answer *a, void *arg)
{
    struct lookup *k = arg;
    if (a->code == 0)
        k->all->bytes += sw_json_tree_bytes(a->items ? a->items : a->object);
    if (a->code == 0 && a->items) {
        if (!k->object) {
            k->object = json_object_new_object();
            SW_AUTO_CHARS *kind = sw_printf("%sList", k->key.kind);
            sw_json_set_str(k->object, k->key.api_version, "apiVersion", NULL);
            sw_json_set_str(k->object, kind, "kind", NULL);
        }
        struct json_object *to = sw_json_need_list(k->object, "items", NULL);
        for (size_t i = 0; i < sw_json_len(a->items); i++)
            (void)json_object_array_add(to, json_object_get(sw_json_at(a->items, i)));
        if (a->more)
            return;
    } else if (a->code == 0) {
        k->object = json_object_get(a->object);
    }
    k->req = NULL;
    settle(k, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

static const char *const fields[] = { "!metadata.managedFields", NULL };

static void begin(struct lookup *k, const struct sw_kind *kind)
{
    struct sw_kube *kube = k->all->r->c->kube;
    const char *ns = kind->namespaced ? k->key.ns : NULL;
    /* what others may make as large as they like */
    size_t left = k->all->bytes < MAX_BYTES ? MAX_BYTES - k->all->bytes : 1;
    const struct sw_request_opts *opts = REQUEST_AS(k->all->r, .retries = LOOKUP_RETRIES,
                                                    .max_tree_bytes = left, .page_size = PAGE_SIZE,
                                                    .fields = fields);
    if (*k->key.name)
        k->req = sw_kube_get(kube, kind, ns, k->key.name, opts, on_answer, k);
    else
        k->req = sw_kube_list(kube, kind, ns, opts, on_answer, k);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct lookup *k = arg;
    k->req = NULL;
    if (code == 0)
        begin(k, kind);
    else
        settle(k, code, sw_err_text(err));
}

static void lookup_start(struct lookups *l, const struct sw_key *key)
{
    struct lookup *k = sw_zalloc(1, sizeof *k);
    *k = (struct lookup){
        .all = l,
        .next = l->first,
        .key = sw_key_copy(key),
    };
    l->first = k;
    l->n++;
    l->n_waiting++;
    struct sw_kube *kube = l->r->c->kube;
    const struct sw_kind *kind = sw_kube_kind_find(kube, key->api_version, key->kind);
    if (kind)
        begin(k, kind);
    else
        k->req = sw_kube_kind(kube, key->api_version, key->kind, on_kind, k);
}

int lookups_find(void *arg, const char *api_version, const char *kind, const char *ns,
                 const char *name, struct json_object **out, struct sw_err *err)
{
    struct lookups *l = arg;
    struct sw_key key = { api_version, kind, ns && *ns ? ns : NULL, name ? name : "" };
    struct lookup *k = l->first;
    while (k && !(sw_streq(k->key.kind, key.kind) && sw_streq(k->key.name, key.name) &&
                  sw_streq(k->key.api_version, key.api_version) && sw_streq(k->key.ns, key.ns)))
        k = k->next;
    if (!k && l->n >= MAX_LOOKUPS)
        return sw_err_set(err, SW_INVALID, "more than %d lookups in one render", MAX_LOOKUPS);
    if (!k)
        lookup_start(l, &key);
    if (!k || !k->answered)
        return sw_err_set(err, SW_PENDING, "lookup of %s '%s' is on its way", kind, key.name);
    if (k->code < 0)
        return sw_err_set(err, k->code, "lookup of %s '%s': %s", kind, key.name, k->message);
    *out = json_object_get(k->object);
    return 0;
}
