#pragma once
/* lookup: questions to registries, as a JSON document, so that another process can ask them: do
 * images exist, or what does a file of one say? With the questions comes all that the answers
 * depend on: logins, mirrors, CAs.
 *
 *     {"images": [{"reference": "quay.io/org/driver:1", "platform": "linux/amd64"}],
 *      "file": {"path": "etc/x.json", "lastLayerOnly": false, "maxBytes": 8388608},
 *      "layers": [{"digest": "sha256:...", "path": "etc/x.json", "data": "base64"}],
 *      "secrets": [{...}], "homeLogins": false,
 *      "registriesConf": "/etc/registries.conf", "policies": [{...}],
 *      "caData": "PEM", "caByHost": {"host": "PEM"}, "retryMs": 1000}
 *
 * Without "file" it is whether the images exist; with it there is one. "layers" is what earlier
 * answers said: a layer without "data" does not have the file. "secrets" are pull secrets,
 * "policies" what sw_mirrors_add_policy() takes. Without "registriesConf" the machine's files
 * count.
 *
 *     {"code": 0, "from": "mirror/driver:1", "digest": "sha256:...", "layers": [...]}
 *     {"code": 0, "answers": [{"code": -7, "error": "..."}], "warnings": ["Secret a/b: ..."]}
 *
 * The first one is that of a file, whose bytes come beside it; the second one of images, in their
 * order. "layers" has what is new, and "warnings" what was wrong
 * with the settings, which is no failure. */
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_loop;
struct sw_mirrors;
struct sw_registry_lookup;

/** @answer: as above, or one with "code" and "error"; @bytes: of the file, where code is 0. All is
 * borrowed. */
typedef void sw_registry_lookup_fn(struct json_object *answer, const char *bytes, size_t len,
                                   void *arg);
/** Ask @request, which is borrowed for the call. @fn is called once, never before this returned. */
struct sw_registry_lookup *sw_registry_lookup_open(struct sw_loop *loop,
                                                   struct json_object *request,
                                                   sw_registry_lookup_fn *fn, void *arg);
/** Free it, from @fn, too; @fn is not called any more. NULL is accepted. */
void sw_registry_lookup_close(struct sw_registry_lookup *lookup);

/** The mirrors of the request; the caller's.
 * @return 0 | SW_INVALID: registries.conf | SW_NOTFOUND, SW_FORBIDDEN: that file */
int sw_registry_lookup_mirrors(struct json_object *request, struct sw_mirrors **out,
                               struct sw_err *err) SW_CHECKED;
/** {"code", "error"}: a new document, the caller's. */
struct json_object *sw_registry_lookup_failure(int code, const char *message);
