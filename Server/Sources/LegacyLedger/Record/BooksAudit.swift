import PurchaseVerification

/// Works out from the events alone what the books must be: purchases, orders, balances, consumptions, withdrawals and keys.
/// `findings` compares.
///
/// Whatever is compared is compared as bytes: two texts that Unicode calls equivalent are two. It keeps a few hundred bytes for
/// each purchase and order while it runs.
struct BooksAudit {
    /// The values of a row, or of its key, in an encoding that no two share.
    typealias Image = [UInt8]

    struct Purchase {
        let event: LedgerEvent
        var customerID: String?
        var terms: String?
        var withdrawal: String?
    }

    struct PlacedOrder {
        let event: LedgerEvent
        var status = OrderStatus.created
        var paid: LedgerEvent?
        var fulfilledAt: Timestamp?
        var closedAt: Timestamp?
    }

    struct Balance {
        var count: Int64 = 0
        var transactionID: String?
    }

    struct Consumed {
        let event: LedgerEvent
        /// What was left.
        let balance: Int64
    }

    struct Key {
        let event: LedgerEvent
        var revokedAt: Timestamp?
    }

    private(set) var purchases: [Image: Purchase] = [:]
    private(set) var orders: [Image: PlacedOrder] = [:]
    /// By the primary key of entitlements.
    private(set) var balances: [Image: Balance] = [:]
    private(set) var consumptions: [Image: Consumed] = [:]
    private(set) var withdrawals: [Image: LedgerEvent] = [:]
    private(set) var keys: [Image: Key] = [:]

    /// Takes the next event. One that cannot be read was changed, which its hash has told already.
    mutating func apply(_ row: LedgerRow) {
        let event: LedgerEvent
        do throws(LedgerStorageError) { event = try LedgerEvent(row) } catch { return }
        let transaction = Self.image(event.app, event.environment, event.transactionID)
        let order = Self.image(event.orderID)
        switch event.kind {
        case .orderCreated: orders[order] = PlacedOrder(event: event)
        case .orderPaid:
            orders[order]?.status = .paid
            orders[order]?.paid = event
        case .orderFulfilled:
            orders[order]?.status = .fulfilled
            orders[order]?.fulfilledAt = event.at
        case .orderCancelled, .orderRefunded:
            orders[order]?.status = event.kind == .orderCancelled ? .cancelled : .refunded
            orders[order]?.closedAt = event.at
        case .purchaseGranted:
            let purchase = Purchase(event: event, customerID: event.customerID, terms: event.detail)
            purchases[transaction] = purchase
            if purchase.isOfBalance { change(event) { $0.count &+= event.quantity ?? 0 } }
        case .purchaseExtended:
            purchases[transaction]?.terms = event.detail
            purchases[transaction]?.customerID = event.customerID
        case .purchaseMoved: purchases[transaction]?.customerID = event.customerID
        case .purchaseWithdrawn:
            purchases[transaction]?.withdrawal = event.detail ?? ""
            if purchases[transaction]?.isOfBalance == true {
                change(event) { $0.count &-= min($0.count, event.quantity ?? 0) }
            }
        case .withdrawalRecorded: withdrawals[transaction] = event
        case .balanceConsumed:
            change(event) { $0.count &-= event.quantity ?? 0 }
            let key = Self.image(event.app, event.customerID, event.productID, event.environment)
            consumptions[Self.image(event.app, event.customerID, event.detail)] = Consumed(
                event: event, balance: balances[key]?.count ?? 0)
        case .keyCreated: keys[Self.key(event)] = Key(event: event)
        case .keyRevoked: keys[Self.key(event)]?.revokedAt = event.at
        }
    }

    private mutating func change(_ event: LedgerEvent, _ change: (inout Balance) -> Void) {
        let key = Self.image(event.app, event.customerID, event.productID, event.environment)
        change(&balances[key, default: Balance()])
        if event.kind == .purchaseGranted { balances[key]?.transactionID = event.transactionID }
    }

    /// The id stands at the beginning of what the event says of a key.
    private static func key(_ event: LedgerEvent) -> Image {
        image(event.detail?.split(separator: ",").first.map(String.init))
    }

    static func image(_ texts: String?...) -> Image { HashChain.encoding(texts.map { .text($0) }) }
}

extension BooksAudit.Purchase {
    /// Whether it was added to a balance, as far as the event tells.
    var isOfBalance: Bool {
        !isWhole || event.detail?.split(separator: ", ").dropFirst().first == ProductKind.consumable.rawValue[...]
    }

    /// Whether the event tells all that is granted. Those of the first version told only how it was accepted.
    var isWhole: Bool { terms?.contains(",") == true }

    /// What the columns of `RecordedPurchase.columns` must hold, but for those that `terms` stands for.
    func image(beside purchase: RecordedPurchase) -> BooksAudit.Image {
        // What events of the first version did not tell is taken as it is: the date, and who else's moved along.
        let words = withdrawal?.split(separator: ",").first?.split(separator: " ")
        let withdrawnAt = words?.count == 1 ? purchase.withdrawnAt.map { "\($0)" } : words?.last.map(String.init)
        return HashChain.encoding([
            .text(event.transactionID), .text(isWhole ? customerID : purchase.customerID), .text(event.orderID),
            .text(event.productID), .integer(event.quantity), .text(isWhole ? terms : purchase.terms),
            .time(event.at), .text(event.submissionID), .text(withdrawnAt),
        ])
    }
}

extension RecordedPurchase {
    /// The same of what is in the books; `nil` if its state contradicts itself.
    var image: BooksAudit.Image? {
        guard (state == .withdrawn) == (withdrawnAt != nil), (expiresAt == nil) == (firstExpiresAt == nil) else {
            return nil
        }
        return HashChain.encoding([
            .text(transactionID), .text(customerID), .text(orderID), .text(productID), .integer(quantity),
            .text(terms), .time(recordedAt), .text(submissionID), .text(withdrawnAt.map { "\($0)" }),
        ])
    }
}

extension BooksAudit.PlacedOrder {
    func image(beside order: Order) -> BooksAudit.Image {
        HashChain.encoding([
            .text(event.app), .text(event.customerID), .text(event.productID), .integer(event.quantity),
            // Events of the first version had no words.
            .text(event.detail ?? order.terms), .time(event.at), .text(status.rawValue), .time(paid?.at),
            .time(fulfilledAt),
            .time(closedAt), .text(paid?.transactionID), .text(paid?.environment),
        ])
    }
}

extension Order {
    /// The same of what is in the books.
    var image: BooksAudit.Image {
        HashChain.encoding([
            .text(app), .text(customerID), .text(productID), .integer(quantity), .text(terms), .time(createdAt),
            .text(recordedStatus.rawValue), .time(paidAt), .time(fulfilledAt), .time(closedAt), .text(transactionID),
            .text(environment?.name),
        ])
    }
}
