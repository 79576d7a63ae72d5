#!/bin/sh
# http-message-signatures 3.0.0 and algovoi-rfc9421 (signer 0.2.1, verifier 0.4.4) refuse what the other signs by default. The
# signer covers "created" as if it were a header field; the verifier demands Content-Digest, and cannot resolve @target-uri. With
# the components @method, @authority, @path and content-digest named on both sides, each verifies the other.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install http-message-signatures==3.0.0 algovoi-rfc9421-signer==0.2.1 algovoi-rfc9421-verifier==0.4.4
"$folder/venv/bin/python" - <<'PYTHON'
from algovoi_rfc9421_signer import sign_request
from algovoi_rfc9421_verifier import verify_request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from http_message_signatures import (HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature,
                                     algorithms)

seed, body = bytes(range(32)), b"{}"
key = Ed25519PrivateKey.from_private_bytes(seed)
class Keys(HTTPSignatureKeyResolver):
    def resolve_private_key(self, _): return key
    def resolve_public_key(self, _): return key.public_key()
class Request:
    method, url = "POST", "https://example.com/v1/purchases"
    def __init__(self, **headers): self.headers = {"Host": "example.com"} | headers
place = {"method": "POST", "authority": "example.com", "path": "/v1/purchases", "body": body}
settings = {"signature_algorithm": algorithms.ED25519, "key_resolver": Keys()}

def from_algovoi(**options):
    signed = sign_request(**place, private_key=seed, keyid="k", **options)
    request = Request(**{"Content-Digest": signed.content_digest, "Signature-Input": signed.signature_input,
                         "Signature": signed.signature})
    try:
        HTTPMessageVerifier(**settings).verify(request)
        return "verified"
    except InvalidSignature as error:
        return str(error)

def to_algovoi(**options):
    request = Request()
    HTTPMessageSigner(**settings).sign(request, key_id="k", **options)
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    result = verify_request(**place, headers=request.headers, public_key=raw)
    return "verified" if result.valid else result.errors[0]

common = ["@method", "@authority", "@path", "content-digest"]
seen = {"algovoi's default": from_algovoi(), "algovoi, four components": from_algovoi(covered_components=common),
        "http-message-signatures' default": to_algovoi(), "the same with its digest of the body": to_algovoi(body=body),
        "http-message-signatures, four components": to_algovoi(covered_component_ids=common[:3], body=body)}
for name, result in seen.items(): print(f"{name}: {result}")
assert list(seen.values()) == [
    'Covered header field "created" not found in the message', "verified", "Content-Digest header required but missing",
    "Signing-base build error: @target-uri covered but target_uri not supplied", "verified"]
PYTHON
