#pragma once
/* Helm's records of what is deployed, and their form. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_kind;
struct sw_kube;
struct sw_kube_answer;
struct sw_kube_request;

/** Where Helm's records of releases are kept. */
enum sw_releases { SW_RELEASES_NONE, SW_RELEASES_CONFIG_MAPS, SW_RELEASES_SECRETS };
/** The kind of the objects that keep them. NULL: none are kept, or the server does not serve it. */
const struct sw_kind *sw_release_kind(struct sw_kube *kube, enum sw_releases releases);

/** List the records of the release @name in @ns, with labels and owners, without content. @kind:
 * sw_release_kind(). The answer comes in pages, as that of sw_kube_list(). */
struct sw_kube_request *sw_release_list(struct sw_kube *kube, const struct sw_kind *kind,
                                        const char *ns, const char *name,
                                        void (*done)(const struct sw_kube_answer *page, void *arg),
                                        void *arg);
/** Add the records of a page to @list. @return whether another page follows */
bool sw_release_list_add(struct json_object *list, const struct sw_kube_answer *page);

/** The release as the value of "release" in a ConfigMap: JSON, gzip, base64. Heap. */
char *sw_release_pack(struct json_object *release);
/** "data" of the object that keeps @packed, the caller's: bytes of a Secret are base64 once more.
 */
struct json_object *sw_release_data(bool in_secret, const char *packed);
/** The other way; @*out is the caller's. Unpacked it may have 64 MiB.
 * @return 0 | SW_INVALID */
int sw_release_unpack(const char *text, size_t len, struct json_object **out,
                      struct sw_err *err) SW_CHECKED;
/** The release in @record (a ConfigMap or Secret), unpacked; the caller's. @return 0 | SW_INVALID
 */
int sw_release_of_record(struct json_object *record, struct json_object **out,
                         struct sw_err *err) SW_CHECKED;
/** The record of the highest revision in @list, borrowed; NULL: there is none. */
struct json_object *sw_release_newest(struct json_object *list);
/** A merge patch of @record that puts @release into it; the caller's. */
struct json_object *sw_release_patch(struct json_object *record, struct json_object *release);
