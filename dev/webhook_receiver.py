"""A receiver of webhooks for the Python scripts in this folder. It answers 204 and records the messages in their order."""

import base64
import http.server
import json
import threading
import time

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ...").decode()


class WebhookReceiver:
    """A receiver on loopback."""

    def __init__(self):
        self.arrivals = []
        self.ids = set()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        # A killed server breaks its connections.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def settings(self):
        """The lines of an app's settings."""
        return (f"    webhooks:\n      - {{ url: 'http://127.0.0.1:{self.server.server_port}/', secrets: [{SECRET}], "
                "allow_hosts: [127.0.0.1] }\n")

    def handler(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                identifier = self.headers["webhook-id"]
                customer = json.loads(self.rfile.read(int(self.headers["content-length"]))).get("customer_id")
                receiver.arrivals.append((customer, identifier))
                receiver.ids.add(identifier)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler

    def disorder(self):
        """The customers whose messages arrived for the first time in another order than their numbers."""
        last, seen, found = {}, set(), set()
        for customer, identifier in list(self.arrivals):
            if identifier in seen:
                continue
            seen.add(identifier)
            number = int(identifier.rsplit("_", 1)[1])
            if number < last.get(customer, 0):
                found.add(customer)
            last[customer] = number
        return found

    def wait(self, expected, limit):
        """Waits until every one of the expected messages has arrived, at most a number of seconds, and checks their order."""
        deadline = time.monotonic() + limit
        while not expected <= self.ids and time.monotonic() < deadline:
            time.sleep(0.02)
        missing = expected - self.ids
        if missing:
            raise SystemExit(f"{len(missing)} of {len(expected)} events did not arrive, such as {sorted(missing)[:3]}")
        if self.disorder():
            raise SystemExit(f"the events of {len(self.disorder())} customers arrived in another order")

    def close(self):
        self.server.shutdown()
        self.server.server_close()
