#include "emulator/controllers/pod_run.h"

#include <stdlib.h>
#include <string.h>

/* Whether the command is one that people use to keep a container running. */
static bool is_endless(json_object *container)
{
    static const char *const endless[] = { "sleep infinity", "sleep inf", "tail -f /dev/null" };
    static const char *const fields[] = { "command", "args" };
    SW_AUTO_CHARS *line = sw_strdup("");
    for (size_t f = 0; f < SW_COUNT(fields); f++) {
        json_object *args = sw_json_get(container, fields[f]);
        for (size_t i = 0; i < sw_json_len(args); i++)
            sw_append(&line, "%s%s", *line ? " " : "", json_object_get_string(sw_json_at(args, i)));
    }
    for (size_t i = 0; i < SW_COUNT(endless); i++)
        if (strstr(line, endless[i]))
            return true;
    return false;
}

/* Find the first init container that fails. */
static void plan_init(struct sw_ctl *ctl, const struct sw_pod *pod, struct sw_run *run)
{
    json_object *list = sw_json_find(pod->doc, "spec", "initContainers", NULL);
    run->failing_init = -1;
    for (size_t i = 0; i < sw_json_len(list) && run->failing_init < 0; i++) {
        struct sw_pod_plan plan = { 0 };
        sw_rules_plan_pod(ctl->rules, pod->doc, sw_json_str(sw_json_at(list, i), "", "name", NULL),
                          &plan);
        /* an annotation that names no container concerns only the pod's main ones */
        if (plan.has_exit_code && plan.exit_code && plan.names_container) {
            run->failing_init = (long)i;
            run->init_exit_code = plan.exit_code;
        }
        free(plan.log);
    }
}

void sw_run_init(struct sw_ctl *ctl, const struct sw_pod *pod, struct sw_run *run)
{
    json_object *list = sw_json_find(pod->doc, "spec", "containers", NULL);
    const char *policy = sw_json_str(pod->doc, "Always", "spec", "restartPolicy", NULL);
    *run = (struct sw_run){ .n_plans = sw_json_len(list) };
    run->plans = sw_zalloc(run->n_plans + 1, sizeof *run->plans);
    plan_init(ctl, pod, run);
    for (size_t i = 0; i < run->n_plans; i++) {
        struct sw_pod_plan *plan = &run->plans[i];
        json_object *container = sw_json_at(list, i);
        sw_rules_plan_pod(ctl->rules, pod->doc, sw_json_str(container, "", "name", NULL), plan);
        if (!plan->has_run) /* neither an annotation nor a rule says how long it runs */
            plan->run_ms = !plan->has_exit_code &&
                                   (sw_streq(policy, "Always") || is_endless(container))
                               ? -1
                               : ctl->delays.job_run_ms;
        run->never_ready |= plan->never_ready;
        if (plan->run_ms < 0)
            continue;
        run->ends = true;
        run->run_ms = plan->run_ms > run->run_ms ? plan->run_ms : run->run_ms;
        if (plan->exit_code > run->worst_exit_code)
            run->worst_exit_code = plan->exit_code;
    }
    run->restarts = sw_streq(policy, "Always") ||
                    (sw_streq(policy, "OnFailure") && run->worst_exit_code);
}

void sw_run_done(struct sw_run *run)
{
    for (size_t i = 0; i < run->n_plans; i++)
        free(run->plans[i].log);
    free(run->plans);
    *run = (struct sw_run){ 0 };
}
