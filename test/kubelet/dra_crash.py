"""kubelet, which asks again where the plugin has died."""
import grpc

from world import until


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
