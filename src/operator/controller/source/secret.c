#include "operator/controller/source/secret.h"

#include <stdlib.h>
#include <string.h>

#include "chart/fetch/keyring.h"
#include "data/data.h"
#include "data/text/base64.h"

/* Keys of a Secret as its types name them (basic-auth, ssh-auth, tls, dockerconfigjson), and what
 * the helper calls it. Later rows win. */
static const struct {
    const char *key, *name;
    int only_ssh; /* 1: of SSH alone, -1: of all but SSH */
} keys[] = {
    { "username", "username", 0 },      { "password", "password", 0 },
    { "ca.crt", "caData", 0 },          { "tls.crt", "certData", -1 },
    { "tls.key", "keyData", -1 },       { ".dockerconfigjson", "dockerConfigData", 0 },
    { "ssh-privatekey", "keyData", 1 }, { "known_hosts", "knownHostsData", 0 },
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
}

/* One key of the Secret behind what is there. */
static int add_keys(const char *name, const char *packed, char **all, size_t *all_len,
                    struct sw_err *err)
{
    size_t len = 0, n = 0;
    SW_AUTO_CHARS *text = sw_base64_decode(packed, strlen(packed), &len);
    SW_AUTO_CHARS *keyring = text ? sw_keyring_unpack(text, len, &n) : NULL;
    if (!keyring)
        return sw_err_set(err, SW_INVALID, "data.%s: not a public key", name);
    *all = sw_realloc(*all, *all_len + n + 1, 1);
    memcpy(*all + *all_len, keyring, n);
    *all_len += n;
    return 0;
}

int secret_to_keyring(struct json_object *secret, struct json_object *request, struct sw_err *err)
{
    SW_AUTO_CHARS *all = NULL;
    size_t len = 0;
    struct json_object *data = sw_json_get(secret, "data");
    if (json_object_is_type(data, json_type_object)) {
        json_object_object_foreach(data, key, value)
        {
            const char *packed = json_object_get_string(value);
            int rc = add_keys(key, packed ? packed : "", &all, &len, err);
            if (rc < 0)
                return rc;
        }
    }
    if (len == 0)
        return sw_err_set(err, SW_INVALID, "the Secret holds no public key");
    size_t text_len;
    SW_AUTO_CHARS *text = sw_base64_encode(all, len, &text_len);
    sw_json_set_str(request, text, "keyringData", NULL);
    return 0;
}
