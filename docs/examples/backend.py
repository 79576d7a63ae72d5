"""A backend that sells consumables through Assay: python3 backend.py PORT. Standard library only; see docs/tutorial.md.
It trusts the customer_id that it is sent. A real backend takes the customer from its own session instead."""
import base64, hashlib, hmac, json, os, sqlite3, sys, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ASSAY = os.environ.get("ASSAY", "http://127.0.0.1:8080")
KEY = open("backend.key").read().strip()
SECRET = base64.b64decode(open("webhook.secret").read().strip().removeprefix("whsec_"))
with sqlite3.connect("shop.sqlite") as shop:
    shop.execute("CREATE TABLE IF NOT EXISTS deliveries (order_id PRIMARY KEY, customer, product, quantity, refunded DEFAULT 0)")
    shop.execute("CREATE TABLE IF NOT EXISTS received (webhook_id PRIMARY KEY)")

def ask(path, body, **headers):
    """Asks Assay, and returns the status and the JSON of the answer, also of a refusal."""
    headers |= {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
    request = urllib.request.Request(ASSAY + path, json.dumps(body).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer: return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal: return refusal.code, json.load(refusal)

def create_order(order):  # customer_id, product_id, quantity; the app passes app_account_token to StoreKit
    return ask("/v1/orders", order, **{"Idempotency-Key": os.urandom(16).hex()})

def submit_purchase(claim):  # order_id, product_id, transaction_id, signed_transaction
    status, answer = ask("/v1/purchases", claim)
    if answer["code"] != "accepted": return status, answer  # its disposition says what the app does
    status, order = ask(f"/v1/orders/{answer['order']['order_id']}/fulfil", {})
    if status != 200: return status, order
    with sqlite3.connect("shop.sqlite") as shop:  # one delivery for each order, however often this runs
        shop.execute("INSERT OR IGNORE INTO deliveries (order_id, customer, product, quantity) VALUES (?, ?, ?, ?)",
                     [order[name] for name in ("order_id", "customer_id", "product_id", "quantity")])
    return 200, {"disposition": answer["disposition"], "delivered": order["quantity"]}

def receive_event(body, headers):
    """Verifies a webhook as Standard Webhooks prescribes, and marks refunded deliveries."""
    name, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    code = hmac.new(SECRET, f"{name}.{sent}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(code)
    if not any(hmac.compare_digest(expected, one.encode()) for one in headers.get("webhook-signature", "").split()):
        return 401, {"error": "the signature is wrong"}
    if abs(time.time() - int(sent)) > 300: return 401, {"error": "the delivery is older than five minutes"}
    event = json.loads(body)
    with sqlite3.connect("shop.sqlite") as shop:  # the event and the note that it arrived are one commit
        if shop.execute("INSERT OR IGNORE INTO received VALUES (?)", [name]).rowcount and event["type"] == "order_refunded":
            shop.execute("UPDATE deliveries SET refunded = 1 WHERE order_id = ?", [event["order_id"]])
    return 200, {}

class Backend(BaseHTTPRequestHandler):
    timeout = 30
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers["Content-Length"]), 1 << 20))
        try:
            if self.path == "/webhooks": status, answer = receive_event(body, self.headers)
            else: status, answer = {"/orders": create_order, "/purchases": submit_purchase}[self.path](json.loads(body))
        except (KeyError, ValueError) as error: status, answer = 400, {"error": repr(error)}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode() + b"\n")

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend).serve_forever()
