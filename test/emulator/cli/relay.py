"""relay.py PORT TO-PORT PORT-FILE: from a port of loopback (0: any) to another one, until it is killed: then
all of its connections are cut."""
import socket, sys, threading


def pump(a, b):
    try:
        while data := a.recv(65536):
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
    for a, b in ((client, other), (other, client)):
        threading.Thread(target=pump, args=(a, b), daemon=True).start()
