"""What the scenarios share: requests at a rate or as fast as possible, and what is said about the times of their answers."""
import collections
import concurrent.futures
import contextlib
import math
import os
import random
import re
import select
import socket
import tempfile
import threading
import time

from servers import World, write_secret


def percentile(values, part):
    """A part of values that are not empty: 0.5 is their median, 1 the greatest."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def fail(reasons):
    """Ends the scenario with reasons, if there are any."""
    if reasons:
        raise SystemExit("; ".join(reasons))
    print("all checks passed")


def times(seconds, *parts):
    """Parts of the sorted times, in ms."""
    return [percentile(seconds, part) * 1000 for part in parts or (0.5, 0.99, 1)]


@contextlib.contextmanager
def minted(options, files={}, **settings):
    """A signer, and a world that trusts it, in a folder of their own, with files that only the owner may read. At the end the servers are
    stopped, and the record is checked."""
    from loads.evidence import Mint
    with tempfile.TemporaryDirectory(prefix="assay-load-", ignore_cleanup_errors=True) as folder:
        signer = Mint(options.program, folder)
        for name, content in files.items():
            write_secret(os.path.join(folder, name), content)
        world = World(options.program, folder, signer.trust, **settings)
        yield signer, world
        world.stop()
        world.check_record()


def post(path, body, key=None, more=""):
    """A request."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n"
    return (head + (f"Authorization: Bearer {key}\r\n" if key else "") + "\r\n").encode() + body


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Sender:
    """Connections of one thread to servers, each with at most one request that is not answered.

    `on_answer` gets the name of a request, the status, the head and the content of its answer, and the seconds since it was due;
    `on_lost` the name of a request whose connection broke.
    """

    def __init__(self, ports, connections, on_answer=None, on_lost=None):
        self.ports, self.on_answer, self.on_lost = list(ports), on_answer, on_lost
        self.poll, self.idle, self.busy = select.epoll(), [None] * connections, {}
        self.statuses, self.seconds = collections.Counter(), []

    def open(self):
        for port in random.sample(self.ports, len(self.ports)):
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            except OSError:
                continue
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.poll.register(connection, select.EPOLLIN)
            return connection
        return None

    def send(self, name, data, due=None):
        """Sends a request; false if no connection is free, or no server accepts one."""
        if not self.idle:
            return False
        connection = self.idle.pop() or self.open()
        if connection is None:
            self.idle.insert(0, None)
            time.sleep(0.02)
            return False
        self.busy[connection.fileno()] = [connection, name, due or time.monotonic(), memoryview(data), b""]
        self.write(connection.fileno())
        return True

    def write(self, number):
        request = self.busy[number]
        try:
            request[3] = request[3][request[0].send(request[3]):]
        except BlockingIOError:
            pass
        except OSError:
            return self.lose(number)
        self.poll.modify(number, select.EPOLLIN | (select.EPOLLOUT if request[3] else 0))

    def lose(self, number):
        connection, name, *_ = self.busy.pop(number)
        connection.close()
        self.idle.append(None)
        self.statuses["lost"] += 1
        if self.on_lost:
            self.on_lost(name)

    def receive(self, timeout):
        """Reads the answers that have arrived, or the first one within the time."""
        for number, events in self.poll.poll(timeout):
            request = self.busy.get(number)
            if request is None:
                # A connection without a request ended.
                place = next(place for place, each in enumerate(self.idle) if each and each.fileno() == number)
                self.idle[place].close()
                self.idle[place] = None
                continue
            if events & select.EPOLLOUT and request[3]:
                self.write(number)
            if not events & ~select.EPOLLOUT or number not in self.busy:
                continue
            try:
                part = request[0].recv(1 << 18)
            except BlockingIOError:
                continue
            except OSError:
                part = b""
            request[4] += part
            head, blank, content = request[4].partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            if blank and len(content) >= (int(length.group(1)) if length else 0):
                self.answered(number, head, content)
            elif not part:
                self.lose(number)

    def answered(self, number, head, content):
        connection, name, due, *_ = self.busy.pop(number)
        status, seconds = int(head[9:12]), time.monotonic() - due
        self.statuses[status] += 1
        self.seconds.append(seconds)
        if b"connection: close" in head.lower():
            connection.close()
            connection = None
        self.idle.append(connection)
        if self.on_answer:
            self.on_answer(name, status, head, content, seconds)

    def run(self, work, rate=None, is_over=lambda: False):
        """Sends what `work` yields, names and requests, until that ends or it is over: the next one as soon as a connection is free, or at a
        rate, whether or not earlier ones were answered. Returns how many of the latter had no connection."""
        start, skipped = time.monotonic(), 0
        for place, (name, data) in enumerate(work):
            due = start + place / rate if rate else None
            while not is_over():
                wait = due - time.monotonic() if rate else 0
                if wait > 0:
                    self.receive(min(wait, 0.1))
                elif self.send(name, data, due):
                    break
                elif rate:
                    skipped += 1
                    break
                else:
                    self.receive(0.1)
            if is_over():
                break
            self.receive(0)
        deadline = time.monotonic() + 60
        while self.busy and time.monotonic() < deadline:
            self.receive(1)
        if self.busy:
            raise SystemExit("a client waits for an answer longer than a minute")
        return skipped

    def close(self):
        for connection in [*self.idle, *(request[0] for request in self.busy.values())]:
            if connection:
                connection.close()


def beside(function, *arguments):
    """Runs a function in a thread, and returns its future."""
    future = concurrent.futures.Future()

    def run():
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def probe(ports, seconds, rate=100):
    """Asks /healthz at a rate over connections of its own. Returns the seconds of each answer from when it was due, and the lost ones."""
    sender = Sender(ports, 100)
    skipped = sender.run(((None, HEALTH) for _ in range(math.ceil(seconds * rate))), rate)
    return sender.seconds, skipped + sum(count for status, count in sender.statuses.items() if status != 200)
