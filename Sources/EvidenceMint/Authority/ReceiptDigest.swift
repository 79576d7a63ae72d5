import Crypto

/// A digest that a receipt or certificate is signed over.
public enum ReceiptDigest: String, CaseIterable, Sendable {
    /// The digest of Apple's signatures until 2024-08.
    case sha1
    /// The digest of Apple's signatures since 2023-06.
    case sha256
    /// Never seen in a receipt.
    case sha384
    /// Never seen in a receipt.
    case sha512
}

extension ReceiptDigest {
    var oid: CertificateTemplate.OID {
        switch self {
        case .sha1: "1.3.14.3.2.26"
        case .sha256: "2.16.840.1.101.3.4.2.1"
        case .sha384: "2.16.840.1.101.3.4.2.2"
        case .sha512: "2.16.840.1.101.3.4.2.3"
        }
    }

    var withRSA: CertificateTemplate.SignatureAlgorithm {
        switch self {
        case .sha1: .sha1WithRSA
        case .sha256: .sha256WithRSA
        case .sha384: .sha384WithRSA
        case .sha512: .sha512WithRSA
        }
    }

    var withECDSA: CertificateTemplate.SignatureAlgorithm {
        switch self {
        case .sha1: .ecdsaWithSHA1
        case .sha256: .ecdsaWithSHA256
        case .sha384: .ecdsaWithSHA384
        case .sha512: .ecdsaWithSHA512
        }
    }

    /// A different digest, for a place that should name this one.
    var another: ReceiptDigest {
        self == .sha512 ? .sha384 : .sha512
    }

    /// The AlgorithmIdentifier, with parameters NULL as Apple writes it.
    var algorithmIdentifier: [UInt8] {
        DER.sequence(oid.der, DER.null)
    }

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}
