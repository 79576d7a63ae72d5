"""Sends purchases that ask for signed answers, and verifies each with PyPI's http-message-signatures.

    answers.py ADDRESS API-KEY PUBLIC-KEY SIGNED-TRANSACTION-FILE

The answers are a success, a refusal and an error of the request. An answer whose status, body, nonce or request was changed must
be refused. A request that does not ask for a signature gets none.
"""
import base64
import hashlib
import json
import os
import sys

import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature, algorithms

address, api_key, public_key, file = sys.argv[1:5]
raw_key = base64.b64decode(public_key)
key_id = hashlib.sha256(raw_key).digest()[:8].hex()
evidence = open(file, encoding="utf-8").read().strip()


class Pinned(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id_found):
        return Ed25519PublicKey.from_public_bytes(raw_key) if key_id_found == key_id else None


verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Pinned())


def digest(body):
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"


def verify(answer, nonce):
    results = verifier.verify(answer, expect_tag="assay-answer")
    if results[0].parameters["nonce"] != nonce:
        raise InvalidSignature("another nonce")
    if answer.headers["Content-Digest"] != digest(answer.content):
        raise InvalidSignature("another body")
    return results[0]


def refuses(answer, nonce, change):
    """Whether an answer with one change is refused; the change is undone."""
    undo = change(answer)
    try:
        verify(answer, nonce)
        return False
    except InvalidSignature:
        return True
    finally:
        undo()


def status(answer):
    answer.status_code += 1
    return lambda: setattr(answer, "status_code", answer.status_code - 1)


def body(answer):
    content = answer._content
    answer._content = content + b" "
    return lambda: setattr(answer, "_content", content)


def request_digest(answer):
    old = answer.request.headers["Content-Digest"]
    answer.request.headers["Content-Digest"] = digest(b"another request")
    return lambda: answer.request.headers.__setitem__("Content-Digest", old)


def path(answer):
    old = answer.request.url
    answer.request.url = old.replace("/v1/purchases", "/v1/restores")
    return lambda: setattr(answer.request, "url", old)


def content_type(answer):
    old = answer.headers["Content-Type"]
    answer.headers["Content-Type"] = "text/html"
    return lambda: answer.headers.__setitem__("Content-Type", old)


def nonce_of_another(answer):
    old = answer.headers["Signature-Input"]
    answer.headers["Signature-Input"] = old.replace('nonce="', 'nonce="x')
    return lambda: answer.headers.__setitem__("Signature-Input", old)


claim = {"signed_transaction": evidence, "product_id": "coins", "customer_id": "alice"}
transaction = json.loads(base64.urlsafe_b64decode(evidence.split(".")[1] + "=="))["transactionId"]
for name, message, expected in [
    ("a granted purchase", claim | {"transaction_id": transaction}, 200),
    ("a refused purchase", claim | {"transaction_id": transaction, "customer_id": "bob"}, 409),
    ("a malformed request", {"product_id": "coins"}, 400),
]:
    sent = json.dumps(message).encode()
    nonce = base64.b64encode(os.urandom(32)).decode()
    components = '"@status" "content-type" "content-digest" "@method";req "@path";req "content-digest";req'
    headers = {"Authorization": "Bearer " + api_key, "Content-Type": "application/json", "Content-Digest": digest(sent)}
    asking = headers | {"Accept-Signature": f'assay=({components});created;alg="ed25519";nonce="{nonce}";tag="assay-answer"'}
    answer = requests.post(address + "/v1/purchases", data=sent, headers=asking, timeout=60)
    if answer.status_code != expected:
        sys.exit(f"{name}: status {answer.status_code}, not {expected}: {answer.text}")
    verify(answer, nonce)
    for change in [status, body, request_digest, path, content_type, nonce_of_another]:
        if not refuses(answer, nonce, change):
            sys.exit(f"{name}: accepted with another {change.__name__}")
    verify(answer, nonce)
    plain = requests.post(address + "/v1/purchases", data=sent, headers=headers, timeout=60)
    if "Signature" in plain.headers or "Content-Digest" in plain.headers:
        sys.exit(f"{name}: signed without being asked")
    print(f"accepted: {name}, status {answer.status_code}")
