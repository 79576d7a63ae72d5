public import PurchaseVerification

/// What the ledger knows about the original transactions of a receipt, whoever owns them, in one statement.
///
/// It follows the receipt's own app, environment and originals, and nothing else: of what a family or a group shares,
/// only the copies of the receipt's own holder, and what is signed about those (`ReceiptCopies`).
public struct StateOfReceipt: LedgerQuery {
    public static let access = LedgerReadAccess.statement

    /// The most originals of a receipt whose state is read. Of a receipt with more, only the subscriptions are.
    public static let originalLimit = 1024
    /// The most rows of an answer. A weekly subscription has 520 periods in ten years.
    static let rowLimit: Int64 = 4096
    /// How many newer receipts of the download are looked at.
    private static let receiptLimit = 4

    /// The app of the receipt.
    public let bundleID: ExactText
    /// Its environment.
    public let environment: AppStoreEnvironment
    /// The transactions of the receipt, by their original.
    private let own: [ExactText: [ExactText: ObservedTransaction]]
    private let place: ReceiptPlace?

    /// The question about an app receipt or a transaction receipt.
    ///
    /// - Parameters:
    ///   - bundleID: the app of the receipt.
    ///   - environment: its environment. Xcode has no App Store, so nothing is known about its receipts.
    ///   - receipt: its statements.
    ///   - downloadID: the download of an app receipt.
    ///   - createdAt: when an app receipt was signed.
    /// - Returns: `nil` if nothing can be known: it has no purchases, or more subscriptions than the limit.
    public init?(
        bundleID: String, environment: AppStoreEnvironment, receipt: Observation, downloadID: UInt64? = nil,
        createdAt: Timestamp? = nil
    ) {
        guard environment != .xcode else { return nil }
        var own: [ExactText: [ExactText: ObservedTransaction]] = [:]
        for facts in receipt.transactionFacts {
            own[facts.original.transactionID, default: [:]][facts.key.transactionID] = facts
        }
        // A newer receipt has to name all of them, also those whose state is not read.
        place = ReceiptPlace(downloadID: downloadID, createdAt: createdAt, originals: own.keys)
        if own.count > Self.originalLimit {
            // Other purchases change only by a refund, and shops of consumables have many of them.
            own = own.filter { _, transactions in transactions.values.contains { $0.kind == .autoRenewable } }
        }
        guard (1...Self.originalLimit).contains(own.count) else { return nil }
        (self.bundleID, self.environment, self.own) = (ExactText(bundleID), environment, own)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ReceiptState {
        guard let app = reader.registry.app(bundleID: bundleID) else { return ReceiptState() }
        let originals = own.keys.sorted()
        var parameters: [LedgerValue] = [
            EnvironmentsTable.fixedKey(of: environment).map { .integer($0) } ?? .text(environment.name),
            .integer(app.key), .integer(place?.downloadID ?? 0), .time(place?.createdAt ?? .epoch),
        ]
        // A few lengths of the list, so that few statements are prepared.
        var count = 1
        while count < originals.count { count *= 2 }
        for index in 0..<count { parameters.append(.text(originals[min(index, originals.count - 1)].string)) }
        let isFixed = EnvironmentsTable.fixedKey(of: environment) != nil
        let statement =
            isFixed ? Self.statements[count.trailingZeroBitCount] : Self.statement(count: count, isFixed: false)
        let rows = try reader.connection.rows(statement, parameters)
        if rows.contains(where: { $0.values.first == .integer(Kind.moved.rawValue) }) {
            var state = ReceiptState()
            state.hasMoved = true
            return state
        }
        guard !rows.isEmpty, rows.count <= Self.rowLimit else { return ReceiptState() }
        return try state(rows)
    }

    // MARK: The statement

    private enum Kind: Int64 {
        case receipt = 1
        case transaction = 2
        case renewal = 3
        case moved = 4
    }

    /// The statements for production and the sandbox, by the logarithm of the number of originals.
    private static let statements = (0...originalLimit.trailingZeroBitCount).map {
        statement(count: 1 << $0, isFixed: true)
    }

    static func statement(count: Int, isFixed: Bool) -> String {
        let environment = isFixed ? "?1" : "(SELECT environment_key FROM environments WHERE name = ?1)"
        let list = (0..<count).map { "?\($0 + 5)" }.joined(separator: ", ")
        return """
            SELECT CAST(4 AS BIGINT), '', '', moved_entry, NULL, NULL, NULL, CAST(0 AS BIGINT), NULL
            FROM apps WHERE app_key = ?2 AND moved_entry IS NOT NULL
            UNION ALL
            SELECT CAST(1 AS BIGINT), '', '', r.created_at, r.originals, e.content, e.sha256, e.size, p.content
            FROM (SELECT created_at, originals, evidence_key, part_key FROM app_receipts
            WHERE app_key = ?2 AND environment = \(environment) AND download_id = ?3 AND created_at > ?4
            ORDER BY created_at DESC LIMIT \(receiptLimit)) AS r
            JOIN evidence AS e ON e.evidence_key = r.evidence_key
            LEFT JOIN evidence_parts AS p ON p.part_key = r.part_key
            UNION ALL
            SELECT CAST(2 AS BIGINT), o.original_id, t.transaction_id, t.product_key, t.facts,
            NULL, NULL, CAST(0 AS BIGINT), NULL
            FROM originals AS o JOIN transactions AS t ON t.original_key = o.original_key
            WHERE o.environment = \(environment) AND o.original_id IN (\(list)) AND o.app_key = ?2
            UNION ALL
            SELECT CAST(3 AS BIGINT), n.original_id, n.beside, n.concern, n.facts,
            NULL, NULL, CAST(0 AS BIGINT), NULL
            FROM renewals AS n WHERE n.environment = \(environment) AND n.original_id IN (\(list))
            LIMIT \(rowLimit + 1)
            """
    }

    // MARK: The rows

    private func state(_ rows: [LedgerRow]) throws(LedgerStorageError) -> ReceiptState {
        var state = ReceiptState()
        var (transactions, erased): ([ObservedTransaction], [ExactText: Set<ExactText>]) = ([], [:])
        var renewals: [ExactText: [RenewalsTable.Row]] = [:]
        var receipts: [(createdAt: Int64, originals: OriginalDigests, row: EvidenceRow, part: [UInt8]?)] = []
        for row in rows {
            var reader = row.reader
            guard let kind = Kind(rawValue: try reader.integer()), kind != .moved else { continue }
            let (original, id, number) = (ExactText(try reader.text()), try reader.text(), try reader.integer())
            let facts = try reader.blob()
            switch kind {
            case .receipt:
                let content = try reader.optionalBlob()
                let row = EvidenceRow(sha256: try reader.blob(), size: try reader.integer(), content: content)
                receipts.append((number, OriginalDigests(stored: facts), row, try reader.optionalBlob()))
            case .transaction where number == 0: erased[original, default: []].insert(ExactText(id))
            case .transaction:
                let key = TransactionKey(environment: environment, transactionID: ExactText(id))
                do throws(FactsDecodingError) {
                    transactions.append(try ObservedTransaction(key: key, encoded: facts))
                } catch {
                    throw LedgerStorageError(error, of: "transaction \(id)")
                }
            case .renewal: renewals[original, default: []].append((id, number, facts))
            case .moved: break
            }
        }
        let copies = ReceiptCopies(of: own, known: transactions, erased: erased)
        state.transactions = copies.transactions
        state.isErased = copies.areErased
        // Renewal info counts once a transaction of the app's original is known.
        for original in Set(state.transactions.map(\.original.transactionID)) {
            guard let rows = renewals[original] else { continue }
            let news = try RenewalsTable.news(
                RenewalKey(environment: environment, originalTransactionID: original), rows)
            state.renewals[original] = copies.renewal(of: original, news.renewal)
            state.statuses[original] = copies.statuses(of: original, news.statuses)
        }
        state.latestReceipt = try latest(receipts)
        return state
    }

    private func latest(
        _ receipts: [(createdAt: Int64, originals: OriginalDigests, row: EvidenceRow, part: [UInt8]?)]
    ) throws(LedgerStorageError) -> [UInt8]? {
        guard let place else { return nil }
        for receipt in receipts.sorted(by: { $0.createdAt > $1.createdAt })
        where receipt.originals.includes(place.originals) {
            let bytes = try EvidenceStore.bytes(receipt.row) { _ throws(LedgerStorageError) in receipt.part }
            if let bytes { return bytes }
        }
        return nil
    }
}
