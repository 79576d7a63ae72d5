import PurchaseVerification

extension PurchaseInputs {
    /// What the tables know of an original.
    ///
    /// - Parameter identities: the customers, whose merges were read with the history.
    init(
        _ history: PurchaseHistory, _ identities: CustomerIdentities, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) {
        self.init(app: history.original.appKey, key: history.key)
        // Reads the merges of the customers of tokens, too.
        _ = try identities.assignments(of: history)
        for record in history.records {
            let row = record.row
            let token = record.accountToken
            transactions.append(
                Transaction(
                    record.facts, knownAt: row.knownAt, kind: row.kind, duration: row.duration, token: token))
            guard let token, let customer = try identities.assignment(of: token) else { continue }
            tokens[token] = CustomerNumber(rawValue: customer)
        }
        acts = history.acts.map(\.content) + identities.mergeActs
        (renewal, statuses) = (history.renewal, history.statuses)
        for (customer, units) in try TakesTable(connection: connection).units(of: history.original.key) {
            takes[CustomerNumber(rawValue: customer)] = units
        }
        revocations = history.revocations.map { revocation in
            let named = revocation.transactionID.flatMap { id in
                history.records.first { $0.facts.key.transactionID == id && $0.facts.ownership.holder != .buyer }
            }
            return Revocation(
                entry: revocation.row.entryKey, from: revocation.row.startsAt, liftedAt: revocation.row.liftedAt,
                isShared: revocation.row.revokedShared, transaction: named?.facts.key)
        }
        for record in history.records {
            guard let order = try OrdersTable(connection: connection).row(paidBy: record.row.key) else { continue }
            payments[record.facts.key] = order.key
        }
        for customer in customers where try identities.isErased(customer.rawValue) { erased.insert(customer) }
    }

    /// The customers whom tokens, acts, merges and takes name.
    private var customers: Set<CustomerNumber> {
        var customers = Set(tokens.values).union(takes.keys)
        for act in acts {
            switch act.content {
            case .claim(_, let customer, _): customers.insert(customer)
            case .takeOver(_, let guest, let customer): customers.formUnion([guest, customer])
            case .move(_, let from, let to): customers.formUnion([from, to].compactMap(\.self))
            case .merge(let customer, into: let target): customers.formUnion([customer, target])
            }
        }
        return customers
    }
}
