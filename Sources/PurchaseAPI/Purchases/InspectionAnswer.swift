/// The answer of `POST /v1/inspect`. It vouches for nothing and grants nothing.
public struct InspectionAnswer: Codable, Sendable, Equatable {
    /// The kind of evidence, such as `app_receipt`; `nil` if it was not recognised.
    public var evidence: String?
    /// The text encoding in which it was sent.
    public var encoding: String?
    /// `verified` if every check passed, otherwise `rejected`.
    public var verdict: Verdict
    /// The code of the first check that failed: the one that a claim with this evidence gets.
    public var code: String?
    /// The sentence for people.
    public var detail: String?
    /// What an app should do with its transaction if a claim gets this code.
    public var disposition: Disposition?
    /// The checks, in their order; after a failure, later checks are also made if they can be.
    public var checks: [InspectionCheck]
    /// The algorithm of the signature.
    public var signature: String?
    /// The embedded certificates, in their order.
    public var certificates: [InspectedCertificate]
    /// The names from the signer to the trust anchor; empty if there is no path.
    public var certificatePath: [String]
    /// The decoded content, with Apple's keys; `nil` if it could not be read. Nobody vouches for it unless the verdict
    /// is `verified`.
    public var content: JSONContent?

    /// The result of all checks.
    public struct Verdict: WireEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let verified = Verdict(rawValue: "verified")
        public static let rejected = Verdict(rawValue: "rejected")
    }

    public init(
        evidence: String?, encoding: String?, verdict: Verdict, code: String? = nil, detail: String? = nil,
        disposition: Disposition? = nil, checks: [InspectionCheck], signature: String? = nil,
        certificates: [InspectedCertificate], certificatePath: [String], content: JSONContent? = nil
    ) {
        (self.evidence, self.encoding, self.verdict, self.code) = (evidence, encoding, verdict, code)
        (self.detail, self.disposition, self.checks, self.signature) = (detail, disposition, checks, signature)
        (self.certificates, self.certificatePath, self.content) = (certificates, certificatePath, content)
    }

    enum CodingKeys: String, CodingKey {
        case evidence, encoding, verdict, code, detail, disposition, checks, signature, certificates, content
        case certificatePath = "certificate_path"
    }
}

/// A certificate in inspected evidence.
public struct InspectedCertificate: Codable, Sendable, Equatable {
    public var subject: String
    public var issuer: String
    /// Hexadecimal.
    public var serialNumber: String
    public var notBefore: String
    public var notAfter: String
    /// The kind of key, such as `RSA 2048`, or the reason why it is not accepted.
    public var publicKey: String
    public var signatureAlgorithm: String

    public init(
        subject: String, issuer: String, serialNumber: String, notBefore: String, notAfter: String, publicKey: String,
        signatureAlgorithm: String
    ) {
        (self.subject, self.issuer, self.serialNumber, self.notBefore) = (subject, issuer, serialNumber, notBefore)
        (self.notAfter, self.publicKey, self.signatureAlgorithm) = (notAfter, publicKey, signatureAlgorithm)
    }

    enum CodingKeys: String, CodingKey {
        case subject, issuer
        case serialNumber = "serial_number"
        case notBefore = "not_before"
        case notAfter = "not_after"
        case publicKey = "public_key"
        case signatureAlgorithm = "signature_algorithm"
    }
}

/// One check of an inspection, and how it ended.
public struct InspectionCheck: Codable, Sendable, Equatable {
    /// The subject of the check, in a few words.
    public var name: String
    public var outcome: Outcome
    /// The reason code of a failed check.
    public var code: String?
    /// The sentence for people.
    public var detail: String?
    public var expected: String?
    public var found: String?

    /// The result of one check.
    public struct Outcome: WireEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let passed = Outcome(rawValue: "passed")
        public static let failed = Outcome(rawValue: "failed")
        /// An earlier failure made it impossible; this also counts as failed.
        public static let notRun = Outcome(rawValue: "not_run")
    }

    public init(
        name: String, outcome: Outcome, code: String? = nil, detail: String? = nil, expected: String? = nil,
        found: String? = nil
    ) {
        (self.name, self.outcome, self.code, self.detail) = (name, outcome, code, detail)
        (self.expected, self.found) = (expected, found)
    }
}
