/* Any bytes as a profile's and as a resource's name: refused, or printed back to the same profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/mig/mig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SW_ERR(err);
    struct sw_mig_profile p, again;
    enum sw_mig_owner owner;
    char buf[SW_MIG_NAME_LEN], name[SW_MIG_NAME_LEN + 32];
    if (sw_mig_profile_parse((const char *)data, size, &p, &err) == 0) {
        (void)sw_mig_profile_text(&p, buf);
        if (sw_mig_profile_parse(buf, strlen(buf), &again, &err) < 0 ||
            !sw_mig_profile_equal(&p, &again))
            abort();
    }
    if (sw_mig_resource_parse((const char *)data, size, &p, &owner, &err) == 0) {
        (void)snprintf(name, sizeof name, "%s%s", SW_MIG_DAS_PREFIX, sw_mig_resource_text(&p, buf));
        if (sw_mig_resource_parse(name, strlen(name), &again, &owner, &err) < 0 ||
            !sw_mig_profile_equal(&p, &again))
            abort();
    }
    return 0;
}
