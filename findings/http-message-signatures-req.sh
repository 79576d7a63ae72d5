#!/bin/sh
# http-message-signatures 2.0.1 cannot verify an answer that covers components of its request (";req", RFC 9421, 2.4): it calls
# the valid signature invalid. 2.1.0 verifies it. And 2.0.1 cannot be imported where only its declared dependencies are installed:
# it needs typing_extensions.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 2.0.1 2.1.0; do
    python3 -m venv "$version"
    "$version/bin/pip" -q install http-message-signatures==$version cryptography==50.0.2
done
if 2.0.1/bin/python -c 'import http_message_signatures' 2>log; then echo "changed: 2.0.1 is imported"; exit 1; fi
tail -n 1 log
grep -q "No module named 'typing_extensions'" log
2.0.1/bin/pip -q install typing_extensions
cat >verify.py <<'PYTHON'
import base64, time
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature, algorithms

key = Ed25519PrivateKey.generate()
class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, _): return key.public_key()
class Request:
    method, url, headers = "POST", "https://example.com/v1/purchases", {}
class Answer:
    status_code, url, request = 200, Request.url, Request()

def verdict(components):
    parameters = f'({" ".join(components)});created={int(time.time())};keyid="k";alg="ed25519"'
    base = "".join(f"{name}: {value}\n" for name, value in components.items()) + f'"@signature-params": {parameters}'
    answer = Answer()
    answer.headers = {"Signature-Input": f"s={parameters}",
                      "Signature": f"s=:{base64.b64encode(key.sign(base.encode())).decode()}:"}
    try:
        HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Keys()).verify(answer)
        return "verified"
    except InvalidSignature as error:
        return f"InvalidSignature: {error}"

print("@status:", verdict({'"@status"': 200}))
print("@method;req:", verdict({'"@status"': 200, '"@method";req': "POST"}))
PYTHON
for version in 2.0.1 2.1.0; do
    "$version/bin/python" verify.py >"$version.out"
    sed "s/^/$version: /" "$version.out"
    grep -q '^@status: verified' "$version.out"
done
grep -q "^@method;req: InvalidSignature: .*unexpected keyword argument 'req'" 2.0.1.out
grep -q '^@method;req: verified' 2.1.0.out
