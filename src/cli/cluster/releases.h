#pragma once
/* releases: Helm's records of a resource's release, as commands read them. */
#include "base/base.h"
#include "data/flags/flags.h"
#include "operator/release/record.h"

struct json_object;
struct sw_connection;

/** The flag that says in which kind of object releases are recorded: @member of @type, a string. */
#define SW_RELEASES_FLAG(type, member)                                                             \
    {                                                                                              \
        "releases", 0, SW_FLAG_STRING, offsetof(type, member), "WHERE", "secret|configmap|none",   \
            "kind of the objects that record releases for helm, where there are none yet "         \
            "(default "                                                                            \
            "secret)"                                                                              \
    }
/** @where: the value of that flag, or NULL for the default. */
enum sw_releases sw_releases_of_flag(const char *where);

/** The namespace of @resource's objects and records; borrowed. */
const char *sw_releases_namespace(struct json_object *resource);
/** List the records of @resource's release, with kind, labels and owners, without content: of the
 * kind that its status names, else of both. The caller's. @return 0 | as requests.h */
int sw_releases_list(struct sw_connection *conn, struct json_object *resource,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
/** Read the content of @record, one of that list: *@out is the whole record, *@release what is in
 * it, NULL if that cannot be unpacked; both are the caller's. @return 0 | SW_NOTFOUND | as
 * requests.h */
int sw_releases_read(struct sw_connection *conn, struct json_object *record,
                     struct json_object **out, struct json_object **release,
                     struct sw_err *err) SW_CHECKED;
/** Has an operator given digests to the records of @resource? */
bool sw_releases_are_begun(struct json_object *resource);
/** Is @record the one that slipway wrote? @digest: of its content; "" without @release. */
enum sw_record_trust sw_releases_check(struct json_object *resource, struct json_object *record,
                                       struct json_object *release,
                                       char digest[static SW_SHA256_HEX]);
