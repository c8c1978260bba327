/* What the last render of a state has read. Nothing of that is another: a render would come out as
 * it did, and is not made. What is rendered for one group of nodes always is. */
#include "operator/controller/private.h"

#include <stdlib.h>

#include "operator/manifests/node_choice.h"

struct render_reads {
    struct render_reads *next;
    char *state;
    char *text;                  /* sw_env_reads_text() */
    char *found;                 /* basis_of() then; NULL: there was none */
    struct json_object *missing; /* {apiVersion: {kind: true}} of its objects; NULL: none */
};

static struct render_reads **find(struct resource *r, const char *state)
{
    struct render_reads **at = &r->own->reads;
    while (*at && !sw_streq((*at)->state, state))
        at = &(*at)->next;
    return at;
}

static void drop(struct render_reads **at)
{
    struct render_reads *reads = *at;
    *at = reads->next;
    json_object_put(reads->missing);
    free(reads->found);
    free(reads->text);
    free(reads->state);
    free(reads);
}

void render_reads_free(struct resource *r)
{
    while (r->own->reads)
        drop(&r->own->reads);
}

/* A digest of all by which the @state of the plan is rendered, where @text is what its templates
 * read; the caller's. NULL: there is none. */
static char *basis_of(struct resource *r, size_t state, const char *text)
{
    /* what is read of the values when the templates have been rendered */
    static const char *const after[] = { "specialresource", "platform", "proxy", SW_FORMER_OWNERS };
    struct sw_groups groups;
    resource_groups(r, &groups);
    SW_AUTO_JSON *values = resource_values(r, groups.n ? groups.items[0] : NULL);
    sw_groups_done(&groups);
    const struct sw_render_env env = resource_render_env(r, (int)state, values, NULL);
    SW_AUTO_CHARS *found = sw_env_reads_digest(text, &env);
    if (!found)
        return NULL;
    const struct release_view release = capabilities_release(r, (int)state);
    SW_AUTO_JSON *all = json_object_new_object();
    sw_json_set_str(all, found, "reads", NULL);
    sw_json_set(all, json_object_new_int64((int64_t)r->plan->number), "plan", NULL);
    sw_json_set(all, json_object_new_boolean(release.was_deployed), "wasDeployed", NULL);
    sw_json_set(all, json_object_new_int64(release.sro_ran), "sroRan", NULL);
    for (size_t i = 0; i < SW_COUNT(after); i++)
        sw_json_set(all, json_object_get(sw_json_get(values, after[i])), "after", after[i], NULL);
    plan_add_basis(r, all);
    char hash[SW_SHA256_HEX];
    return sw_strdup(sw_json_sha256(all, hash));
}

void render_reads_keep(struct resource *r, size_t state, char *text, struct json_object *missing)
{
    SW_AUTO_CHARS *taken = text;
    const char *name = r->plan->states[state].name;
    struct render_reads **at = find(r, name);
    if (*at)
        drop(at);
    if (!taken)
        return;
    char *found = basis_of(r, state, taken);
    struct render_reads *reads = sw_zalloc(1, sizeof *reads);
    *reads = (struct render_reads){ .next = r->own->reads,
                                    .state = sw_strdup(name),
                                    .text = SW_TAKE(taken),
                                    .found = found,
                                    .missing = json_object_get(missing) };
    r->own->reads = reads;
}

/* Is one of the kinds of its objects served now, which was not? */
static bool has_come(struct resource *r, struct json_object *missing)
{
    if (!missing)
        return false;
    json_object_object_foreach(missing, api_version, kinds)
    {
        json_object_object_foreach(kinds, kind, yes)
        {
            (void)yes;
            if (sw_kube_kind_find(r->c->kube, api_version, kind))
                return true;
        }
    }
    return false;
}

bool render_reads_known(struct resource *r, size_t state)
{
    return *find(r, r->plan->states[state].name);
}

bool render_reads_hold(struct resource *r, size_t state)
{
    const struct render_reads *reads = *find(r, r->plan->states[state].name);
    if (!reads || !reads->found || has_come(r, reads->missing))
        return false;
    SW_AUTO_CHARS *found = basis_of(r, state, reads->text);
    return found && sw_streq(found, reads->found);
}
