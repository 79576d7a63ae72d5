/// One of several words on the wire. A word that this version does not know is kept unchanged, so that an older client
/// can read the answers of a newer server.
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

/// The environment of the App Store in which something was bought. Simulators have environments of other names.
public struct EnvironmentName: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let production = EnvironmentName(rawValue: "Production")
    public static let sandbox = EnvironmentName(rawValue: "Sandbox")
}

/// The instruction to an app about its transaction. After a value that is not listed here, do not finish the
/// transaction.
public struct Disposition: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Finish it: the customer has the purchase.
    public static let granted = Disposition(rawValue: "granted")
    /// Finish it: it is worthless to this customer.
    public static let refused = Disposition(rawValue: "refused")
    /// Do not finish it; send it again later.
    public static let retry = Disposition(rawValue: "retry")
    /// Do not finish it: a setting, a key or the request itself is wrong, and an operator must correct it.
    public static let `operator` = Disposition(rawValue: "operator")
}

extension Disposition {
    /// Whether the app finishes its transaction.
    public var finishesTransaction: Bool { self == .granted || self == .refused }
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

/// The holder of an earlier claim of a purchase (code `already_claimed`).
public struct PriorClaim: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// It belongs to another customer.
    public static let anotherCustomer = PriorClaim(rawValue: "another_customer")
    /// It paid another order.
    public static let anotherOrder = PriorClaim(rawValue: "another_order")
    /// It is a copy, made by restoring, of a consumable that was granted.
    public static let restoredCopy = PriorClaim(rawValue: "restored_copy")
}

/// The kind of a product.
public struct ProductType: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let consumable = ProductType(rawValue: "consumable")
    public static let nonConsumable = ProductType(rawValue: "non_consumable")
    public static let autoRenewable = ProductType(rawValue: "auto_renewable")
    public static let nonRenewing = ProductType(rawValue: "non_renewing")
}
