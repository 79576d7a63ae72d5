/// One of several words on the wire. A word that this version does not know is kept as it came, so that an older client reads
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

/// What became of a submission.
public struct SubmissionVerdict: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let accepted = SubmissionVerdict(rawValue: "accepted")
    public static let rejected = SubmissionVerdict(rawValue: "rejected")
}

/// The environment of the App Store in which something was bought. Simulators have environments of other names.
public struct EnvironmentName: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let production = EnvironmentName(rawValue: "Production")
    public static let sandbox = EnvironmentName(rawValue: "Sandbox")
}

extension OrderMessage {
    /// Where an order is.
    public struct Status: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let created = Status(rawValue: "created")
        public static let paid = Status(rawValue: "paid")
        public static let fulfilled = Status(rawValue: "fulfilled")
        public static let expired = Status(rawValue: "expired")
        public static let cancelled = Status(rawValue: "cancelled")
        public static let refunded = Status(rawValue: "refunded")
    }
}

extension TransactionMessage {
    /// What kind of product something is.
    public struct ProductType: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let consumable = ProductType(rawValue: "consumable")
        public static let nonConsumable = ProductType(rawValue: "non_consumable")
        public static let autoRenewable = ProductType(rawValue: "auto_renewable")
        public static let nonRenewing = ProductType(rawValue: "non_renewing")
    }

    /// How a purchase came to be.
    public struct Kind: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let bought = Kind(rawValue: "bought")
        public static let renewed = Kind(rawValue: "renewed")
        public static let restored = Kind(rawValue: "restored")
    }

    /// Whether a purchase stands.
    public struct State: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let active = State(rawValue: "active")
        /// The App Store revoked it.
        public static let withdrawn = State(rawValue: "withdrawn")
    }
}

extension EntitlementMessage {
    /// Whether something may be used; only `active` entitles.
    public struct State: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let active = State(rawValue: "active")
        public static let consumed = State(rawValue: "consumed")
        public static let expired = State(rawValue: "expired")
        public static let withdrawn = State(rawValue: "withdrawn")
        public static let moved = State(rawValue: "moved")
    }

    /// What made the entitlement what it is.
    public struct Reason: WireEnumeration {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let bought = Reason(rawValue: "bought")
        public static let renewed = Reason(rawValue: "renewed")
        public static let restored = Reason(rawValue: "restored")
        public static let moved = Reason(rawValue: "moved")
        public static let cancelled = Reason(rawValue: "cancelled")
        public static let revoked = Reason(rawValue: "revoked")
        public static let upgraded = Reason(rawValue: "upgraded")
        public static let withdrawn = Reason(rawValue: "withdrawn")
        public static let consumed = Reason(rawValue: "consumed")
    }
}
