import Foundation

extension ReceiptFault {
    /// Replaces certificates and keys. The certificates keep their serial numbers, as a forger's would.
    /// - Throws: the errors of the crypto library if a key cannot be made or cannot sign.
    func alterAuthority(of plan: inout ReceiptPlan) throws {
        let authority = plan.authority
        let created = plan.template.creationDate ?? Self.fallbackDate
        switch self {
        case .wrongRoot:
            plan.authority = try authority.impersonated(with: try ForeignKeys.authority.get())
        case .missingLeafMarker:
            plan.authority = try authority.replacingLeaf { $0.markers.removeAll { $0 == .receiptMarker } }
        case .missingIntermediateMarker:
            plan.authority = try authority.replacingIntermediate { $0.markers.removeAll { $0 == .intermediateMarker } }
        case .expiredLeaf:
            plan.authority = try authority.replacingLeaf { $0.expire(before: created) }
        case .leafNotYetValid:
            plan.authority = try authority.replacingLeaf { $0.begin(after: created) }
        case .expiredIntermediate:
            plan.authority = try authority.replacingIntermediate { $0.expire(before: created) }
        case .developerCertificate:
            plan.authority = try authority.replacingLeaf { $0.becomeDevelopers() }
        case .notAnAuthority:
            plan.authority = try authority.replacingIntermediate { template in
                template.isAuthority = false
                template.pathLength = nil
            }
        case .pathLengthExceeded:
            try lengthenPath(of: &plan)
        case .intermediateKeyUsage:
            plan.authority = try authority.replacingIntermediate { $0.keyUsage = .digitalSignature }
        case .leafKeyUsage:
            plan.authority = try authority.replacingLeaf { $0.keyUsage = .keyEncipherment }
        case .unknownCriticalExtension:
            plan.authority = try authority.replacingLeaf { template in
                template.extraExtensions.append(
                    CertificateTemplate.Extension(oid: KnownOID.example, isCritical: true, value: DER.null)
                )
            }
        case .wrongIssuerName:
            plan.authority = try authority.replacingLeaf { template in
                template.issuer = CertificateTemplate.Name(
                    commonName: "Assay Simulator Unrelated CA", organization: "Assay Simulator"
                )
            }
        case .weakLeafKey:
            plan.authority = CertificateAuthority(
                root: authority.root,
                intermediate: authority.intermediate,
                leaf: try SigningIdentity(
                    authority.leaf.template ?? .receiptLeaf.adopting(authority.leaf),
                    key: try ForeignKeys.weak.get(),
                    issuerKey: authority.intermediate.privateKey
                )
            )
        case .crossSigned:
            try crossSign(&plan)
        case .foreignSignature:
            plan.options.signerKey = try ForeignKeys.authority.get().leaf
        default:
            break
        }
    }

    /// Puts an authority between intermediate and leaf.
    private func lengthenPath(of plan: inout ReceiptPlan) throws {
        let authority = plan.authority
        let key = try ForeignKeys.authority.get().intermediate
        var template = authority.intermediate.template ?? .receiptIntermediate.adopting(authority.intermediate)
        template.issuer = authority.intermediate.subject
        template.subject = CertificateTemplate.Name(
            commonName: "Assay Simulator Second Developer Relations CA", organization: "Assay Simulator"
        )
        let second = try SigningIdentity(template, key: key, issuerKey: authority.intermediate.privateKey)

        var leafTemplate = authority.leaf.template ?? .receiptLeaf.adopting(authority.leaf)
        leafTemplate.issuer = second.subject
        let leaf = try SigningIdentity(leafTemplate, key: authority.leaf.privateKey, issuerKey: key)

        plan.authority = CertificateAuthority(root: authority.root, intermediate: authority.intermediate, leaf: leaf)
        plan.options.embeddedCertificates = [leaf, second, authority.intermediate, authority.root].map(\.certificate)
    }

    /// Replaces the authorities with nine of two names, each issued by all of the other name: they share one key.
    /// Together with the leaf they fill all places for certificates that a verifier usually reads.
    private func crossSign(_ plan: inout ReceiptPlan) throws {
        let authority = plan.authority
        let key = ForeignKeys.elliptic.intermediate
        let names = ["First", "Second"].map {
            CertificateTemplate.Name(commonName: "Assay Simulator \($0) Cross CA", organization: "Assay Simulator")
        }
        let authorities = try (0..<9).map { number in
            var template = authority.intermediate.template ?? .receiptIntermediate.adopting(authority.intermediate)
            (template.subject, template.issuer) = (names[number % 2], names[(number + 1) % 2])
            template.serialNumber = [UInt8(number + 1)]
            template.pathLength = nil
            template.signatureAlgorithm = .ecdsaWithSHA384
            return try SigningIdentity(template, key: key, issuerKey: key)
        }
        var template = authority.leaf.template ?? .receiptLeaf.adopting(authority.leaf)
        template.issuer = names[0]
        template.signatureAlgorithm = .ecdsaWithSHA384
        let leaf = try SigningIdentity(template, key: authority.leaf.privateKey, issuerKey: key)
        plan.authority = CertificateAuthority(root: authority.root, intermediate: authorities[0], leaf: leaf)
        plan.options.embeddedCertificates = ([leaf] + authorities).map(\.certificate)
    }

    /// Replaces the creation date of a receipt without one: 2024-01-01T00:00:00Z.
    private static let fallbackDate = Date(timeIntervalSince1970: 1_704_067_200)
}

/// Keys that no authority vouches for. They take long to make, so a process makes them once.
enum ForeignKeys {
    static let authority = Result { try AuthorityKeys.rsa() }
    static let weak = Result { try SigningKey.makeRSA(bits: 1024) }
    static let elliptic = AuthorityKeys.elliptic()
}

extension CertificateTemplate {
    private static let day: TimeInterval = 86_400

    /// Ends thirty days before: an authority that ended in the last two days may be a mistake of Apple's, and no fault.
    mutating func expire(before date: Date) {
        notAfter = date.addingTimeInterval(-30 * Self.day)
        notBefore = min(notBefore, notAfter.addingTimeInterval(-365 * Self.day))
    }

    /// Begins the day after.
    mutating func begin(after date: Date) {
        notBefore = date.addingTimeInterval(Self.day)
        notAfter = max(notAfter, notBefore.addingTimeInterval(365 * Self.day))
    }

    /// Replaces a leaf with the certificate that every developer has from the same intermediate: one for code signing.
    mutating func becomeDevelopers() {
        subject = Name(commonName: "Assay Simulator Developer", organization: "Assay Simulator")
        markers = []
        extendedKeyUsage = [KnownOID.codeSigning]
    }
}
