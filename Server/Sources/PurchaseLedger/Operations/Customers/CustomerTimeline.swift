public import PurchaseAPI
public import PurchaseVerification

/// Everything that happened to a customer, oldest first: the events, and the claims that were rejected.
public struct CustomerTimeline: LedgerList {
    /// The maximum number of events, and of claims, that a page reads.
    static let readRows = 512

    public var app: String
    public var customerID: String
    public var cursor: TimelineCursor?
    public var limit: Int

    /// A page of the timeline.
    public init(app: String, customerID: String, cursor: TimelineCursor? = nil, limit: Int = 50) {
        (self.app, self.customerID, self.cursor, self.limit) = (app, customerID, cursor, limit)
    }

    /// - Throws: `customer_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> ListPage<TimelineEntry, TimelineCursor> {
        let app = try reader.app(app)
        let settled = try reader.connection.settledEvent() ?? .max
        let family = try reader.customers.family(customerID, appKey: app.key).keys
        var place = cursor ?? TimelineCursor()
        var event = try EventsTable(connection: reader.connection)
            .order(family.map { EventsTable.ofCustomer($0, upTo: settled) })
            .rows(after: place.event, limit: Self.readRows)[...]
        // 3 is `JournalKind.claim`.
        var claim = try JournalTable(connection: reader.connection)
            .order(family.map { ListIndex("customer_key = ?1 AND kind = 3", $0) }, isAscending: true)
            .rows(after: place.claim, limit: Self.readRows)[...]
        let (isComplete, areClaimsComplete) = (event.count < Self.readRows, claim.count < Self.readRows)
        var page = ListPage<TimelineEntry, TimelineCursor>()
        page.mergedInto = try reader.customers.row(family[0]).survivor(of: customerID)
        while !event.isEmpty || !claim.isEmpty {
            if event.isEmpty && !isComplete || claim.isEmpty && !areClaimsComplete { break }
            if let next = event.first, claim.first.map({ next.content.at <= $0.at }) ?? true {
                guard page.entries.count < limit else { break }
                page.entries.append(try TimelineEntry(next, reader))
                place.event = next.key
                event.removeFirst()
            } else if let next = claim.first {
                if next.code != DecisionCode.accepted.rawValue {
                    let entry = try TimelineEntry(rejected: next, reader)
                    if let last = page.entries.indices.last, page.entries[last].isRepeated(by: entry) {
                        page.entries[last].message.count += 1
                        page.entries[last].message.lastAt = entry.message.at
                    } else {
                        guard page.entries.count < limit else { break }
                        page.entries.append(entry)
                    }
                }
                place.claim = JournalCursor(at: next.at, key: next.key)
                claim.removeFirst()
            }
        }
        let isEnd = event.isEmpty && claim.isEmpty && isComplete && areClaimsComplete
        page.next = isEnd ? nil : place
        return page
    }
}

/// The position at which a page of a timeline continues.
public struct TimelineCursor: ListCursor {
    /// The last event.
    public var event: Int64
    /// The last claim.
    public var claim: JournalCursor

    /// A position; without arguments, the beginning.
    public init(
        event: Int64 = 0, claim: JournalCursor = JournalCursor(at: Timestamp(millisecondsSince1970: .min), key: .min)
    ) {
        (self.event, self.claim) = (event, claim)
    }

    public init?(numbers: [Int64]) {
        guard numbers.count == 3, let claim = JournalCursor(numbers: Array(numbers[1...])) else { return nil }
        self.init(event: numbers[0], claim: claim)
    }

    public var numbers: [Int64] { [event] + claim.numbers }
}

/// An event of a customer, or a rejected claim.
public struct TimelineEntry: Sendable, Equatable {
    /// The type of a rejected claim; all other types are those of events.
    private static let rejectedClaim = "claim_rejected"

    public var message: TimelineMessage
    /// The number of the event; `nil` for a rejected claim.
    public var event: Int64?
    /// Whether webhooks get the event; those of an import are not announced unless it was told to.
    public var isAnnounced = true

    init(_ event: NamedEvent, _ reader: LedgerTransaction) throws {
        let content = event.content
        let entry = try JournalTable(connection: reader.connection).row(id: content.entryID)
        let source = try entry.map(Self.source) ?? "unknown"
        let sentence = EventType(rawValue: content.type).map { $0.sentence(source: Self.words(source)) }
        message = TimelineMessage(
            at: "\(content.at)", count: 1, type: content.type, text: sentence ?? content.type, source: source,
            entryID: content.entryID.text)
        (message.environment, message.productID) = (content.environment, content.productID)
        (message.transactionID, message.orderID) = (content.transactionID, content.orderID?.text)
        (message.formerCustomerID, message.units) = (content.formerCustomerID, content.units)
        (message.balance, message.reason) = (content.balance, content.reason)
        message.until = content.until.map { "\($0)" }
        (self.event, isAnnounced) = (event.key, event.isAnnounced)
    }

    init(rejected row: JournalRow, _ reader: LedgerTransaction) throws {
        let claim = try SubmissionMessage(row, reader)
        let sentence = DecisionCode(rawValue: claim.code)?.sentence ?? ReasonCode(rawValue: claim.code)?.sentence
        message = TimelineMessage(
            at: "\(row.at)", count: 1, type: Self.rejectedClaim, text: sentence ?? "The claim was rejected.",
            source: claim.restore ? "restore" : "claim", entryID: claim.submissionID)
        (message.code, message.units) = (claim.code, claim.quantity)
        (message.productID, message.transactionID) = (claim.productID, claim.transactionID)
        message.orderID = claim.orderID
        let facts = [claim.expected.map { "expected \($0)" }, claim.found.map { "found \($0)" }].compactMap(\.self)
        message.reason = facts.isEmpty ? nil : facts.joined(separator: ", ")
    }

    /// Whether another entry repeats this rejection.
    func isRepeated(by entry: TimelineEntry) -> Bool {
        let (first, other) = (message, entry.message)
        return first.type == Self.rejectedClaim && other.type == first.type && other.code == first.code
            && other.source == first.source
            && other.transactionID.map { $0.isSame(as: first.transactionID) } ?? (first.transactionID == nil)
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
        case .externalPurchaseTokenDue: "Apple asked for a report about an external purchase token."
        case .externalPurchaseTokenOverdue: "A report about an external purchase token is late."
        case .registered: "The product was added to the settings, so its purchases count."
        }
    }
}
