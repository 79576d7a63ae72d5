/// The signature field: one byte version, the RSA signature, four bytes length, and the certificate that signed.
struct SignatureField: Sendable {
    let version: TransactionReceiptVersion
    /// The whole field.
    let bytes: [UInt8]
    /// The range of the leaf certificate, in DER. The receipt does not contain its issuer.
    let certificateRange: Range<Int>

    /// The range of the RSA signature over version byte and purchase-info.
    var signatureRange: Range<Int> { 1..<(1 + version.signatureBytes) }
    /// The leaf certificate.
    var certificate: [UInt8] { Array(bytes[certificateRange]) }

    init(_ bytes: [UInt8]) throws(VerificationError) {
        guard let first = bytes.first else {
            throw VerificationError(.signatureFieldMalformed, expected: "a version", found: "nothing")
        }
        guard let version = TransactionReceiptVersion(rawValue: first) else {
            throw VerificationError(.signatureVersionUnsupported, expected: "2, 3 or 4", found: "\(first)")
        }
        let lengthStart = 1 + version.signatureBytes
        guard bytes.count > lengthStart + 4 else {
            throw VerificationError(
                .signatureFieldMalformed, expected: "more than \(lengthStart + 4) bytes", found: "\(bytes.count)")
        }
        let length = bytes[lengthStart..<(lengthStart + 4)].reduce(0) { $0 << 8 | Int($1) }
        let rest = bytes.count - lengthStart - 4
        guard length == rest else {
            throw VerificationError(
                .signatureFieldMalformed, expected: "a certificate of \(rest) bytes", found: "a length of \(length)")
        }
        self.version = version
        self.bytes = bytes
        certificateRange = (lengthStart + 4)..<bytes.count
    }
}
