/* A kubeconfig is read whole or refused with one message; what was read can be written and read. */
#include "base/base.h"
#include "kube/config/kubeconfig.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    struct sw_kube_config *c = NULL, *again = NULL;
    int rc = sw_kubeconfig_parse("dir/config", (const char *)data, size, NULL, &c, &err);
    if (rc < 0) {
        if (c || !err.text)
            abort();
        return 0;
    }
    SW_AUTO_CHARS *text = sw_kubeconfig_text(c, "fuzz");
    if (sw_kubeconfig_parse("/config", text, strlen(text), "fuzz", &again, &err) < 0 ||
        !sw_streq(c->server, again->server) || !sw_streq(c->token, again->token) ||
        !sw_streq(c->ca_data, again->ca_data) || !sw_streq(c->ns, again->ns))
        abort();
    sw_kube_config_free(c);
    sw_kube_config_free(again);
    return 0;
}
