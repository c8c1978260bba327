#include "operator/manifests/chart_request.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/keyring.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "data/text/url.h"

/* Keys of Secrets of Kubernetes' types (basic-auth, ssh-auth, tls, dockerconfigjson), and the
 * fields of the helper's request that their values go to. Later rows win. */
static const struct {
    const char *key, *name;
    int only_ssh; /* 1: with SSH only; -1: with anything but SSH */
} keys[] = {
    { "username", "username", 0 },
    { "password", "password", 0 },
    { "url", "credentialsFor", 0 },
    { "ca.crt", "caData", 0 },
    { "tls.crt", "certData", -1 },
    { "tls.key", "keyData", -1 },
    { ".dockerconfigjson", "dockerConfigData", 0 },
    { "ssh-privatekey", "keyData", 1 },
    { "known_hosts", "knownHostsData", 0 },
};

/* Set the credentials of @secret, and the server that they are for where it names one; other fields
 * stay. NULL: none. @ssh: the private key is for SSH. */
static void add_login(struct json_object *secret, bool ssh, struct json_object *request)
{
    for (size_t i = 0; i < SW_COUNT(keys); i++) {
        const char *packed = sw_json_str(secret, NULL, "data", keys[i].key, NULL);
        size_t len;
        char *text = packed ? sw_base64_decode(packed, strlen(packed), &len) : NULL;
        if (text && !(keys[i].only_ssh && (keys[i].only_ssh > 0) != ssh))
            sw_json_set_str(request, text, keys[i].name, NULL);
        free(text);
    }
    const char *packed = sw_json_str(secret, NULL, "data", "plainHTTP", NULL);
    size_t len;
    SW_AUTO_CHARS *plain = packed ? sw_base64_decode(packed, strlen(packed), &len) : NULL;
    if (secret) { /* its own word alone counts, not the resource's */
        SW_AUTO_CHARS *name = sw_printf("%s/%s", sw_obj_namespace(secret), sw_obj_name(secret));
        sw_json_set_str(request, name, "secret", NULL);
        sw_json_set(request, json_object_new_boolean(sw_streq(plain, "true")), "plainHTTP", NULL);
        sw_json_set(request, json_object_new_boolean(false), "passCredentials", NULL);
    }
}

/* Set the public keys of a Secret, in OpenPGP's binary form or in ASCII armour, as one keyring.
 * @return 0 | SW_INVALID: a value is no key, or there is none */
static int add_keyring(struct json_object *secret, struct json_object *request, struct sw_err *err)
{
    struct json_object *data = sw_json_get(secret, "data");
    SW_AUTO_CHARS *all = NULL;
    size_t all_len = 0;
    if (json_object_is_type(data, json_type_object)) {
        json_object_object_foreach(data, key, value)
        {
            const char *packed = json_object_get_string(value);
            size_t len = 0, n = 0;
            SW_AUTO_CHARS *text = packed ? sw_base64_decode(packed, strlen(packed), &len) : NULL;
            SW_AUTO_CHARS *keyring = text ? sw_keyring_unpack(text, len, &n) : NULL;
            if (!keyring)
                return sw_err_set(err, SW_INVALID, "data.%s: not a public key", key);
            all = sw_realloc(all, all_len + n + 1, 1);
            memcpy(all + all_len, keyring, n);
            all_len += n;
        }
    }
    if (all_len == 0)
        return sw_err_set(err, SW_INVALID, "the Secret holds no public key");
    size_t len;
    SW_AUTO_CHARS *text = sw_base64_encode(all, all_len, &len);
    sw_json_set_str(request, text, "keyringData", NULL);
    return 0;
}

/* What a login has fetched is for who has it: those that name the same Secret, as it is now, or the
 * resource that holds the login itself. */
static void set_cache_scope(struct json_object *doc, struct json_object *secret,
                            struct json_object *request)
{
    static const char *const logins[] = { "username", "password", "certFile", "keyFile" };
    SW_AUTO_CHARS *scope = NULL;
    if (secret)
        scope = sw_printf("Secret %s/%s@%s", sw_obj_namespace(secret), sw_obj_name(secret),
                          sw_json_str(secret, "", "metadata", "resourceVersion", NULL));
    for (size_t i = 0; !scope && i < SW_COUNT(logins); i++)
        if (*sw_json_str(request, "", logins[i], NULL))
            scope = sw_printf("SpecialResource %s", sw_obj_name(doc));
    if (scope)
        sw_json_set_str(request, scope, "cacheScope", NULL);
}

int sw_chart_request_make(struct json_object *doc, const struct sw_chart_request *parts,
                          struct json_object **out, struct sw_err *err)
{
    static const char *const same[] = { "username", "password", "certFile", "keyFile", "caFile" };
    struct json_object *chart = sw_json_find(doc, "spec", "chart", NULL),
                       *repository = sw_json_get(chart, "repository");
    const char *url = sw_json_str(repository, "", "url", NULL);
    SW_AUTO_JSON *request = json_object_new_object();
    for (size_t i = 0; i < SW_COUNT(same); i++)
        sw_json_set_str(request, sw_json_str(repository, "", same[i], NULL), same[i], NULL);
    bool insecure = sw_json_bool(repository, false, "insecure_skip_tls_verify", NULL);
    sw_json_set(request, json_object_new_boolean(insecure), "insecure", NULL);
    bool pass_all = sw_json_bool(repository, false, "pass_credentials_all", NULL);
    sw_json_set(request, json_object_new_boolean(pass_all), "passCredentials", NULL);
    sw_json_set_str(request, parts->from, "url", NULL);
    bool is_here = sw_starts_with(url, "cm://") || sw_starts_with(url, "file://");
    sw_json_set_str(request, is_here ? "" : url, "credentialsFor", NULL);
    sw_json_set(request, json_object_new_boolean(insecure), "plainHTTP", NULL); /* the author's */
    if (!sw_starts_with(parts->from, "file://")) {
        sw_json_set_str(request, sw_json_str(chart, "", "name", NULL), "name", NULL);
        sw_json_set_str(request, sw_json_str(chart, "", "version", NULL), "version", NULL);
    }
    const char *const aicr[][2] = { { "criteria", "aicrCriteria" }, { "data", "aicrData" } };
    for (size_t i = 0; i < SW_COUNT(aicr); i++)
        sw_json_set_str(request, sw_json_str(chart, "", "aicr", aicr[i][0], NULL), aicr[i][1],
                        NULL);
    add_login(parts->secret, sw_starts_with(parts->from, "git+ssh://"), request);
    set_cache_scope(doc, parts->secret, request);
    sw_json_set(request, json_object_get(parts->maps), "configMaps", NULL);
    if (parts->keys) {
        sw_json_set_str(request, SW_CHART_VERIFY, "verifiedBy", NULL);
        int rc = add_keyring(parts->keys, request, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, SW_CHART_VERIFY ".secretRef: %s", sw_obj_name(parts->keys));
    }
    *out = SW_TAKE(request);
    return 0;
}

/* ---- ConfigMaps --------------------------------------------------------------------------------
 */

int sw_chart_map_split(const char *url, char **ns, char **name, struct sw_err *err)
{
    const char *begin = url + strlen("cm://"), *slash = strchr(begin, '/');
    if (!slash || slash == begin || !slash[1] || slash[1] == '/' || strchr(begin, '@')) {
        SW_AUTO_CHARS *shown = sw_url_shown(url);
        return sw_err_set(err, SW_INVALID, "'%s' is not cm://<namespace>/<name>", shown);
    }
    *ns = sw_strndup(begin, (size_t)(slash - begin));
    *name = sw_strndup(slash + 1, strcspn(slash + 1, "/"));
    return 0;
}

struct json_object *sw_chart_map_missing(const char *ns, const char *name)
{
    struct json_object *map = json_object_new_object();
    sw_json_set_str(map, ns, "metadata", "namespace", NULL);
    sw_json_set_str(map, name, "metadata", "name", NULL);
    sw_json_set(map, json_object_new_boolean(true), "missing", NULL);
    return map;
}
