public import PurchaseVerification

/// A time for which access is asked. Starts have a tolerance only in questions about now.
public struct AccessQuestion: Sendable, Hashable {
    public var moment: Timestamp
    public var isAboutNow: Bool

    /// A question about now.
    public static func now(_ moment: Timestamp) -> AccessQuestion { AccessQuestion(moment: moment, isAboutNow: true) }

    /// A question about another time, past or future.
    public static func at(_ moment: Timestamp) -> AccessQuestion { AccessQuestion(moment: moment, isAboutNow: false) }
}
