#include "chart/recipe/plan/cycle.h"

#include <stdlib.h>

struct sw_needs sw_needs_init(size_t cap)
{
    return (struct sw_needs){ sw_zalloc(cap * cap + 1, sizeof(bool)), cap, cap };
}

void sw_needs_done(struct sw_needs *needs)
{
    free(needs->needs);
    *needs = (struct sw_needs){ 0 };
}

void sw_needs_add(struct sw_needs *needs, size_t i, size_t j)
{
    needs->needs[i * needs->cap + j] = true;
}

bool sw_needs_has(const struct sw_needs *needs, size_t i, size_t j)
{
    return needs->needs[i * needs->cap + j];
}

/* Each that is not done needs another that is not: following needs ends in a cycle.
 * @return its length; it is in @cycle, each needing the next and the last the first */
static size_t find_cycle(const struct sw_needs *needs, const bool *done, size_t *cycle)
{
    size_t *visited_at = sw_zalloc(needs->n, sizeof *visited_at); /* step + 1 */
    size_t at = 0, steps = 0;
    while (done[at])
        at++;
    while (!visited_at[at]) {
        cycle[steps] = at;
        visited_at[at] = ++steps;
        size_t next = 0;
        while (done[next] || !sw_needs_has(needs, at, next))
            next++;
        at = next;
    }
    size_t first = visited_at[at] - 1;
    for (size_t i = first; i < steps; i++)
        cycle[i - first] = cycle[i];
    free(visited_at);
    return steps - first;
}

/* @return false: there is none; order[0..*n_cycle) is a cycle */
static bool find_order(const struct sw_needs *needs, size_t *order, size_t *n_cycle)
{
    size_t n = needs->n, n_done = 0, i = 0;
    bool *done = sw_zalloc(n + 1, sizeof *done);
    size_t *open = sw_zalloc(n + 1, sizeof *open); /* needs that are not done */
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            open[k] += sw_needs_has(needs, k, j);
    while (i < n) {
        if (done[i] || open[i]) {
            i++;
            continue;
        }
        done[i] = true;
        order[n_done++] = i;
        size_t next = i;
        for (size_t k = n; k-- > 0;)
            if (sw_needs_has(needs, k, i) && --open[k] == 0 && k < next)
                next = k;
        i = next;
    }
    if (n_done < n)
        *n_cycle = find_cycle(needs, done, order);
    free(done);
    free(open);
    return n_done == n;
}

int sw_needs_sort(const struct sw_needs *needs, const char *const *names, size_t *order,
                  struct sw_err *err)
{
    size_t n_cycle = 1;
    if (find_order(needs, order, &n_cycle))
        return 0;
    SW_AUTO_CHARS *text = sw_strdup("cycle: ");
    for (size_t i = 0; i <= n_cycle; i++)
        sw_append(&text, "%s%s", i ? " -> " : "", names[order[i % n_cycle]]);
    return sw_err_set(err, SW_INVALID, "%s", text);
}
