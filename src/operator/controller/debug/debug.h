#pragma once
/* debug: what spec.debug writes to the log. */

struct json_object;

/** A copy of @doc without what looks like a secret; the caller's. */
struct json_object *debug_redacted(struct json_object *doc);
