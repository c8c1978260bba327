/* What a pod needs before its containers start: its images, with the logins that pull them, and the
 * Secrets and ConfigMaps of its volumes and environment. The texts are containerd's and kubelet's.
 */
#include "emulator/controllers/pod_run.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/base64.h"

/* ---- images -------------------------------------------------------------------------------------
 */

static json_object *secret_of(struct sw_ctl *ctl, const struct sw_pod *pod, const char *name)
{
    return sw_store_get(ctl->store, sw_store_kind(ctl->store, "", "Secret"), sw_pod_ns(pod), name);
}

static json_object *pull_secrets(const struct sw_pod *pod)
{
    return sw_json_find(pod->doc, "spec", "imagePullSecrets", NULL);
}

char *sw_pod_missing_pull_secrets(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    json_object *list = pull_secrets(pod);
    char *names = NULL;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        if (secret_of(ctl, pod, name))
            continue;
        if (names)
            sw_append(&names, ", %s", name);
        else
            names = sw_strdup(name);
    }
    return names;
}

/* The text of a base64 value; the caller's, NULL: it is none. */
static char *decoded(const char *value)
{
    size_t len;
    char *text = sw_base64_decode(value, strlen(value), &len);
    char *ended = text ? sw_strndup(text, len) : NULL;
    free(text);
    return ended;
}

/* The login for @host in a Secret of registry logins, "user:password"; the caller's, NULL: none. */
static char *login_in(json_object *secret, const char *host)
{
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *text = decoded(sw_json_str(secret, "", "data", ".dockerconfigjson", NULL));
    if (!text || sw_json_parse(text, strlen(text), NULL, &doc, NULL) < 0)
        return NULL;
    json_object *entry = sw_json_find(doc, "auths", host, NULL);
    const char *user = sw_json_str(entry, "", "username", NULL);
    if (*user)
        return sw_printf("%s:%s", user, sw_json_str(entry, "", "password", NULL));
    return entry ? decoded(sw_json_str(entry, "", "auth", NULL)) : NULL;
}

char *sw_pod_pull_error(struct sw_ctl *ctl, const struct sw_pod *pod, const char *image)
{
    const char *login = sw_rules_image_login(ctl->rules, image);
    if (!sw_rules_image(ctl->rules, image))
        return sw_printf("rpc error: code = NotFound desc = failed to pull and unpack image "
                         "\"%s\": not found",
                         image);
    if (!login)
        return NULL;
    json_object *list = pull_secrets(pod);
    SW_AUTO_CHARS *host = sw_strndup(image, strcspn(image, "/"));
    bool tried = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *secret = secret_of(ctl, pod,
                                        sw_json_str(sw_json_at(list, i), "", "name", NULL));
        SW_AUTO_CHARS *own = login_in(secret, host);
        if (sw_streq(own, login))
            return NULL;
        tried |= own != NULL;
    }
    return sw_printf("rpc error: code = Unknown desc = failed to pull and unpack image \"%s\": "
                     "failed to resolve reference \"%s\": %s",
                     image, image,
                     tried ? "unexpected status from HEAD request: 401 Unauthorized"
                           : "pull access denied, repository does not exist or may require "
                             "authorization: authorization failed: no basic auth credentials");
}

/* ---- volumes ------------------------------------------------------------------------------------
 */

char *sw_pod_missing_volume(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    static const struct {
        const char *kind, *field, *name_key, *shown;
    } sources[] = { { "Secret", "secret", "secretName", "secret" },
                    { "ConfigMap", "configMap", "name", "configmap" } };
    json_object *list = sw_json_find(pod->doc, "spec", "volumes", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *v = sw_json_at(list, i);
        for (size_t k = 0; k < SW_COUNT(sources); k++) {
            json_object *source = sw_json_get(v, sources[k].field);
            const char *name = sw_json_str(source, NULL, sources[k].name_key, NULL);
            const struct sw_emu_kind *kind = sw_store_kind(ctl->store, "", sources[k].kind);
            if (name && !sw_json_bool(source, false, "optional", NULL) &&
                !sw_store_get(ctl->store, kind, sw_pod_ns(pod), name))
                return sw_printf("MountVolume.SetUp failed for volume \"%s\" : %s \"%s\" not found",
                                 sw_json_str(v, "", "name", NULL), sources[k].shown, name);
        }
    }
    return NULL;
}

/* ---- the environment ----------------------------------------------------------------------------
 */

/* What a source of the environment names that does not exist; the caller's, NULL: it exists. */
static char *missing_source(struct sw_ctl *ctl, const struct sw_pod *pod, json_object *ref,
                            const char *kind, const char *shown)
{
    const char *name = sw_json_str(ref, NULL, "name", NULL),
               *key = sw_json_str(ref, NULL, "key", NULL);
    if (!name || sw_json_bool(ref, false, "optional", NULL))
        return NULL;
    json_object *doc = sw_store_get(ctl->store, sw_store_kind(ctl->store, "", kind), sw_pod_ns(pod),
                                    name);
    if (!doc)
        return sw_printf("%s \"%s\" not found", shown, name);
    if (key && !sw_json_find(doc, "data", key, NULL))
        return sw_printf("couldn't find key %s in %s %s/%s", key, kind, sw_pod_ns(pod), name);
    return NULL;
}

char *sw_pod_missing_env(struct sw_ctl *ctl, const struct sw_pod *pod, json_object *container)
{
    static const struct {
        const char *kind, *all, *one, *shown;
    } kinds[] = { { "Secret", "secretRef", "secretKeyRef", "secret" },
                  { "ConfigMap", "configMapRef", "configMapKeyRef", "configmap" } };
    json_object *from = sw_json_get(container, "envFrom"), *env = sw_json_get(container, "env");
    char *missing = NULL;
    for (size_t k = 0; !missing && k < SW_COUNT(kinds); k++) {
        for (size_t i = 0; !missing && i < sw_json_len(from); i++)
            missing = missing_source(ctl, pod, sw_json_get(sw_json_at(from, i), kinds[k].all),
                                     kinds[k].kind, kinds[k].shown);
        for (size_t i = 0; !missing && i < sw_json_len(env); i++)
            missing = missing_source(
                ctl, pod, sw_json_find(sw_json_at(env, i), "valueFrom", kinds[k].one, NULL),
                kinds[k].kind, kinds[k].shown);
    }
    return missing;
}
