#pragma once
/* helper: a recipe fetched by another process, `slipway fetch -`. It reads a request, a JSON
 * document, from its stdin, and writes the answer to its stdout: a line of JSON, then the recipe as
 * a bundle. Credentials are in the request: not on a command line, not in the environment.
 *
 *     {"url": "https://host/charts", "name": "driver", "version": "^1.2",
 *      "username": "", "password": "", "credentialsFor": "https://host", "secret":
 * "namespace/name", "passCredentials": false, "plainHTTP": false, "caFile": "", "certFile": "",
 *      "keyFile": "", "insecure": false, "dockerConfig": "", "knownHosts": "",
 *      "verifiedBy": "spec.chart.verify", "keyring": "",
 *      "allowedFiles": "/recipes,/states,/charts",
 *      "allowedSources": "", "clusterRanges": ["10.96.0.0/12"],
 *      "cacheDir": "", "cacheScope": "", "chartsDir": "", "standIns": false, "mirror": "",
 * "timeoutMs": 120000, "configMaps": [{...}], "limits": {"bytes": 52428800, "cpuS": 30}}
 *
 * The contents of files can be given instead: "caData", "certData", "keyData", "dockerConfigData",
 * "knownHostsData"; and, in base64, "keyringData". "verifiedBy" names what requires verified
 * signatures; empty: nothing does. "limits" confines the process (confine.h); who needs more memory
 * answers "limit": true. With "allowedSources" only what reach.h says can be connected to, by this
 * process from then on; "clusterRanges" are those of services and pods.
 *
 *     {"code": 0, "name": "driver", "version": "1.2.3", "origin": "https://...",
 *      "digest": "sha256:...", "remote": true, "missing": true}
 *     {"code": -7, "error": "https://host/charts/index.yaml: ..."}
 *     {"code": -1, "want": "cm://ns/name"}
 *
 * "remote": what was fetched may be another one later. "missing": a chart could not be had that the
 * recipe may do without (sw_fetch_opts.late). The last
 * one asks for another request, with that ConfigMap, or {"missing": true} in its place.
 *
 *     {"lookup": {...}, "allowedSources": "", "clusterRanges": [], "limits": {}}
 *
 * asks an image registry instead: "lookup" and the answer are those of chart/registry/lookup.h, and
 * what follows the answer is the file. */
#include <stddef.h>
#include <stdio.h>

#include "base/base.h"

struct json_object;

/** Fetch what @request asks for, in this process. @stand_ins: as in sw_fetch_opts, for "standIns";
 * NULL: there are none. @*answer is the caller's; so is @*bundle, NULL where code is not 0. */
void sw_fetch_do(struct json_object *request, const struct sw_embedded *stand_ins,
                 struct json_object **answer, char **bundle, size_t *len);

/** `slipway fetch -`: one request from @in, its answer to @out. @stand_ins: as above. @return 0 |
 * SW_INVALID: not a request | SW_UNAVAILABLE: the answer cannot be written */
int sw_fetch_serve(FILE *in, FILE *out, const struct sw_embedded *stand_ins,
                   struct sw_err *err) SW_CHECKED;

/** Read the answer of a helper. @*answer: its first line, the caller's. @*bundle: what follows, in
 * @text. @return 0 | SW_UNAVAILABLE: not an answer */
int sw_fetch_read_answer(const char *text, size_t len, struct json_object **answer,
                         const char **bundle, size_t *bundle_len, struct sw_err *err) SW_CHECKED;
