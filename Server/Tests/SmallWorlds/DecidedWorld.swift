import LedgerRules
import PurchaseVerification
import WrittenRules

/// A small world as the ledger decides it: by the pure rules alone, without a database.
///
/// It has the same values as the tables, as numbers: facts are those of `FactsCatalog`.
struct DecidedWorld {
    /// The facts of each transaction, by the product with which its subscription starts; 0 for an unknown one.
    private var facts = [UInt8](repeating: 0, count: 6)
    /// Whether a grace period without its end was signed, by the product with which the subscription starts.
    private var isGraced = [false, false]
    private var tokens = TokenAssignments()
    private var merges = CustomerMerges()
    /// The acts, as numbers.
    private var acts: [UInt8] = []
    private let policy: TransferPolicy
    private let fault: PlantedFault?

    init(_ policy: TransferPolicy, fault: PlantedFault?) {
        self.policy = policy
        self.fault = fault
    }

    /// Two numbers that only equal worlds of at most eight acts share. The merge is one of the acts.
    var code: (facts: UInt64, acts: UInt64) {
        let owners = [0, 1].map { product in
            tokens.customer(of: Self.token(product)).map { UInt64($0.rawValue + 1) } ?? 0
        }
        let graced = isGraced.reduce(UInt64(0)) { $0 << 1 | ($1 ? 1 : 0) }
        return (
            facts.reduce(graced << 4 | owners[0] << 2 | owners[1]) { $0 << 8 | UInt64($1) },
            acts.reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    // MARK: What happens

    mutating func happen(_ event: WorldEvent, _ catalog: inout FactsCatalog) {
        let (product, customer) = (event.product, resolve(event.customer))
        switch event.kind {
        case .claimed, .renewalClaimed:
            let evidence = event.kind == .claimed ? WorldEvent.Kind.bought : .renewed
            observe(evidence, product, &catalog)
            guard let statement = catalog.statement(evidence, product) else { return }
            // A claim with the token of another customer does not bind.
            let tokenOwner = tokens.customer(of: statement.accountToken).map(merges.resolve)
            guard tokenOwner.map({ $0 == Self.number(customer) }) ?? true else { return }
            acts.append(Self.claim(product, event.kind == .claimed ? 0 : 1, customer))
        case .assigned:
            do throws(TokenAssignments.TokenTaken) {
                try tokens.assign(Self.token(product), to: Self.number(customer))
            } catch {
                // The operation answers token_taken, and changes nothing.
            }
        case .moved:
            guard facts[product * 3] != 0 else { return }
            let owner = owners(of: product, catalog)[0]
            if owner != customer { acts.append(Self.move(product, owner, customer)) }
        case .merged:
            do throws(CustomerMerges.Refusal) {
                try merges.merge(Self.number(event.customer), into: Self.number(1 - event.customer))
                acts.append(Self.merge(event.customer))
            } catch {
                // The operation refuses it, and changes nothing.
            }
        case .graced: isGraced[product] = true
        default: observe(event.kind, product, &catalog)
        }
    }

    private mutating func observe(_ kind: WorldEvent.Kind, _ product: Int, _ catalog: inout FactsCatalog) {
        guard let written = WrittenStatement(kind) else { return }
        let place = product * 3 + written.transaction
        facts[place] = catalog.merged(fault == .latestArrival ? 0 : facts[place], kind, product)
    }

    // MARK: Acts as numbers

    private static func claim(_ product: Int, _ transaction: Int, _ customer: Int) -> UInt8 {
        UInt8(1 + product * 6 + transaction * 2 + customer)
    }

    private static func move(_ product: Int, _ from: Int?, _ to: Int) -> UInt8 {
        UInt8(13 + product * 6 + (from.map { $0 + 1 } ?? 0) * 2 + to)
    }

    private static func merge(_ customer: Int) -> UInt8 { UInt8(25 + customer) }

    /// The act of a number, if it concerns a subscription.
    private func content(_ act: UInt8, of product: Int) -> OwnershipAct.Content? {
        let act = Int(act)
        guard act < 25 else { return .merge(Self.number(act - 25), into: Self.number(26 - act)) }
        let (number, isClaim) = (act < 13 ? act - 1 : act - 13, act < 13)
        guard number / 6 == product else { return nil }
        let rest = number % 6
        if isClaim {
            return .claim(
                transaction: FactsCatalog.key(product, rest / 2), customer: Self.number(rest % 2),
                mayTransfer: fault == .claimsTransfer
                    || OwnershipAct.mayTransfer(under: policy, kind: .autoRenewable))
        }
        return .move(
            transaction: FactsCatalog.key(product, 0), from: rest / 2 == 0 ? nil : Self.number(rest / 2 - 1),
            to: Self.number(rest % 2))
    }

    private static func number(_ customer: Int) -> CustomerNumber { CustomerNumber(rawValue: Int64(customer)) }

    private static func token(_ product: Int) -> AppAccountToken { AppAccountToken(high: 0, low: UInt64(product)) }

    private func resolve(_ customer: Int) -> Int { Int(merges.resolve(Self.number(customer)).rawValue) }

    // MARK: What is decided

    private func transactions(of product: Int, _ catalog: FactsCatalog) -> [ObservedTransaction] {
        facts[(product * 3)..<(product * 3 + 3)].compactMap { catalog.facts($0) }
    }

    private func acts(on product: Int) -> [OwnershipAct] {
        acts.compactMap { content($0, of: product) }.enumerated().map {
            OwnershipAct(entry: Int64($0.offset + 1), content: $0.element)
        }
    }

    private func ownership(of product: Int, _ transactions: [ObservedTransaction]) -> Ownership {
        Ownership(
            OwnershipInput(
                transactions: transactions, tokens: fault == .tokensIgnored ? TokenAssignments() : tokens,
                acts: acts(on: product)))
    }

    /// The value of a subscription; `nil` if nothing of it is known.
    func value(of product: Int, _ catalog: FactsCatalog) -> PurchaseState? {
        let transactions = transactions(of: product, catalog)
        guard let first = transactions.first else { return nil }
        var inputs = PurchaseInputs(app: 1, key: first.original)
        inputs.transactions = transactions.map { facts in
            PurchaseInputs.Transaction(
                facts, knownAt: FactsCatalog.day(0), kind: .autoRenewable, duration: nil, token: facts.accountToken)
        }
        inputs.acts = acts(on: product)
        for number in [0, 1] { inputs.tokens[Self.token(number)] = tokens.customer(of: Self.token(number)) }
        inputs.renewal = renewals[first.renewal]
        return PurchaseState(inputs)
    }

    /// The owner of each of the three transactions of a subscription.
    func owners(of product: Int, _ catalog: FactsCatalog) -> [Int?] {
        let owners = ownership(of: product, transactions(of: product, catalog)).owners
        return (0..<3).map { owners[FactsCatalog.key(product, $0)]?.customer.map { Int($0.rawValue) } }
    }

    /// What is signed about the renewal of both subscriptions.
    var renewals: [RenewalKey: ObservedRenewal] {
        var renewals: [RenewalKey: ObservedRenewal] = [:]
        for product in [0, 1] where isGraced[product] {
            let original = FactsCatalog.key(product, 0).transactionID
            var info = RenewalInfo()
            (info.isInBillingRetry, info.isGraceEndUnknown) = (true, true)
            let key = RenewalKey(environment: .production, originalTransactionID: original)
            renewals[key] = ObservedRenewal(RenewalStatement(key: key, stamp: FactsCatalog.day(30), info: info))
        }
        return renewals
    }

    /// The purchases of both subscriptions, with their owners.
    func purchases(_ catalog: FactsCatalog) -> [OwnedPurchase] {
        [0, 1].flatMap { product in
            let transactions = transactions(of: product, catalog)
            guard !transactions.isEmpty else { return [OwnedPurchase]() }
            return PurchaseGrouping.purchases(of: transactions, owners: ownership(of: product, transactions)) { _ in
                ProductTerms(kind: .autoRenewable)
            }
        }
    }
}
