"""The JSON-RPC form over WebSocket (RFC 6455), with the standard library."""

import base64
import json
import os
import socket
import ssl
import struct
from urllib.parse import urlsplit

from statements import Statements

MAX_TEXT = 16 * 1024 * 1024
TIMEOUT = 30
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Closed(Exception):
    """With the code of RFC 6455, 7.4.1, or 1006 where nothing was said."""

    def __init__(self, code=1006):
        super().__init__(f"closed with {code}")
        self.code = code


class Refused(Exception):
    def __init__(self, status):
        super().__init__(f"refused with {status}")
        self.status = status


def open_socket(url, ca):
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "wss" else 80)
    plain = socket.create_connection((parts.hostname, port), TIMEOUT)
    if parts.scheme != "wss":
        return plain
    return ssl.create_default_context(cafile=ca or None).wrap_socket(plain, server_hostname=parts.hostname)


def http(url, ca, request, headers):
    """The connection, its status, and what came behind the head of the answer."""
    connection = open_socket(url, ca)
    lines = [request] + [f"{name}: {value}" for name, value in headers.items() if value is not None]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    heard = b""
    while b"\r\n\r\n" not in heard:
        piece = connection.recv(65536)
        if not piece:
            raise Closed()
        heard += piece
    head, _, rest = heard.partition(b"\r\n\r\n")
    return connection, int(head.split()[1]), rest


class Connection:
    """The token goes with the head. `headers` change it; None takes one away."""

    def __init__(self, daemon, token=None, path="/", **headers):
        wanted = {
            "Host": urlsplit(daemon.address).netloc,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Protocol": "crab.v2",
            "Authorization": f"Bearer {token}" if token else None,
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        self.socket, status, self.buffer = http(daemon.address, daemon.ca, f"GET {path} HTTP/1.1", wanted)
        if status != 101:
            self.socket.close()
            raise Refused(status)
        self.next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def frame(self, opcode, payload, is_last=True):
        size = len(payload)
        head = bytes([opcode | (0x80 if is_last else 0)])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        # A mask of zeros leaves the payload as it is.
        self.socket.sendall(head + bytes(4) + payload)

    def take(self, size):
        while len(self.buffer) < size:
            try:
                piece = self.socket.recv(65536)
            except (ConnectionError, BrokenPipeError):
                raise Closed() from None
            if not piece:
                raise Closed()
            self.buffer += piece
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def receive(self):
        """The opcode and payload of the next frame; this server sends a message in one."""
        first, second = self.take(2)
        assert first & 0x80 and not second & 0x80, "a part of a message, or a masked one"
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", self.take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self.take(8))
        return first & 0x0F, self.take(size)

    def say(self, text):
        self.frame(TEXT, text if isinstance(text, bytes) else text.encode())

    def hear(self):
        while True:
            opcode, payload = self.receive()
            if opcode == CLOSE:
                raise Closed(struct.unpack(">H", payload[:2])[0] if payload else 1005)
            if opcode == PING:
                self.frame(PONG, payload)
            elif opcode == TEXT:
                message = json.loads(payload)
                assert message.get("jsonrpc") == "2.0", message
                return message

    def request(self, method, request_id, **params):
        self.say(json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}))

    def call(self, method, **params):
        self.next_id += 1
        self.request(method, self.next_id, **params)
        answer = self.hear()
        assert answer.get("id") == self.next_id, f"the answer to {self.next_id} is {answer}"
        return answer

    def expect(self, method, **params):
        answer = self.call(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def refused(self, code, method, **params):
        return refusal(self.call(method, **params), code)

    def closed(self, *codes):
        try:
            raise AssertionError(f"it goes on with {self.hear()}")
        except Closed as closed:
            assert closed.code in codes, f"closed with {closed.code}"


def refusal(answer, code):
    assert answer.get("error", {}).get("code") == code, answer
    assert answer["error"].get("message"), "an error says nothing"
    return answer["error"]


class Daemon:
    def __init__(self, address, token, agent, ca):
        self.address, self.token, self.agent, self.ca = address, token, agent, ca
        self.sender = f"conformance-ws-{os.getpid()}"

    def known(self):
        return Connection(self, self.token)

    @property
    def pair(self):
        return {"agent": self.agent, "sender": self.sender}


def answer_to(to, text):
    to.say(text)
    return to.hear()


STATEMENTS = statement = Statements()


@statement("a token is shown in the head, or in the Hello; a Hello of version 2 is answered with one")
def _(daemon):
    hello = {"version": 2, "client": "conformance/1", "capabilities": ["core-events"]}
    with Connection(daemon) as by_hello, daemon.known() as by_head:
        for to, token in ((by_hello, {"token": daemon.token}), (by_head, {})):
            reply = to.expect("hello", **hello, **token)
            assert reply["version"] == 2 and reply["server"].startswith("crab/"), reply
            assert "core-events" in reply["capabilities"] and reply["pid"] > 0, reply
            to.expect("sessions")


@statement("another version is refused with 426, and the connection goes on")
def _(daemon):
    with daemon.known() as to:
        for version in (0, 1, 3, 99):
            to.refused(426, "hello", version=version)
        assert to.expect("ping") == {}


@statement("whoever has not shown a token is told 401, and may ping; one that is not good is refused in the head")
def _(daemon):
    with Connection(daemon) as to:
        to.expect("ping")
        for method in ("sessions", "send", "getConfig", "watch", "kill"):
            to.refused(401, method)
        to.refused(401, "hello", version=2, token="wrong")
        to.refused(401, "hello", version=2)
    for token in ("wrong", daemon.token + "x", daemon.token[:-1]):
        refused_with(401, daemon, token)


def refused_with(status, daemon, *args, **headers):
    try:
        with Connection(daemon, *args, **headers):
            raise AssertionError(f"it was let in with {args} {headers}")
    except Refused as refused:
        assert refused.status == status, f"refused with {refused.status}: {args} {headers}"


@statement("a token in the address, a page, another host and another subprotocol are refused, also with the token")
def _(daemon):
    port = urlsplit(daemon.address).port
    refused_with(400, daemon, daemon.token, f"/?token={daemon.token}")
    refused_with(404, daemon, daemon.token, "/elsewhere")
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{port}", "file://"):
        refused_with(403, daemon, daemon.token, Origin=origin)
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "", "0.0.0.0"):
        refused_with(421, daemon, daemon.token, Host=host)
    for offered in (None, "crab.v1", "graphql-ws"):
        refused_with(400, daemon, daemon.token, Sec_WebSocket_Protocol=offered)


@statement("a request that is no WebSocket does nothing; health needs no token")
def _(daemon):
    host = {"Host": urlsplit(daemon.address).netloc}
    for request, status in (("GET /health", 200), ("POST /health", 405), ("POST /", 404), ("GET /", 404)):
        body = {"Content-Type": "text/plain", "Content-Length": "0"}
        connection, heard, _ = http(daemon.address, daemon.ca, f"{request} HTTP/1.1", host | body)
        connection.close()
        assert heard == status, f"{request} is answered with {heard}"


@statement("what is no JSON has the error -32700, and the connection goes on")
def _(daemon):
    with daemon.known() as to:
        for text in ("", "{", "nonsense", '{"a":NaN}', "\ufeff{}", "[" * 100_000, '{"a":1}}'):
            answer = answer_to(to, text)
            refusal(answer, -32700)
            assert answer["id"] is None, answer
        to.expect("ping")


@statement("JSON that two readers could understand differently is refused, and 64 levels are not too many")
def _(daemon):
    with daemon.known() as to:
        deep = lambda levels: '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":%s}}' % (
            "[" * (levels - 2) + "]" * (levels - 2)
        )
        for text in (
            '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"\\u0061":2}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}',
            deep(65),
            deep(1000),
        ):
            refusal(answer_to(to, text), -32700)
        assert answer_to(to, deep(64))["result"] == {}


@statement("a name may be written either way, and not both ways at once")
def _(daemon):
    with daemon.known() as to:
        to.refused(400, "subscribeEvent", source="", target_agent=daemon.agent)
        to.refused(-32602, "subscribeEvent", source="x", targetAgent="a", target_agent="b")


@statement("what is no request has one error -32600, and the connection goes on")
def _(daemon):
    with daemon.known() as to:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for value in (
            [ping],
            [],
            "ping",
            None,
            7,
            {},
            {"id": 1, "method": "ping"},
            ping | {"jsonrpc": "1.0"},
            ping | {"id": None},
            ping | {"id": 1.5},
            ping | {"id": {}},
            ping | {"id": "x" * 129},
            ping | {"method": 3},
        ):
            refusal(answer_to(to, json.dumps(value)), -32600)
        to.expect("ping")


@statement("an unknown method has the error -32601 and params of another shape -32602, under the request's id")
def _(daemon):
    with daemon.known() as to:
        for method in ("nothing", "", "createCron", "toString", "__proto__", "pong"):
            to.refused(-32601, method)
        to.refused(-32602, "send", agent=5)
        to.refused(-32602, "kill", agent=[])
        to.refused(-32602, "unsubscribeEvent", id=-1)
        refusal(answer_to(to, '{"jsonrpc":"2.0","id":"p","method":"ping","params":[]}'), -32602)
        to.expect("ping")


@statement("fields that are not known are passed over")
def _(daemon):
    with daemon.known() as to:
        text = '{"jsonrpc":"2.0","id":"x","method":"ping","params":{"later":{"a":[1]}},"meta":{}}'
        assert answer_to(to, text) == {"jsonrpc": "2.0", "id": "x", "result": {}}


@statement("a notification is never answered, and neither is one that is wrong")
def _(daemon):
    with daemon.known() as to:
        to.say('{"jsonrpc":"2.0","method":"ping"}')
        to.say('{"jsonrpc":"2.0","method":"nothing"}')
        to.say('{"jsonrpc":"2.0","method":"send","params":{"agent":1}}')
        to.expect("ping")


@statement("requests are answered each under its own id, which is a text or a whole number")
def _(daemon):
    with daemon.known() as to:
        ids = [0, -7, "", "a", "1", 1, 9007199254740991, "x" * 128]
        for request_id in ids:
            to.request("ping" if request_id else "sessions", request_id)
        heard = [to.hear() for _ in ids]
        same = lambda values: sorted(values, key=repr)
        assert same(one["id"] for one in heard) == same(ids) and all("result" in one for one in heard), heard


@statement("an id is that of one request at a time, and at most 256 requests are unanswered")
def _(daemon):
    with daemon.known() as to:
        for request_id in range(256):
            to.request("subscribeEvents", request_id, senders=["nobody-of-that-name"])
        to.request("subscribeEvents", 0)
        refusal(to.hear(), -32600)
        to.request("subscribeEvents", "more")
        refusal(to.hear(), 429)
        with daemon.known() as another:
            another.expect("ping")


@statement("what is no text, no UTF-8 or larger than 16 MiB ends the connection with its reason")
def _(daemon):
    for opcode, payload, code in ((BINARY, b"{}", 1003), (TEXT, b"\xc3\x28", 1007), (TEXT, b" " * (MAX_TEXT + 1), 1009)):
        with daemon.known() as to:
            try:
                to.frame(opcode, payload)
            except (ConnectionError, BrokenPipeError):
                pass
            to.closed(code, 1006) if code == 1009 else to.closed(code)


@statement("a text of 16 MiB is taken, and a message may come in pieces and several at once")
def _(daemon):
    with daemon.known() as to:
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        assert answer_to(to, ping + b" " * (MAX_TEXT - len(ping)))["result"] == {}
        for at, byte in enumerate(ping):
            to.frame(TEXT if at == 0 else 0, bytes([byte]), at == len(ping) - 1)
        assert to.hear()["result"] == {}
        for request_id in range(50):
            to.request("ping", request_id)
        assert [to.hear()["id"] for _ in range(50)] == list(range(50))


@statement("a ping of the WebSocket is answered with its bytes")
def _(daemon):
    with daemon.known() as to:
        to.frame(PING, b"here")
        assert to.receive() == (PONG, b"here")


@statement("what is not there is refused with 404, and Crab's own errors with their name and hint")
def _(daemon):
    with daemon.known() as to:
        error = to.refused(404, "kill", agent=daemon.agent, sender="nobody-of-that-name")
        assert error["data"]["name"] == "session-unknown" and error["data"]["hint"], error
        to.refused(404, "unsubscribeEvent", id="999999")
        to.refused(404, "listMcps", agent="nobody-of-that-name")
        to.refused(404, "send", agent="nobody-of-that-name", content="x")
        to.refused(400, "send", content="x")


@statement("a question is answered as a whole, and its conversation is listed")
def _(daemon):
    with daemon.known() as to:
        reply = to.expect("send", **daemon.pair, content="Say one short sentence.")
        assert reply["agent"] == daemon.agent and reply["content"] and "error" not in reply, reply
        listed = [one for one in to.expect("sessions")["sessions"] if one["sender"] == daemon.sender]
        assert len(listed) == 1 and listed[0]["agent"] == daemon.agent and "running" not in listed[0], listed


@statement("a stream begins with start, is over with end, and its request has the result null")
def _(daemon):
    with daemon.known() as to:
        to.request("stream", "s", **daemon.pair, content="Say another one.")
        cases, words = [], ""
        while True:
            heard = to.hear()
            if "result" in heard:
                break
            assert heard["method"] == "stream" and heard["params"]["id"] == "s", heard
            ((case, value),) = heard["params"]["value"].items()
            cases.append(case)
            words += value["content"] if case == "chunk" else ""
        assert heard == {"jsonrpc": "2.0", "id": "s", "result": None}, heard
        assert cases[0] == "start" and cases[-1] == "end" and words, cases


@statement("a watch tells every event under its number, in one order for all, until an unwatch with its id")
def _(daemon):
    with daemon.known() as to, daemon.known() as other:
        seen = []
        for one, request_id in ((to, "w"), (other, 77)):
            one.request("hello", "h", version=2, capabilities=["core-events"])
            assert "result" in one.hear()
            one.request("watch", request_id, **daemon.pair, fromSeq="0")
            events = []
            while sum(event["type"] == "runEnd" for event in events) < 2:
                heard = one.hear()
                assert heard["method"] == "coreEvents" and heard["params"]["id"] == request_id, heard
                value = heard["params"]["value"]
                assert int(value.get("firstSeq", 0)) == len(events) and not value.get("gap"), value
                events += json.loads(value["events"])
            seen.append(events)
            one.request("unwatch", "u", watchId=request_id)
            over = {message["id"]: message["result"] for message in (one.hear(), one.hear())}
            assert set(over) == {"u", request_id}, over
        assert seen[0] == seen[1], "the order differs"
