public import PurchaseVerification

/// A piece of evidence, and the anchors to trust for it.
public struct Sample: Sendable {
    /// A description without personal data.
    public let name: String
    /// The bytes, as a client sends them.
    public let evidence: [UInt8]
    /// The bytes without their text encoding.
    public let bytes: [UInt8]
    public let trust: Trust
    /// Whether it must verify.
    public let isGenuine: Bool

    public init(_ name: String, _ evidence: [UInt8], _ trust: Trust, isGenuine: Bool) {
        self.name = name
        self.evidence = evidence
        bytes = (try? RecognizedEvidence(evidence))?.bytes ?? evidence
        self.trust = trust
        self.isGenuine = isGenuine
    }
}

/// Trust anchors, for the core and for other verifiers.
public struct Trust: Sendable {
    public let anchors: [TrustAnchor]
    /// The same certificates in DER.
    public let certificates: [[UInt8]]

    public init(anchors: [TrustAnchor], certificates: [[UInt8]]) {
        self.anchors = anchors
        self.certificates = certificates
    }

    /// Trusts certificates in the same way as an operator who names them.
    public init(certificates: [[UInt8]]) throws {
        self.init(anchors: try certificates.map { try TrustAnchor(certificate: $0) }, certificates: certificates)
    }

    /// A verifier with an empty cache.
    public var freshVerifier: PurchaseVerifier { PurchaseVerifier(anchors: anchors) }
}
