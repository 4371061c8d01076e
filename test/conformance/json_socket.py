"""The JSON socket of docs/guide/daemon.md: a little-endian length, and an object with a `type`."""

import json
import os
import socket
import struct

from statements import Statements

MAX_FRAME = 16 * 1024 * 1024
TIMEOUT = 30


class Closed(Exception):
    pass


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(path)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def raw(self, payload):
        self.socket.sendall(struct.pack("<I", len(payload)) + payload)

    def say(self, kind, **fields):
        self.raw(json.dumps({"type": kind, **fields}).encode())

    def take(self, size):
        while len(self.buffer) < size:
            try:
                piece = self.socket.recv(65536)
            except ConnectionError:
                raise Closed() from None
            if not piece:
                raise Closed()
            self.buffer += piece
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def hear(self, kind):
        (size,) = struct.unpack("<I", self.take(4))
        assert size <= MAX_FRAME, f"a frame of {size} bytes"
        reply = json.loads(self.take(size))
        assert reply["type"] == kind, reply
        return reply

    def ask(self, answer, kind, **fields):
        self.say(kind, **fields)
        return self.hear(answer)

    def refused(self, code):
        reply = self.hear("Error")
        assert reply["code"] == code and reply["message"], reply
        return reply["message"]

    def ended(self):
        try:
            raise AssertionError(f"it goes on with {self.take(1)}")
        except Closed:
            pass

    def run(self, session, content):
        """The events of one run."""
        self.say("UserInput", session_id=session, content=content)
        events = []
        while not events or events[-1]["type"] != "runEnd":
            said = self.hear("Event")
            assert said["session_id"] == session, said
            events.append(said["event"])
        return events


class Daemon:
    def __init__(self, path):
        self.path = path

    def connect(self):
        return Connection(self.path)


STATEMENTS = statement = Statements()


@statement("a ping is answered")
def _(daemon):
    with daemon.connect() as to:
        to.ask("Pong", "Ping")


@statement("what is no request has one error 400, and the connection goes on")
def _(daemon):
    with daemon.connect() as to:
        for payload in (
            b"",
            b"{",
            b"[]",
            b"7",
            b"null",
            b"{}",
            b'{"type":"Nothing"}',
            b'{"type":"__proto__"}',
            b'{"type":"toString"}',
            b'{"type":7}',
            b'{"type":"Ping","type":"Ping"}',
            b'{"type":"Ping","x":"\\ud800"}',
            b'{"type":"Ping","x":NaN}',
            b'{"type":"Ping","x":%s}' % (b"[" * 64 + b"]" * 64),
            b"[" * 100_000,
            b"\xff\xfe",
            b'{"type":"Detach"}',
            b'{"type":"Attach","session_id":7}',
            b'{"type":"UserInput","session_id":"x","content":{}}',
        ):
            to.raw(payload)
            to.refused(400)
        to.ask("Pong", "Ping", later={"a": [1]})


@statement("what is not there is refused with 404")
def _(daemon):
    with daemon.connect() as to:
        for kind, fields in (("Detach", {}), ("KillSession", {}), ("UserInput", {"content": "x"})):
            to.say(kind, session_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", **fields)
            to.refused(404)


@statement("a frame of more than 16 MiB has one error 413, and the connection ends; one of 16 MiB is taken")
def _(daemon):
    for length in (struct.pack("<I", MAX_FRAME + 1), b"\xff" * 4):
        with daemon.connect() as to:
            to.socket.sendall(length)
            to.refused(413)
            to.ended()
    with daemon.connect() as to:
        to.raw(b'{"type":"Ping"}'.ljust(MAX_FRAME))
        to.hear("Pong")


@statement("whoever speaks the binary form, HTTP or TLS is told so")
def _(daemon):
    for spoken, word in ((b"\x00\x00\x00\x02\x1a\x00", "daemon.sock"), (b"GET / HTTP/1.1\r\n\r\n", "HTTP"), (b"\x16\x03\x01\x02\x00\x01", "TLS")):
        with daemon.connect() as to:
            to.socket.sendall(spoken)
            message = to.refused(413)
            assert word in message, message
            to.ended()


@statement("a frame may come in pieces, and several at once")
def _(daemon):
    with daemon.connect() as to:
        frame = struct.pack("<I", 15) + b'{"type":"Ping"}'
        for byte in frame:
            to.socket.sendall(bytes([byte]))
        to.hear("Pong")
        to.socket.sendall(frame * 20)
        for _ in range(20):
            to.hear("Pong")


@statement("a session is made, spoken in, left, found again by its id, and ended; the file stays")
def _(daemon):
    with daemon.connect() as to:
        session = to.ask("Attached", "Attach", working_dir=os.path.expanduser("~"))["session_id"]
        events = to.run(session, "Say one short sentence.")
        assert any(event["type"] == "contentDelta" for event in events), events
        (listed,) = [one for one in to.ask("Sessions", "ListSessions")["list"] if one["session_id"] == session]
        assert listed["attached"] and not listed["running"] and listed["created_at"] > 0, listed
        to.ask("Pong", "Detach", session_id=session)
    with daemon.connect() as to, daemon.connect() as other:
        for one in (to, other):
            assert one.ask("Attached", "Attach", session_id=session)["session_id"] == session
        events = to.run(session, "Say another one.")
        assert [other.hear("Event")["event"] for _ in events] == events, "the order differs"
        other.ask("Pong", "KillSession", session_id=session)
        assert session not in [one["session_id"] for one in other.ask("Sessions", "ListSessions")["list"]]
    with daemon.connect() as to:
        assert to.ask("Attached", "Attach", session_id=session)["session_id"] == session
        to.ask("Pong", "KillSession", session_id=session)
