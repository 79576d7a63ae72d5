#!/bin/sh
# cryptography 50.0.2 warns that a PKCS #7 message "could not be parsed as DER", if its certificates are leaf, intermediate,
# root, as in receipts of the App Store, and not in the order that DER has for a SET OF (X.690, 11.6): an error under
# -W error. OpenSSL verifies the message in both orders.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install cryptography==50.0.2
cd "$folder"
printf 'basicConstraints=critical,CA:TRUE\n' >authority.cnf
make() { # NAME, then options that sign it
    name=$1
    shift
    openssl req -newkey rsa:2048 -nodes -keyout "$name.key" -subj "/CN=$name" -out "$name.csr" 2>log
    openssl x509 -req -in "$name.csr" -days 30 -sha256 -out "$name.pem" "$@" 2>log
}
make root -signkey root.key -extfile authority.cnf
make intermediate -CA root.pem -CAkey root.key -CAcreateserial -extfile authority.cnf
make leaf -CA intermediate.pem -CAkey intermediate.key -CAcreateserial
cat intermediate.pem root.pem >others.pem
echo hello >content
openssl cms -sign -noattr -binary -nodetach -in content -signer leaf.pem -inkey leaf.key -certfile others.pem \
    -outform DER -out message.der
venv/bin/python - <<'PYTHON'
import subprocess, warnings
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7

message = open("message.der", "rb").read()
chain = [x509.load_pem_x509_certificate(open(f"{name}.pem", "rb").read()).public_bytes(Encoding.DER)
         for name in ("leaf", "intermediate", "root")]
written = b"".join(sorted(chain, key=message.index))
assert written in message
def read(order, action):
    data = message.replace(written, b"".join(order))
    open("order.der", "wb").write(data)
    subprocess.run(["openssl", "cms", "-verify", "-in", "order.der", "-inform", "DER", "-CAfile", "root.pem", "-purpose",
                    "any", "-out", "out"], check=True, capture_output=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        count = len(pkcs7.load_der_pkcs7_certificates(data))
    return count, [str(one.message) for one in caught]

in_der = sorted(chain)
not_in_der = chain if chain != in_der else [chain[0], chain[2], chain[1]]
print("DER order:", read(in_der, "always"))
count, messages = read(not_in_der, "always")
print("another order:", count, messages)
assert read(in_der, "error") == (3, [])
assert count == 3 and "could not be parsed as DER" in messages[0] and "InvalidSetOrdering" in messages[0]
try:
    read(not_in_der, "error")
    raise SystemExit("changed: no warning")
except UserWarning:
    print("-W error: UserWarning")
PYTHON
