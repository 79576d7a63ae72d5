/// A fault of a signed payload (JWS). A fault breaks one thing and leaves everything else correct.
///
/// The raw value is the name of the fault on the command line.
public enum SignedPayloadFault: String, CaseIterable, Sendable {
    // MARK: Certificates

    /// The chain ends at another root: an authority with the same names, but different keys.
    case wrongRoot = "wrong-root"
    /// The leaf lacks the marker of receipt signing, 1.2.840.113635.100.6.11.1.
    case missingLeafMarker = "missing-leaf-marker"
    /// The intermediate lacks its marker, 1.2.840.113635.100.6.2.1.
    case missingIntermediateMarker = "missing-intermediate-marker"
    /// The leaf and the intermediate had expired a day before it was signed.
    case expiredChain = "expired-chain"
    /// The leaf had expired a day before it was signed.
    case expiredLeaf = "expired-leaf"
    /// The intermediate had expired a day before it was signed.
    case expiredIntermediate = "expired-intermediate"
    /// The leaf becomes valid a day after it was signed.
    case leafNotYetValid = "leaf-not-yet-valid"
    /// The leaf is a developer's certificate for signing code, from the same intermediate, without a marker.
    case developerCertificate = "developer-certificate"
    /// The intermediate's basic constraints say that it is not an authority.
    case notAnAuthority = "not-an-authority"
    /// The leaf names the genuine intermediate as its issuer, which never signed it; intermediate and root are genuine.
    case ownLeaf = "own-leaf"
    /// Leaf and intermediate have changed places in `x5c`.
    case swappedX5C = "swapped-x5c"
    /// `x5c` holds the leaf alone.
    case x5cOfOne = "x5c-of-one"
    /// `x5c` holds leaf and intermediate.
    case x5cOfTwo = "x5c-of-two"
    /// `x5c` holds the root twice.
    case x5cOfFour = "x5c-of-four"
    /// `x5c` is missing.
    case missingX5C = "missing-x5c"

    // MARK: Signature

    /// The signature was made with a key that is not the leaf's.
    case foreignSignature = "foreign-signature"
    /// The signature was made with a key that is in the header as `jwk`; `x5c` is genuine.
    case embeddedKey = "embedded-key"
    /// One bit in the middle of the signature was changed.
    case flippedSignatureByte = "flipped-signature-byte"
    /// The signature is the genuine one of other content.
    case reusedSignature = "reused-signature"
    /// The signature is in DER (ECDSA-Sig-Value) instead of r and s one after the other.
    case derSignature = "der-signature"
    /// r and s have 48 octets each, with leading zeros: the length of ES384.
    case longSignature = "long-signature"
    /// r and s are zero.
    case zeroSignature = "zero-signature"
    /// `alg` is `none`, and the signature is empty.
    case algNone = "alg-none"
    /// `alg` is `HS256`, and the signature is a MAC with the leaf's public key (PEM) for a secret.
    case hs256WithPublicKey = "hs256-with-public-key"
    /// `alg` is `ES384`. The signature is ES256.
    case algES384 = "alg-es384"
    /// `alg` is `RS256`. The signature is ES256.
    case algRS256 = "alg-rs256"

    // MARK: Content, changed after signing

    /// One bit of the payload was changed, in the last character of a text.
    case flippedPayloadByte = "flipped-payload-byte"
    /// The value of a claim was changed after signing: the product, if there is one.
    case editedClaims = "edited-claims"

    // MARK: Text

    /// The last character is missing.
    case truncated
    /// A fourth part follows the signature.
    case fourthPart = "fourth-part"
    /// The parts are base64 with padding.
    case paddedBase64 = "padded-base64"

    // MARK: Content, correctly signed

    /// It belongs to another app.
    case wrongBundleID = "wrong-bundle-id"
    /// The bundle identifier is missing.
    case missingBundleID = "missing-bundle-id"
    /// The environment is Xcode.
    case xcodeEnvironment = "xcode-environment"
    /// The date of signing is missing. In an app transaction, that is the receipt creation date.
    case missingSignedDate = "missing-signed-date"
    /// The payload is not JSON.
    case payloadNotJSON = "payload-not-json"
    /// A claim holds arrays in arrays, 10,000 deep.
    case deeplyNested = "deeply-nested"
    /// A claim has 16 MiB.
    case oversized
    /// The data nested in the notification was signed by another authority; the envelope is genuine.
    case forgedNestedData = "forged-nested-data"
    /// The data nested in the notification belongs to another app than the envelope.
    case nestedDataOfAnotherApp = "nested-data-of-another-app"
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
