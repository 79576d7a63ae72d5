#!/bin/sh
# app-store-server-library 3.1.2 refuses a signed transaction without the claim environment, as the App Store signed them in
# 2021, under each of its environments (INVALID_ENVIRONMENT). The same claims with environment are accepted.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install app-store-server-library==3.1.2
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import base64, datetime, jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

start = datetime.datetime(2020, 1, 1)
def certificate(name, key, issuer, issuer_key, is_authority, marker=None):
    named = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in (name, issuer)]
    builder = (x509.CertificateBuilder().subject_name(named[0]).issuer_name(named[1]).public_key(key.public_key())
               .serial_number(x509.random_serial_number()).not_valid_before(start)
               .not_valid_after(start + datetime.timedelta(days=9000))
               .add_extension(x509.BasicConstraints(is_authority, None), True)
               .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
               .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False)
               .add_extension(x509.KeyUsage(not is_authority, False, False, False, False, is_authority, is_authority,
                                            False, False), True))
    if marker:
        builder = builder.add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), b"\x05\x00"), False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(Encoding.DER)

leaf, middle, root = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
chain = [certificate("leaf", leaf, "middle", middle, False, "1.2.840.113635.100.6.11.1"),
         certificate("middle", middle, "root", root, True, "1.2.840.113635.100.6.2.1"),
         certificate("root", root, "root", root, True)]
claims = {"transactionId": "1", "originalTransactionId": "1", "bundleId": "com.example.app", "productId": "coins",
          "purchaseDate": 1630000000000, "originalPurchaseDate": 1630000000000, "quantity": 1, "type": "Consumable",
          "inAppOwnershipType": "PURCHASED", "signedDate": 1630000000000}

def verdict(claims, environment):
    token = jwt.encode(claims, leaf, "ES256", {"x5c": [base64.b64encode(one).decode() for one in chain]})
    verifier = SignedDataVerifier([chain[2]], False, environment, "com.example.app", 1)
    try:
        verifier.verify_and_decode_signed_transaction(token)
        return "accepted"
    except VerificationException as error:
        return error.status.name

for environment in Environment:
    without = verdict(claims, environment)
    with_claim = verdict(claims | {"environment": environment.value}, environment)
    print(f"{environment.value}: without environment {without}, with it {with_claim}")
    assert (without, with_claim) == ("INVALID_ENVIRONMENT", "accepted")
PYTHON
