/// A fully checked leaf certificate of a transaction receipt, except for its validity, which is checked for each
/// receipt.
final class VerifiedLeaf: Sendable {
    let certificate: [UInt8]
    let version: TransactionReceiptVersion
    let authority: IssuingAuthority
    let key: PublicKey
    let validity: CertificateValidity
    let subject: DistinguishedName

    init(
        _ leaf: Certificate, version: TransactionReceiptVersion, authority: IssuingAuthority, key: PublicKey
    ) {
        certificate = leaf.der
        self.version = version
        self.authority = authority
        self.key = key
        validity = leaf.validity.intersection(authority.validity)
        subject = leaf.subject
    }
}
