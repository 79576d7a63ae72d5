import Crypto
import CryptoExtras
import Foundation

/// The parts of a receipt that the floors need: the signed content and the signers. It is a separate reader, so that
/// the floors do not depend on the measured code, and it checks only as much as a benchmark needs.
struct ReceiptParts {
    /// The content octets that were signed.
    let payload: [UInt8]
    let signature: [UInt8]
    let isSHA1: Bool
    /// The signer's certificate, its issuer's, and the root's.
    let leaf, intermediate, root: CertificateParts

    init(_ receipt: [UInt8]) throws {
        let contentInfo = try DERNode.only(receipt[...], 0x30).children()
        let signedData = try DERNode.only(try contentInfo.at(1, 0xA0).content, 0x30).children()
        let encapsulated = try signedData.at(2, 0x30).children()
        payload = Array(try DERNode.only(try encapsulated.at(1, 0xA0).content, 0x04).content)
        let certificates = try signedData.at(3, 0xA0).children().map(CertificateParts.init)
        let signer = try DERNode.only(try signedData.at(4, 0x31).content, 0x30).children()
        let serialNumber = try signer.at(1, 0x30).children().at(1, 0x02).content
        isSHA1 = try signer.at(2, 0x30).children().at(0, 0x06).content.elementsEqual([0x2B, 0x0E, 0x03, 0x02, 0x1A])
        signature = Array(try signer.at(4, 0x04).content)

        guard let leaf = certificates.first(where: { $0.serialNumber.elementsEqual(serialNumber) }),
            let intermediate = certificates.first(where: { $0.subject == leaf.issuer }),
            let root = certificates.first(where: { $0.subject == intermediate.issuer })
        else { throw BenchmarkError("the receipt does not hold the three certificates of its chain") }
        (self.leaf, self.intermediate, self.root) = (leaf, intermediate, root)
    }
}

/// The parts of a certificate that the floors need.
struct CertificateParts {
    let der: [UInt8]
    /// The part that the issuer signed.
    let signedPart: [UInt8]
    let serialNumber: [UInt8]
    let issuer: [UInt8]
    let subject: [UInt8]
    let publicKeyInfo: [UInt8]
    let isSHA1: Bool
    let signature: [UInt8]

    /// Reads a certificate of its own.
    init(der: [UInt8]) throws { try self.init(try DERNode.only(der[...], 0x30)) }

    fileprivate init(_ node: DERNode) throws {
        let parts = try node.children()
        let fields = try parts.at(0, 0x30).children()
        der = Array(node.whole)
        signedPart = Array(try parts.at(0, 0x30).whole)
        serialNumber = Array(try fields.at(1, 0x02).content)
        issuer = Array(try fields.at(3, 0x30).whole)
        subject = Array(try fields.at(5, 0x30).whole)
        publicKeyInfo = Array(try fields.at(6, 0x30).whole)
        // sha1WithRSAEncryption is 1.2.840.113549.1.1.5, the SHA-2 ones end in 11 to 13.
        isSHA1 = try parts.at(1, 0x30).children().at(0, 0x06).content.last == 5
        signature = Array(try parts.at(2, 0x03).content.dropFirst())
    }
}

/// One RSA verification with everything prepared in advance: only the digest and the signature check remain.
struct ReadySignature {
    private let message: [UInt8]
    private let isSHA1: Bool
    private let key: _RSA.Signing.PublicKey
    private let signature: _RSA.Signing.RSASignature

    init(_ message: [UInt8], isSHA1: Bool, signature: [UInt8], key: [UInt8]) throws {
        self.message = message
        self.isSHA1 = isSHA1
        // The other initialiser would refuse the 1,024 bits of old transaction receipts.
        self.key = try _RSA.Signing.PublicKey(unsafeDERRepresentation: key)
        self.signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
    }

    func isValid() -> Bool {
        if isSHA1 {
            var hash = Insecure.SHA1()
            message.withUnsafeBytes { hash.update(bufferPointer: $0) }
            return key.isValidSignature(signature, for: hash.finalize(), padding: .insecurePKCS1v1_5)
        }
        var hash = SHA256()
        message.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return key.isValidSignature(signature, for: hash.finalize(), padding: .insecurePKCS1v1_5)
    }
}

extension ReceiptParts {
    /// The signature over the payload.
    func contentSignature() throws -> ReadySignature {
        try ReadySignature(payload, isSHA1: isSHA1, signature: signature, key: leaf.publicKeyInfo)
    }

    /// The signatures over the leaf and over the intermediate.
    func certificateSignatures() throws -> [ReadySignature] {
        try [(leaf, intermediate), (intermediate, root)].map { certificate, issuer in
            try ReadySignature(
                certificate.signedPart, isSHA1: certificate.isSHA1, signature: certificate.signature,
                key: issuer.publicKeyInfo)
        }
    }
}

/// An element of DER.
private struct DERNode {
    let tag: UInt8
    let whole: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>

    /// The first element of the bytes.
    init(_ bytes: ArraySlice<UInt8>) throws {
        let malformed = BenchmarkError("the receipt is not DER")
        guard bytes.count >= 2 else { throw malformed }
        tag = bytes[bytes.startIndex]
        var length = Int(bytes[bytes.startIndex + 1])
        var start = bytes.startIndex + 2
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), bytes.count >= 2 + count else { throw malformed }
            length = bytes[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard length <= bytes.endIndex - start else { throw malformed }
        content = bytes[start..<(start + length)]
        whole = bytes[bytes.startIndex..<(start + length)]
    }

    /// The first element, which must have this tag.
    static func only(_ bytes: ArraySlice<UInt8>, _ tag: UInt8) throws -> DERNode {
        try [DERNode(bytes)].at(0, tag)
    }

    func children() throws -> [DERNode] {
        var children: [DERNode] = []
        var rest = content
        while !rest.isEmpty {
            let child = try DERNode(rest)
            children.append(child)
            rest = rest[child.whole.endIndex...]
        }
        return children
    }
}

extension [DERNode] {
    /// The element at the index, which must have this tag.
    fileprivate func at(_ index: Int, _ tag: UInt8) throws -> DERNode {
        guard index < count, self[index].tag == tag else {
            throw BenchmarkError("the receipt has not the form of the App Store's")
        }
        return self[index]
    }
}
