"""relay.py PORT TO-PORT PORT-FILE [BYTES]: from a port of loopback (0: any) to another one, until it is killed: then
all of its connections are cut. After so many BYTES from clients it lets nothing through for seven seconds."""
import socket, sys, threading, time

left = int(sys.argv[4]) if len(sys.argv) > 4 else None
silence = threading.Lock()


def pass_on(n):
    """Whoever comes while one sleeps waits, too."""
    global left
    with silence:
        if left is not None and n:
            left -= n
            if left < 0:
                left = None
                time.sleep(7)


def pump(a, b, is_client):
    try:
        while data := a.recv(65536):
            pass_on(len(data) if is_client else 0)
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
with open(sys.argv[3], "w") as f:
    f.write(str(server.getsockname()[1]))
while True:
    client, _ = server.accept()
    try:
        other = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    except OSError:
        client.close()
        continue
    for a, b, is_client in ((client, other, True), (other, client, False)):
        threading.Thread(target=pump, args=(a, b, is_client), daemon=True).start()
