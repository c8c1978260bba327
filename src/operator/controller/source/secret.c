#include "operator/controller/source/secret.h"

#include <stdlib.h>
#include <string.h>

#include "chart/fetch/keyring.h"
#include "data/data.h"
#include "data/text/base64.h"

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

void secret_to_request(struct json_object *secret, bool ssh, struct json_object *request)
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

int secret_to_keyring(struct json_object *secret, struct json_object *request, struct sw_err *err)
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
