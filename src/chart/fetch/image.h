#pragma once
/* image: a question to an image registry, asked by the helper. */
#include <stddef.h>

struct json_object;

/** Ask @lookup (chart/registry/lookup.h) in this process, which waits. What sw_reach_enforce() lets
 * be reached is widened by the places that the cluster's settings name. @*answer and @*bytes are
 * the caller's. */
void fetch_image(struct json_object *lookup, struct json_object **answer, char **bytes,
                 size_t *len);
