/// A CMS SignedPayload message (RFC 5652, 5.1), as free as its parts allow.
struct SignedMessage {
    /// AlgorithmIdentifiers.
    var digestAlgorithms: [[UInt8]]
    /// Writes the length of the digest algorithms with an octet too many.
    var padsLength = false
    var contentType: CertificateTemplate.OID
    /// The content octets of eContent.
    var content: [UInt8]
    /// Written in this order, as Apple does, though DER would sort them; nil leaves the field out.
    var certificates: [[UInt8]]?
    var signers: [Signer]
    var encoding: SigningOptions.Encoding
    var pieceLength: Int?

    /// A SignerInfo (RFC 5652, 5.3).
    struct Signer {
        var issuer: CertificateTemplate.Name
        /// Content octets.
        var serialNumber: [UInt8]
        var digestAlgorithm: [UInt8]
        /// Elements of the SET; nil leaves the field out.
        var signedAttributes: [[UInt8]]?
        var signatureAlgorithm: [UInt8]
        var signature: [UInt8]
    }

    /// The whole ContentInfo.
    func encoded() -> [UInt8] {
        let digestSet = digestAlgorithms.flatMap { $0 }
        var parts: [[UInt8]] = [
            DER.integer(1),
            padsLength ? DER.paddedElement(DER.Tag.set, digestSet) : DER.element(DER.Tag.set, digestSet),
            layer(DER.Tag.sequence, contentType.der + layer(0xA0, contentOctetString)),
        ]
        if let certificates {
            parts.append(DER.context(0, certificates.flatMap { $0 }))
        }
        parts.append(DER.set(signers.map(\.der)))
        let signedData = layer(DER.Tag.sequence, parts.flatMap { $0 })
        return layer(DER.Tag.sequence, KnownOID.signedData.der + layer(0xA0, signedData))
    }

    private func layer(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch encoding {
        case .der: DER.element(tag, content)
        case .xcodeBER: DER.indefiniteElement(tag, content)
        }
    }

    private var contentOctetString: [UInt8] {
        guard case .xcodeBER = encoding else { return DER.octetString(content) }
        let length = max(1, pieceLength ?? content.count)
        let pieces = stride(from: 0, to: content.count, by: length).flatMap { start in
            DER.octetString(Array(content[start..<min(start + length, content.count)]))
        }
        return DER.indefiniteElement(DER.Tag.constructedOctetString, pieces)
    }
}

extension SignedMessage.Signer {
    fileprivate var der: [UInt8] {
        var parts = [
            DER.integer(1),
            DER.sequence(issuer.der, DER.element(DER.Tag.integer, serialNumber)),
            digestAlgorithm,
        ]
        if let signedAttributes {
            parts.append(DER.context(0, signedAttributes.flatMap { $0 }))
        }
        parts += [signatureAlgorithm, DER.octetString(signature)]
        return DER.sequence(parts)
    }
}
