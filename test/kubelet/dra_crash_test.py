"""Killed anywhere while it prepares and unprepares claims, the plugin answers as before in its next life,
and leaves nothing behind."""
import grpc

from dra import CLAIMS, DraWorld
from world import main, until

DEVICES = (("a", "gpu-0-mig-1g5gb-0"), ("b", "gpu-1-mig-2g10gb-2"))
MADE = [(0, 0, 1, 1), (1, 2, 2, 1)]


def ask(w, what, claim):
    """@return the answer; None: it died"""
    try:
        return what(claim, timeout=20)
    except grpc.RpcError:
        w.process.wait(timeout=20)
        return None


def live(w):
    """The next life, where it has died."""
    died = w.process is None or w.process.poll() is not None
    if died:
        w.stop()
        w.start()
    return died


def again(w, what, claim):
    """kubelet asks until there is no error."""
    def once():
        live(w)
        answer = ask(w, getattr(w.driver, what), claim)
        return answer if answer is not None and not answer.error else None
    return until("no error", once)


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
