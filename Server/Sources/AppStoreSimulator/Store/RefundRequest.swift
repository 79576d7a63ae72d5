public import Foundation

/// A refund that a customer asks for, until the store decides it.
public struct RefundRequest: Codable, Hashable, Sendable {
    /// When the customer asked.
    public let date: Date
    /// What the developer said; nil if nothing yet.
    public var answer: Answer?

    /// The part of the developer's answer that the decision depends on.
    public struct Answer: Codable, Hashable, Sendable {
        /// `DECLINE`, `GRANT_FULL`, `GRANT_PRORATED`; nil if the developer has no preference.
        public var preference: String?
        /// The consumed share, in thousandths of a percent.
        public var consumed: Int64?
    }

    /// Apple waits 12 hours for the developer's answer.
    static let answerTime: TimeInterval = 12 * 3600

    /// When the store decides.
    var decisionDate: Date { date.addingTimeInterval(Self.answerTime) }
}
