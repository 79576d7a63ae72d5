public import PurchaseVerification

public import struct Foundation.UUID

/// The content of an event, in one format for all types.
public struct EventContent: Sendable, Equatable {
    /// Its position among all events of the ledger.
    public var number: Int64
    /// The stable word of an `EventType`.
    public var type: String
    public var at: Timestamp
    public var app: String
    public var customerID: String?
    public var formerCustomerID: String?
    /// The owner of a purchase that the customer claimed.
    public var ownerCustomerID: String?
    public var environment: String?
    /// Whether purchases of the environment count for the customer, by the settings as they are now.
    public var counts: Bool?
    public var productID: String?
    public var transactionID: String?
    public var originalTransactionID: String?
    public var orderID: UUID?
    public var units: Int64?
    public var balance: Int64?
    public var shortfall: Int64?
    public var until: Timestamp?
    public var reason: String?
    public var submissionID: String?
    /// The external purchase token that it is about (Apple, "externalPurchaseId").
    public var externalPurchaseID: String?
    /// The price of the transaction, in thousandths of the currency, as signed.
    public var price: Int64?
    public var currency: String?
    /// The names of the fields that changed (`RenewalChange.Field`).
    public var changed: [String]?
    public var renewal: RenewalChange.Signed?
    public var formerRenewal: RenewalChange.Signed?
    public var entryID: UUID

    /// The id of its message, the same wherever the event is shown or sent. The random id of the entry is part of it,
    /// so events after a restore from a backup have ids other than the lost ones.
    public var id: String { Self.id(of: number, in: entryID) }

    /// The id of the event with a number, of an entry.
    static func id(of number: Int64, in entry: UUID) -> String { "evt_\(entry.bytes.hexadecimal)_\(number)" }

    /// The number in an id of this form; `nil` for any other text.
    public static func number(inID id: String) -> Int64? {
        let parts = id.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "evt", parts[1].utf8.count == 32 else { return nil }
        return Int64(parts[2]).flatMap { $0 > 0 && "\($0)" == parts[2] ? $0 : nil }
    }
}

/// The numbers of an event, its time and its reason.
struct EventFigures: Sendable, Equatable {
    /// Units that were granted, withdrawn, given back or consumed; in `customer_merged`, the purchases of the former
    /// customer.
    var units: Int64?
    /// The new balance.
    var balance: Int64?
    /// The new total of units that the customer consumed and Apple withdrew.
    var shortfall: Int64?
    /// When the access that the event concerns ends.
    var until: Timestamp?
    /// The reason of an operator's act, or the fields that contradict each other.
    var reason: String?
    /// Whether webhooks deliver it. Events of an import are only listed, unless the operator had them announced.
    var isAnnounced = true
    /// The id of the claim that was decided, or of an external purchase token.
    var submission: String?
    /// The change of a renewal.
    var renewal: RenewalChange?

    init() {}

    /// Reads exactly the format of `encoded`.
    init(encoded: [UInt8]) throws(FactsDecodingError) {
        var reader = CanonicalReader(encoded)
        units = try reader.optional()
        balance = try reader.optional()
        shortfall = try reader.optional()
        until = try reader.optional()
        reason = try reader.optional(ExactText.self)?.string
        // Nearly all events are announced and concern no decision, and only one type has a renewal, so only the others
        // store these fields.
        if !reader.isAtEnd { isAnnounced = try reader.byte() != 0 }
        if !reader.isAtEnd { submission = try reader.optional(ExactText.self)?.string }
        if !reader.isAtEnd { renewal = try reader.value(RenewalChange.self) }
        guard reader.isAtEnd, self.encoded == encoded else { throw reader.malformed }
    }

    var encoded: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(optional: units)
        writer.write(optional: balance)
        writer.write(optional: shortfall)
        writer.write(optional: until)
        writer.write(optional: reason.map { ExactText($0) })
        if !isAnnounced || submission != nil || renewal != nil { writer.write(byte: isAnnounced ? 1 : 0) }
        if submission != nil || renewal != nil { writer.write(optional: submission.map { ExactText($0) }) }
        if let renewal { writer.write(renewal) }
        return writer.bytes
    }
}

/// An event, or a notification, to be delivered to a webhook.
public struct OutgoingEvent: Sendable, Equatable {
    /// Its position among all events; of a notification, its entry.
    public var key: Int64
    /// The customer's key, the negative key of an original that nobody owns, or 0. Notifications do not wait for each
    /// other, so each has its own entry here.
    public var customer: Int64
    /// The id of its message, the same for each attempt and each webhook.
    public var id: String
    public var content: Content
    /// Whether it is delivered. Events of an import are skipped unless they are announced, and so are notifications of
    /// other environments.
    public var isAnnounced = true

    /// What is delivered.
    public enum Content: Sendable, Equatable {
        case event(EventContent)
        /// The body of the App Store's request; `nil` after an erasure.
        case notification(body: [UInt8]?)
    }

    /// Whether it is a notification.
    public var isNotification: Bool {
        if case .notification = content { true } else { false }
    }

    package init(key: Int64, customer: Int64, id: String, content: Content, isAnnounced: Bool = true) {
        (self.key, self.customer, self.id, self.content) = (key, customer, id, content)
        self.isAnnounced = isAnnounced
    }
}

/// The next step for an event that was not delivered.
public struct UndeliveredEvent: Sendable, Equatable {
    public var eventKey: Int64
    public var customer: Int64
    public var state: WebhookDeliveryState
    public var attempts: Int
    public var firstAt: Timestamp?
    /// The next attempt; `nil` for an event that waits or was given up.
    public var nextAt: Timestamp?
    /// Why the last attempt failed, without URLs and secrets; `nil` keeps the recorded reason.
    public var lastError: String?

    /// Creates an event that waits behind another.
    public init(waiting event: OutgoingEvent) {
        (eventKey, customer, state, attempts) = (event.key, event.customer, .waiting, 0)
    }

    /// Creates an event after a failed attempt.
    public init(
        _ event: OutgoingEvent, _ state: WebhookDeliveryState, attempts: Int, firstAt: Timestamp?, nextAt: Timestamp?,
        lastError: String?
    ) {
        (eventKey, customer) = (event.key, event.customer)
        (self.state, self.attempts, self.firstAt, self.nextAt) = (state, attempts, firstAt, nextAt)
        self.lastError = lastError
    }
}
