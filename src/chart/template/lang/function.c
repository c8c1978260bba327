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

const struct func_param sw_func_params[128] = {
    ['v'] = { "interface {}", SW_T_NIL, true },
    ['r'] = { "reflect.Value", SW_T_NIL, true },
    ['s'] = { "string", SW_T_STRING, false },
    ['b'] = { "bool", SW_T_BOOL, false },
    ['i'] = { "int", SW_T_INT, false },
    ['I'] = { "int64", SW_T_INT64, false },
    ['f'] = { "float64", SW_T_FLOAT64, false },
    ['m'] = { "map[string]interface {}", SW_T_MAP, true },
    ['l'] = { "[]interface {}", SW_T_LIST, true },
    ['S'] = { "[]string", SW_T_STRINGS, true },
    ['y'] = { "[]uint8", SW_T_BYTES, true },
    ['t'] = { "time.Time", SW_T_OBJECT, false },
    ['d'] = { "time.Duration", SW_T_DURATION, false },
    ['M'] = { "time.Month", SW_T_MONTH, false },
    ['x'] = { "*semver.Version", SW_T_OBJECT, true },
    ['u'] = { "uint32", SW_T_UINT32, false },
    ['c'] = { "sprig.certificate", SW_T_OBJECT, false },
};
