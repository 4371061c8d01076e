# Plays systemd for one service: binds the sockets that it hands over, from descriptor 3 on, listens where the service says
# that it is ready, and starts it in a process of its own. Says what it hears, a line of JSON each; what comes on standard input
# is the name of a signal for the service.
#
#   systemd.py NOTIFY NAME=WHERE ... -- COMMAND...
#
# NOTIFY is a path, or @NAME for an abstract address. WHERE is a path, or a TCP port of this machine.

import json, os, signal, socket, sys, threading

def say(**what):
    print(json.dumps(what), flush=True)

def bound(where):
    if where.isdigit():
        listener = socket.create_server(("127.0.0.1", int(where)))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
        os.chmod(where, 0o600)
        listener.listen(16)
    return listener

split = sys.argv.index("--")
address, sockets, command = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
names = [one.split("=")[0] for one in sockets]
listeners = [bound(one.split("=", 1)[1]) for one in sockets]
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind("\0" + address[1:] if address.startswith("@") else address)
say(ports=[one.getsockname()[1] for one in listeners if one.family == socket.AF_INET])

child = os.fork()
if child == 0:
    # Out of the way of the numbers that they are to have.
    high = [os.dup2(one.fileno(), 100 + at) for at, one in enumerate(listeners)]
    for at, fd in enumerate(high):
        os.dup2(fd, 3 + at)
    os.closerange(3 + len(high), 256)
    environment = dict(os.environ, NOTIFY_SOCKET=address)
    if names:
        environment.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(names)), LISTEN_FDNAMES=":".join(names))
    os.execvpe(command[0], command, environment)

def hear():
    while True:
        for line in notify.recv(4096).decode().splitlines():
            say(notified=line)

def obey():
    for line in sys.stdin:
        os.kill(child, signal.Signals[line.strip()])

for work in (hear, obey):
    threading.Thread(target=work, daemon=True).start()
say(pid=child)
status = os.waitpid(child, 0)[1]
say(ended=os.waitstatus_to_exitcode(status))
