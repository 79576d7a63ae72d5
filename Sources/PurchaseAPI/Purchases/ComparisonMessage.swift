/// Another system's answer beside the ledger's. A bulk comparison answers with one of these for each answer that
/// differs.
public struct ComparisonMessage: Codable, Sendable, Equatable {
    /// The number of the line in a bulk comparison, from 1.
    public var line: Int?
    public var customerID: String
    public var productID: String?
    public var entitlement: String?
    /// Whether both say the same.
    public var agrees: Bool
    /// The cause of the difference.
    public var code: String?
    /// Who is right: `ours` or `open`.
    public var right: String?
    /// The rule of the ledger that decided.
    public var rule: String?
    /// A sentence for people.
    public var text: String?
    public var theirs: Access
    public var ours: Access
    /// The purchases on which it rests.
    public var evidence: [Evidence]?

    /// An answer of one of the two.
    public struct Access: Codable, Sendable, Equatable {
        public var active: Bool
        public var until: String?
        /// The state of the entitlement here.
        public var state: String?
        public var reason: String?
        public var productID: String?
        public var environment: String?
        public var transactionID: String?
        public var assumed: Bool?

        public init(active: Bool, until: String? = nil) { (self.active, self.until) = (active, until) }

        enum CodingKeys: String, CodingKey {
            case active, until, state, reason, environment, assumed
            case productID = "product_id"
            case transactionID = "transaction_id"
        }
    }

    /// A purchase.
    public struct Evidence: Codable, Sendable, Equatable {
        public var environment: String
        public var transactionID: String
        public var originalTransactionID: String
        public var productID: String
        /// The entries of the record that say so, the newest first.
        public var entryIDs: [String]

        /// A purchase with its entries.
        public init(
            environment: String, transactionID: String, originalTransactionID: String, productID: String,
            entryIDs: [String]
        ) {
            (self.environment, self.transactionID) = (environment, transactionID)
            (self.originalTransactionID, self.productID, self.entryIDs) = (originalTransactionID, productID, entryIDs)
        }

        enum CodingKeys: String, CodingKey {
            case environment
            case transactionID = "transaction_id"
            case originalTransactionID = "original_transaction_id"
            case productID = "product_id"
            case entryIDs = "entry_ids"
        }
    }

    public init(customerID: String, agrees: Bool, theirs: Access, ours: Access) {
        (self.customerID, self.agrees, self.theirs, self.ours) = (customerID, agrees, theirs, ours)
    }

    enum CodingKeys: String, CodingKey {
        case line, entitlement, agrees, code, right, rule, text, theirs, ours, evidence
        case customerID = "customer_id"
        case productID = "product_id"
    }
}

/// A line of a bulk comparison that could not be read.
public struct ComparisonProblem: Codable, Sendable, Equatable {
    public var line: Int
    public var problem: Problem

    /// The error.
    public struct Problem: Codable, Sendable, Equatable {
        public var code: String
        public var text: String
        public var expected: String?
        public var found: String?

        public init(code: String, text: String, expected: String? = nil, found: String? = nil) {
            (self.code, self.text, self.expected, self.found) = (code, text, expected, found)
        }
    }

    /// A line with an error.
    public init(line: Int, _ problem: Problem) { (self.line, self.problem) = (line, problem) }
}

/// The last line of a bulk comparison.
public struct ComparisonSummary: Codable, Sendable, Equatable {
    public var summary: Counts

    /// The numbers of lines.
    public struct Counts: Codable, Sendable, Equatable {
        public var compared = 0
        public var agreed = 0
        public var differed = 0
        /// Lines that could not be read.
        public var invalid = 0
        /// The differences by cause.
        public var causes: [String: Int] = [:]

        /// No lines yet.
        public init() {}
    }

    public init(_ summary: Counts = Counts()) { self.summary = summary }
}
