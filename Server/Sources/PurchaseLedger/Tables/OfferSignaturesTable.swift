import PurchaseVerification

/// The offers that were signed for customers.
struct OfferSignaturesTable {
    let connection: any LedgerConnection

    func insert(
        _ offerID: String, _ kind: OfferKind, customer: Int64, at time: Timestamp, entry: Int64
    ) throws(LedgerStorageError) {
        try connection.send(
            to: "offer_signatures",
            """
            INSERT INTO offer_signatures (entry_key, customer_key, offer_id, kind, signed_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, [.integer(entry), .integer(customer), .text(offerID), .text(kind.rawValue), .time(time)])
    }

    /// When an offer was signed for a customer, the latest first. Both forms of a promotional offer count together.
    func times(
        _ offerID: String, _ kinds: [OfferKind], of customer: Int64, limit: Int64
    ) throws(LedgerStorageError) -> [Timestamp] {
        let names = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        var times: [Timestamp] = []
        for row in try connection.rows(
            """
            SELECT signed_at FROM offer_signatures WHERE customer_key = ?1 AND offer_id = ?2 AND kind IN (\(names))
            ORDER BY signed_at DESC, entry_key DESC LIMIT ?3
            """, [.integer(customer), .text(offerID), .integer(limit)], of: ["offer_signatures"])
        {
            var reader = row.reader
            times.append(try reader.time())
        }
        return times
    }

    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "offer_signatures", "UPDATE offer_signatures SET customer_key = ?2 WHERE customer_key = ?1",
            [.integer(customer), .integer(target)])
    }

    func deleteAll(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "offer_signatures", "DELETE FROM offer_signatures WHERE customer_key = ?1", [.integer(customer)])
    }
}
