import Foundation

extension AppStore {
    /// Numbers the transactions that look different than before, those of lower identifiers first.
    /// - Parameter earlier: the store before.
    mutating func numberChanges(since earlier: AppStore) {
        let keys = state.transactions.changedKeys
        guard !keys.isEmpty else { return }
        for key in keys.sorted(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }) {
            guard var transaction = state.transactions[key] else { continue }
            if let before = earlier.state.transactions[key], before.lastChange != nil,
                !transaction.looksDifferent(from: before)
            {
                continue
            }
            let number = (state.summary.changes ?? 0) + 1
            state.summary.changes = number
            transaction.lastChange = number
            state.transactions[key] = transaction
        }
    }
}
