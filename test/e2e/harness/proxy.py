"""A TCP proxy in front of a server that breaks connections where a test wants it: a request lost, half sent, its answer
lost or cut in half. It knows frames and the head of a request, nothing of what is in them.

    with Proxy(lambda: server.target, fault) as proxy: ...      # clients connect to proxy.bootstrap

fault(api_key, body) is asked once for each request and gives the point at which this one fails, or None. The body of a
batch that comes again is the same, so `each_once` breaks the first try of each and lets the second pass.
"""
import socket
import struct
import threading
import time

from .wire import KEYS

# Where the connection ends, seen from the client.
REQUEST_LOST = "request_lost"          # nothing of the request reaches the server
REQUEST_HALF = "request_half"          # half of its frame does
UNANSWERED = "unanswered"              # the request does, nobody waits for the answer
ANSWER_LOST = "answer_lost"            # the server has answered, the client sees nothing of it
ANSWER_HALF = "answer_half"            # the client sees half of the answer
POINTS = [REQUEST_LOST, REQUEST_HALF, UNANSWERED, ANSWER_LOST, ANSWER_HALF]
HOLD_SECONDS = 0.1
WRITES = {KEYS[api]["api_key"] for api in ("PRODUCE_LOG", "PUT_KV")}


def each_once(point, keys=WRITES):
    """Breaks the first try of each request with a new body. point: one of POINTS, or a function that is called with the
    count of faults so far and gives one."""
    seen, lock = set(), threading.Lock()

    def fault(key, body):
        with lock:
            if key not in keys or body in seen:
                return None
            seen.add(body)
            return point(len(seen) - 1) if callable(point) else point
    fault.seen = seen
    return fault


def _exactly(sock, n):
    data = b""
    while len(data) < n:
        got = sock.recv(n - len(data))
        if not got:
            raise ConnectionError
        data += got
    return data


def _frame(sock):
    head = _exactly(sock, 4)
    return head + _exactly(sock, struct.unpack(">i", head)[0])


class _Link:
    """One connection of a client, and the one to the server behind it."""

    def __init__(self, proxy, client):
        self.proxy, self.client = proxy, client
        self.server = socket.create_connection(proxy.target().rsplit(":", 1), 10)
        self.lock, self.answers, self.waiting = threading.Lock(), {}, set()  # answers: request id -> point
        for run in (self._requests, self._responses):
            threading.Thread(target=self._guard, args=(run,), daemon=True).start()

    def _guard(self, run):
        try:
            run()
        except (OSError, struct.error):
            pass
        self.end()

    def end(self):
        for s in (self.client, self.server):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.proxy.links.discard(self)

    def _requests(self):
        while True:
            frame = _frame(self.client)
            key, _, request_id = struct.unpack(">hhi", frame[4:12])
            point = self.proxy.fault(key, frame[12:])
            if key in WRITES:
                self.waiting.add(request_id)
                self.proxy.waiting_max = max(self.proxy.waiting_max, len(self.waiting))
            if point == REQUEST_LOST:
                return
            if point == REQUEST_HALF:
                self.server.sendall(frame[:len(frame) // 2])
                return
            if point in (ANSWER_LOST, ANSWER_HALF):
                with self.lock:
                    self.answers[request_id] = point
            self.server.sendall(frame)
            if point == UNANSWERED:
                return

    def _hold(self):
        """Answers to writes wait until so many requests do."""
        until = time.monotonic() + HOLD_SECONDS
        while len(self.waiting) < self.proxy.hold and time.monotonic() < until:
            time.sleep(0.001)

    def _responses(self):
        while True:
            frame = _frame(self.server)
            request_id = struct.unpack(">i", frame[5:9])[0] if len(frame) >= 9 else None
            if request_id in self.waiting:
                self._hold()
                self.waiting.discard(request_id)
            with self.lock:
                point = self.answers.pop(request_id, None)
            if point:
                self.proxy.answered()
            if point == ANSWER_HALF:
                self.client.sendall(frame[:len(frame) // 2])
            if point:
                return
            self.client.sendall(frame)


class Proxy:
    def __init__(self, target, fault=lambda key, body: None, answered=lambda: None):
        """target(): HOST:PORT of the server, asked for each connection. answered(): called when the server has answered
        what the client will not hear of, before the connection ends."""
        self.target, self.fault, self.answered = target, fault, answered
        self.links, self.hold = set(), 0
        self.waiting_max = 0  # most writes of one connection that waited for an answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.bootstrap = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                self.links.add(_Link(self, client))
            except OSError:  # the server is down
                client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for link in list(self.links):
            link.end()
