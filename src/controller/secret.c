#include "controller/secret.h"

#include <stdlib.h>
#include <string.h>

#include "data/base64.h"
#include "data/data.h"

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
