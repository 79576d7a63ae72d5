#!/bin/sh
# joserfc 1.8.0 refuses a JWS whose x5c header has three certificates of usual size ("Header size exceeds 512 bytes"), as
# in each payload that the App Store signs. A registry with a higher max_header_length reads the same JWS.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install joserfc==1.8.0 cryptography==50.0.2
"$folder/venv/bin/python" - <<'PYTHON'
import base64, datetime
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jws
from joserfc.errors import ExceededSizeError
from joserfc.jwk import ECKey

now = datetime.datetime.now(datetime.timezone.utc)
def certificate(name, key, issuer, issuer_key):
    named = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in (name, issuer)]
    return (x509.CertificateBuilder().subject_name(named[0]).issuer_name(named[1]).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=30)).sign(issuer_key, hashes.SHA256()))

leaf, middle, root = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
chain = [certificate("leaf", leaf, "middle", middle), certificate("middle", middle, "root", root),
         certificate("root", root, "root", root)]
x5c = [base64.b64encode(one.public_bytes(Encoding.DER)).decode() for one in chain]
key = ECKey.import_key(leaf.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
large = jws.JWSRegistry(algorithms=["ES256"])
large.max_header_length = 65536
token = jws.serialize_compact({"alg": "ES256", "x5c": x5c}, b"{}", key, registry=large)
print("header:", len(base64.urlsafe_b64decode(token.split(".")[0] + "==")), "bytes")
try:
    jws.deserialize_compact(token, key)
    raise SystemExit("changed: the header is read with the default registry")
except ExceededSizeError as error:
    print("default registry:", error)
    assert "exceeds 512 bytes" in str(error)
assert jws.deserialize_compact(token, key, registry=large).payload == b"{}"
print("max_header_length = 65536: verified")
PYTHON
