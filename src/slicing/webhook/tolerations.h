#pragma once
/* Tolerations for pods that ask for an extended resource (tolerations.c). */

struct json_object;

/** What pod @spec has to tolerate by @rules (struct sw_webhook_policy) and does not yet: an array,
 * the caller's. */
struct json_object *webhook_tolerations(const char *rules, struct json_object *spec);
