import Foundation
import PurchaseLedger
import PurchaseVerification

/// The pure rules over the facts that were delivered so far: merged in the order in which they were signed, whatever
/// the order in which they arrived. It shares the rules with the ledger, and neither its tables nor its operations.
struct DeliveredFacts {
    /// The customers, by their numbers.
    private let customers: [String]
    private let onlyLatest: Bool
    private var tokens = TokenAssignments()
    private var transactions: [TransactionKey: [(order: Int, statement: TransactionStatement)]] = [:]
    private var renewals: [RenewalKey: [(order: Int, statement: RenewalStatement)]] = [:]
    private var statuses: [OwnershipKey: [(order: Int, status: SignedStatus)]] = [:]
    private var acts: [OriginalKey: [OwnershipAct]] = [:]
    private var actCount: Int64 = 0
    /// The facts and purchases of what was delivered.
    private(set) var facts: [TransactionKey: ObservedTransaction] = [:]
    private var renewalFacts: [RenewalKey: ObservedRenewal] = [:]
    private var purchases: [OwnershipKey: [OwnedPurchase]] = [:]

    init(_ catalog: NewsCatalog, fault: NewsFault?) throws {
        customers = catalog.customers
        onlyLatest = fault == .latestArrival
        for customer in catalog.named {
            guard let text = catalog.token(of: customer)?.uuidString, let token = AppAccountToken(text) else {
                continue
            }
            try tokens.assign(token, to: number(of: customer))
        }
    }

    private func number(of customer: String) -> CustomerNumber {
        CustomerNumber(rawValue: Int64(customers.firstIndex(of: customer) ?? -1))
    }

    // MARK: Deliveries

    mutating func deliver(_ observation: Observation, order: Int) {
        for statement in observation.transactions {
            transactions[statement.key, default: []].append((order, statement))
            observe(statement.key)
        }
        for statement in observation.renewals {
            renewals[statement.key, default: []].append((order, statement))
            renewalFacts[statement.key] = merged(renewals[statement.key] ?? [], with: ObservedRenewal.init) {
                $0.merged(with: $1)
            }
        }
        for statement in observation.statuses {
            let original = OriginalKey(
                environment: statement.key.environment, transactionID: statement.key.originalTransactionID)
            statuses[OwnershipKey(original: original, holder: statement.holder), default: []].append(
                (order, statement.status))
        }
        for original in Set(observation.transactions.compactMap { facts[$0.key]?.original }) { own(original) }
    }

    /// A claim that binds, with evidence that was delivered before.
    mutating func claim(_ transaction: TransactionKey, by customer: String) {
        guard let original = facts[transaction]?.original else { return }
        actCount += 1
        acts[original, default: []].append(
            OwnershipAct(
                entry: actCount,
                content: .claim(transaction: transaction, customer: number(of: customer), mayTransfer: false)))
        own(original)
    }

    private mutating func observe(_ key: TransactionKey) {
        facts[key] = merged(transactions[key] ?? [], with: ObservedTransaction.init) { $0.merged(with: $1) }
    }

    private func merged<Statement, Facts>(
        _ statements: [(order: Int, statement: Statement)], with first: (Statement) -> Facts,
        _ merge: (Facts, Statement) -> Facts
    ) -> Facts? {
        guard !onlyLatest else { return statements.last.map { first($0.statement) } }
        let sorted = statements.sorted { $0.order < $1.order }
        guard let earliest = sorted.first else { return nil }
        return sorted.dropFirst().reduce(first(earliest.statement)) { merge($0, $1.statement) }
    }

    private mutating func own(_ original: OriginalKey) {
        let known = facts.values.filter { $0.original == original }
        for (ownership, transactions) in Dictionary(grouping: known, by: \.ownership) {
            let named = (acts[original] ?? []).filter { act in
                guard case .claim(let transaction, _, _) = act.content else { return true }
                return transactions.contains { $0.key == transaction }
            }
            let owners = Ownership(OwnershipInput(transactions: transactions, tokens: tokens, acts: named))
            purchases[ownership] = PurchaseGrouping.purchases(of: transactions, owners: owners) { transaction in
                transaction.kind.map { ProductTerms(kind: $0) }
            }
        }
    }

    // MARK: Answers

    func answers(for customer: String, _ question: AccessQuestion) -> [String: NewsAnswer] {
        var input = EntitlementInput(
            customer: number(of: customer), purchases: purchases.values.flatMap(\.self), renewals: renewalFacts)
        for (key, signed) in statuses {
            let sorted = signed.sorted { $0.order < $1.order }.map(\.status)
            guard let first = onlyLatest ? signed.last?.status : sorted.first else { continue }
            input.statuses[key] = onlyLatest ? first : sorted.dropFirst().reduce(first, SignedStatus.newer)
        }
        let access = CustomerEntitlements(input).access(question, refundShortfall: .forgive)
        return Dictionary(uniqueKeysWithValues: access.map { ($0.productID.string, NewsAnswer($0)) })
    }
}
