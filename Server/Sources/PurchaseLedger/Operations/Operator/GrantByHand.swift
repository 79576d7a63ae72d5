public import PurchaseVerification

public import struct Foundation.UUID

/// Grants a product to a customer manually.
public struct GrantByHand: LedgerOperation {
    public var app: String
    public var customerID: String
    public var productID: String
    public var environment: AppStoreEnvironment
    /// Units of a consumable.
    public var quantity: Int64
    /// When the grant ends; `nil` if it does not end.
    public var until: Timestamp?
    public var reason: String
    /// The idempotency key, if the sender may repeat the request.
    public var once: IdempotentRequest?

    /// Grants a product to a customer.
    public init(
        app: String, customerID: String, productID: String, environment: AppStoreEnvironment = .production,
        quantity: Int64 = 1, until: Timestamp? = nil, reason: String, once: IdempotentRequest? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.productID = productID
        self.environment = environment
        self.quantity = quantity
        self.until = until
        self.reason = reason
        self.once = once
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Returns: the id of the grant.
    public func perform(_ transaction: LedgerTransaction) throws -> UUID {
        let app = try transaction.app(app)
        if let details = try once?.earlierEntry(transaction)?.details,
            let id = UUID(uuidString: try GrantAddedDetails(encoded: details).grantID)
        {
            return id
        }
        guard ExactText(customerID).isIdentifier, quantity > 0 else {
            throw LedgerRefusal(.fieldMalformed, expected: "customer_id, and a quantity from 1")
        }
        guard let kind = app.settings.product(productID)?.kind else {
            throw LedgerRefusal(.productUnknown, found: productID)
        }
        guard kind == .consumable || quantity == 1 else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "quantity: 1, because only a consumable has units", found: "\(quantity)")
        }
        guard kind != .consumable || until == nil else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "until: absent, because units of a consumable do not end",
                found: until.map { "\($0)" })
        }
        guard until.map({ $0 > transaction.now }) ?? true else {
            throw LedgerRefusal(
                .fieldMalformed, expected: "until: a time in the future", found: until.map { "\($0)" })
        }
        let id = TimeOrderedID.next(at: transaction.now)
        var draft = transaction.draft(app)
        draft.customer = try transaction.customerToWrite(customerID, app)
        let details = GrantAddedDetails(
            grantID: id.text, customer: customerID, productID: productID, environment: environment.name,
            kind: kind.rawValue, quantity: quantity, startsAt: transaction.now.millisecondsSince1970,
            endsAt: until?.millisecondsSince1970, reason: reason)
        let write = try transaction.append(draft, details)
        try once?.keep(write.entry, transaction)
        try details.run(write)
        return id
    }
}

/// Revokes a purchase or a grant manually. The revocation takes precedence over Apple's data, and ends only when it is
/// lifted.
public struct RevokeByHand: LedgerOperation {
    public var app: String
    public var customerID: String
    public var target: Target
    public var reason: String
    /// The idempotency key, if the sender may repeat the request.
    public var once: IdempotentRequest?

    /// The target of a revocation.
    public enum Target: Sendable, Equatable {
        /// The original of a transaction.
        case purchase(transactionID: String, environment: AppStoreEnvironment?)
        /// A manual grant.
        case grant(UUID)
    }

    /// Revokes a purchase or a grant of a customer.
    public init(
        app: String, customerID: String, _ target: Target, reason: String, once: IdempotentRequest? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.target = target
        self.reason = reason
        self.once = once
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Returns: the id of the revocation, with which it can be lifted.
    public func perform(_ transaction: LedgerTransaction) throws -> UUID {
        let app = try transaction.app(app)
        if let details = try once?.earlierEntry(transaction)?.details,
            let id = UUID(uuidString: try RevocationAddedDetails(encoded: details).revocationID)
        {
            return id
        }
        guard let customer = try transaction.customer(customerID, app) else {
            throw LedgerRefusal(.customerUnknown, expected: customerID)
        }
        let id = TimeOrderedID.next(at: transaction.now)
        var details = RevocationAddedDetails(revocationID: id.text, customer: customerID, reason: reason)
        switch target {
        case .purchase(let transactionID, let environment):
            let purchase = try transaction.existingPurchase(transactionID, environment, app)
            guard purchase.ownerKey == customer.key else {
                throw LedgerRefusal(.purchaseUnknown, expected: transactionID)
            }
            let named = try transaction.environments.environment(purchase.environment)
            (details.environment, details.transactionID) = (named.name, transactionID)
            details.second = purchase.xcodeSecond == 0 ? nil : purchase.xcodeSecond
        case .grant(let grantID):
            guard let grant = try HandGrantsTable(connection: transaction.connection).row(id: grantID),
                grant.kind == .grant, grant.customerKey == customer.key
            else { throw LedgerRefusal(.grantUnknown, expected: grantID.text) }
            details.grantID = grantID.text
        }
        var draft = transaction.draft(app)
        draft.customer = customer
        let write = try transaction.append(draft, details)
        try once?.keep(write.entry, transaction)
        try details.run(write)
        return id
    }
}

/// Lifts a revocation, or ends a grant.
public struct LiftByHand: LedgerOperation {
    public var app: String
    public var customerID: String
    public var id: UUID
    /// The kind of act that the id must refer to; `nil` accepts both.
    public var act: Act?
    public var reason: String?

    /// The two acts that can be lifted.
    public enum Act: Sendable {
        case grant
        case revocation
    }

    /// Lifts the grant or the revocation with an id.
    public init(app: String, customerID: String, id: UUID, act: Act? = nil, reason: String? = nil) {
        self.app = app
        self.customerID = customerID
        self.id = id
        self.act = act
        self.reason = reason
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        let grants = HandGrantsTable(connection: transaction.connection)
        guard let customer = try transaction.customer(customerID, app), let row = try grants.row(id: id),
            try row.customerKey == customer.key || isOfPurchase(row, of: customer, transaction), row.source == nil,
            act.map({ ($0 == .grant) == (row.kind == .grant) }) ?? true
        else { throw LedgerRefusal(.grantUnknown, expected: id.text) }
        guard row.liftedAt == nil else { return }
        var draft = transaction.draft(app)
        draft.customer = customer
        let details = ActLiftedDetails(id: id.text, reason: reason)
        try details.run(try transaction.append(draft, details))
    }

    /// Whether a revocation concerns a purchase that now belongs to a customer: it was transferred, or its former owner
    /// was erased.
    private func isOfPurchase(
        _ row: HandGrantRow, of customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> Bool {
        guard let original = row.revokedOriginal else { return false }
        let named = try HandRevocationOfPurchase(row, transaction.connection).transactionID
        for owned in try transaction.transactions.rows(originalKey: original) where owned.ownerKey == customer.key {
            let environment = try transaction.environments.environment(owned.environment)
            let isShared = try owned.observed(in: environment).ownership.holder != .buyer
            if isShared == row.revokedShared, !isShared || named == ExactText(owned.transactionID) { return true }
        }
        return false
    }
}

/// Writes the changes of a manual grant or revocation.
struct HandGrantWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp

    private var grants: HandGrantsTable { HandGrantsTable(connection: transaction.connection) }

    /// Writes the access or the lot of a grant, reduced by its revocations.
    func write(_ grant: HandGrantRow, kind: ProductKind) throws(LedgerStorageError) -> Balances {
        let (handGrant, revocations) = try grants.grant(
            grant, kind: kind, product: try transaction.products.id(grant.productKey),
            environment: try transaction.environments.environment(grant.environment))
        let entitlements = CustomerEntitlements(
            EntitlementInput(
                customer: handGrant.customer, purchases: [], grants: [handGrant], revocations: revocations))
        if let ground = entitlements.grounds.first {
            try transaction.entitlements.write(
                EntitlementRow(
                    ground.timeline, kind, of: grant.customerKey, product: grant.productKey,
                    environment: grant.environment, ground: -grant.key))
        }
        guard let lot = entitlements.lots.first else { return [:] }
        let former = try LotsTable(connection: transaction.connection).row(-grant.key)
        var delta = Delta()
        delta.lots = [
            try transaction.change(
                of: -grant.key, environment: grant.environment, from: former,
                to: LotChange.Lot(lot, product: grant.productKey), isFirst: former == nil)
        ]
        return try transaction.apply(delta)
    }

    /// Recomputes the subject of a grant or a revocation, and writes the event.
    func change(
        _ row: HandGrantRow, _ entry: JournalEntry, _ type: EventType, reason: String?, customer: Int64
    ) throws {
        var balances: Balances = [:]
        if let original = row.revokedOriginal {
            let changes = LedgerChanges(transaction, app: app)
            let place = try changes.history(original)
            try changes.readRevocations(place)
            try changes.settle()
            balances[customer] = changes.balance(of: customer, in: place)
            try changes.finish(entry)
        } else if let grant = row.kind == .grant ? row : try row.revokedGrant.flatMap({ try grants.row(key: $0) }) {
            // The product kind at the time of the grant, whatever the settings are now.
            let former = try transaction.entitlements.row(
                grant.customerKey, product: grant.productKey, environment: grant.environment, ground: -grant.key)
            balances = try write(grant, kind: former?.kind ?? .consumable)
        }
        let events = LedgerEvents(transaction, app: app, entry: entry)
        var event = events.event(type)
        (event.productKey, event.environment, event.figures.reason) = (row.productKey, row.environment, reason)
        events.describe(&event, balances[customer])
        try transaction.tell(event, to: customer)
    }
}

/// `grant_added`.
struct GrantAddedDetails: LedgerInput {
    static var kind: JournalKind { .grantAdded }
    var grantID: String
    var customer: String
    var productID: String
    var environment: String
    var kind: String
    var quantity: Int64
    var startsAt: Int64
    var endsAt: Int64?
    var reason: String

    func run(_ write: EntryWrite) throws {
        let (customer, transaction) = (try write.existing(self.customer), write.transaction)
        try write.endGuest(customer)
        guard let id = UUID(uuidString: grantID), let kind = ProductKind(rawValue: self.kind) else { return }
        let row = try HandGrantsTable(connection: write.connection).insert(
            HandGrantRow(
                id: id, appKey: write.app.key, customerKey: customer.key,
                productKey: try transaction.products.keyToWrite(productID, appKey: write.app.key, at: transaction.now),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(environment)),
                kind: .grant, quantity: quantity, startsAt: Timestamp(millisecondsSince1970: startsAt),
                endsAt: endsAt.map { Timestamp(millisecondsSince1970: $0) }, entryKey: write.entry.key))
        let balances = try HandGrantWriter(transaction: transaction, app: write.app).write(row, kind: kind)
        try transaction.tell(write.events.granted(row, balances, reason: reason), to: customer.key)
    }
}

extension RevocationAddedDetails: LedgerInput {
    func redacted(_ scope: ErasureScope) throws -> RevocationAddedDetails? {
        guard try scope.isKept(revocationID) else { return nil }
        var kept = self
        (kept.customer, kept.reason) = ("", "")
        return kept
    }

    func run(_ write: EntryWrite) throws {
        let customer = try write.existing(self.customer)
        try write.endGuest(customer)
        guard let id = UUID(uuidString: revocationID) else { return }
        let (grants, transaction) = (HandGrantsTable(connection: write.connection), write.transaction)
        var row = HandGrantRow(
            id: id, appKey: write.app.key, customerKey: customer.key, productKey: 0, environment: 0, kind: .revocation,
            quantity: 0, startsAt: transaction.now, endsAt: nil, entryKey: write.entry.key)
        if let transactionID, let environment {
            let named = AppStoreEnvironment(environment)
            let key = TransactionKey(
                environment: named, transactionID: ExactText(transactionID), second: second ?? 0)
            if let erased = transaction.erasures?.transactions[key] {
                let changes = LedgerChanges(transaction, app: write.app)
                try changes.claim(erased: erased)
                try changes.settle()
                try changes.finish(write.entry)
            }
            guard
                let purchase = try transaction.transactions.row(
                    key, environment: try transaction.environments.keyToWrite(of: named))
            else {
                guard write.isOfEntriesAlone else { return try write.impossible("the purchase is not known") }
                // Without evidence there are no purchases. The end of the revocation refers to the row.
                _ = try grants.insert(row)
                return
            }
            (row.productKey, row.environment) = (purchase.productKey, purchase.environment)
            row.revokedOriginal = purchase.originalKey
            row.revokedShared = try purchase.observed(in: named).ownership.holder != .buyer
        } else if let grantID = grantID.flatMap({ UUID(uuidString: $0) }), let grant = try grants.row(id: grantID) {
            (row.productKey, row.environment, row.revokedGrant) = (grant.productKey, grant.environment, grant.key)
        } else {
            try write.impossible("the grant is not known", unlessErased: true)
        }
        row = try grants.insert(row)
        try HandGrantWriter(transaction: transaction, app: write.app)
            .change(row, write.entry, .revocationAdded, reason: reason, customer: customer.key)
    }
}

/// `act_lifted`.
struct ActLiftedDetails: LedgerInput {
    static var kind: JournalKind { .actLifted }
    var id: String
    var reason: String?

    func redacted(_ scope: ErasureScope) throws -> ActLiftedDetails? {
        guard try scope.isKept(id) else { return nil }
        var kept = self
        kept.reason = nil
        return kept
    }

    func run(_ write: EntryWrite) throws {
        let (grants, transaction) = (HandGrantsTable(connection: write.connection), write.transaction)
        guard let id = UUID(uuidString: id), var row = try grants.row(id: id) else {
            return try write.impossible("the grant or revocation is not known", unlessErased: true)
        }
        if row.liftedAt != nil { try write.impossible("the grant or revocation has ended before") }
        // It can be lifted through a later owner of the purchase.
        let named = try write.customer()
        try write.endGuest(named)
        let customer = named?.key ?? row.customerKey
        row.liftedAt = transaction.now
        try grants.lift(row.key, at: transaction.now)
        try HandGrantWriter(transaction: transaction, app: write.app)
            .change(row, write.entry, .actLifted, reason: reason, customer: customer)
    }
}
