public import PurchaseVerification

/// A submission as it stands in the record.
public struct SubmissionRecord: Sendable, Equatable {
    /// Its place in the record, from 1.
    public var sequence: Int64
    public var id: String
    public var app: String
    /// The key that it came with.
    public var keyID: String?
    /// The address that it came from.
    public var sourceAddress: String?
    public var receivedAt: Timestamp
    public var decidedAt: Timestamp
    public var customerID: String?
    public var orderID: String?
    public var productID: String?
    public var transactionID: String?
    public var quantity: Int64?
    /// SHA-256 of the evidence as it was sent.
    public var evidenceSHA256: String?
    /// What kind of evidence it is, as far as its form tells.
    public var evidenceKind: String?
    /// Where the claimed purchase was made, if it is proven.
    public var environment: String?
    public var verdict: Verdict
    public var code: String
    public var expected: String?
    public var found: String?
    /// Whether the answer is that of an earlier submission.
    public var isReplayed: Bool
    /// Its hash in the chain.
    public var hash: String
}

/// What became of a submission.
public enum Verdict: String, Sendable, CaseIterable {
    case accepted
    case rejected
}

extension SubmissionRecord {
    static let chain = HashChain(
        name: "submissions",
        columns: [
            .init(name: "submission_id", type: "TEXT NOT NULL"),
            .init(name: "app", type: "TEXT NOT NULL"),
            .init(name: "key_id", type: "TEXT"),
            .init(name: "source_address", type: "TEXT"),
            .init(name: "received_at", type: "BIGINT NOT NULL"),
            .init(name: "decided_at", type: "BIGINT NOT NULL"),
            .init(name: "customer_id", type: "TEXT"),
            .init(name: "order_id", type: "TEXT"),
            .init(name: "product_id", type: "TEXT"),
            .init(name: "transaction_id", type: "TEXT"),
            .init(name: "quantity", type: "BIGINT"),
            .init(name: "evidence_sha256", type: "TEXT"),
            .init(name: "evidence_kind", type: "TEXT"),
            .init(name: "environment", type: "TEXT"),
            .init(name: "verdict", type: "TEXT NOT NULL"),
            .init(name: "code", type: "TEXT NOT NULL"),
            .init(name: "expected", type: "TEXT"),
            .init(name: "found", type: "TEXT"),
            .init(name: "replayed", type: "BIGINT NOT NULL"),
        ])

    /// The values of the chain's columns.
    var values: [LedgerValue] {
        [
            .text(id), .text(app), .text(keyID), .text(sourceAddress), .integer(receivedAt.millisecondsSince1970),
            .integer(decidedAt.millisecondsSince1970), .text(customerID), .text(orderID), .text(productID),
            .text(transactionID), .integer(quantity), .text(evidenceSHA256), .text(evidenceKind), .text(environment),
            .text(verdict.rawValue), .text(code), .text(expected), .text(found), .integer(isReplayed ? 1 : 0),
        ]
    }

    static let columns = "sequence, \(chain.columns.map(\.name).joined(separator: ", ")), hash"

    init(_ row: LedgerRow) throws(LedgerStorageError) {
        var reader = RowReader(row)
        sequence = try reader.integer()
        id = try reader.text()
        app = try reader.text()
        keyID = try reader.optionalText()
        sourceAddress = try reader.optionalText()
        receivedAt = try reader.time()
        decidedAt = try reader.time()
        customerID = try reader.optionalText()
        orderID = try reader.optionalText()
        productID = try reader.optionalText()
        transactionID = try reader.optionalText()
        quantity = try reader.optionalInteger()
        evidenceSHA256 = try reader.optionalText()
        evidenceKind = try reader.optionalText()
        environment = try reader.optionalText()
        verdict = try reader.named(Verdict.self)
        code = try reader.text()
        expected = try reader.optionalText()
        found = try reader.optionalText()
        isReplayed = try reader.integer() != 0
        hash = try reader.text()
    }
}

extension RowReader {
    mutating func time() throws(LedgerStorageError) -> Timestamp {
        Timestamp(millisecondsSince1970: try integer())
    }

    mutating func optionalTime() throws(LedgerStorageError) -> Timestamp? {
        try optionalInteger().map { Timestamp(millisecondsSince1970: $0) }
    }
}

extension LedgerValue {
    static func time(_ time: Timestamp?) -> LedgerValue { .integer(time?.millisecondsSince1970) }
}
