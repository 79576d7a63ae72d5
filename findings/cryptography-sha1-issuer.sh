#!/bin/sh
# cryptography 50.0.2: verify_directly_issued_by raises ValueError("Unsupported signature algorithm") for a certificate that
# its issuer signed with SHA-1, as Apple's authorities for receipts did as late as 2023. OpenSSL verifies the pair.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install cryptography==50.0.2
cd "$folder"
openssl req -x509 -newkey rsa:2048 -nodes -keyout root.key -subj /CN=root -days 30 -sha256 -out root.pem 2>log
openssl req -newkey rsa:2048 -nodes -keyout leaf.key -subj /CN=leaf -out leaf.csr 2>log
for digest in sha1 sha256; do
    openssl x509 -req -in leaf.csr -days 30 "-$digest" -CA root.pem -CAkey root.key -CAcreateserial -out "$digest.pem" 2>log
    openssl verify -auth_level 0 -CAfile root.pem "$digest.pem"
done
venv/bin/python - <<'PYTHON'
from cryptography import x509
root, sha1, sha256 = (x509.load_pem_x509_certificate(open(f"{name}.pem", "rb").read()) for name in ("root", "sha1", "sha256"))
sha256.verify_directly_issued_by(root)
print("SHA-256: verified")
try:
    sha1.verify_directly_issued_by(root)
    raise SystemExit("changed: SHA-1 is verified")
except ValueError as error:
    print("SHA-1:", repr(error))
    assert "Unsupported signature algorithm" in str(error)
PYTHON
