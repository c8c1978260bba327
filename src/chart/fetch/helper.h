#pragma once
/* helper: a recipe got by another process. What is asked for is a document, what comes back is a
 * line of JSON and the recipe as a bundle: `slipway fetch -` reads the one from its stdin and
 * writes the other to its stdout. Credentials travel in the document: not on a command line, not in
 * the environment.
 *
 *     {"url": "https://host/charts", "name": "driver", "version": "^1.2",
 *      "username": "", "password": "", "passCredentials": false, "caFile": "", "certFile": "",
 *      "keyFile": "", "insecure": false, "dockerConfig": "", "knownHosts": "",
 *      "verifiedBy": "spec.chart.verify", "keyring": "",
 *      "cacheDir": "", "timeoutMs": 120000, "configMaps": [{...}]}
 *
 * Of the files also the text: "caData", "certData", "keyData", "dockerConfigData",
 * "knownHostsData"; and, in base64, "keyringData". "verifiedBy" names what wants signatures
 * verified; empty: nothing does.
 *
 *     {"code": 0, "name": "driver", "version": "1.2.3", "origin": "https://...", "digest":
 * "sha256:"}
 *     {"code": -7, "error": "https://host/charts/index.yaml: ..."}
 *     {"code": -1, "want": "cm://ns/name"}: ask again with that ConfigMap, or with {"missing":
 * true} in its place */
#include <stddef.h>
#include <stdio.h>

#include "base/base.h"

struct json_object;

/** Do it in this process. @*answer is the caller's; so is @*bundle, NULL where code is not 0. */
void sw_fetch_do(struct json_object *request, struct json_object **answer, char **bundle,
                 size_t *len);

/** The helper itself. @return 0, or SW_INVALID: no request came */
int sw_fetch_serve(FILE *in, FILE *out, struct sw_err *err) SW_CHECKED;

/** The answer that a helper wrote: its first line, and where the bundle begins in @text.
 * @return 0 | SW_UNAVAILABLE: it is none */
int sw_fetch_read_answer(const char *text, size_t len, struct json_object **answer,
                         const char **bundle, size_t *bundle_len, struct sw_err *err) SW_CHECKED;
