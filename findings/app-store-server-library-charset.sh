#!/bin/sh
# app-store-server-library 3.1.2 reads the error code of an answer only if its content type is exactly application/json:
# with a charset parameter, which RFC 9110 (8.3.1) allows, raw_api_error and error_message are None.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install app-store-server-library==3.1.2
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import http.server, threading
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment

class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"errorCode":4040010,"errorMessage":"Transaction id not found."}'
        self.send_response(404)
        self.send_header("Content-Type", self.server.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass

server = http.server.HTTPServer(("127.0.0.1", 0), Store)
threading.Thread(target=server.serve_forever, daemon=True).start()
key = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
client = AppStoreServerAPIClient(key, "KEY", "ISSUER", "com.example.app", Environment.LOCAL_TESTING)
client._base_url = f"http://127.0.0.1:{server.server_port}"
for content_type, expected in [("application/json", 4040010), ("application/json; charset=utf-8", None)]:
    server.content_type = content_type
    try:
        client.get_transaction_info("1")
        raise SystemExit("changed: 404 is no error")
    except APIException as error:
        print(f"{content_type}: {error.http_status_code}, code {error.raw_api_error}, {error.error_message}")
        assert error.raw_api_error == expected
PYTHON
