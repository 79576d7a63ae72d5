/// A wrong rule that is planted, to show that the comparison finds it.
enum NewsFault: CaseIterable, Sendable {
    /// The ledger answers a refund, and ignores it.
    case refundIgnored
    /// The pure rules are told only the facts that arrived last.
    case latestArrival
    /// The truth does not know that a refund can be reversed.
    case reversalIgnored
    /// The truth does not know grace periods.
    case graceIgnored
}
