#pragma once
/* kmm_check: what may stand in a Module. Each fault is told by its field. */
#include "cli/recipe/kmm.h"

/** What is read: places in messages are "FILE: Module 'NAME': spec.x[0].y". Borrowed. */
struct kmm_reader {
    const char *file;
    const char *name;
    struct json_object *spec;
    struct sw_kmm_recipe *out;
    struct sw_err *err;
};

/** Check the name and the spec, and say in @r->out what it needs and what is left out.
 * @return 0 | SW_INVALID: an unknown field, a wrong type, or a value that KMM's webhook, or an API
 * server that has its definition, refuses
 * Source: internal/webhook/module.go of kubernetes-sigs/kernel-module-management at 29c905a1, and
 * its CustomResourceDefinition. Pinned by test/emulator/cli/kmm_test.sh. */
int kmm_check(const struct kmm_reader *r) SW_CHECKED;
