#pragma once
/* secret: what a Secret says about who we are to a recipe's source. */
#include <stdbool.h>

struct json_object;

/** Put it into a request of the fetch helper (fetch/helper.h); what the Secret has not stays.
 * @ssh: the key is SSH's. */
void secret_to_request(struct json_object *secret, bool ssh, struct json_object *request);
