/// One of several words on the wire. A word that this version does not know is kept unchanged, so that an older client can read
/// the answers of a newer server.
///
/// Words are compared byte by byte: the comparison of strings normalizes Unicode, in quadratic time for hostile text.
public protocol WireEnumeration: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible
where RawValue == String {
    /// Any word, known or not.
    init(rawValue: String)
}

extension WireEnumeration {
    public static func == (left: Self, right: Self) -> Bool { left.rawValue.utf8.elementsEqual(right.rawValue.utf8) }

    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte) }
    }

    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public var description: String { rawValue }
}

/// The result of a submission.
public struct SubmissionVerdict: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let accepted = SubmissionVerdict(rawValue: "accepted")
    public static let rejected = SubmissionVerdict(rawValue: "rejected")
    /// It could not be decided yet: it waits for the App Store.
    public static let undetermined = SubmissionVerdict(rawValue: "undetermined")
}

/// The environment of the App Store in which something was bought. Simulators have environments of other names.
public struct EnvironmentName: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let production = EnvironmentName(rawValue: "Production")
    public static let sandbox = EnvironmentName(rawValue: "Sandbox")
}
