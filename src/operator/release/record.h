#pragma once
/* Helm's records of what is deployed, and their form. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "data/json/hash.h"

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
 * sw_release_kind(). @account: as which they are listed; NULL: as the operator itself. The answer
 * comes in pages, as that of sw_kube_list(). */
struct sw_kube_request *sw_release_list(struct sw_kube *kube, const struct sw_kind *kind,
                                        const char *ns, const char *name, const char *account,
                                        void (*done)(const struct sw_kube_answer *page, void *arg),
                                        void *arg);
/** Add the records of a page to @list, without what has only the labels of one: a record's name is
 * made of its labels name and version. @return whether another page follows */
bool sw_release_list_add(struct json_object *list, const struct sw_kube_answer *page);

/** The release as the value of "release" in a ConfigMap: JSON, gzip, base64. Heap. */
char *sw_release_pack(struct json_object *release);
/** Packed, what an object that keeps it takes. */
enum { SW_RELEASE_MAX_BYTES = 1024 * 1024 - 4096 };
/** "data" of the object that keeps @packed, the caller's: bytes of a Secret are base64 once more.
 */
struct json_object *sw_release_data(bool in_secret, const char *packed);
/** The other way; @*out is the caller's. @max_bytes: of the text, and of what it takes in memory;
 * 0: the text may have 64 MiB.
 * @return 0 | SW_INVALID */
int sw_release_unpack(const char *text, size_t len, size_t max_bytes, struct json_object **out,
                      struct sw_err *err) SW_CHECKED;
/** The release in @record (a ConfigMap or Secret), unpacked; the caller's. @return 0 | SW_INVALID
 */
int sw_release_of_record(struct json_object *record, struct json_object **out,
                         struct sw_err *err) SW_CHECKED;
/** The record of the highest revision in @list, borrowed; NULL: there is none. */
struct json_object *sw_release_newest(struct json_object *list);
/** A merge patch of @record that puts @release into it; the caller's. */
struct json_object *sw_release_patch(struct json_object *record, struct json_object *release);
/** The revision in the label "version" of @record; 0: it has none. */
int64_t sw_release_version(struct json_object *record);

/* ---- digests -----------------------------------------------------------------------------------
 * The status of a SpecialResource holds the digest of each object that is kept for it, so that one
 * that others have changed is not believed. What is kept may hold passwords, and statuses are read
 * by many: the digest is that of the content and of a random text in the object. */

/** Annotation: the random text, in hexadecimal. */
#define SW_RECORD_SALT "slipway.dev/salt"
enum { SW_RECORD_SALT_HEX = 33 };
/** Annotation of a SpecialResource, "NAME@DIGEST": this record is used, though slipway did not
 * write it. */
#define SW_RECORD_ACCEPTED "slipway.dev/accept-record"

/** Annotation of the chart in a release: what the revision was made of, as JSON: "generation" of
 * the resource, "by" (the field manager that wrote it last; may be missing), "chart" (its
 * spec.chart without user and password), and "set" (its spec.set, where that has templates). */
#define SW_RELEASE_ORIGIN "slipway.dev/origin"

/** A new random text. */
void sw_record_salt(char out[static SW_RECORD_SALT_HEX]);
/** The digest of @record, the object that keeps @release: of what is acted upon, not of how it is
 * (info, last_run), which helm and `slipway test` write later. */
void sw_release_digest(struct json_object *record, struct json_object *release,
                       char out[static SW_SHA256_HEX]);
/** The two halves of it: of @release alone, and then, in place, with the salt of @record. */
void sw_release_content(struct json_object *release, char out[static SW_SHA256_HEX]);
void sw_release_seal(struct json_object *record, char digest[static SW_SHA256_HEX]);
/** The digest of @record that keeps @text. */
void sw_record_digest(struct json_object *record, const char *text, char out[static SW_SHA256_HEX]);

/** How a record stands to what the status says. */
enum sw_record_trust {
    SW_RECORD_TRUSTED,
    SW_RECORD_CHANGED, /* it is not what slipway wrote last */
    SW_RECORD_UNKNOWN, /* slipway wrote none of this name */
};
/** Does @digest belong to the record @name of @resource? @digests: {name: digests, with blanks
 * between them}, as in its status. */
enum sw_record_trust sw_record_check(struct json_object *resource, struct json_object *digests,
                                     const char *name, const char *digest);
/** Is the record @name one that can be trusted, if its content is right? */
bool sw_record_is_known(struct json_object *resource, struct json_object *digests,
                        const char *name);
/** Why it is not used, and what to do, for people; heap. @kind: of its object */
char *sw_record_why_not(enum sw_record_trust trust, const char *resource, const char *kind,
                        const char *ns, const char *name, const char *digest);
