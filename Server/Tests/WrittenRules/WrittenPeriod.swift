/// One period of a subscription, by all statements about it.
struct WrittenPeriod: Sendable {
    let transaction: Int
    let product: Int
    let start: Int
    let end: Int
    let owner: Int?
    /// The refund that the newest statement states.
    let refundedAt: Int?
    /// The day since which it is upgraded.
    let upgradedAt: Int?
    let wasFlagged: Bool
    /// nil if only receipts are known.
    let newestStamp: Int?

    init?(_ transaction: Int, product: Int, _ statements: [WrittenStatement], owner: Int?) {
        guard statements != [] else { return nil }
        let newest = statements.filter { !$0.isReceipt }.max { $0.stamp < $1.stamp }
        self.transaction = transaction
        self.product = product
        (start, end) = WrittenStatement.days(of: transaction)
        self.owner = owner
        (refundedAt, newestStamp) = (newest?.refundedAt, newest?.stamp)
        let with = statements.filter(\.isFlagged).map(\.stamp)
        let without = statements.filter { !$0.isFlagged }.map(\.stamp)
        wasFlagged = with != []
        if let newestWith = with.max(), without.max().map({ newestWith >= $0 }) ?? true {
            upgradedAt = with.min()
        } else {
            upgradedAt = nil
        }
    }

    func isRefunded(by day: Int) -> Bool { refundedAt.map { $0 <= day } ?? false }

    func isUpgraded(by day: Int) -> Bool { upgradedAt.map { $0 <= day } ?? false }
}
