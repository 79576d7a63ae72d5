import Foundation

/// What a fault is, and what it changes: the plan before it is signed, the message afterwards, or the finished bytes.
struct FaultEffect<Plan, Message> {
    /// One English sentence.
    let explanation: String
    private(set) var alterPlan: (inout Plan) throws -> Void = { _ in }
    private(set) var alterMessage: (inout Message, Plan) throws -> Void = { _, _ in }
    private(set) var alterBytes: (inout [UInt8]) -> Void = { _ in }

    static func plan(_ explanation: String, _ change: @escaping (inout Plan) throws -> Void) -> Self {
        FaultEffect(explanation: explanation, alterPlan: change)
    }

    static func message(_ explanation: String, _ change: @escaping (inout Message, Plan) throws -> Void) -> Self {
        FaultEffect(explanation: explanation, alterMessage: change)
    }

    static func bytes(_ explanation: String, _ change: @escaping (inout [UInt8]) -> Void) -> Self {
        FaultEffect(explanation: explanation, alterBytes: change)
    }

    static func none(_ explanation: String) -> Self { FaultEffect(explanation: explanation) }
}

/// A plan of evidence with certificates. They keep their serial numbers when they are replaced, as a forger's would.
protocol CertifiedPlan {
    /// When the certificates must be valid; nil if the content does not say.
    var certificateDate: Date? { get }
    /// Certifies the leaf's key again.
    mutating func replaceLeaf(_ change: (inout CertificateTemplate) -> Void) throws
    /// Certifies the intermediate's key again.
    mutating func replaceIntermediate(_ change: (inout CertificateTemplate) -> Void) throws
}

extension FaultEffect where Plan: CertifiedPlan {
    /// Another leaf certificate for the same key. The change gets the date at which the certificates must be valid.
    static func leaf(_ explanation: String, _ change: @escaping (inout CertificateTemplate, Date) -> Void) -> Self {
        .plan(explanation) { plan in
            let date = plan.certificateDate ?? undated
            try plan.replaceLeaf { change(&$0, date) }
        }
    }

    /// Another intermediate certificate for the same key.
    static func intermediate(
        _ explanation: String, _ change: @escaping (inout CertificateTemplate, Date) -> Void
    ) -> Self {
        .plan(explanation) { plan in
            let date = plan.certificateDate ?? undated
            try plan.replaceIntermediate { change(&$0, date) }
        }
    }

    static func expiredLeaf(_ explanation: String) -> Self { .leaf(explanation) { $0.expire(before: $1) } }
    static func leafNotYetValid(_ explanation: String) -> Self { .leaf(explanation) { $0.begin(after: $1) } }
    static func expiredIntermediate(_ explanation: String) -> Self {
        .intermediate(explanation) { $0.expire(before: $1) }
    }

    /// The leaf is the certificate that every developer has from the same intermediate: one for code signing.
    static func developerCertificate(_ explanation: String) -> Self {
        .leaf(explanation) { leaf, _ in
            leaf.subject = .simulator("Developer")
            leaf.markers = []
            leaf.extendedKeyUsage = [KnownOID.codeSigning]
        }
    }

    static func notAnAuthority(_ explanation: String) -> Self {
        .intermediate(explanation) { intermediate, _ in
            intermediate.isAuthority = false
            intermediate.pathLength = nil
        }
    }
}

/// Stands for the date of content that has none: 2024-01-01T00:00:00Z.
private let undated = Date(timeIntervalSince1970: 1_704_067_200)

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
    fileprivate mutating func begin(after date: Date) {
        notBefore = date.addingTimeInterval(Self.day)
        notAfter = max(notAfter, notBefore.addingTimeInterval(365 * Self.day))
    }
}

extension [UInt8] {
    /// Changes the lowest bit of one octet.
    mutating func flipBit(at index: Int) {
        if indices.contains(index) { self[index] ^= 0x01 }
    }

    /// The place of the last octet of a part, or of all octets if the part is not among them.
    func end(of part: [UInt8]) -> Int {
        let last = count - part.count
        guard last >= 0, let start = (0...last).first(where: { self[$0...].starts(with: part) }) else {
            return count - 1
        }
        return start + part.count - 1
    }
}
