import Foundation

/// A fault of a receipt. A fault breaks one thing and leaves everything else correct.
///
/// The raw value is the name of the fault on the command line, and `explanation` describes it.
public enum ReceiptFault: String, CaseIterable, Sendable {
    case wrongRoot = "wrong-root"
    case missingLeafMarker = "missing-leaf-marker"
    case missingIntermediateMarker = "missing-intermediate-marker"
    case expiredLeaf = "expired-leaf"
    case leafNotYetValid = "leaf-not-yet-valid"
    case expiredIntermediate = "expired-intermediate"
    case developerCertificate = "developer-certificate"
    case notAnAuthority = "not-an-authority"
    case pathLengthExceeded = "path-length-exceeded"
    case intermediateKeyUsage = "intermediate-key-usage"
    case leafKeyUsage = "leaf-key-usage"
    case unknownCriticalExtension = "unknown-critical-extension"
    case wrongIssuerName = "wrong-issuer-name"
    case weakLeafKey = "weak-leaf-key"
    case crossSigned = "cross-signed"
    case flippedPayloadByte = "flipped-payload-byte"
    case flippedSignatureByte = "flipped-signature-byte"
    case flippedLeafCertificateByte = "flipped-leaf-certificate-byte"
    case truncated
    case trailingBytes = "trailing-bytes"
    case nonMinimalLength = "non-minimal-length"
    case digestMismatch = "digest-mismatch"
    case signatureAlgorithmMismatch = "signature-algorithm-mismatch"
    case foreignSignature = "foreign-signature"
    case noSigner = "no-signer"
    case twoSigners = "two-signers"
    case signerNotEmbedded = "signer-not-embedded"
    case noCertificates = "no-certificates"
    case duplicateCertificate = "duplicate-certificate"
    case wrongContentType = "wrong-content-type"
    case signedAttributesWithoutDigest = "signed-attributes-without-digest"
    case wrongMessageDigest = "wrong-message-digest"
    case missingCreationDate = "missing-creation-date"
    case missingBundleID = "missing-bundle-id"
    case missingReceiptType = "missing-receipt-type"
    case duplicateAttribute = "duplicate-attribute"
    case malformedDate = "malformed-date"
    case noTransactionID = "no-transaction-id"
    case payloadNotASet = "payload-not-a-set"

    /// The fault, in one English sentence, for people who choose a fault by its name.
    public var explanation: String { effect.explanation }
}

extension ReceiptFault {
    var effect: FaultEffect<ReceiptPlan, SignedMessage> {
        switch self {
        // Certificates.
        case .wrongRoot:
            return .plan("The chain ends at another root with the same name.") {
                $0.authority = try $0.authority.impersonated(with: try ForeignKeys.authority.get())
            }
        case .missingLeafMarker:
            return .leaf("The leaf lacks the marker for receipt signing.") { leaf, _ in
                leaf.markers.removeAll { $0 == .receiptMarker }
            }
        case .missingIntermediateMarker:
            return .intermediate("The intermediate lacks its marker.") { template, _ in
                template.markers.removeAll { $0 == .intermediateMarker }
            }
        case .expiredLeaf: return .expiredLeaf("The leaf had expired when the receipt was created.")
        case .leafNotYetValid: return .leafNotYetValid("The leaf was not yet valid when the receipt was created.")
        case .expiredIntermediate:
            return .expiredIntermediate("The intermediate had expired when the receipt was created.")
        case .developerCertificate:
            return .developerCertificate("The signer is a developer's certificate, not one for receipts.")
        case .notAnAuthority: return .notAnAuthority("The intermediate is not a certificate authority.")
        case .pathLengthExceeded:
            return .plan("There is one more intermediate than the path length allows.") { try $0.lengthenPath() }
        case .intermediateKeyUsage:
            return .intermediate("The intermediate's key must not sign certificates.") { template, _ in
                template.keyUsage = .digitalSignature
            }
        case .leafKeyUsage:
            return .leaf("The leaf's key must not sign data.") { leaf, _ in leaf.keyUsage = .keyEncipherment }
        case .unknownCriticalExtension:
            return .leaf("The leaf has an unknown critical extension.") { leaf, _ in
                leaf.extraExtensions.append(.init(oid: KnownOID.example, isCritical: true, value: DER.null))
            }
        case .wrongIssuerName:
            // The signer's issuer is the leaf's.
            return .leaf("The leaf names an issuer that did not sign it.") { leaf, _ in
                leaf.issuer = .simulator("Unrelated CA")
            }
        case .weakLeafKey: return .plan("The leaf's key has 1024 bits.") { try $0.weakenLeaf() }
        case .crossSigned:
            return .plan("Nine authorities with P-384 keys have issued each other and the leaf.") { try $0.crossSign() }
        // Bytes.
        case .flippedPayloadByte:
            return .message("One bit of the payload was changed after signing.") {
                $0.content.flipBit(at: Self.meaninglessPosition(in: $0.content, of: $1.template))
            }
        case .flippedSignatureByte:
            return .message("One bit of the signature was changed.") { message, _ in
                for index in message.signers.indices {
                    message.signers[index].signature.flipBit(at: message.signers[index].signature.count / 2)
                }
            }
        case .flippedLeafCertificateByte:
            return .message("One bit of the leaf was changed.") { message, plan in
                let leaf = plan.authority.leaf.certificate
                guard let index = message.certificates?.firstIndex(of: leaf) else { return }
                let lastLetter = try CertificateFields(leaf).subjectRange.upperBound - 1
                message.certificates?[index].flipBit(at: lastLetter)
            }
        case .truncated: return .bytes("The last byte is missing.") { $0.removeLast() }
        case .trailingBytes: return .bytes("Four bytes follow the end.") { $0 += [0xDE, 0xAD, 0xBE, 0xEF] }
        case .nonMinimalLength:
            // Of the set of digest algorithms; DER forbids it.
            return .message("One length takes one octet more than it needs.") { message, _ in
                message.padsLength = true
            }
        // Signers.
        case .digestMismatch:
            return .message("The message and its signer name different digests.") {
                $0.digestAlgorithms = [$1.options.digest.another.algorithmIdentifier]
            }
        case .signatureAlgorithmMismatch:
            return .message("The signature algorithm names a different digest than the one in use.") { message, plan in
                let other = plan.options.digest.another
                let isElliptic = plan.options.signatureAlgorithm == .digestWithECDSA
                for index in message.signers.indices {
                    message.signers[index].signatureAlgorithm = (isElliptic ? other.withECDSA : other.withRSA).der
                }
            }
        case .foreignSignature:
            return .plan("The signature was made with a key that is not the leaf's.") {
                $0.options.signerKey = try ForeignKeys.authority.get().leaf
            }
        case .noSigner: return .message("There is no signer.") { message, _ in message.signers = [] }
        case .twoSigners:
            return .message("The signer appears twice.") { message, _ in message.signers += message.signers }
        case .signerNotEmbedded:
            return .message("The signer's certificate is missing.") { message, plan in
                message.certificates?.removeAll { $0 == plan.authority.leaf.certificate }
            }
        case .noCertificates:
            return .message("All certificates are missing.") { message, _ in message.certificates = nil }
        case .duplicateCertificate:
            return .message("The leaf is embedded twice.") {
                $0.certificates?.insert($1.authority.leaf.certificate, at: 0)
            }
        case .wrongContentType:
            return .plan("The content is declared to be digested data.") { $0.contentType = KnownOID.digestedData }
        case .signedAttributesWithoutDigest:
            return .plan("Attributes are signed, but no message digest is among them.") { $0.signAttributes(.missing) }
        case .wrongMessageDigest:
            return .plan("Attributes are signed, but their message digest belongs to other content.") {
                $0.signAttributes(.wrong)
            }
        // Payload, correctly signed.
        case .missingCreationDate: return .plan("The receipt has no creation date.") { $0.template.omitted.insert(12) }
        case .missingBundleID:
            // The device hash is the one with the bundle identifier.
            return .plan("The receipt has no bundle identifier.") { $0.template.omitted.insert(2) }
        case .missingReceiptType: return .plan("The receipt has no receipt type.") { $0.template.omitted.insert(0) }
        case .duplicateAttribute:
            return .plan("The receipt has two bundle identifiers.") {
                $0.template.extraAttributes.append(.utf8(2, ($0.template.bundleID ?? "com.example") + ".other"))
            }
        case .malformedDate:
            return .plan("The creation date of the receipt is a day that does not exist.") { plan in
                plan.template.omitted.insert(12)
                plan.template.extraAttributes.append(.ia5(12, "2024-02-30T12:00:00Z"))
            }
        case .noTransactionID:
            return .plan("The purchases have no transaction identifiers.") { $0.omitTransactionIDs() }
        case .payloadNotASet:
            return .plan("The payload is a sequence of attributes instead of a set.") { plan in
                var payload = plan.options.payload ?? plan.template.payload()
                if !payload.isEmpty { payload[0] = DER.Tag.sequence }
                plan.options.payload = payload
            }
        }
    }

    /// A byte whose change spoils nothing but the signature: the payload still parses, and its claims stay.
    private static func meaninglessPosition(in content: [UInt8], of template: AppReceiptTemplate) -> Int {
        let values = [template.encryptedValue7, template.encryptedValue6, template.opaqueValue].compactMap(\.self)
        return values.lazy.filter { !$0.isEmpty }.map { content.end(of: $0) }.first { $0 < content.count - 1 }
            ?? content.count - 1
    }
}

extension ReceiptPlan: CertifiedPlan {
    var certificateDate: Date? { template.creationDate }

    mutating func replaceLeaf(_ change: (inout CertificateTemplate) -> Void) throws {
        authority = try authority.replacingLeaf(change)
    }

    mutating func replaceIntermediate(_ change: (inout CertificateTemplate) -> Void) throws {
        authority = try authority.replacingIntermediate(change)
    }

    fileprivate mutating func signAttributes(_ digest: MessageDigest) {
        options.signedAttributes = true
        messageDigest = digest
    }

    /// If there are no purchases, one is added.
    fileprivate mutating func omitTransactionIDs() {
        if template.purchases.isEmpty {
            let date = template.creationDate ?? .distantPast
            template.purchases = [.nonConsumable(productID: "product", transactionID: "", purchaseDate: date)]
        }
        for index in template.purchases.indices { template.purchases[index].omitted.insert(1703) }
    }

    fileprivate mutating func weakenLeaf() throws {
        let leaf = try authority.leaf.certified(
            .receiptLeaf, key: try ForeignKeys.weak.get(), by: authority.intermediate.privateKey)
        authority = CertificateAuthority(root: authority.root, intermediate: authority.intermediate, leaf: leaf)
    }

    /// Puts an authority between intermediate and leaf.
    fileprivate mutating func lengthenPath() throws {
        let (root, intermediate) = (authority.root, authority.intermediate)
        let key = try ForeignKeys.authority.get().intermediate
        let second = try intermediate.certified(.receiptIntermediate, key: key, by: intermediate.privateKey) {
            $0.issuer = intermediate.subject
            $0.subject = .simulator("Second Developer Relations CA")
        }
        let leaf = try authority.leaf.certified(.receiptLeaf, by: key) { $0.issuer = second.subject }
        authority = CertificateAuthority(root: root, intermediate: intermediate, leaf: leaf)
        options.embeddedCertificates = [leaf, second, intermediate, root].map(\.certificate)
    }

    /// Replaces the authorities with nine of two names, each issued by all of the other name: they share one key.
    /// Together with the leaf they fill all places for certificates that a verifier usually reads, which makes the
    /// search for a path expensive.
    fileprivate mutating func crossSign() throws {
        let key = ForeignKeys.elliptic.intermediate
        let names = ["First", "Second"].map { CertificateTemplate.Name.simulator("\($0) Cross CA") }
        let authorities = try (0..<9).map { number in
            try authority.intermediate.certified(.receiptIntermediate, key: key, by: key) {
                ($0.subject, $0.issuer) = (names[number % 2], names[(number + 1) % 2])
                $0.serialNumber = [UInt8(number + 1)]
                $0.pathLength = nil
                $0.signatureAlgorithm = .ecdsaWithSHA384
            }
        }
        let leaf = try authority.leaf.certified(.receiptLeaf, by: key) {
            $0.issuer = names[0]
            $0.signatureAlgorithm = .ecdsaWithSHA384
        }
        authority = CertificateAuthority(root: authority.root, intermediate: authorities[0], leaf: leaf)
        options.embeddedCertificates = ([leaf] + authorities).map(\.certificate)
    }
}
