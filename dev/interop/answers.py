"""Signed answers to apps, verified with PyPI's http-message-signatures: a success, a refusal and an error of the request.

An answer whose status, body, nonce or request was changed must be refused. A request that does not ask for a signature gets none.
"""
import base64
import copy
import hashlib
import json
import os

import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature, algorithms

COMPONENTS = '"@status" "content-type" "content-digest" "@method";req "@path";req "content-digest";req'


def digest(body):
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"


CHANGES = {
    "status": lambda answer: setattr(answer, "status_code", answer.status_code + 1),
    "body": lambda answer: setattr(answer, "_content", answer.content + b" "),
    "request": lambda answer: answer.request.headers.update({"Content-Digest": digest(b"another request")}),
    "path": lambda answer: setattr(answer.request, "url", answer.request.url.replace("/v1/purchases", "/v1/restores")),
    "type": lambda answer: answer.headers.update({"Content-Type": "text/html"}),
    "nonce": lambda answer: answer.headers.update({"Signature-Input": answer.headers["Signature-Input"].replace('nonce="', 'nonce="x')}),
}


def answers(address, api_key, public_key, evidence):
    raw_key = base64.b64decode(public_key)

    class Pinned(HTTPSignatureKeyResolver):
        def resolve_public_key(self, key_id):
            return Ed25519PublicKey.from_public_bytes(raw_key) if key_id == hashlib.sha256(raw_key).digest()[:8].hex() else None

    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Pinned())

    def is_accepted(answer, nonce):
        try:
            result = verifier.verify(answer, expect_tag="assay-answer")[0]
        except InvalidSignature:
            return False
        return result.parameters["nonce"] == nonce and answer.headers["Content-Digest"] == digest(answer.content)

    transaction = json.loads(base64.urlsafe_b64decode(evidence.split(".")[1] + "=="))["transactionId"]
    claim = {"signed_transaction": evidence, "product_id": "coins", "customer_id": "alice", "transaction_id": transaction}
    for name, message, expected in (("a granted purchase", claim, 200), ("a refused purchase", claim | {"customer_id": "bob"}, 409),
                                    ("a malformed request", {"product_id": "coins"}, 400)):
        sent, nonce = json.dumps(message).encode(), base64.b64encode(os.urandom(32)).decode()
        headers = {"Authorization": "Bearer " + api_key, "Content-Type": "application/json", "Content-Digest": digest(sent)}
        asking = {"Accept-Signature": f'assay=({COMPONENTS});created;alg="ed25519";nonce="{nonce}";tag="assay-answer"'}
        answer = requests.post(address + "/v1/purchases", data=sent, headers=headers | asking, timeout=60)
        assert answer.status_code == expected, f"{name}: status {answer.status_code}, not {expected}: {answer.text}"
        assert is_accepted(answer, nonce), f"{name}: refused"
        for change, make in CHANGES.items():
            changed = copy.deepcopy(answer)
            assert is_accepted(changed, nonce)
            make(changed)
            assert not is_accepted(changed, nonce), f"{name}: accepted with another {change}"
        plain = requests.post(address + "/v1/purchases", data=sent, headers=headers, timeout=60)
        assert not {"Signature", "Content-Digest"} & set(plain.headers), f"{name}: signed without being asked"
        print(f"  accepted: {name}, status {answer.status_code}")
