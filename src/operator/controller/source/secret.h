#pragma once
/* secret: credentials and keyrings in Secrets, as the fetch helper's request has them. */
#include <stdbool.h>

#include "base/base.h"

struct json_object;

/** Set the credentials of @secret, and the server that they are for where it names one, in a
 * request of the fetch helper (chart/fetch/helper.h); other fields stay. NULL: none. @ssh: the
 * private key is for SSH. */
void secret_to_request(struct json_object *secret, bool ssh, struct json_object *request);

/** Set the public keys of a Secret, in OpenPGP's binary form or in ASCII armour, as one keyring in
 * a request of the fetch helper. @return 0 | SW_INVALID: a value is no key, or there is none */
int secret_to_keyring(struct json_object *secret, struct json_object *request,
                      struct sw_err *err) SW_CHECKED;
