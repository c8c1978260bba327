"""Killed anywhere while it prepares and unprepares claims, the plugin answers as before in its next life,
and leaves nothing behind."""
from dra import CLAIMS, DraWorld
from dra_crash import again, live
from world import main, until

DEVICES = (("a", "gpu-0-mig-1g5gb-0"), ("b", "gpu-1-mig-2g10gb-2"))
MADE = [(0, 0, 1, 1), (1, 2, 2, 1)]


def killed_before_each_action(api):
    """of prepare, then of unprepare; kubelet asks again"""
    w = DraWorld(api, start=False)
    n, died = 0, True
    while died:
        n += 1
        claim = w.resource_claim("claim-%d" % n, *DEVICES)
        w.start(env={"SLIPWAY_TEST_DIE_AT": str(n)})
        first = w.process
        answer = again(w, "prepare", claim)
        assert len(answer.devices) == 3 and sorted(w.gpus()) == MADE and len(w.cdi()) == 1
        assert again(w, "prepare", claim) == answer
        again(w, "unprepare", claim)
        until("nothing left", w.nothing_left)
        again(w, "unprepare", claim)
        died = w.process is not first or live(w)
        w.stop()
        api.delete(CLAIMS + "/claim-%d" % n)
    assert n > 12, n
    print("# %d actions" % (n - 1))
    w.close()


def killed_inside_each_call_of_nvml(api):
    w = DraWorld(api)
    for call in ("gi_create", "ci_create", "mig_by_index", "ci_destroy", "gi_destroy"):
        claim = w.resource_claim("claim-" + call.replace("_", "-"), *DEVICES)
        w.fail("%s die" % call)
        first = w.process
        again(w, "prepare", claim)
        assert sorted(w.gpus()) == MADE
        again(w, "unprepare", claim)
        until("nothing left", w.nothing_left)
        assert w.process is not first or call == "mig_by_index", call
        w.fail()
    w.close()


main([killed_before_each_action, killed_inside_each_call_of_nvml], version="1.36")
