#pragma once
/* check: the health check of a component of AICR, a Chainsaw test, as gates. AICR's tests have
 * no other statements than `assert` and `error` with a resource. Internal to aicr. Source:
 * NVIDIA/aicr, recipes/checks; chainsaw.kyverno.io/v1alpha1. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** Read the test @text. @file: for messages. @*out: its statements, a list of {name, resource,
 * assert, about, timeout}, the caller's: @name says step and place in it and is unique, @resource
 * has apiVersion, kind and metadata (name, namespace) of the object, @assert is what it must have,
 * and
 * @about is "one" (an object with a name), "any" or "none" (of a namespace); @timeout, how long it
 * may take to hold ("5m"), is there where the test says it.
 * @return 0 | SW_INVALID: a statement that has no counterpart, a wrong expression or time */
int sw_aicr_check_read(const char *file, const char *text, size_t len_bytes,
                       struct json_object **out, struct sw_err *err) SW_CHECKED;
/** The manifest by which a statement is a gate of its state: the object observed, or what is said
 * of all objects of its kind. @ns: the namespace where the statement names none. The caller's. */
struct json_object *sw_aicr_check_manifest(struct json_object *statement,
                                           const char *ns) SW_CHECKED;
