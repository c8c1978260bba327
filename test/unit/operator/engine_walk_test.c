/* Walks of small recipes on a simulated cluster: what each row of the table is for. Chapter by
 * chapter in engine_walk/; last, that no row was left out. */
#include "unit/operator/engine_walk/changes.h"
#include "unit/operator/engine_walk/end.h"
#include "unit/operator/engine_walk/faults.h"
#include "unit/operator/engine_walk/gates.h"
#include "unit/operator/engine_walk/late.h"
#include "unit/operator/engine_walk/nodes.h"

#include "operator/engine/transitions.h"

static void every_row_was_taken(void **state)
{
    (void)state;
    bool all = true;
    for (size_t i = 0; i < table_n_rows; i++) {
        if (table_taken[i])
            continue;
        all = false;
        print_message("row not taken: %s, %s -> %s\n", phase_name(table_rows[i].in),
                      signal_name(table_rows[i].on), phase_name(table_rows[i].to));
    }
    assert_true(all);
}

static void every_phase_is_entered_and_left(void **state)
{
    (void)state;
    for (enum phase p = 0; p < PH_COUNT; p++) {
        bool entered = p == PH_RENDERING, left = false;
        for (size_t i = 0; i < table_n_rows; i++) {
            entered = entered || table_rows[i].to == p;
            left = left || table_rows[i].in == p;
            assert_non_null(table_rows[i].why);
        }
        assert_true(entered);
        assert_true(left);
        assert_non_null(phase_name(p));
    }
}

static void no_row_is_hidden_by_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < table_n_rows; i++)
        for (size_t k = 0; k < i; k++)
            if (table_rows[i].in == table_rows[k].in && table_rows[i].on == table_rows[k].on)
                fail_msg("%s %s has two rows", phase_name(table_rows[i].in),
                         signal_name(table_rows[i].on));
}

static void every_signal_is_used_and_explained(void **state)
{
    (void)state;
    for (enum signal g = 0; g < SG_COUNT; g++) {
        bool used = false;
        for (size_t i = 0; i < table_n_rows; i++)
            used = used || table_rows[i].on == g;
        assert_true(used);
        assert_non_null(signal_name(g));
    }
}

static const struct CMUnitTest table_tests[] = {
    cmocka_unit_test(every_row_was_taken),
    cmocka_unit_test(every_phase_is_entered_and_left),
    cmocka_unit_test(no_row_is_hidden_by_another),
    cmocka_unit_test(every_signal_is_used_and_explained),
};

int main(void)
{
    int failed = cmocka_run_group_tests(gates_tests, NULL, NULL);
    failed += cmocka_run_group_tests(late_tests, NULL, NULL);
    failed += cmocka_run_group_tests(nodes_tests, NULL, NULL);
    failed += cmocka_run_group_tests(changes_tests, NULL, NULL);
    failed += cmocka_run_group_tests(faults_tests, NULL, NULL);
    failed += cmocka_run_group_tests(end_tests, NULL, NULL);
    /* the last: it looks at what the others have taken */
    failed += cmocka_run_group_tests(table_tests, NULL, NULL);
    return failed;
}
