"""Holds a Crab daemon against docs/wire: an independent client, written from that page alone, with the standard library.

    python3 conformance.py ADDRESS [--token=TOKEN] [--agent=NAME] [--ca=FILE]

ADDRESS is the path of a Unix socket or HOST:PORT, where frames of Protocol Buffers are spoken; ws:// or wss://, where
JSON-RPC is; or json:PATH, the JSON socket of docs/guide/daemon.md. It asks the agent two short questions, which cost what they cost.
Each line of output is one statement of the page and whether it holds; the exit status is 0 when all do.
"""

import json
import os
import socket
import struct
import sys
import threading

import json_socket
import web_socket
from statements import Statements, judge

MAX_FRAME = 16 * 1024 * 1024
TIMEOUT = 30

# --- Protocol Buffers, as far as the page names them: varints, texts, messages ------------------------------------


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def fields(raw):
    """Field number to the list of its values: integers, or bytes."""
    found, at = {}, 0
    while at < len(raw):
        tag, at = read_varint(raw, at)
        kind = tag & 7
        if kind == 0:
            value, at = read_varint(raw, at)
        elif kind == 2:
            size, at = read_varint(raw, at)
            if at + size > len(raw):
                raise ValueError("a field is longer than its message")
            value, at = raw[at : at + size], at + size
        else:
            raise ValueError(f"wire type {kind} is not one of this protocol")
        found.setdefault(tag >> 3, []).append(value)
    return found


def read_varint(raw, at):
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a varint has more than ten bytes")


def text(message, field):
    return message.get(field, [b""])[-1].decode()


def count(message, field):
    return message.get(field, [0])[-1]


# --- A connection: frames, and the two envelopes ------------------------------------------------------------------

# Of ClientMessage.
SEND, STREAM, PING, SESSIONS, KILL, GET_CONFIG = 1, 2, 3, 4, 5, 6
SUBSCRIBE_EVENTS, GET_STATS, SUBSCRIBE_EVENT, UNSUBSCRIBE_EVENT = 9, 11, 16, 17
LIST_SUBSCRIPTIONS, PUBLISH_EVENT, LIST_AGENTS, HELLO, WATCH, UNWATCH = 18, 19, 20, 27, 68, 69
# Of ServerMessage.
RESPONSE, STREAM_EVENT, ERROR, PONG, SESSIONS_LIST, CONFIG, AGENT_EVENT, STATS = 1, 2, 3, 4, 5, 6, 7, 8
SUBSCRIPTION, SUBSCRIPTIONS, AGENTS, HELLO_REPLY, CORE_EVENTS = 12, 13, 14, 16, 65
REQUEST_ID = 100


class Closed(Exception):
    pass


class Connection:
    def __init__(self, address):
        if "/" in address:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(TIMEOUT)
            self.socket.connect(address)
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host.strip("[]"), int(port)), TIMEOUT)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def raw(self, payload):
        self.socket.sendall(struct.pack(">I", len(payload)) + payload)

    def say(self, case, message=b"", request_id=0):
        self.raw(data(case, message) + (number(REQUEST_ID, request_id) if request_id else b""))

    def take(self, size):
        while len(self.buffer) < size:
            piece = self.socket.recv(65536)
            if not piece:
                raise Closed()
            self.buffer += piece
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def hear(self):
        """The case of the next answer, its message, and the id of its request."""
        (size,) = struct.unpack(">I", self.take(4))
        assert size <= MAX_FRAME, f"a frame of {size} bytes"
        envelope = fields(self.take(size))
        cases = [field for field in envelope if field != REQUEST_ID]
        assert len(cases) == 1, f"an answer with the cases {cases}"
        return cases[0], fields(envelope[cases[0]][-1]), count(envelope, REQUEST_ID)

    def ask(self, case, message=b"", request_id=0):
        """What a request is answered with, which must carry its id."""
        self.say(case, message, request_id)
        answer, reply, heard = self.hear()
        assert heard == request_id, f"the answer to {request_id} has the id {heard}"
        return answer, reply

    def expect(self, answer, case, message=b"", request_id=0):
        heard, reply = self.ask(case, message, request_id)
        assert heard == answer, f"answered with case {heard}: {reply}"
        return reply

    def refused(self, code, case, message=b"", request_id=0):
        reply = self.expect(ERROR, case, message, request_id)
        assert count(reply, 1) == code, f"refused with {count(reply, 1)}: {text(reply, 2)}"
        assert text(reply, 2), "an error says nothing"
        return reply


def hello_message(version, token, *capabilities):
    names = b"".join(data(3, name) for name in capabilities)
    return number(1, version) + data(2, "conformance/1") + names + (data(4, token) if token else b"")


# --- The statements -----------------------------------------------------------------------------------------------

STATEMENTS = statement = Statements()


class Daemon:
    def __init__(self, address, token, agent):
        self.address, self.token, self.agent = address, token, agent
        self.sender = f"conformance-{os.getpid()}"

    def connect(self):
        return Connection(self.address)

    def greeted(self, *capabilities):
        connection = self.connect()
        connection.expect(HELLO_REPLY, HELLO, hello_message(2, self.token, *capabilities), 1)
        return connection

    def talk(self, content, sender=""):
        return data(1, self.agent) + data(2, content) + data(4, sender or self.sender)

    @property
    def pair(self):
        return data(1, self.agent) + data(2, self.sender)


@statement("a Hello of version 2 is answered with one")
def _(daemon):
    with daemon.connect() as to:
        reply = to.expect(HELLO_REPLY, HELLO, hello_message(2, daemon.token, "core-events"), 5)
        assert count(reply, 1) == 2, "the version"
        assert text(reply, 2).startswith("crab/"), "the server"
        assert b"core-events" in reply.get(3, []), "the capabilities"
        assert text(reply, 4).startswith("/"), "the home"
        assert count(reply, 6) > 0, "the pid"


@statement("another version is refused with 426, and the connection goes on")
def _(daemon):
    with daemon.connect() as to:
        to.refused(426, HELLO, hello_message(99, daemon.token), 1)
        to.expect(PONG, PING, b"", 2)


@statement("whoever has not shown a token is told 401, and may ping")
def _(daemon):
    if not daemon.token:
        return
    with daemon.connect() as to:
        to.expect(PONG, PING, b"", 1)
        to.refused(401, SESSIONS, b"", 2)
        to.refused(401, HELLO, hello_message(2, "wrong"), 3)


@statement("an envelope without a message, or with one that is not known or not spoken any more, has one error 400")
def _(daemon):
    with daemon.greeted() as to:
        unknown = [data(case, b"") for case in (50, 12, 13, 14, 0x1FFFFFFF)]
        for payload in (b"", *unknown):
            to.raw(payload + number(REQUEST_ID, 7))
            answer, reply, heard = to.hear()
            assert (answer, count(reply, 1), heard) == (ERROR, 400, 7), (answer, reply, heard)
        to.raw(b"")
        answer, reply, heard = to.hear()
        assert (answer, count(reply, 1), heard) == (ERROR, 400, 0), (answer, reply, heard)
        to.expect(PONG, PING)


@statement("bytes that are no message have one error 400, and the connection goes on")
def _(daemon):
    with daemon.greeted() as to:
        for payload in (b"\x0b", b"\x0a\xff\x01", b"\xff" * 11, data(1, data(1, b"\xc3\x28"))):
            to.raw(payload)
            answer, reply, _ = to.hear()
            assert (answer, count(reply, 1)) == (ERROR, 400), (payload, answer, reply)
        to.expect(PONG, PING)


@statement("a frame of more than 16 MiB has one error 413, and the connection ends")
def _(daemon):
    for length in (MAX_FRAME + 1, 0xFFFFFFFF):
        told_and_closed(daemon, struct.pack(">I", length))


def told_and_closed(daemon, spoken):
    """What the one error says."""
    with daemon.greeted() as to:
        to.socket.sendall(spoken)
        answer, reply, _ = to.hear()
        assert (answer, count(reply, 1)) == (ERROR, 413), (answer, reply)
        try:
            to.hear()
            raise AssertionError("it goes on")
        except (Closed, ConnectionError):
            return text(reply, 2)


@statement("whoever speaks JSON, HTTP or TLS is told so")
def _(daemon):
    for spoken, word in ((b"\x0f\0\0\0{}", "daemon-json.sock"), (b"GET / HTTP/1.1\r\n", "HTTP"), (b"\x16\x03\x01\x02", "TLS")):
        assert word in (said := told_and_closed(daemon, spoken)), said


@statement("a frame of 16 MiB is taken, and a connection that ends within one harms nobody")
def _(daemon):
    with daemon.greeted() as to:
        ping = data(PING, b"") + number(REQUEST_ID, 3)
        for room in range(MAX_FRAME - len(ping), 0, -1):
            filled = ping + data(1900, bytes(room))
            if len(filled) == MAX_FRAME:
                break
        to.raw(filled)
        assert to.hear()[::2] == (PONG, 3)
    with daemon.connect() as to:
        to.socket.sendall(struct.pack(">I", 1000) + b"half")
    with daemon.greeted() as to:
        to.expect(PONG, PING)


@statement("at most 256 requests of a connection are unanswered; one more has the error 429")
def _(daemon):
    with daemon.greeted() as to:
        for request_id in range(1, 257):
            to.say(SUBSCRIBE_EVENTS, data(2, "nobody-of-that-name"), request_id)
        to.refused(429, SUBSCRIBE_EVENTS, b"", 257)
        with daemon.greeted() as another:
            another.expect(PONG, PING)


@statement("a frame may come in pieces, and several at once")
def _(daemon):
    with daemon.greeted() as to:
        one = data(PING, b"") + number(REQUEST_ID, 3)
        frame = struct.pack(">I", len(one)) + one
        for byte in frame:
            to.socket.sendall(bytes([byte]))
        assert to.hear()[::2] == (PONG, 3)
        to.socket.sendall(frame * 20)
        assert [to.hear()[::2] for _ in range(20)] == [(PONG, 3)] * 20


@statement("fields that are not known are passed over")
def _(daemon):
    with daemon.greeted() as to:
        to.raw(data(PING, number(900, 1) + data(901, "later")) + data(1900, "x") + number(REQUEST_ID, 3))
        assert to.hear()[::2] == (PONG, 3)


@statement("requests without an id are answered in their order")
def _(daemon):
    with daemon.greeted() as to:
        cases = [GET_STATS, SESSIONS, LIST_AGENTS, LIST_SUBSCRIPTIONS] * 8
        for case in cases:
            to.say(case)
        answers = {GET_STATS: STATS, SESSIONS: SESSIONS_LIST, LIST_AGENTS: AGENTS, LIST_SUBSCRIPTIONS: SUBSCRIPTIONS}
        heard = [to.hear() for _ in cases]
        assert [one[0] for one in heard] == [answers[case] for case in cases], [one[0] for one in heard]
        assert all(one[2] == 0 for one in heard)


@statement("requests with ids are answered each under its own")
def _(daemon):
    with daemon.greeted() as to:
        for request_id in range(1, 101):
            to.say(PING if request_id % 2 else SESSIONS, b"", request_id)
        heard = sorted((request_id, answer) for answer, _, request_id in (to.hear() for _ in range(100)))
        assert heard == [(n, PONG if n % 2 else SESSIONS_LIST) for n in range(1, 101)]
        to.expect(PONG, PING, b"", 4294967295)


@statement("the statistics and the configuration are told; the configuration is a JSON object")
def _(daemon):
    with daemon.greeted() as to:
        stats = to.expect(STATS, GET_STATS)
        assert count(stats, 2) > 0 and count(stats, 4) > 0 and count(stats, 5) >= 1, stats
        assert isinstance(json.loads(text(to.expect(CONFIG, GET_CONFIG), 1)), dict)


@statement("what is not there is refused with 404")
def _(daemon):
    with daemon.greeted() as to:
        to.refused(404, KILL, data(1, daemon.agent) + data(2, "nobody-of-that-name"), 1)
        to.refused(404, UNSUBSCRIBE_EVENT, number(1, 999999), 2)
        to.refused(404, SEND, data(1, "nobody-of-that-name") + data(2, "x"), 3)


@statement("a question without an agent, without words or in a folder that is none is refused with 400")
def _(daemon):
    with daemon.greeted() as to:
        to.refused(400, SEND, data(2, "x"), 1)
        to.refused(400, STREAM, data(2, "x"), 2)
        talk = lambda content: daemon.talk(content, daemon.sender + "-wrong")
        folders = [data(5, folder) for folder in ("relative", "/nowhere/of/that/name")]
        for folder in folders:
            to.refused(400, SEND, talk("x") + folder, 3)
        # Where the conversation is open already, the answer itself is what failed.
        to.expect(RESPONSE, SEND, talk("/help"), 4)
        to.refused(400, SEND, talk("x") + folders[0], 5)
        for wrong in (talk(""), talk("x") + folders[1]):
            reply = to.expect(RESPONSE, SEND, wrong, 5)
            assert text(reply, 3) and count(reply, 4) == 400, reply
        reply = to.expect(RESPONSE, SEND, talk("x") + data(6, "nobody-of-that-name"), 6)
        assert text(reply, 3) and count(reply, 4) == 404, reply


@statement("a question is answered as a whole, and its conversation is listed")
def _(daemon):
    with daemon.greeted() as to:
        reply = to.expect(RESPONSE, SEND, daemon.talk("Say one short sentence."), 9)
        assert text(reply, 1) == daemon.agent and text(reply, 2), reply
        assert text(reply, 3) == "" and count(reply, 4) == 0, f"it failed: {text(reply, 3)}"
        listed = [fields(one) for one in to.expect(SESSIONS_LIST, SESSIONS).get(1, [])]
        mine = [one for one in listed if text(one, 2) == daemon.sender]
        assert len(mine) == 1 and count(mine[0], 4) == 0, listed


@statement("a stream begins with start and is over with end; a watch sees the same run from any number on")
def _(daemon):
    with daemon.greeted("core-events") as watcher, daemon.greeted() as to:
        watcher.say(WATCH, daemon.pair + number(3, 0), 4)
        before, next_seq = [], 0
        while not before or before[-1]["type"] != "runEnd":
            next_seq = follow(watcher, before, next_seq, 4)
        to.say(STREAM, daemon.talk("Say another one."), 6)
        cases, words, usage = [], "", 0
        while not cases or cases[-1] != 8:
            answer, reply, heard = to.hear()
            assert (answer, heard) == (STREAM_EVENT, 6), (answer, reply)
            ((case, (value, *_)),) = reply.items()
            cases.append(case)
            if case == 2:
                words += text(fields(value), 1)
            if case == 9:
                usage += count(fields(fields(value)[1][0]), 3)
            if case == 8:
                assert text(fields(value), 2) == "", text(fields(value), 2)
        assert cases[0] == 1 and cases.count(8) == 1 and words and usage > 0, (cases, words, usage)
        to.expect(PONG, PING)
        events = []
        while not events or events[-1]["type"] != "runEnd":
            next_seq = follow(watcher, events, next_seq, 4)
        assert "".join(one["delta"] for one in events if one["type"] == "contentDelta") == words
        with daemon.greeted("core-events") as late:
            late.say(WATCH, daemon.pair + number(3, len(before)), 8)
            again, at = [], len(before)
            while len(again) < len(events):
                at = follow(late, again, at, 8)
            assert again == events, "the order differs"
            late.say(UNWATCH, number(1, 8), 9)
            assert late.hear()[::2] == (PONG, 9)


def follow(connection, events, next_seq, request_id):
    """Takes one batch: its number must be the next one."""
    answer, reply, heard = connection.hear()
    assert (answer, heard) == (CORE_EVENTS, request_id), (answer, reply)
    batch = json.loads(text(reply, 2))
    assert count(reply, 3) == 0, "there is a gap"
    assert count(reply, 1) == next_seq, f"number {count(reply, 1)} follows where {next_seq} was due"
    events.extend(batch)
    return next_seq + len(batch)


@statement("whoever watches all agents hears of a run, in the kinds that were asked for")
def _(daemon):
    with daemon.greeted() as watcher, daemon.greeted() as to:
        watcher.say(SUBSCRIBE_EVENTS, data(2, daemon.sender) + data(3, varint(5)), 2)
        watcher.expect(PONG, PING, b"", 3)
        to.expect(RESPONSE, SEND, daemon.talk("/help"), 4)
        answer, event, heard = watcher.hear()
        assert (answer, heard, count(event, 1)) == (AGENT_EVENT, 2, 5), (answer, event)
        assert (text(event, 2), text(event, 3)) == (daemon.agent, daemon.sender), event


@statement("a subscription of the bus is kept, listed and taken back")
def _(daemon):
    with daemon.greeted() as to:
        source = f"conformance:{os.getpid()}"
        made = to.expect(SUBSCRIPTION, SUBSCRIBE_EVENT, data(1, source) + data(2, daemon.agent) + number(3, 1))
        assert text(made, 2) == source and count(made, 4) == 1, made
        to.expect(PONG, PUBLISH_EVENT, data(1, "conformance:nobody") + data(2, "x"))
        ids = lambda: [count(fields(one), 1) for one in to.expect(SUBSCRIPTIONS, LIST_SUBSCRIPTIONS).get(1, [])]
        assert count(made, 1) in ids()
        to.expect(PONG, UNSUBSCRIBE_EVENT, number(1, count(made, 1)))
        assert count(made, 1) not in ids()


@statement("many connections at once are answered")
def _(daemon):
    failures = []

    def one():
        try:
            with daemon.greeted() as to:
                for request_id in range(2, 30):
                    to.expect(PONG, PING, b"", request_id)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=one) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def main(arguments):
    words = [one for one in arguments if not one.startswith("--")]
    options = dict(one[2:].split("=", 1) for one in arguments if one.startswith("--") and "=" in one)
    if len(words) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    address, token, agent = words[0], options.get("token", ""), options.get("agent", "crab")
    if address.startswith(("ws://", "wss://")):
        daemon = web_socket.Daemon(address, token, agent, options.get("ca", ""))
        return 1 if judge(web_socket.STATEMENTS, daemon) else 0
    if address.startswith("json:"):
        daemon = json_socket.Daemon(address.removeprefix("json:"))
        return 1 if judge(json_socket.STATEMENTS, daemon) else 0
    return 1 if judge(STATEMENTS, Daemon(address, token, agent)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
