import PurchaseVerification

/// The order in which the pieces of a restore are observed and decided. It follows from the pieces alone, so that a
/// restore decides the same in whatever order they were sent.
///
/// Signed data comes before receipts, earlier purchases before later ones, and of one transaction the newest statement
/// first: it claims the transaction. Pieces without a transaction come last.
enum RestoreOrder {
    /// The places of the pieces in the request, in the order of the decisions.
    static func places(of pieces: [ExaminedEvidence]) -> [Int] {
        pieces.indices.map { (place: $0, rank: Rank(pieces[$0])) }.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
            .map(\.place)
    }

    /// Sorts purchases in the order in which the pieces of the request state them.
    static func sort(_ purchases: inout [RestoredPurchase], by pieces: [ExaminedEvidence]) {
        var places: [TransactionKey: Int] = [:]
        for case .success(let observation) in pieces.map(\.verified) {
            for facts in observation.transactionFacts {
                let key = TransactionKey(
                    environment: facts.key.environment, transactionID: facts.key.transactionID, second: 0)
                if places[key] == nil { places[key] = places.count }
            }
        }
        let ranked = purchases.enumerated().map { number, purchase in
            let key = TransactionKey(
                environment: purchase.environment, transactionID: ExactText(purchase.transactionID), second: 0)
            return (place: places[key] ?? .max, number: number, purchase: purchase)
        }
        purchases = ranked.sorted { ($0.place, $0.number) < ($1.place, $1.number) }.map(\.purchase)
    }

    private struct Rank: Comparable {
        private var source = UInt8.max
        private var purchaseDate: Int64 = 0
        private var transactionID = ""
        private var age: Int64 = 0
        private let sha256: [UInt8]

        init(_ evidence: ExaminedEvidence) {
            sha256 = evidence.stored.sha256
            guard case .success(let observation) = evidence.verified, let first = observation.transactions.first else {
                return
            }
            source = .max - evidence.source.rawValue
            age = -(observation.transactions.map(\.stamp.millisecondsSince1970).max() ?? 0)
            // The purchases of an app receipt are decided together.
            guard evidence.source != .appReceipt else { return }
            purchaseDate = first.purchaseDate?.millisecondsSince1970 ?? 0
            transactionID = first.key.transactionID.string
        }

        static func < (left: Rank, right: Rank) -> Bool {
            if left.source != right.source { return left.source < right.source }
            if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
            if !left.transactionID.isSame(as: right.transactionID) {
                return left.transactionID.utf8.lexicographicallyPrecedes(right.transactionID.utf8)
            }
            if left.age != right.age { return left.age < right.age }
            return left.sha256.lexicographicallyPrecedes(right.sha256)
        }

        static func == (left: Rank, right: Rank) -> Bool { !(left < right) && !(right < left) }
    }
}
