/* Kubernetes' quantities and semantic versions. */
#include <string.h>

#include "data/cel/functions.h"

static struct cel_value of_quantity(struct cel_run *x, struct sw_quantity q)
{
    struct sw_quantity *kept = sw_arena_alloc(x->arena, sizeof *kept);
    *kept = q;
    return (struct cel_value){ .kind = CEL_QUANTITY, .quantity = kept };
}

struct cel_value sw_cel_to_quantity(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct sw_quantity q;
    SW_ERR(err);
    const bool valid = sw_quantity_parse(sw_cel_chars(x, args[0]), &q, &err) == 0;
    if (variant) /* isQuantity() */
        return sw_cel_bool(valid);
    if (!valid)
        return sw_cel_fail(x, "quantities must match the regular expression "
                              "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return of_quantity(x, q);
}

static struct cel_value sign(struct cel_run *x, const struct cel_value *args, int variant)
{
    const __int128 nano = args[0].quantity->nano;
    (void)x;
    (void)variant;
    return sw_cel_int((nano > 0) - (nano < 0));
}

enum { IS_INTEGER, AS_INTEGER, AS_FLOAT };

static struct cel_value convert(struct cel_run *x, const struct cel_value *args, int how)
{
    const struct sw_quantity *q = args[0].quantity;
    const bool whole = q->nano % 1000000000 == 0;
    if (how == IS_INTEGER)
        return sw_cel_bool(whole);
    if (how == AS_FLOAT)
        return (struct cel_value){ .kind = CEL_DOUBLE, .d = (double)q->nano / 1e9 };
    return whole ? sw_cel_int(sw_quantity_value(q))
                 : sw_cel_fail(x, "cannot convert value to integer");
}

/* A quantity, or whole units. */
static struct sw_quantity operand(struct cel_value v)
{
    return v.kind == CEL_INT ? sw_quantity_from_int(v.i) : *v.quantity;
}

static struct cel_value add(struct cel_run *x, const struct cel_value *args, int factor)
{
    struct sw_quantity a = *args[0].quantity, b = operand(args[1]);
    b.nano *= factor;
    sw_quantity_add(&a, &b);
    return of_quantity(x, a);
}

/* compareTo(), isGreaterThan(), isLessThan() of quantities and versions */
static struct cel_value compare(struct cel_run *x, const struct cel_value *args, int how)
{
    int order = 0;
    (void)x;
    (void)sw_cel_compare(args[0], args[1], &order);
    order = (order > 0) - (order < 0);
    return how == 0 ? sw_cel_int(order) : sw_cel_bool(order == how);
}

/* ---- versions -----------------------------------------------------------------------------------
 */

/* "1.2.3", with nothing in front; normalized, also "v1.2" and "01.2.3". */
static bool read_version(const char *text, bool normalize, struct sw_semver *out)
{
    SW_ERR(err);
    size_t dots = 0;
    const bool plain = *text >= '0' && *text <= '9';
    for (const char *at = text; *at && *at != '-' && *at != '+'; at++)
        dots += *at == '.';
    if (!normalize && (!plain || dots != 2))
        return false;
    return sw_semver_parse(text, strlen(text), out, &err) == 0;
}

/* Numbers have no zeros in front. @return which has one: "Major"; @text moves there; or NULL */
static const char *zeros_of(const char **text)
{
    static const char *const names[] = { "Major", "Minor", "Patch" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        if ((*text)[0] == '0' && (*text)[1] >= '0' && (*text)[1] <= '9')
            return names[i];
        *text += strcspn(*text, ".");
        *text += **text == '.';
    }
    return NULL;
}

/* @variant: 1: isSemver(); 2: with a second argument, whether to normalize; 3: both */
struct cel_value sw_cel_to_semver(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct sw_semver *v = sw_arena_alloc(x->arena, sizeof *v);
    const bool normalize = (variant & 2) && args[1].b;
    const char *text = sw_cel_chars(x, args[0]), *at = text;
    const bool valid = read_version(text, normalize, v);
    const char *zeros = valid && !normalize ? zeros_of(&at) : NULL;
    if (variant & 1)
        return sw_cel_bool(valid && !zeros);
    if (!valid)
        return sw_cel_fail(x, "No Major.Minor.Patch elements found");
    if (zeros)
        return sw_cel_fail(x, "%s number must not contain leading zeroes \"%.*s\"", zeros,
                           (int)strspn(at, "0123456789"), at);
    return (struct cel_value){ .kind = CEL_SEMVER, .semver = v };
}

static struct cel_value number(struct cel_run *x, const struct cel_value *args, int which)
{
    const struct sw_semver *v = args[0].semver;
    (void)x;
    return sw_cel_int((int64_t)(which == 0 ? v->major : which == 1 ? v->minor : v->patch));
}

const struct cel_function sw_cel_quantities[] = {
    { "quantity", "s>q", sw_cel_to_quantity, 0 },
    { "isQuantity", "s>b", sw_cel_to_quantity, 1 },
    { "sign", "q.>i", sign, 0 },
    { "isInteger", "q.>b", convert, IS_INTEGER },
    { "asInteger", "q.>i", convert, AS_INTEGER },
    { "asApproximateFloat", "q.>d", convert, AS_FLOAT },
    { "add", "q.q>q", add, 1 },
    { "add", "q.i>q", add, 1 },
    { "sub", "q.q>q", add, -1 },
    { "sub", "q.i>q", add, -1 },
    { "compareTo", "q.q>i", compare, 0 },
    { "isGreaterThan", "q.q>b", compare, 1 },
    { "isLessThan", "q.q>b", compare, -1 },
    { "semver", "s>v", sw_cel_to_semver, 0 },
    { "isSemver", "s>b", sw_cel_to_semver, 1 },
    { "semver", "sb>v", sw_cel_to_semver, 2 },
    { "isSemver", "sb>b", sw_cel_to_semver, 3 },
    { "major", "v.>i", number, 0 },
    { "minor", "v.>i", number, 1 },
    { "patch", "v.>i", number, 2 },
    { "compareTo", "v.v>i", compare, 0 },
    { "isGreaterThan", "v.v>b", compare, 1 },
    { "isLessThan", "v.v>b", compare, -1 },
    { 0 },
};
