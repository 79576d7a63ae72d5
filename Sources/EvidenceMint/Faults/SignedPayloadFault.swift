import Crypto
import Foundation

/// A fault of a signed payload (JWS). A fault breaks one thing and leaves everything else correct.
///
/// The raw value is the name of the fault on the command line, and `explanation` describes it.
public enum SignedPayloadFault: String, CaseIterable, Sendable {
    case wrongRoot = "wrong-root"
    case missingLeafMarker = "missing-leaf-marker"
    case missingIntermediateMarker = "missing-intermediate-marker"
    case expiredChain = "expired-chain"
    case expiredLeaf = "expired-leaf"
    case expiredIntermediate = "expired-intermediate"
    case leafNotYetValid = "leaf-not-yet-valid"
    case developerCertificate = "developer-certificate"
    case notAnAuthority = "not-an-authority"
    case ownLeaf = "own-leaf"
    case swappedX5C = "swapped-x5c"
    case x5cOfOne = "x5c-of-one"
    case x5cOfTwo = "x5c-of-two"
    case x5cOfFour = "x5c-of-four"
    case missingX5C = "missing-x5c"
    case foreignSignature = "foreign-signature"
    case embeddedKey = "embedded-key"
    case flippedSignatureByte = "flipped-signature-byte"
    case reusedSignature = "reused-signature"
    case derSignature = "der-signature"
    case longSignature = "long-signature"
    case zeroSignature = "zero-signature"
    case algNone = "alg-none"
    case hs256WithPublicKey = "hs256-with-public-key"
    case algES384 = "alg-es384"
    case algRS256 = "alg-rs256"
    case flippedPayloadByte = "flipped-payload-byte"
    case editedClaims = "edited-claims"
    case truncated
    case fourthPart = "fourth-part"
    case paddedBase64 = "padded-base64"
    case wrongBundleID = "wrong-bundle-id"
    case missingBundleID = "missing-bundle-id"
    case xcodeEnvironment = "xcode-environment"
    case missingSignedDate = "missing-signed-date"
    case payloadNotJSON = "payload-not-json"
    case deeplyNested = "deeply-nested"
    case oversized
    case forgedNestedData = "forged-nested-data"
    case nestedDataOfAnotherApp = "nested-data-of-another-app"

    /// The fault, in one English sentence, for people who choose a fault by its name.
    public var explanation: String { effect.explanation }
}

extension SignedPayloadFault {
    /// The faults that some content can have, in their order.
    public static func applicable(to template: some SignedPayloadTemplate) -> [SignedPayloadFault] {
        allCases.filter { $0.applies(to: template) }
    }

    /// Whether the content has the part that the fault would break. Renewal information has no bundle identifier, and
    /// only notifications have nested data.
    public func applies(to template: some SignedPayloadTemplate) -> Bool {
        var nested: [[Claim]] = []
        let claims = template.claims { inner in
            nested.append(inner.claims { _ in "" })
            return ""
        }
        return switch self {
        case .wrongBundleID, .missingBundleID: claims.value("bundleId") != nil
        // A notification around signed payloads is dated by them.
        case .missingSignedDate: nested.isEmpty && claims.value(type(of: template).signingDateClaim) != nil
        case .editedClaims: Self.editable(claims) != nil
        case .forgedNestedData: !nested.isEmpty
        case .nestedDataOfAnotherApp: nested.contains { $0.value("bundleId") != nil }
        default: true
        }
    }

    /// The fault of the nested data, if the envelope is correct.
    func faultOfNestedData(_ template: any SignedPayloadTemplate) -> SignedPayloadFault? {
        switch self {
        case .forgedNestedData: .wrongRoot
        case .nestedDataOfAnotherApp where SignedPayloadFault.wrongBundleID.applies(to: template): .wrongBundleID
        default: nil
        }
    }

    /// The claim that a cheat would change.
    static func editable(_ claims: [Claim]) -> (name: String, text: String)? {
        for name in ["productId", "originalApplicationVersion", "notificationType", "bundleId"] {
            if case .string(let text)? = claims.value(name) { return (name, text) }
        }
        return nil
    }
}

extension SignedPayloadFault {
    var effect: FaultEffect<SignedPayloadPlan, SignedPayloadMessage> {
        switch self {
        // Certificates.
        case .wrongRoot:
            return .plan("The chain ends at another root with the same name.") { plan in
                plan.authority = SignedPayloadAuthority(
                    chain: try plan.authority.chain.impersonated(with: ForeignKeys.elliptic))
            }
        case .missingLeafMarker:
            return .leaf("The leaf lacks the marker for receipt signing.") { leaf, _ in leaf.markers = [] }
        case .missingIntermediateMarker:
            return .intermediate("The intermediate lacks its marker.") { template, _ in template.markers = [] }
        case .expiredChain:
            return .plan("The leaf and the intermediate had expired when the data was signed.") { plan in
                try Self.expiredIntermediate.effect.alterPlan(&plan)
                try Self.expiredLeaf.effect.alterPlan(&plan)
            }
        case .expiredLeaf: return .expiredLeaf("The leaf had expired when the data was signed.")
        case .expiredIntermediate: return .expiredIntermediate("The intermediate had expired when the data was signed.")
        case .leafNotYetValid: return .leafNotYetValid("The leaf was not yet valid when the data was signed.")
        case .developerCertificate:
            return .developerCertificate("The signer is a developer's certificate, not one for App Store data.")
        case .notAnAuthority: return .notAnAuthority("The intermediate is not a certificate authority.")
        case .ownLeaf:
            return .plan("The leaf names an issuer that did not sign it.") { plan in
                // Separate, because the key in the place of the intermediate's is not the intermediate's.
                let forger = try plan.authority.chain.impersonated(with: ForeignKeys.elliptic)
                plan.authority = SignedPayloadAuthority(
                    root: plan.authority.root, intermediate: plan.authority.intermediate, leaf: forger.leaf)
            }
        case .swappedX5C: return .chain("Leaf and intermediate are swapped.") { [$0[1], $0[0], $0[2]] }
        case .x5cOfOne: return .chain("The chain has only the leaf.") { Array($0.prefix(1)) }
        case .x5cOfTwo: return .chain("The chain lacks the root.") { Array($0.prefix(2)) }
        case .x5cOfFour: return .chain("The chain has the root twice.") { $0 + $0.suffix(1) }
        case .missingX5C: return .plan("There is no chain.") { $0.hasCertificates = false }
        // Signature.
        case .foreignSignature:
            return .plan("The signature was made with a key that is not the leaf's.") {
                $0.signerKey = ForeignKeys.elliptic.leaf
            }
        case .embeddedKey:
            return .plan("The signature was made with a key in the header.") { plan in
                plan.signerKey = ForeignKeys.elliptic.leaf
                plan.extraHeader.append(Claim("jwk", .object(Self.publicMembers(of: ForeignKeys.elliptic.leaf))))
            }
        case .flippedSignatureByte:
            return .message("One bit of the signature was changed.") { message, _ in
                message.signature.flipBit(at: message.signature.count / 2)
            }
        case .reusedSignature:
            return .message("The signature belongs to other content.") { message, plan in
                var other = plan
                other.claims.append(Claim("other", .boolean(true)))
                message.signature = try other.message().signature
            }
        case .derSignature:
            // ECDSA-Sig-Value (RFC 3279, 2.2.3).
            return .signature("The signature is in DER.") { signature, _, _ in
                let half = signature.count / 2
                return DER.sequence(
                    DER.integer(magnitude: Array(signature.prefix(half))),
                    DER.integer(magnitude: Array(signature.suffix(half))))
            }
        case .longSignature:
            // r and s have 48 octets each, as in ES384.
            return .signature("The signature has the length of another algorithm.") { signature, _, _ in
                let (half, zeros) = (signature.count / 2, [UInt8](repeating: 0, count: 16))
                return zeros + signature.prefix(half) + zeros + signature.suffix(half)
            }
        case .zeroSignature:
            return .signature("The signature consists of zeros.") {
                signature, _, _ in [UInt8](repeating: 0, count: signature.count)
            }
        case .algNone:
            return .signature("There is no signature, and the header says so.", algorithm: "none") { _, _, _ in [] }
        case .hs256WithPublicKey:
            return .signature("The signature is a MAC with the public key as its secret.", algorithm: "HS256") {
                _, message, plan in
                let secret = SymmetricKey(data: Data(Self.publicPEM(of: plan.authority.leaf.privateKey).utf8))
                return Array(HMAC<SHA256>.authenticationCode(for: Data(message.signedBytes), using: secret))
            }
        case .algES384: return .plan("The header names ES384.") { $0.algorithm = "ES384" }
        case .algRS256: return .plan("The header names RS256.") { $0.algorithm = "RS256" }
        // Content, changed after signing.
        case .flippedPayloadByte:
            return .message("One bit of the content was changed after signing.") {
                $0.payload.flipBit(at: Self.lastOfText(in: $0.payload, $1.claims))
            }
        case .editedClaims:
            return .message("A claim was replaced after signing.") { message, plan in
                var claims = plan.claims
                if let name = Self.editable(claims)?.name { claims.append(".premium", to: name) }
                message.payload = ClaimValue.object(claims).json
            }
        // Text.
        case .truncated: return .message("The last character is missing.") { message, _ in message.missing = 1 }
        case .fourthPart:
            return .message("A fourth part follows the signature.") { message, _ in message.tail = ".AAAA" }
        case .paddedBase64: return .plan("The parts are base64 with padding.") { $0.padsBase64 = true }
        // Content, correctly signed.
        case .wrongBundleID:
            return .plan("The data belongs to another app.") { $0.claims.append(".other", to: "bundleId") }
        case .missingBundleID:
            return .plan("The data has no bundle identifier.") { $0.claims.change("bundleId") { _ in nil } }
        case .xcodeEnvironment: return .plan("The environment in the data is Xcode.") { $0.setXcodeEnvironment() }
        case .missingSignedDate:
            return .plan("The data has no signing date.") { plan in
                plan.claims.change(plan.signingDateClaim) { _ in nil }
            }
        case .payloadNotJSON: return .plan("The content is not JSON.") { $0.payload = Array("transactionId=1000".utf8) }
        case .deeplyNested:
            return .plan("A claim is nested 10,000 levels deep.") { plan in
                let arrays = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
                plan.claims.append(Claim("nested", .raw(arrays)))
            }
        case .oversized:
            return .plan("A claim has 16 MiB.") { plan in
                let padding = "\"" + String(repeating: "A", count: 16 << 20) + "\""
                plan.claims.append(Claim("padding", .raw(padding)))
            }
        case .forgedNestedData: return .none("The nested data was signed by another authority.")
        case .nestedDataOfAnotherApp: return .none("The nested data belongs to another app.")
        }
    }

    /// The end of a text in the payload; changing a bit there leaves the payload valid JSON.
    private static func lastOfText(in payload: [UInt8], _ claims: [Claim]) -> Int {
        guard let (name, text) = editable(claims) else { return payload.count - 1 }
        return payload.end(of: ClaimValue.object([Claim(name, .string(text))]).json.dropFirst().dropLast(2))
    }

    /// The members of a JSON Web Key (RFC 7518, 6.2.1).
    private static func publicMembers(of key: SigningKey) -> [Claim] {
        guard case .p256(let key) = key else { return [] }
        let point = [UInt8](key.publicKey.rawRepresentation)
        func coordinate(_ octets: ArraySlice<UInt8>) -> ClaimValue {
            .string(SignedPayloadMessage.base64(Array(octets), isPadded: false))
        }
        return [
            Claim("kty", .string("EC")), Claim("crv", .string("P-256")), Claim("x", coordinate(point.prefix(32))),
            Claim("y", coordinate(point.suffix(32))),
        ]
    }

    private static func publicPEM(of key: SigningKey) -> String {
        let base64 = Data(key.publicKeyInfo)
            .base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n"
    }
}

extension FaultEffect<SignedPayloadPlan, SignedPayloadMessage> {
    /// Other certificates in `x5c`, made of leaf, intermediate and root.
    fileprivate static func chain(_ explanation: String, _ change: @escaping ([[UInt8]]) -> [[UInt8]]) -> Self {
        .plan(explanation) { plan in
            plan.certificates = change(
                [plan.authority.leaf, plan.authority.intermediate, plan.authority.root].map(\.certificate))
        }
    }

    /// Another signature, and another name of its algorithm.
    fileprivate static func signature(
        _ explanation: String, algorithm: String? = nil,
        _ change: @escaping ([UInt8], SignedPayloadMessage, SignedPayloadPlan) -> [UInt8]
    ) -> Self {
        FaultEffect(
            explanation: explanation, alterPlan: { if let algorithm { $0.algorithm = algorithm } },
            alterMessage: { $0.signature = change($0.signature, $0, $1) })
    }
}

extension SignedPayloadPlan: CertifiedPlan {
    var certificateDate: Date? { signingDate }

    mutating func replaceLeaf(_ change: (inout CertificateTemplate) -> Void) throws {
        authority = try authority.replacingLeaf(change)
    }

    mutating func replaceIntermediate(_ change: (inout CertificateTemplate) -> Void) throws {
        authority = try authority.replacingIntermediate(change)
    }

    /// The environment is Xcode wherever it is named, or in a further claim.
    fileprivate mutating func setXcodeEnvironment() {
        let names = ["environment", "receiptType"].filter { claims.value($0) != nil }
        if names.isEmpty { claims.append(Claim("environment", .string("Xcode"))) }
        for name in names { claims.change(name) { _ in .string("Xcode") } }
    }
}

extension [Claim] {
    /// Appends to a text.
    fileprivate mutating func append(_ suffix: String, to name: String) {
        change(name) { value in
            guard case .string(let text) = value else { return value }
            return .string(text + suffix)
        }
    }
}
