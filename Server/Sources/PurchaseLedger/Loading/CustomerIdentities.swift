import PurchaseVerification

/// The identities of customers, from account tokens and merges. Each is read only once.
final class CustomerIdentities {
    private let transaction: LedgerTransaction
    private let app: RegistryApp
    /// The customer of each token, as assigned.
    private var tokens: [AppAccountToken: Int64?] = [:]
    /// The merges of the customers involved, by merged customer.
    private var merges: [Int64: (target: Int64, entry: Int64)] = [:]

    /// Whether customers were erased.
    private var erased: [Int64: Bool] = [:]

    /// The customers whose lock this write holds.
    private var locked: Set<Int64> = []

    init(_ transaction: LedgerTransaction, app: RegistryApp) {
        self.transaction = transaction
        self.app = app
    }

    /// Notes a customer whose lock was taken by name when the write began.
    func know(locked customer: CustomerRow) {
        if customer.mergedInto == nil { locked.insert(customer.key) }
        erased[customer.key] = customer.name == nil
    }

    /// Locks the balances and orders of customers.
    ///
    /// - Parameter keys: computes the customers, if the engine locks anything.
    func lock(_ keys: () -> Set<Int64>) throws(LedgerStorageError) {
        try transaction.lock(customers: { () throws(LedgerStorageError) in
            let unlocked = keys().subtracting(locked)
            locked.formUnion(unlocked)
            return unlocked
        })
    }

    /// The account tokens in a history that belong to a customer.
    func assignments(of history: PurchaseHistory) throws(LedgerStorageError) -> TokenAssignments {
        var assignments = TokenAssignments()
        var last: AppAccountToken?
        for record in history.records {
            guard let token = record.accountToken else { continue }
            let isOwn = token == record.facts.accountToken
            // Most transactions have the token of the one before.
            guard !isOwn || token != last, let customer = try assignment(of: token) else { continue }
            guard isOwn else {
                assignments.keep(CustomerNumber(rawValue: customer), of: record.facts.key)
                continue
            }
            last = token
            do throws(TokenAssignments.TokenTaken) {
                try assignments.assign(token, to: CustomerNumber(rawValue: customer))
            } catch {
                throw LedgerStorageError(.corrupt, "an account token names two customers")
            }
        }
        return assignments
    }

    /// The customer of an account token, after all merges; `nil` if the token is not known.
    func customer(of token: AppAccountToken?) throws(LedgerStorageError) -> Int64? {
        guard let token else { return nil }
        return try assignment(of: token).map(surviving)
    }

    /// The customer of an account token, as assigned.
    func assignment(of token: AppAccountToken) throws(LedgerStorageError) -> Int64? {
        if let known = tokens[token] { return known }
        let table = AccountTokensTable(connection: transaction.connection)
        let assignment = try table.assignment(of: token.uuid, appKey: app.key)
        if let assignment, assignment.isMerged { try readMerges(of: assignment.customer) }
        tokens[token] = .some(assignment?.customer)
        return assignment?.customer
    }

    /// Reads the merges of the customers who acted on a history.
    func readMerges(of history: PurchaseHistory) throws(LedgerStorageError) {
        for act in history.acts where act.isMerged {
            for customer in [act.customerKey, act.formerKey].compactMap(\.self) { try readMerges(of: customer) }
        }
    }

    /// Reads the merges of a customer, one after the other.
    func readMerges(of customer: Int64) throws(LedgerStorageError) {
        var customer = customer
        while merges[customer] == nil {
            let row = try transaction.customers.row(customer)
            guard let target = row.mergedInto, let entry = row.mergeEntry else { return }
            merges[customer] = (target, entry)
            customer = target
        }
    }

    /// The customer that remains after all merges that were read.
    func surviving(_ customer: Int64) -> Int64 {
        var customer = customer
        while let merge = merges[customer] { customer = merge.target }
        return customer
    }

    /// Whether a customer was erased: such a customer has no name.
    func isErased(_ customer: Int64) throws(LedgerStorageError) -> Bool {
        if let known = erased[customer] { return known }
        let isErased = try transaction.customers.row(customer).name == nil
        erased[customer] = isErased
        return isErased
    }

    /// Whether a customer was erased before this write. A rebuild never learns the names of those who are erased later.
    func isErasedBefore(_ customer: Int64) throws(LedgerStorageError) -> Bool {
        guard try isErased(customer) else { return false }
        guard let erasures = transaction.erasures?.customers,
            let entry = erasures[try transaction.customers.row(customer).reference]
        else { return true }
        return try JournalTable(connection: transaction.connection).row(id: entry) != nil
    }

    /// The merges, in the order of the journal.
    var mergeActs: [OwnershipAct] {
        merges.map { customer, merge in
            OwnershipAct(
                entry: merge.entry,
                content: .merge(CustomerNumber(rawValue: customer), into: CustomerNumber(rawValue: merge.target)))
        }.sorted { $0.entry < $1.entry }
    }
}
