"""The cases by name, each with the test that keeps it right."""

from benchmarks.holes import inputs, model_files, runs

CHECKS = "tests/unit/estimators/test_model_checks.py"
ENCODED = "tests/unit/structures/test_encoded_files.py"
BROKEN = "tests/unit/estimators/test_inputs_broken.py"
FAULTS = "tests/unit/estimators/test_checkpoint_faults.py"
STAYS = "tests/unit/engines/test_processes.py::test_no_worker_and_no_data_stay_behind"
LAYOUTS = f"{CHECKS}::test_layouts_are_those_of_the_labels"
CASES = {  # name: (case, test)
    "a model file names a server": (
        model_files.server_in_a_file, f"{CHECKS}::test_no_file_sets_an_engine"),
    "a model inside a model file names a server": (
        model_files.server_in_an_estimator_inside,
        f"{CHECKS}::test_no_file_sets_an_engine_of_an_estimator_inside"),
    "pickles in a model file": (
        model_files.pickles_in_a_file, f"{CHECKS}::test_files_hold_no_pickles"),
    "layout.bias = 10**9": (
        model_files.chain_field(lambda v: v["layout"]["v"].update(bias=10**9)), LAYOUTS),
    "layout.bias = 200": (
        model_files.chain_field(lambda v: v["layout"]["v"].update(bias=200)), LAYOUTS),
    "a column beyond the vocabulary": (
        model_files.chain_field(lambda v: v["names"]["v"][0].__setitem__(1, 10**8)), LAYOUTS),
    "a window of 200": (model_files.chain_field(lambda v: v.update(window=200)), LAYOUTS),
    "edges of a network at 10**9": (
        model_files.network_layout, f"{CHECKS}::test_other_structures_check_themselves"),
    "rules for 10**9 labels": (
        model_files.grammar_rules, f"{CHECKS}::test_other_structures_check_themselves"),
    "an encoded folder with an index of -1000000": (
        inputs.index_in_a_folder, f"{ENCODED}::test_indices_out_of_range_are_refused"),
    "an encoding that is killed": (
        inputs.killed_encoding, f"{ENCODED}::test_an_encoding_that_fails_leaves_the_old_one"),
    "a CSR matrix with an index out of range": (
        inputs.sparse_matrix, f"{BROKEN}::test_classes"),
    "psi of an own structure that is too long": (
        inputs.longer_psi, f"{BROKEN}::test_own_features_of_another_length_are_refused"),
    "a negative loss of an own structure": (
        inputs.negative_loss,
        f"{BROKEN}::test_negative_losses_are_refused_where_argmax_is_right"),
    **{f"{name} ends the parent of workers": (runs.parent_ends(name), STAYS)
       for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")},
    "the folder of a checkpoint vanishes": (
        runs.vanished_folder, f"{FAULTS}::test_no_fault_loses_training"),
    "two runs on one checkpoint": (
        runs.two_runs, f"{FAULTS}::test_a_second_run_on_a_live_checkpoint_is_refused"),
    "Ctrl-C in the first minute": (
        runs.ctrl_c, f"{FAULTS}::test_a_signal_in_the_first_minute_leaves_a_checkpoint"),
    "a scalar of two gigabytes": (
        model_files.absurd_scalar,
        f"{CHECKS}::test_a_scalar_takes_no_more_memory_than_its_text"),
    "an array of 160 MB": (model_files.large_array, f"{CHECKS}::test_an_array_is_read_once"),
    "a motif of order 100000": (
        model_files.motif_of_a_huge_order,
        f"{CHECKS}::test_a_motif_of_a_huge_order_is_refused_at_once"),
    "import without a home": (
        runs.no_home,
        "tests/unit/core/compiled/test_machine_code.py::test_loops_run_without_a_home"),
}  # fmt: skip
