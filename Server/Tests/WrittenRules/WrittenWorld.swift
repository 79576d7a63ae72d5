/// A small world as docs/ledger.md describes it: a second implementation of its rules, as plain as the text. It shares
/// no code with the ledger.
public struct WrittenWorld: Sendable, Hashable {
    /// The evidence that has arrived: a bit for each kind and product. A piece that arrives again changes nothing.
    private var evidence: UInt64 = 0
    /// The customer of each product's token.
    private var tokens: [Int?] = [nil, nil]
    /// The acts, in their order.
    private var acts: [Act] = []
    /// The customer into whom each was merged.
    private var mergedInto: [Int?] = [nil, nil]
    private let claimsTransfer: Bool

    private enum Act: Hashable {
        case claim(product: Int, transaction: Int, customer: Int)
        case move(product: Int, from: Int?, to: Int)
        case merge(from: Int, into: Int)
    }

    /// A world in which nothing has happened.
    ///
    /// - Parameter claimsTransfer: whether the setting `transfer` is `move`.
    public init(claimsTransfer: Bool) { self.claimsTransfer = claimsTransfer }

    // MARK: What happens

    public mutating func happen(_ event: WorldEvent) {
        let product = event.product
        let customer = mergedInto[event.customer] ?? event.customer
        switch event.kind {
        case .claimed:
            // Its evidence has no token, so it binds.
            see(.bought, product)
            acts.append(.claim(product: product, transaction: 0, customer: customer))
        case .renewalClaimed:
            see(.renewed, product)
            // A token of another customer prevents binding; an unknown one counts as absent.
            let tokenOwner = tokens[1 - product].map { mergedInto[$0] ?? $0 }
            if tokenOwner == nil || tokenOwner == customer {
                acts.append(.claim(product: product, transaction: 1, customer: customer))
            }
        case .assigned:
            // A token belongs to one customer for ever.
            if tokens[product] == nil { tokens[product] = customer }
        case .moved:
            guard statements(of: 0, product) != [] else { return }
            let owner = owners(of: product)[0]
            if owner != customer { acts.append(.move(product: product, from: owner, to: customer)) }
        case .merged:
            // A customer is merged once, and two customers are not merged into each other.
            guard mergedInto == [nil, nil] else { return }
            mergedInto[event.customer] = 1 - event.customer
            acts.append(.merge(from: event.customer, into: 1 - event.customer))
        default: see(event.kind, product)
        }
    }

    // MARK: Observe

    private mutating func see(_ kind: WorldEvent.Kind, _ product: Int) {
        evidence |= 1 << (2 * kind.rawValue + product)
    }

    private func hasSeen(_ kind: WorldEvent.Kind, _ product: Int) -> Bool {
        evidence >> (2 * kind.rawValue + product) & 1 == 1
    }

    private func statements(of transaction: Int, _ product: Int) -> [WrittenStatement] {
        WorldEvent.Kind.allCases.filter { hasSeen($0, product) }
            .compactMap { WrittenStatement($0) }.filter { $0.transaction == transaction }
    }

    /// The known periods of the subscription that starts with a product, the earliest first.
    private func periods(of product: Int) -> [WrittenPeriod] {
        let owners = owners(of: product)
        return [0, 2, 1].compactMap { transaction in
            WrittenPeriod(
                transaction, product: WrittenStatement.product(of: transaction, startingWith: product),
                statements(of: transaction, product), owner: owners[transaction])
        }
    }

    // MARK: Own

    /// The owner of each of the three transactions of the subscription that starts with a product; nil for those that
    /// are held or not known.
    public func owners(of product: Int) -> [Int?] {
        var owners: [Int?] = [nil, nil, nil]
        var (hasOwnToken, isNamed) = ([false, false, false], [false, false, false])
        var earlier: Int?
        // Steps 1 and 2, in the order of the purchase dates.
        for transaction in [0, 2, 1] {
            let statements = statements(of: transaction, product)
            guard statements != [] else { continue }
            let token = statements.compactMap(\.token).first.flatMap { token in
                tokens[token == .ofProduct ? product : 1 - product]
            }
            if let token { (earlier, hasOwnToken[transaction]) = (token, true) }
            (owners[transaction], isNamed[transaction]) = (earlier, earlier != nil)
        }
        func holds(_ transaction: Int) -> Bool { statements(of: transaction, product) != [] && !isNamed[transaction] }
        for act in acts {
            switch act {
            case .claim(product, let transaction, let customer):
                if let owner = owners[transaction], owner != customer {
                    guard claimsTransfer, !hasOwnToken[transaction] else { continue }
                    for other in 0..<3 where owners[other] == owner && !hasOwnToken[other] { owners[other] = customer }
                }
                for other in 0..<3 where holds(other) && owners[other] == nil { owners[other] = customer }
            case .move(product, let from?, let to):
                for other in 0..<3 where owners[other] == from { owners[other] = to }
            case .move(product, nil, let to):
                guard holds(0) else { continue }
                for other in 0..<3 where holds(other) && owners[other] == nil { owners[other] = to }
            case .merge(let from, let into):
                for other in 0..<3 where owners[other] == from { owners[other] = into }
            case .claim, .move: continue
            }
        }
        return owners.map { $0.map { mergedInto[$0] ?? $0 } }
    }

    // MARK: Entitle

    /// What a customer may use, by product and by the days of `WrittenStatement.changes`.
    public func access(of customer: Int) -> [[WrittenAccess]] {
        let subscriptions = [0, 1].map { product in
            WrittenSubscription(periods(of: product), isGraced: hasSeen(.graced, product))
        }
        return [0, 1].map { product in
            WrittenStatement.changes.map { day in
                subscriptions.map { $0.access(of: customer, to: product, on: day) }.reduce(WrittenAccess()) {
                    $0.or($1)
                }
            }
        }
    }

    // MARK: Comparing

    /// A number that only equal worlds of at most six acts share.
    public var code: UInt64 {
        var code = evidence
        for token in tokens + mergedInto { code = code << 2 | UInt64(token.map { $0 + 1 } ?? 0) }
        for act in acts {
            let number =
                switch act {
                case .claim(let product, let transaction, let customer): 1 + product * 6 + transaction * 2 + customer
                case .move(let product, let from, let to): 13 + product * 6 + (from.map { $0 + 1 } ?? 0) * 2 + to
                case .merge(let from, _): 25 + from
                }
            code = code << 5 | UInt64(number)
        }
        return code
    }
}
