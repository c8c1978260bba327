#pragma once
/* Helm's records of what is deployed (release.c), and their form (release_pack.c). */
#include "operator/controller/internal.h"

/** The release as the value of "release" in a ConfigMap: JSON, gzip, base64. Heap. */
char *release_pack(struct json_object *release);
/** "data" of the object that keeps @packed, the caller's: bytes of a Secret are base64 once more.
 */
struct json_object *release_data(bool in_secret, const char *packed);
/** The other way; @*out is the caller's. Unpacked it may have 64 MiB.
 * @return 0 | SW_INVALID */
int release_unpack(const char *text, size_t len, struct json_object **out,
                   struct sw_err *err) SW_CHECKED;
