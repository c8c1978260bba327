#pragma once
/* quantity: Kubernetes' amounts of resources: "100m", "1Gi", "2e3", "1.5". Held exactly, in
 * nano-units, in 128 bits; what is finer is rounded up, as Kubernetes does. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"

enum sw_quantity_format {
    SW_QUANTITY_DECIMAL_SI,  /* m, k, M, G, T, P, E */
    SW_QUANTITY_BINARY_SI,   /* Ki, Mi, Gi, Ti, Pi, Ei */
    SW_QUANTITY_DECIMAL_EXP, /* e3, E6 */
};

struct sw_quantity {
    __int128 nano;
    enum sw_quantity_format format; /* how it is printed */
};

/** @return 0 | SW_INVALID. More than 2^63-1 units is cut down to that, as Kubernetes does.
 * Source: k8s.io/apimachinery/pkg/api/resource. Pinned by test/unit/data/data_quantity_test.c. */
int sw_quantity_parse(const char *text, struct sw_quantity *out, struct sw_err *err) SW_CHECKED;
/** A field's value: a string or a number. */
int sw_quantity_from_json(struct json_object *value, struct sw_quantity *out,
                          struct sw_err *err) SW_CHECKED;

/** <0, 0, >0. */
int sw_quantity_cmp(const struct sw_quantity *a, const struct sw_quantity *b);
/** @a += @b, -= @b; the format stays @a's (zero takes @b's). */
void sw_quantity_add(struct sw_quantity *a, const struct sw_quantity *b);
void sw_quantity_sub(struct sw_quantity *a, const struct sw_quantity *b);
struct sw_quantity sw_quantity_from_int(int64_t units);

/** In units and thousandths, rounded up, cut down to 64 bits. */
int64_t sw_quantity_value(const struct sw_quantity *q);
int64_t sw_quantity_milli(const struct sw_quantity *q);

/** Canonical text: no fraction, the largest suffix that allows it. @buf holds 64 bytes. */
char *sw_quantity_text(const struct sw_quantity *q, char buf[static 64]);
