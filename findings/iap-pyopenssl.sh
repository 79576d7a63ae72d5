#!/bin/sh
# iap 2.3.3, which pip installs with pyOpenSSL 26.4.0, refuses each receipt with InvalidReceipt("Signature verification
# failed"): OpenSSL.crypto.verify no longer exists (since 24.3.0), and iap catches the AttributeError. With pyOpenSSL 24.2.1
# it accepts the same receipt.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 26.4.0 24.2.1; do
    python3 -m venv "$version"
    "$version/bin/pip" -q install iap==2.3.3 pyOpenSSL==$version 'Django==5.2.19'
done
printf 'basicConstraints=critical,CA:TRUE\n' >authority.cnf
openssl req -x509 -newkey rsa:2048 -nodes -keyout root.key -subj /CN=root -days 30 -outform DER -out root.der 2>log
openssl x509 -in root.der -inform DER -out root.pem
for name in intermediate leaf; do
    openssl req -newkey rsa:2048 -nodes -keyout $name.key -subj /CN=$name -out $name.csr 2>log
done
openssl x509 -req -in intermediate.csr -days 30 -CA root.pem -CAkey root.key -CAcreateserial -extfile authority.cnf \
    -out intermediate.pem 2>log
openssl x509 -req -in leaf.csr -days 30 -CA intermediate.pem -CAkey intermediate.key -CAcreateserial -out leaf.pem 2>log
# A receipt with one attribute, the bundle id: SET { SEQUENCE { type 2, version 1, value } }.
printf '1\0310\027\002\001\002\002\001\001\004\017\014\015com.example.a' >content
openssl cms -sign -noattr -binary -nodetach -md sha1 -in content -signer leaf.pem -inkey leaf.key -certfile intermediate.pem \
    -outform DER -out receipt.der
openssl cms -verify -in receipt.der -inform DER -CAfile root.pem -purpose any -out log
cat >parse.py <<'PYTHON'
import logging
from django.conf import settings
settings.configure(IAP_SETTINGS={"TRUSTED_ROOT_FILE": "root.der", "PRODUCTION_BUNDLE_ID": "com.example.a"})
logging.disable(logging.CRITICAL)
import iap
try:
    print(iap.parse_receipt(open("receipt.der", "rb").read())["bundle_id"])
except iap.InvalidReceipt as error:
    print(f"InvalidReceipt: {error}: {error.__context__}")
PYTHON
for version in 26.4.0 24.2.1; do
    "$version/bin/python" -W ignore parse.py >"$version.out"
    echo "pyOpenSSL $version: $(cat "$version.out")"
done
grep -q "^InvalidReceipt: Signature verification failed: .*no attribute 'verify'" 26.4.0.out
grep -qx com.example.a 24.2.1.out
