#include "chart/template/lang/exec.h"
#include "chart/template/lang/function.h"
#include "chart/template/value/object.h"
#include "data/go/strconv.h"

static const struct func *method_of(const struct exec *x, struct sw_value v,
                                    const struct name *name)
{
    if (name->s[0] < 'A' || name->s[0] > 'Z') /* others are not exported in Go */
        return NULL;
    const struct func *f = v.type == SW_T_OBJECT ? v.as.object->type->methods
                                                 : x->funcs->methods[v.type];
    for (; f && f->name; f++) {
        if (f->name[0] == name->s[0] && sw_is_text(name->s, name->len, f->name))
            return f;
    }
    return NULL;
}

static const char *type_name(struct sw_value v)
{
    return v.extra & SW_V_IFACE || v.type == SW_T_NIL ? "interface {}" : sw_value_type_name(v);
}

int sw_eval_field(struct exec *x, struct sw_value dot, const struct name *name,
                  const struct node *node, struct node *const *args, size_t n_args,
                  const struct sw_value *final, struct sw_value receiver, struct sw_value *out)
{
    bool has_args = n_args > 1 || final;
    if (receiver.type == SW_T_INVALID) {
        if (x->opts.strict)
            return sw_exec_fail(x, "nil data; no entry for key %s",
                                sw_quoted(x->arena, name->s, name->len));
        *out = receiver;
        return 0;
    }
    if (receiver.type == SW_T_NIL)
        return sw_exec_fail(x, "nil pointer evaluating interface {}.%.*s", (int)name->len, name->s);
    const struct func *method = method_of(x, receiver, name);
    if (method)
        return sw_eval_call(x, dot, method, method->name, node, args, n_args, final, receiver, out);
    if (sw_kind(receiver) == SW_K_MAP) {
        if (has_args)
            return sw_exec_fail(x, "%.*s is not a method but has arguments", (int)name->len,
                                name->s);
        const struct sw_value *found = sw_map_find_hashed(receiver.as.map, name->s, name->len,
                                                          name->hash);
        if (!found && x->opts.strict)
            return sw_exec_fail(x, "map has no entry for key %s",
                                sw_quoted(x->arena, name->s, name->len));
        *out = found ? *found : sw_value_zero_elem(receiver);
        if (sw_types[receiver.type].elem == SW_T_NIL)
            out->extra |= SW_V_IFACE;
        return 0;
    }
    if (receiver.type == SW_T_OBJECT) {
        const struct sw_value *field = sw_object_field(receiver.as.object, name->s, name->len);
        if (field && has_args)
            return sw_exec_fail(x, "%.*s has arguments but cannot be invoked as function",
                                (int)name->len, name->s);
        if (field) {
            *out = *field;
            return 0;
        }
        const struct sw_object_type *type = receiver.as.object->type;
        for (size_t i = 0; i < type->n_fields; i++) {
            if (sw_is_text(name->s, name->len, type->fields[i].name))
                return sw_exec_fail(x, "%.*s is an unexported field of struct type %s",
                                    (int)name->len, name->s, type_name(receiver));
        }
    }
    return sw_exec_fail(x, "can't evaluate field %.*s in type %s", (int)name->len, name->s,
                        type_name(receiver));
}
