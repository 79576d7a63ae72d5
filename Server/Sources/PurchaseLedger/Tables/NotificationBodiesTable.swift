import PurchaseVerification

/// The request bodies of notifications that differ from the usual form, so that they can be forwarded unchanged.
/// Each belongs to the evidence in it, and is erased with it.
struct NotificationBodiesTable {
    /// The form in which the App Store sends notifications: nothing but the signed payload.
    private static let usual = (before: Array(#"{"signedPayload":""#.utf8), after: Array(#""}"#.utf8))
    private static let insertion = LedgerInsertion("notification_bodies", ["evidence_key", "body"])

    let connection: any LedgerConnection

    /// The body in the usual form.
    static func usualBody(of signedPayload: [UInt8]) -> [UInt8] { usual.before + signedPayload + usual.after }

    func insert(_ body: [UInt8], evidence: Int64) throws(LedgerStorageError) {
        try connection.insert(Self.insertion, [.integer(evidence), .blob(body)])
    }

    /// The body around the evidence of a notification; `nil` if it has the usual form.
    func body(evidence: Int64) throws(LedgerStorageError) -> [UInt8]? {
        let rows = try connection.rows(
            "SELECT body FROM notification_bodies WHERE evidence_key = ?1", [.integer(evidence)],
            of: ["notification_bodies"])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.blob()
    }

    func delete(evidence: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "notification_bodies", "DELETE FROM notification_bodies WHERE evidence_key = ?1", [.integer(evidence)])
    }
}
