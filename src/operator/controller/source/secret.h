#pragma once
/* secret: what a Secret says about who we are to a recipe's source. */
#include <stdbool.h>

#include "base/base.h"

struct json_object;

/** Put it into a request of the fetch helper (chart/fetch/helper.h); what the Secret has not stays.
 * @ssh: the key is SSH's. */
void secret_to_request(struct json_object *secret, bool ssh, struct json_object *request);

/** All keys of a Secret as one keyring, for a request of the fetch helper: public keys in OpenPGP's
 * binary form or in ASCII armour. @return 0 | SW_INVALID: there is none */
int secret_to_keyring(struct json_object *secret, struct json_object *request,
                      struct sw_err *err) SW_CHECKED;
