public import PurchaseAPI
import PurchaseVerification

/// Compares answers of another system with the ledger's. It changes nothing.
///
/// An answer that agrees costs what a question for entitlements costs. Only for a difference, the history of the
/// purchase is read.
public struct CompareAnswers: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var answers: [ForeignAnswer]

    /// Compares answers.
    public init(app: String, _ answers: [ForeignAnswer]) { (self.app, self.answers) = (app, answers) }

    /// - Returns: one comparison for each answer, in their order.
    public func answer(_ reader: LedgerTransaction) throws -> [ComparisonMessage] {
        let comparer = AnswerComparer(reader: reader, app: try reader.app(app))
        return try answers.map { try comparer.comparison($0) }
    }
}

/// Compares one answer.
private struct AnswerComparer {
    let reader: LedgerTransaction
    let app: RegistryApp

    /// The most entries that are named for one purchase.
    private static let entries = 3

    func comparison(_ theirs: ForeignAnswer) throws -> ComparisonMessage {
        let question = theirs.moment.map(AccessQuestion.at) ?? .now(reader.now)
        var situation = ComparisonSituation(question: question)
        situation.isSubjectKnown = isKnown(theirs.subject)
        let customer = try reader.customer(theirs.customerID, app)
        if let customer {
            situation.isCustomerKnown = true
            situation.customer = CustomerNumber(rawValue: customer.key)
            try read(theirs, of: customer, into: &situation)
        }
        var comparison = ComparisonMessage(theirs, at: question.moment, ours: situation.ours)
        // Most answers agree, so the rest is read only for those that do not.
        guard ComparisonJudgement(theirs: theirs, situation: situation).finding() != nil else { return comparison }
        try readHistory(theirs, of: customer, into: &situation)
        guard let finding = ComparisonJudgement(theirs: theirs, situation: situation).finding() else {
            return comparison
        }
        (comparison.agrees, comparison.code, comparison.right) = (
            false, finding.cause.rawValue, finding.cause.right.rawValue
        )
        (comparison.rule, comparison.text) = ("\(finding.rule)", finding.sentence)
        comparison.evidence = try finding.transactions.flatMap { try evidence(of: $0) }
        return comparison
    }

    private func isKnown(_ subject: ForeignAnswer.Subject) -> Bool {
        switch subject {
        case .product(let id): app.settings.product(id) != nil
        case .entitlement(let name):
            app.settings.products.values.contains { $0.entitlements.contains { ExactText($0) == ExactText(name) } }
        }
    }

    private func isMeant(_ entitlement: Entitlement, _ subject: ForeignAnswer.Subject) -> Bool {
        switch subject {
        case .product(let id): return ExactText(id) == ExactText(entitlement.productID)
        case .entitlement(let name):
            let names = app.settings.product(entitlement.productID)?.entitlements ?? []
            return names.contains { ExactText($0) == ExactText(name) }
        }
    }

    /// The entitlements of the customer to the subject.
    private func read(
        _ theirs: ForeignAnswer, of customer: CustomerRow, into situation: inout ComparisonSituation
    ) throws(LedgerStorageError) {
        for uncounted in try EntitlementsOfCustomer.uncounted(
            reader, app, customer: customer, situation.question)
        where isMeant(uncounted.entitlement, theirs.subject) {
            let environment = uncounted.entitlement.environment
            let isAsked = theirs.environment.map { $0 == environment } ?? true
            // An environment that the answer names is compared as it is.
            let isNamed = theirs.environment != nil
            let counts = isNamed ? true : try reader.counts(environment, for: customer.key, app)
            if isAsked {
                let shown = uncounted.counted(counts)
                if situation.ours.map({ $0.isOutweighed(by: shown) }) ?? true { situation.ours = shown }
            }
            if !isAsked || !counts, uncounted.entitlement.state == .active {
                situation.elsewhere = uncounted.entitlement
            }
        }
    }

    /// The purchases behind the entitlement, and the purchase that the other system names.
    private func readHistory(
        _ theirs: ForeignAnswer, of customer: CustomerRow?, into situation: inout ComparisonSituation
    ) throws(LedgerStorageError) {
        if let id = theirs.transactionID, let row = try rows(id, in: theirs.environment).first {
            let environment = try reader.environments.environment(row.environment)
            situation.named = ComparisonSituation.NamedPurchase(
                transaction: TransactionKey(
                    environment: environment, transactionID: ExactText(row.transactionID), second: row.xcodeSecond),
                owner: try row.ownerKey.map { key throws(LedgerStorageError) in try owner(key) },
                ownerReason: row.ownerReason)
        }
        guard let ours = situation.ours, let id = ours.transactionID,
            let row = try rows(id, in: ours.environment).first
        else { return }
        // What a seat gives is a purchase of somebody else.
        if let key = row.ownerKey {
            let isOwn = try owner(key).rawValue == customer?.key
            if isOwn || ours.state != .active {
                situation.ownerReason = row.ownerReason
            }
        }
        let original = try OriginalsTable(connection: reader.connection).row(row.originalKey)
        let history = try HistoryReader(transaction: reader).history(original)
        let ownership = Ownership.stored(history)
        var purchases: [OwnedPurchase] = []
        for holder in history.holders { purchases += history.purchases(of: holder, ownership) }
        situation.purchases = purchases.sorted { $0.start < $1.start }
    }

    /// The customer that a row of an owner stands for, after all merges.
    private func owner(_ key: Int64) throws(LedgerStorageError) -> CustomerNumber {
        CustomerNumber(rawValue: try reader.customers.surviving(try reader.customers.row(key)).key)
    }

    /// The transactions of the app with an id; one for each environment.
    private func rows(
        _ id: String, in environment: AppStoreEnvironment?
    ) throws(LedgerStorageError) -> [TransactionRow] {
        var found: [TransactionRow] = []
        for row in try reader.rows(transaction: id, app) where !row.isErased {
            guard let environment else {
                found.append(row)
                continue
            }
            let stated = try reader.environments.environment(row.environment)
            if stated == environment { found.append(row) }
        }
        return found
    }

    private func evidence(of key: TransactionKey) throws(LedgerStorageError) -> [ComparisonMessage.Evidence] {
        guard let environment = try reader.environments.key(of: key.environment),
            let row = try reader.transactions.row(key, environment: environment)
        else { return [] }
        let facts = try row.observed(in: key.environment)
        let entries = try row.ownerKey.map { owner throws(LedgerStorageError) in
            let customer = try reader.customers.surviving(try reader.customers.row(owner))
            // A merge says nothing about what the purchase gives, and its rows move one after the other.
            return try EventsTable(connection: reader.connection).entries(
                of: try reader.customers.family(of: customer, limit: CustomersTable.listedFamily), transaction: row.key,
                besides: Int64(JournalKind.customerMerged.rawValue), limit: Self.entries)
        }
        return [
            ComparisonMessage.Evidence(
                environment: key.environment.name, transactionID: row.transactionID,
                originalTransactionID: facts.original.transactionID.string,
                productID: try reader.products.id(row.productKey), entryIDs: (entries ?? []).map(\.text))
        ]
    }
}

extension ComparisonMessage {
    /// Answers that agree, as long as no difference is known.
    fileprivate init(_ theirs: ForeignAnswer, at moment: Timestamp, ours entitlement: Entitlement?) {
        let end: String? =
            switch theirs.end {
            case .unstated: nil
            case .unlimited: ComparisonRequest.unlimited
            case .at(let time): "\(time)"
            }
        var ours = Access(active: entitlement?.state == .active, until: entitlement?.until.map { "\($0)" })
        (ours.state, ours.reason) = (entitlement?.state.rawValue, entitlement?.reason?.rawValue)
        (ours.productID, ours.environment) = (entitlement?.productID, entitlement?.environment.name)
        (ours.transactionID, ours.assumed) = (entitlement?.transactionID, entitlement?.isAssumed == true ? true : nil)
        self.init(
            customerID: theirs.customerID, agrees: true,
            theirs: Access(active: theirs.isActive(at: moment), until: end), ours: ours)
        switch theirs.subject {
        case .product(let id): productID = id
        case .entitlement(let name): self.entitlement = name
        }
    }
}

extension Entitlement {
    /// Whether another entitlement says more about the access to the same thing: one that is active, then one that was
    /// not replaced, then one that lasted longer.
    fileprivate func isOutweighed(by other: Entitlement) -> Bool {
        guard weight == other.weight else { return weight < other.weight }
        guard let until else { return false }
        return other.until.map { until < $0 } ?? true
    }

    private var weight: Int {
        switch (state, reason) {
        case (.active, _): 3
        case (_, .sandboxNotAccepted), (_, .notStarted): 0
        case (_, .upgraded), (_, .superseded): 1
        default: 2
        }
    }
}
