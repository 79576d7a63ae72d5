#!/bin/sh
# pyasn1 0.6.5 without a schema decodes a CMS message with one certificate, as Xcode's receipts are, and raises "Read N bytes
# instead of expected M" for one with three, as those of the App Store: it takes [0] IMPLICIT SET OF (RFC 5652, 5.1) for an
# explicit tag. With the schema of pyasn1-modules it decodes both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install pyasn1==0.6.5 pyasn1-modules==0.4.2
cd "$folder"
for name in leaf second third; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$name.key" -subj "/CN=$name" -days 30 -out "$name.pem" 2>log
done
cat second.pem third.pem >others.pem
echo hello >content
openssl cms -sign -noattr -binary -nodetach -in content -signer leaf.pem -inkey leaf.key -outform DER -out one.der
openssl cms -sign -noattr -binary -nodetach -in content -signer leaf.pem -inkey leaf.key -certfile others.pem \
    -outform DER -out three.der
venv/bin/python - <<'PYTHON'
from pyasn1.codec.der import decoder
from pyasn1.error import PyAsn1Error
from pyasn1_modules import rfc5652

def certificates(name):
    info, rest = decoder.decode(open(name, "rb").read(), asn1Spec=rfc5652.ContentInfo())
    data, _ = decoder.decode(info["content"], asn1Spec=rfc5652.SignedData())
    return len(data["certificates"])

assert (certificates("one.der"), certificates("three.der")) == (1, 3)
print("with a schema: 1 and 3 certificates")
_, rest = decoder.decode(open("one.der", "rb").read())
assert rest == b""
print("without a schema, one certificate: decoded")
try:
    decoder.decode(open("three.der", "rb").read())
    raise SystemExit("changed: three certificates are decoded")
except PyAsn1Error as error:
    print("without a schema, three certificates:", error)
    assert "instead of expected" in str(error)
PYTHON
