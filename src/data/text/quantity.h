#pragma once
/* quantity: Kubernetes' resource quantities: "100m", "1Gi", "2e3", "1.5". The value is held in
 * nano-units in 128 bits; a finer value is rounded up, as in Kubernetes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"

/** The family of suffixes that a quantity is printed with. */
enum sw_quantity_format {
    SW_QUANTITY_DECIMAL_SI,  /* m, k, M, G, T, P, E */
    SW_QUANTITY_BINARY_SI,   /* Ki, Mi, Gi, Ti, Pi, Ei */
    SW_QUANTITY_DECIMAL_EXP, /* e3, E6 */
};

/** A resource quantity; a plain value. */
struct sw_quantity {
    __int128 nano;
    enum sw_quantity_format format; /* how it is printed */
};

/** Parse a quantity. A value above 2^63-1 units is limited to that, as in Kubernetes.
 * @return 0 | SW_INVALID
 * Source: k8s.io/apimachinery/pkg/api/resource. Pinned by test/unit/data/data_quantity_test.c. */
int sw_quantity_parse(const char *text, struct sw_quantity *out, struct sw_err *err) SW_CHECKED;
/** Read a field's value: a string or a number. @return 0 | SW_INVALID */
int sw_quantity_from_json(struct json_object *value, struct sw_quantity *out,
                          struct sw_err *err) SW_CHECKED;

/** Compare two quantities by value. @return <0, 0, >0 */
int sw_quantity_cmp(const struct sw_quantity *a, const struct sw_quantity *b);
/** Add @b to @a. @a keeps its format, unless it is zero: then it takes the format of @b. */
void sw_quantity_add(struct sw_quantity *a, const struct sw_quantity *b);
/** The quantity of @units whole units. */
struct sw_quantity sw_quantity_from_int(int64_t units);

/** The value in units, rounded up and limited to 64 bits. */
int64_t sw_quantity_value(const struct sw_quantity *q);
/** The value in thousandths of a unit, rounded up and limited to 64 bits. */
int64_t sw_quantity_milli(const struct sw_quantity *q);

/** The canonical text: the largest suffix that needs no fraction. @return @buf */
char *sw_quantity_text(const struct sw_quantity *q, char buf[static 64]);
