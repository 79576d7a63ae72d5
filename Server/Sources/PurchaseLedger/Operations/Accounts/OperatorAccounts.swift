import PurchaseVerification

/// What all operations about operators of the console share.
struct OperatorAccounts {
    /// The largest name, in bytes of UTF-8.
    static let nameBytes = 64

    let transaction: LedgerTransaction

    init(_ transaction: LedgerTransaction) { self.transaction = transaction }

    var operators: OperatorsTable { OperatorsTable(connection: transaction.connection) }
    var sessions: OperatorSessionsTable { OperatorSessionsTable(connection: transaction.connection) }

    /// Gives an operator a link that sets the password once, in place of an earlier one.
    func giveLink(to row: inout OperatorRow, lifetime: Int64) -> OneTimeLink {
        let link = OneTimeLink.random()
        row.linkSHA256 = link.sha256
        row.linkEndsAt = Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 + lifetime)
        return link
    }

    /// The operator of a link that still works.
    func row(of link: OneTimeLink) throws(LedgerStorageError) -> OperatorRow? {
        guard let row = try operators.row(link: link.sha256), let end = row.linkEndsAt, end > transaction.now else {
            return nil
        }
        return row
    }

    func log(
        _ act: OperatorLogLine.Act, _ name: String, by: String? = nil, address: String? = nil
    ) throws(LedgerStorageError) {
        try OperatorLogTable(connection: transaction.connection).append(
            OperatorLogLine(at: transaction.now, name: name, act: act, by: by, address: address),
            id: RandomBytes.sixteen())
    }

    /// Counts a sign-in under a locked or unknown name. Anybody can send them without end, so there is one line for
    /// each address and minute.
    func logRefused(_ name: String, address: String) throws(LedgerStorageError) {
        let minute = transaction.now.millisecondsSince1970 / 60_000 * 60_000
        try OperatorLogTable(connection: transaction.connection).append(
            OperatorLogLine(
                at: Timestamp(millisecondsSince1970: minute), name: name, act: .refused, address: address),
            id: Array(StorableEvidence.sha256(Array(address.utf8)).prefix(16)))
    }
}
