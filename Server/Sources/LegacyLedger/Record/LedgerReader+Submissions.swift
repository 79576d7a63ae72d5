public import PurchaseVerification

/// Which submissions to look for. What is `nil` does not restrict.
public struct SubmissionFilter: Sendable, Equatable {
    /// Who is named, or whose order is.
    public var customerID: String?
    public var orderID: String?
    public var transactionID: String?
    public var verdict: Verdict?
    public var code: String?
    /// Received at this time or later.
    public var from: Timestamp?
    /// Received before this time.
    public var to: Timestamp?

    /// All submissions.
    public init() {}
}

extension LedgerReader {
    /// Submissions of an app, newest first.
    ///
    /// - Parameters:
    ///   - filter: which.
    ///   - before: where to go on: the last sequence number of the page before.
    ///   - limit: how many at most.
    /// - Returns: a page, and the sequence number after which the next one begins; `nil` if this is the last.
    public func submissions(
        _ filter: SubmissionFilter, app: String, before: Int64? = nil, limit: Int
    ) throws(LedgerStorageError) -> (submissions: [SubmissionRecord], next: Int64?) {
        var conditions = ["app = ?1"]
        var parameters: [LedgerValue] = [.text(app), .integer(Int64(limit) + 1)]
        func require(_ condition: String, _ value: LedgerValue) {
            guard value != .null else { return }
            parameters.append(value)
            conditions.append("\(condition) ?\(parameters.count)")
        }
        if let customerID = filter.customerID {
            // A claim may name only its order, and is the customer's all the same.
            parameters.append(.text(customerID))
            let number = parameters.count
            conditions.append(
                """
                sequence IN (
                SELECT sequence FROM submissions WHERE app = ?1 AND customer_id = ?\(number)
                UNION SELECT sequence FROM orders JOIN submissions
                ON submissions.app = orders.app AND submissions.order_id = orders.order_id
                WHERE orders.app = ?1 AND orders.customer_id = ?\(number) AND submissions.customer_id IS NULL)
                """)
        }
        require("order_id =", .text(filter.orderID))
        require("transaction_id =", .text(filter.transactionID))
        require("verdict =", .text(filter.verdict?.rawValue))
        require("code =", .text(filter.code))
        require("received_at >=", .time(filter.from))
        require("received_at <", .time(filter.to))
        require("sequence <", .integer(before))
        var submissions: [SubmissionRecord] = []
        for row in try connection.rows(
            """
            SELECT \(SubmissionRecord.columns) FROM submissions WHERE \(conditions.joined(separator: " AND "))
            ORDER BY sequence DESC LIMIT ?2
            """, parameters)
        {
            submissions.append(try SubmissionRecord(row))
        }
        guard submissions.count > limit else { return (submissions, nil) }
        submissions.removeLast()
        return (submissions, submissions.last?.sequence)
    }

    /// One submission.
    public func submission(_ id: String, app: String) throws(LedgerStorageError) -> SubmissionRecord? {
        let rows = try connection.rows(
            "SELECT \(SubmissionRecord.columns) FROM submissions WHERE submission_id = ?1 AND app = ?2",
            [.text(id), .text(app)])
        guard let row = rows.first else { return nil }
        return try SubmissionRecord(row)
    }

    /// Evidence by its SHA-256, as it was sent.
    public func evidence(_ sha256: String) throws(LedgerStorageError) -> [UInt8]? {
        try StoredEvidence.bytes(sha256, connection)
    }

    /// The events of a customer, oldest first.
    public func events(of customerID: String, app: String, limit: Int = 1000) throws(LedgerStorageError)
        -> [LedgerEvent]
    {
        let columns = LedgerEvent.chain.columns.map(\.name).joined(separator: ", ")
        var events: [LedgerEvent] = []
        for row in try connection.rows(
            "SELECT \(columns) FROM events WHERE app = ?1 AND customer_id = ?2 ORDER BY sequence LIMIT ?3",
            [.text(app), .text(customerID), .integer(Int64(limit))])
        {
            events.append(try LedgerEvent(row))
        }
        return events
    }
}
