#include "data/cel/functions.h"

#include <string.h>

#include "data/cel/types.h"

static const struct cel_function *const libraries[] = {
    sw_cel_operators, sw_cel_conversions, sw_cel_strings,     sw_cel_times,      sw_cel_lists,
    sw_cel_sequences, sw_cel_optionals,   sw_cel_regexes,     sw_cel_quantities, sw_cel_networks,
    sw_cel_urls,      sw_cel_formats,     sw_cel_authorizers, sw_cel_patches,
};

size_t sw_cel_overloads(const char *name, bool method, size_t n, const struct cel_function **out,
                        size_t room, bool *any)
{
    size_t found = 0;
    for (size_t i = 0; i < SW_COUNT(libraries); i++) {
        for (const struct cel_function *f = libraries[i]; f->name; f++) {
            if (strcmp(f->name, name) != 0)
                continue;
            *any = true;
            if ((strchr(f->signature, '.') != NULL) != method ||
                sw_cel_signature_kinds(f->signature, NULL, 0) != n || found == room)
                continue;
            out[found++] = f;
        }
    }
    return found;
}

bool sw_cel_is_operator(const char *name)
{
    return name[0] == '@' || strchr(name, '_') == name || sw_starts_with(name, "!_") ||
           sw_starts_with(name, "-_");
}
