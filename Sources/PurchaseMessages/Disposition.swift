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
