"""Receives webhooks, verifies each with PyPI's standardwebhooks, and prints what it took.

    webhooks.py SECRET COUNT PORT-FILE

It ends after COUNT deliveries. A delivery whose body, id or time was changed must be refused.
"""
import http.server
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

secret, count, port_file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
verifier = Webhook(secret)
taken = []


def refuses(body, headers):
    try:
        verifier.verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        headers = {name: self.headers[name] for name in names}
        event = verifier.verify(body, headers)
        forged = [
            (body.replace(b'"type"', b'"kind"'), headers),
            (body, headers | {"webhook-id": headers["webhook-id"] + "0"}),
            (body, headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}),
        ]
        if not all(refuses(*delivery) for delivery in forged):
            sys.exit("a forged delivery was accepted")
        taken.append(event)
        self.send_response(204)
        self.send_header("connection", "close")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
server.timeout = 60
with open(port_file, "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
while len(taken) < count:
    before = len(taken)
    server.handle_request()
    if len(taken) == before:
        sys.exit(f"{before} of {count} deliveries came")
for event in taken:
    print(f"{event['type']}\t{event['customer_id']}\taccepted")
