#include "chart/template/lang/function.h"

#include <string.h>

void sw_func_index_add(struct func_index *index, const struct func *rows)
{
    for (const struct func *f = rows; f->name; f++) {
        uint32_t slot = sw_name_hash(f->name, strlen(f->name)) % SW_FUNC_SLOTS;
        while (index->slots[slot] && strcmp(index->slots[slot]->name, f->name) != 0)
            slot = (slot + 1) % SW_FUNC_SLOTS;
        if (!index->slots[slot])
            index->slots[slot] = f;
    }
}

const struct func *sw_func_find(const struct func_index *index, const char *name, size_t len)
{
    uint32_t slot = sw_name_hash(name, len) % SW_FUNC_SLOTS;
    for (; index->slots[slot]; slot = (slot + 1) % SW_FUNC_SLOTS) {
        const struct func *f = index->slots[slot];
        if (strncmp(f->name, name, len) == 0 && f->name[len] == '\0')
            return f;
    }
    return NULL;
}

const char *sw_param_type_name(char param)
{
    switch (param) {
    case 'v':
        return "interface {}";
    case 'r':
        return "reflect.Value";
    case 's':
        return "string";
    case 'b':
        return "bool";
    case 'i':
        return "int";
    case 'I':
        return "int64";
    case 'f':
        return "float64";
    case 'm':
        return "map[string]interface {}";
    case 'l':
        return "[]interface {}";
    case 'S':
        return "[]string";
    case 'y':
        return "[]uint8";
    case 't':
        return "time.Time";
    case 'd':
        return "time.Duration";
    case 'M':
        return "time.Month";
    case 'V':
        return "chartutil.Values";
    case 'x':
        return "*semver.Version";
    case 'u':
        return "uint32";
    case 'c':
        return "sprig.certificate";
    default:
        return "?";
    }
}

void sw_func_signature(struct text *out, const struct func *f)
{
    bool variadic;
    size_t fixed = sw_func_arity(f, &variadic);
    sw_text_char(out, '(');
    for (size_t i = 0; i < fixed + variadic; i++) {
        if (i > 0)
            sw_text_puts(out, ", ");
        if (i == fixed)
            sw_text_puts(out, "...");
        sw_text_puts(out, sw_param_type_name(f->params[i]));
    }
    sw_text_char(out, ')');
}
