import Crypto
import Foundation

extension SignedPayloadFault {
    /// Changes the content before it is signed; the signature will be valid.
    func alterContent(of plan: inout SignedPayloadPlan) {
        switch self {
        case .wrongBundleID:
            plan.claims.change("bundleId") { Self.appending(".other", to: $0) }
        case .missingBundleID:
            plan.claims.change("bundleId") { _ in nil }
        case .missingSignedDate:
            plan.claims.change(plan.signingDateClaim) { _ in nil }
        case .xcodeEnvironment:
            let names = ["environment", "receiptType"].filter { plan.claims.value($0) != nil }
            if names.isEmpty {
                plan.claims.append(Claim("environment", .string("Xcode")))
            }
            for name in names {
                plan.claims.change(name) { _ in .string("Xcode") }
            }
        case .payloadNotJSON:
            plan.payload = Array("transactionId=1000".utf8)
        case .deeplyNested:
            let depth = 10_000
            let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            plan.claims.append(Claim("nested", .raw(arrays)))
        case .oversized:
            let padding = "\"" + String(repeating: "A", count: 16 << 20) + "\""
            plan.claims.append(Claim("padding", .raw(padding)))
        default:
            break
        }
    }

    /// Replaces certificates and keys. The certificates keep their serial numbers, as a forger's would.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    func alterAuthority(of plan: inout SignedPayloadPlan) throws {
        let authority = plan.authority
        let signed = plan.signingDate ?? Self.fallbackDate
        switch self {
        case .wrongRoot:
            plan.authority = SignedPayloadAuthority(
                chain: try authority.chain.impersonated(with: ForeignKeys.elliptic))
        case .missingLeafMarker:
            plan.authority = try authority.replacingLeaf { $0.markers = [] }
        case .missingIntermediateMarker:
            plan.authority = try authority.replacingIntermediate { $0.markers = [] }
        case .expiredChain:
            plan.authority = try authority.replacingIntermediate { $0.expire(before: signed) }
                .replacingLeaf { $0.expire(before: signed) }
        case .expiredLeaf:
            plan.authority = try authority.replacingLeaf { $0.expire(before: signed) }
        case .expiredIntermediate:
            plan.authority = try authority.replacingIntermediate { $0.expire(before: signed) }
        case .leafNotYetValid:
            plan.authority = try authority.replacingLeaf { $0.begin(after: signed) }
        case .developerCertificate:
            plan.authority = try authority.replacingLeaf { $0.becomeDevelopers() }
        case .notAnAuthority:
            plan.authority = try authority.replacingIntermediate { template in
                template.isAuthority = false
                template.pathLength = nil
            }
        case .ownLeaf:
            // Separate, because the key in the place of the intermediate's is not the intermediate's.
            let forger = try authority.chain.impersonated(with: ForeignKeys.elliptic)
            plan.authority = SignedPayloadAuthority(
                root: authority.root, intermediate: authority.intermediate, leaf: forger.leaf)
        case .foreignSignature, .embeddedKey:
            plan.signerKey = ForeignKeys.elliptic.leaf
        default:
            break
        }
    }

    /// Changes the header.
    func alterHeader(of plan: inout SignedPayloadPlan) {
        let chain = [plan.authority.leaf, plan.authority.intermediate, plan.authority.root].map(\.certificate)
        switch self {
        case .swappedX5C:
            plan.certificates = [chain[1], chain[0], chain[2]]
        case .x5cOfOne:
            plan.certificates = Array(chain.prefix(1))
        case .x5cOfTwo:
            plan.certificates = Array(chain.prefix(2))
        case .x5cOfFour:
            plan.certificates = chain + chain.suffix(1)
        case .missingX5C:
            plan.hasCertificates = false
        case .embeddedKey:
            plan.extraHeader.append(Claim("jwk", .object(Self.publicMembers(of: ForeignKeys.elliptic.leaf))))
        case .algNone:
            plan.algorithm = "none"
        case .hs256WithPublicKey:
            plan.algorithm = "HS256"
        case .algES384:
            plan.algorithm = "ES384"
        case .algRS256:
            plan.algorithm = "RS256"
        case .paddedBase64:
            plan.padsBase64 = true
        default:
            break
        }
    }

    /// Changes the JWS after it was signed.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    func alter(_ message: inout SignedPayloadMessage, of plan: SignedPayloadPlan) throws {
        switch self {
        case .flippedSignatureByte:
            message.signature.flipBit(at: message.signature.count / 2)
        case .reusedSignature:
            var other = plan
            other.claims.append(Claim("other", .boolean(true)))
            message.signature = try other.message().signature
        case .derSignature:
            message.signature = Self.der(message.signature)
        case .longSignature:
            let half = message.signature.count / 2
            let zeros = [UInt8](repeating: 0, count: 16)
            message.signature = zeros + message.signature.prefix(half) + zeros + message.signature.suffix(half)
        case .zeroSignature:
            message.signature = [UInt8](repeating: 0, count: message.signature.count)
        case .algNone:
            message.signature = []
        case .hs256WithPublicKey:
            let secret = SymmetricKey(data: Data(Self.publicPEM(of: plan.authority.leaf.privateKey).utf8))
            message.signature = Array(
                HMAC<SHA256>.authenticationCode(for: Data(message.signedBytes), using: secret))
        case .flippedPayloadByte:
            message.payload.flipBit(at: Self.lastOfText(in: message.payload, plan.claims))
        case .editedClaims:
            var claims = plan.claims
            if let name = Self.editable(claims)?.name {
                claims.change(name) { Self.appending(".premium", to: $0) }
            }
            message.payload = ClaimValue.object(claims).json
        case .truncated:
            message.missing = 1
        case .fourthPart:
            message.tail = ".AAAA"
        default:
            break
        }
    }

    /// Replaces the date of content that has none: 2024-01-01T00:00:00Z.
    private static let fallbackDate = Date(timeIntervalSince1970: 1_704_067_200)

    private static func appending(_ suffix: String, to value: ClaimValue) -> ClaimValue {
        guard case .string(let text) = value else { return value }
        return .string(text + suffix)
    }

    /// The end of a text in the payload; changing a bit there leaves the payload valid JSON.
    private static func lastOfText(in payload: [UInt8], _ claims: [Claim]) -> Int {
        guard let (name, text) = editable(claims) else { return payload.count - 1 }
        let member = ClaimValue.object([Claim(name, .string(text))]).json.dropFirst().dropLast(2)
        let last = payload.count - member.count
        guard last >= 0, let start = (0...last).first(where: { payload[$0...].starts(with: member) }) else {
            return payload.count - 1
        }
        return start + member.count - 1
    }

    /// An ECDSA-Sig-Value (RFC 3279, 2.2.3) of r and s.
    private static func der(_ signature: [UInt8]) -> [UInt8] {
        let half = signature.count / 2
        return DER.sequence(
            DER.integer(magnitude: Array(signature.prefix(half))),
            DER.integer(magnitude: Array(signature.suffix(half)))
        )
    }

    /// The members of a JSON Web Key (RFC 7518, 6.2.1).
    private static func publicMembers(of key: SigningKey) -> [Claim] {
        guard case .p256(let key) = key else { return [] }
        let point = [UInt8](key.publicKey.rawRepresentation)
        func coordinate(_ octets: ArraySlice<UInt8>) -> ClaimValue {
            .string(
                Data(octets).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                    .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: ""))
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
