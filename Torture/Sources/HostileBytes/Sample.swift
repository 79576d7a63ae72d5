public import PurchaseVerification

/// Some evidence, and whom to trust with it.
public struct Sample: Sendable {
    /// What it is, without anything private in it.
    public let name: String
    /// As a client hands it in.
    public let evidence: [UInt8]
    /// Without its text encoding.
    public let bytes: [UInt8]
    public let trust: Trust
    /// Whether it must verify.
    public let isGenuine: Bool

    public init(_ name: String, _ evidence: [UInt8], _ trust: Trust, isGenuine: Bool) {
        self.name = name
        self.evidence = evidence
        bytes = (try? Evidence(evidence))?.bytes ?? evidence
        self.trust = trust
        self.isGenuine = isGenuine
    }
}

/// Trust anchors, for the core and for others.
public struct Trust: Sendable {
    public let anchors: [TrustAnchor]
    /// The same certificates in DER.
    public let certificates: [[UInt8]]

    public init(anchors: [TrustAnchor], certificates: [[UInt8]]) {
        self.anchors = anchors
        self.certificates = certificates
    }

    /// Trusts certificates as an operator does who names them.
    public init(certificates: [[UInt8]]) throws {
        self.init(anchors: try certificates.map { try TrustAnchor(certificate: $0) }, certificates: certificates)
    }

    /// A verifier that has seen nothing yet.
    public var freshVerifier: PurchaseVerifier { PurchaseVerifier(anchors: anchors) }
}
