public import PurchaseVerification

public import struct Foundation.UUID

/// Everything that happened to a customer, oldest first: the events, and the claims that were rejected.
public struct CustomerTimeline: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of events, and of claims, that a page reads.
    static let readRows = 512

    public var app: String
    public var customerID: String
    /// The position at which the previous page ended.
    public var cursor: TimelineCursor?
    public var limit: Int

    /// A page of the timeline.
    public init(app: String, customerID: String, cursor: TimelineCursor? = nil, limit: Int) {
        self.app = app
        self.customerID = customerID
        self.cursor = cursor
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last. A page can be shorter than the limit, or
    /// empty, although there is a next one.
    public struct Answer: Sendable {
        /// The customer's id after all merges; `nil` after an erasure.
        public var customerID: String?
        public var entries: [TimelineEntry]
        public var next: TimelineCursor?
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let settled = try reader.connection.settledEvent() ?? .max
        guard let named = try reader.customers.named(customerID, appKey: app.key) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let family = try reader.customers.family(of: named, limit: EventSearch.largestFamily)
        var place = cursor ?? TimelineCursor()
        let events = try events(family, reader, after: place, upTo: settled)
        let claims = try claims(family, reader, after: place)
        var entries: [TimelineEntry] = []
        var (event, claim) = (events.rows[...], claims.rows[...])
        var isEnd = false
        while true {
            if event.isEmpty && !events.isComplete || claim.isEmpty && !claims.isComplete { break }
            if let next = event.first, claim.first.map({ next.at <= $0.at }) ?? true {
                guard entries.count < limit else { break }
                entries.append(try TimelineEntry(next, reader))
                place.event = next.key
                event.removeFirst()
            } else if let next = claim.first {
                if next.code != DecisionCode.accepted.rawValue {
                    let entry = try TimelineEntry(rejected: next, app: app.settings.id, reader)
                    if let last = entries.indices.last, entries[last].isRepeated(by: entry) {
                        entries[last].count += 1
                        entries[last].lastAt = entry.at
                    } else {
                        guard entries.count < limit else { break }
                        entries.append(entry)
                    }
                }
                place.claim = JournalCursor(at: next.at, key: next.key)
                claim.removeFirst()
            } else {
                isEnd = true
                break
            }
        }
        let survivor = try reader.customers.row(family[0])
        return Answer(customerID: survivor.name, entries: entries, next: isEnd ? nil : place)
    }

    private func events(
        _ family: [Int64], _ reader: LedgerTransaction, after place: TimelineCursor, upTo settled: Int64
    ) throws(LedgerStorageError) -> (rows: [NamedEvent], isComplete: Bool) {
        let table = EventsTable(connection: reader.connection)
        var rows: [NamedEvent] = []
        for customer in family {
            rows += try table.events(customer: customer, after: place.event, limit: Int64(Self.readRows))
        }
        rows = rows.filter { $0.key <= settled }.sorted { $0.key < $1.key }
        return (Array(rows.prefix(Self.readRows)), rows.count < Self.readRows)
    }

    private func claims(
        _ family: [Int64], _ reader: LedgerTransaction, after place: TimelineCursor
    ) throws(LedgerStorageError) -> (rows: [JournalRow], isComplete: Bool) {
        let table = JournalTable(connection: reader.connection)
        var rows: [JournalRow] = []
        for customer in family {
            rows += try table.claims(customer: customer, after: place.claim, limit: Int64(Self.readRows))
        }
        rows.sort { ($0.at, $0.key) < ($1.at, $1.key) }
        return (Array(rows.prefix(Self.readRows)), rows.count < Self.readRows)
    }
}

/// The position at which a page of a timeline continues.
public struct TimelineCursor: Sendable, Hashable {
    /// The last event.
    public var event: Int64
    /// The last claim.
    public var claim: JournalCursor

    /// A position; without arguments, the beginning.
    public init(
        event: Int64 = 0, claim: JournalCursor = JournalCursor(at: Timestamp(millisecondsSince1970: .min), key: .min)
    ) {
        self.event = event
        self.claim = claim
    }
}

/// An event of a customer, or a rejected claim.
public struct TimelineEntry: Sendable, Equatable {
    /// The type of a rejected claim; all other types are those of events.
    public static let rejectedClaim = "claim_rejected"

    /// The number of the event; `nil` for a rejected claim.
    public var event: Int64?
    /// Whether webhooks get the event; those of an import are not announced unless it was told to.
    public var isAnnounced = true
    public var at: Timestamp
    /// The time of the last of several equal rejections.
    public var lastAt: Timestamp?
    /// The number of equal rejections in succession; 1 for anything else.
    public var count = 1
    public var type: String
    /// The explanation, as a sentence.
    public var text: String
    /// The code of a rejection.
    public var code: String?
    /// The kind of the journal entry from which it was learned: a claim, a restore, an import, evidence, the App
    /// Store's answer, an act.
    public var source: String
    public var environment: String?
    public var productID: String?
    public var transactionID: String?
    public var orderID: String?
    public var formerCustomerID: String?
    public var units: Int64?
    public var balance: Int64?
    public var until: Timestamp?
    /// The reason of an operator's act, or what disagreed.
    public var reason: String?
    /// The journal entry; of several rejections the first.
    public var entryID: UUID

    init(_ event: NamedEvent, _ reader: LedgerTransaction) throws {
        let entry = try JournalTable(connection: reader.connection).row(id: event.entryID)
        self.event = event.key
        isAnnounced = event.figures.isAnnounced
        at = event.at
        type = event.type
        let source = try entry.map(Self.source) ?? "unknown"
        self.source = source
        text = EventType(rawValue: event.type).map { $0.sentence(source: Self.words(source)) } ?? event.type
        environment = event.environment
        productID = event.productID
        transactionID = event.transactionID
        orderID = event.orderID?.text
        formerCustomerID = event.formerCustomer
        units = event.figures.units
        balance = event.figures.balance
        until = event.figures.until
        reason = event.figures.reason
        entryID = event.entryID
    }

    init(rejected row: JournalRow, app: String, _ reader: LedgerTransaction) throws {
        let record = try SubmissionRecord(row, app: app, reader)
        at = row.at
        type = Self.rejectedClaim
        source = record.isRestore ? "restore" : "claim"
        code = record.code
        text =
            DecisionCode(rawValue: record.code)?.sentence ?? ReasonCode(rawValue: record.code)?.sentence
            ?? "The claim was rejected."
        productID = record.productID
        transactionID = record.transactionID
        orderID = record.orderID
        units = record.quantity
        reason = [record.expected.map { "expected \($0)" }, record.found.map { "found \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
        if reason?.isEmpty == true { reason = nil }
        entryID = record.submissionID
    }

    /// Whether another entry repeats this rejection.
    func isRepeated(by entry: TimelineEntry) -> Bool {
        type == Self.rejectedClaim && entry.type == type && entry.code == code && entry.source == source
            && entry.transactionID.map { $0.isSame(as: transactionID) } ?? (transactionID == nil)
    }

    private static func source(_ row: JournalRow) throws(LedgerStorageError) -> String {
        guard let kind = UInt8(exactly: row.kind).flatMap(JournalKind.init(rawValue:)) else { return "unknown" }
        guard let details = row.details else { return kind.name }
        switch kind {
        case .claim:
            let claim = try ClaimDetails(encoded: details)
            return claim.imported != nil ? "import" : claim.isRestore ? "restore" : "claim"
        case .evidence: return try EvidenceDetails(encoded: details).source
        default: return kind.name
        }
    }

    /// The source in the words of a sentence; `nil` for an operator's or a backend's own act.
    private static func words(_ source: String) -> String? {
        switch source {
        case "claim", "decision": "a claim"
        case "restore": "a restore"
        case "import": "an import"
        case "app_store_answer": "the App Store's answer"
        case "notification": "a notification"
        case "evidence": "evidence without a claim"
        default: nil
        }
    }
}

extension EventType {
    /// What happened, as a sentence.
    ///
    /// - Parameter source: from what a change of Apple's data was learned.
    func sentence(source: String?) -> String {
        let learned = source.map { " (learned from \($0))" } ?? ""
        return switch self {
        case .granted: "The customer got the purchase\(learned)."
        case .renewed: "The subscription was renewed\(learned)."
        case .extended: "The App Store extended the period\(learned)."
        case .transferred: "The purchase was transferred to another customer."
        case .revoked: "The App Store withdrew the purchase, or part of it\(learned)."
        case .reversed: "The App Store reversed a refund\(learned)."
        case .upgraded: "An upgrade ended the period\(learned)."
        case .renewalChanged: "The renewal of the subscription changed\(learned)."
        case .contradicted: "Evidence disagrees with other evidence\(learned)."
        case .consumed: "Units were consumed."
        case .orderCreated: "The order was created."
        case .orderPaid: "The order was paid\(learned)."
        case .orderPartlyFulfilled: "A part of the order was delivered."
        case .orderFulfilled: "The order was delivered."
        case .orderClosed: "The order was closed, although not everything was delivered."
        case .orderCancelled: "The order was cancelled."
        case .orderRefunded: "The purchase that paid the order was refunded\(learned)."
        case .orderReopened: "The order waits for payment again."
        case .orderRestored: "The refund of the order's purchase was reversed\(learned)."
        case .grantAdded: "An operator granted the product."
        case .revocationAdded: "An operator revoked the purchase or the grant."
        case .actLifted: "An operator ended a grant or a revocation."
        case .groundAdded: "Another shop gives the product."
        case .groundEnded: "What another shop gave has ended."
        case .customerMerged: "Two customers were merged."
        case .customerErased: "The customer was erased."
        case .tokenAssigned: "An account token was assigned to the customer."
        case .claimDecided: "A claim that waited for the App Store was decided."
        case .notConfirmed: "The App Store refused a purchase that stays granted."
        case .claimConflict: "The customer claimed a purchase of another customer."
        case .refundRequested: "The customer asked the App Store for a refund."
        case .consentRescinded: "Whoever is responsible for the user withdrew the consent to the app."
        case .seatClaimed: "The customer got a seat of a subscription."
        case .seatUnclaimed: "The customer's seat of a subscription ended\(learned)."
        case .registered: "The product was added to the settings, so its purchases count."
        case .corrected: "Newer rules, or a repair, gave another result than before."
        }
    }
}
