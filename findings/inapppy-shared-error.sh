#!/bin/sh
# inapppy 2.5.2: each failure of verifyReceipt raises one exception object per status, so raw_response of an error that was
# kept is that of a later request; and with auto_retry_wrong_env_request, a validator asks the sandbox first for all receipts
# after the first that was one of the sandbox.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install inapppy==2.5.2
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import http.server, json, threading
from inapppy import AppStoreValidator, InAppPyValidationError

asked = []
class Store(http.server.BaseHTTPRequestHandler):
    """Both addresses of verifyReceipt; a receipt is the name of its environment, or of a customer whose receipt is not authentic."""
    def do_POST(self):
        receipt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["receipt-data"]
        here = self.path[1:]
        asked.append(here)
        answer = {"status": 21003, "customer": receipt}
        if receipt in ("production", "sandbox"):
            answer = {"status": 0 if receipt == here else 21007 if here == "production" else 21008}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass

server = http.server.HTTPServer(("127.0.0.1", 0), Store)
threading.Thread(target=server.serve_forever, daemon=True).start()
class Validator(AppStoreValidator):
    def _change_url_by_sandbox(self):
        self.url = f"http://127.0.0.1:{server.server_port}/" + ("sandbox" if self.sandbox else "production")

def error(receipt):
    try:
        Validator().validate(receipt)
    except InAppPyValidationError as error:
        return error

alice = error("alice")
print("alice's error:", alice.raw_response)
bob = error("bob")
print("alice's error after bob's request:", alice.raw_response)
assert alice is bob and alice.raw_response["customer"] == "bob"
asked.clear()
validator = Validator(auto_retry_wrong_env_request=True)
for receipt in ["production", "sandbox", "production"]: validator.validate(receipt)
print("asked for a production, a sandbox and a production receipt:", asked)
assert asked == ["production", "production", "sandbox", "sandbox", "production"]
PYTHON
