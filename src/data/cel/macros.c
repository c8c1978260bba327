/* Macros: has(), the loops over lists and maps, optMap(). */
#include <string.h>

#include "data/cel/ast.h"

static const struct {
    const char *name;
    enum cel_loop loop;
    size_t n;      /* arguments */
    size_t vars;   /* of these are names */
    bool filtered; /* a condition comes before the result */
} loops[] = {
    { "all", CEL_ALL, 2, 1, false },
    { "exists", CEL_EXISTS, 2, 1, false },
    { "exists_one", CEL_EXISTS_ONE, 2, 1, false },
    { "map", CEL_MAP_LIST, 2, 1, false },
    { "map", CEL_MAP_LIST, 3, 1, true },
    { "filter", CEL_FILTER, 2, 1, false },
    { "sortBy", CEL_SORT_BY, 2, 1, false },
    { "optMap", CEL_OPT_MAP, 2, 1, false },
    { "optFlatMap", CEL_OPT_FLAT_MAP, 2, 1, false },
    { "all", CEL_ALL, 3, 2, false },
    { "exists", CEL_EXISTS, 3, 2, false },
    { "exists_one", CEL_EXISTS_ONE, 3, 2, false },
    { "existsOne", CEL_EXISTS_ONE, 3, 2, false },
    { "transformList", CEL_TRANSFORM_LIST, 3, 2, false },
    { "transformList", CEL_TRANSFORM_LIST, 4, 2, true },
    { "transformMap", CEL_TRANSFORM_MAP, 3, 2, false },
    { "transformMap", CEL_TRANSFORM_MAP, 4, 2, true },
    { "transformMapEntry", CEL_TRANSFORM_ENTRY, 3, 2, false },
    { "transformMapEntry", CEL_TRANSFORM_ENTRY, 4, 2, true },
};

static struct cel_node *expand_has(struct sw_cel *cel, struct cel_node *call)
{
    struct cel_node *of = call->args[0];
    if (of->kind != CEL_SELECT || of->has || of->optional) {
        sw_cel_problem(cel, of->at, "invalid argument to has() macro");
        return call;
    }
    of->has = true;
    return of;
}

static struct cel_node *expand_loop(struct sw_cel *cel, struct cel_node *call, size_t row)
{
    for (size_t i = 0; i < loops[row].vars; i++) {
        if (call->args[1 + i]->kind != CEL_IDENT) {
            sw_cel_problem(cel, call->args[1 + i]->at, "argument is not an identifier");
            return call;
        }
        call->vars[i] = call->args[1 + i]->name;
    }
    call->kind = CEL_LOOP;
    call->loop = loops[row].loop;
    size_t at = 1 + loops[row].vars;
    if (loops[row].filtered)
        call->condition = call->args[at++];
    call->result = call->args[at];
    call->n = 1;
    return call;
}

struct cel_node *sw_cel_expand(struct sw_cel *cel, struct cel_node *call)
{
    if (!call->method)
        return sw_streq(call->name, "has") && call->n == 1 ? expand_has(cel, call) : call;
    for (size_t i = 0; i < SW_COUNT(loops); i++)
        if (sw_streq(loops[i].name, call->name) && loops[i].n + 1 == call->n)
            return expand_loop(cel, call, i);
    return call;
}
