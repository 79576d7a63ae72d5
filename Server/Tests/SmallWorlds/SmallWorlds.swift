import LedgerRules
import PurchaseVerification
import WrittenRules

/// Compares the rules of the ledger with those of docs/ledger.md over every history of a few events: enumerated, not
/// sampled.
///
/// Customers and products are exchangeable, so of the up to four histories that differ only in their names, the first
/// counts.
public struct SmallWorlds {
    /// What was compared.
    public struct Report: Sendable {
        /// The number of histories, by their number of events, from 1.
        public var histories: [Int]
        /// The number of histories in which one event happens twice, by their number of different places of events.
        public var duplicates: [Int]
        /// The number of different worlds whose answers were computed by both rules.
        public var worlds = 0
        /// The first difference.
        public var difference: String?
    }

    private let events = WorldEvent.all
    /// For each exchange of names, the number of each event's image.
    private let images: [[Int]]
    private let policy: TransferPolicy
    private let fault: PlantedFault?
    private let length: Int
    private let duplicatesLength: Int
    private let deadline: ContinuousClock.Instant?

    private var catalog = FactsCatalog()
    private var compared: Set<Code> = []
    private var path: [Int] = []
    private var states: [(written: WrittenWorld, decided: DecidedWorld)] = []
    private var report: Report

    private struct Code: Hashable {
        let written: UInt64
        let facts: UInt64
        let acts: UInt64
    }

    private init(
        upTo length: Int, duplicatesUpTo duplicatesLength: Int, policy: TransferPolicy, fault: PlantedFault?,
        deadline: ContinuousClock.Instant?
    ) {
        (self.length, self.duplicatesLength) = (length, duplicatesLength)
        (self.policy, self.fault, self.deadline) = (policy, fault, deadline)
        let events = events
        images = [(false, true), (true, false), (true, true)].map { products, customers in
            events.map { event in
                let image = event.exchanged(products: products, customers: customers)
                return events.firstIndex(of: image) ?? 0
            }
        }
        report = Report(
            histories: Array(repeating: 0, count: length), duplicates: Array(repeating: 0, count: length))
    }

    /// Compares every history.
    ///
    /// - Parameters:
    ///   - length: the number of events.
    ///   - duplicatesLength: the number of events up to which each history is also told with each of its events once
    ///     more, at
    ///     every later place.
    ///   - claimsTransfer: whether the setting `transfer` is `move`.
    ///   - fault: a wrong rule.
    ///   - deadline: when to stop, with what was compared by then.
    public static func compare(
        upTo length: Int, duplicatesUpTo duplicatesLength: Int, claimsTransfer: Bool, fault: PlantedFault? = nil,
        deadline: ContinuousClock.Instant? = nil
    ) -> Report {
        var worlds = SmallWorlds(
            upTo: length, duplicatesUpTo: duplicatesLength, policy: claimsTransfer ? .move : .deny, fault: fault,
            deadline: deadline)
        worlds.states = [
            (WrittenWorld(claimsTransfer: claimsTransfer), DecidedWorld(worlds.policy, fault: fault))
        ]
        worlds.visit(exchanges: [0, 1, 2])
        worlds.report.worlds = worlds.compared.count
        return worlds.report
    }

    /// The number of histories of a length, by Burnside's lemma: the mean over the four exchanges of the histories that
    /// each leaves as they are.
    public static func histories(of length: Int) -> Int {
        let worlds = SmallWorlds(upTo: 1, duplicatesUpTo: 0, policy: .deny, fault: nil, deadline: nil)
        let fixed = worlds.images.map { image in image.indices.count { image[$0] == $0 } }
        return ([worlds.events.count] + fixed).map { count in
            (0..<length).reduce(1) { power, _ in power * count }
        }.reduce(0, +) / 4
    }

    // MARK: Enumerating

    /// - Parameter exchanges: those that leave the path as it is. Of each class of histories the one with the smallest
    ///   numbers is visited.
    private mutating func visit(exchanges: [Int]) {
        for number in events.indices {
            guard report.difference == nil, !isOver else { return }
            guard exchanges.allSatisfy({ images[$0][number] >= number }), let former = states.last else { continue }
            var next = former
            happen(events[number], to: &next)
            path.append(number)
            states.append(next)
            report.histories[path.count - 1] += 1
            if let difference = difference(next) { note(difference, path) }
            if path.count <= duplicatesLength { repeatEach() }
            if path.count < length { visit(exchanges: exchanges.filter { images[$0][number] == number }) }
            path.removeLast()
            states.removeLast()
        }
    }

    private var isOver: Bool { deadline.map { path.count <= 2 && ContinuousClock.now > $0 } ?? false }

    /// Tells the history with each event once more, at every later place.
    private mutating func repeatEach() {
        for repeated in path.indices {
            for place in (repeated + 1)...path.count {
                var state = states[place]
                happen(events[path[repeated]], to: &state)
                for later in path[place...] { happen(events[later], to: &state) }
                report.duplicates[path.count - 1] += 1
                guard let difference = difference(state) else { continue }
                note(difference, path[..<place] + [path[repeated]] + path[place...])
            }
        }
    }

    private mutating func happen(
        _ event: WorldEvent, to state: inout (written: WrittenWorld, decided: DecidedWorld)
    ) {
        state.written.happen(event)
        state.decided.happen(event, &catalog)
    }

    // MARK: Comparing

    private mutating func note(_ difference: String, _ history: some Sequence<Int>) {
        let names = history.map { events[$0].description }.joined(separator: ", ")
        report.difference = report.difference ?? "\(names): \(difference)"
    }

    private mutating func difference(_ state: (written: WrittenWorld, decided: DecidedWorld)) -> String? {
        let code = state.decided.code
        // Both answers follow from the world alone, so that of a world that appeared before is known.
        guard compared.insert(Code(written: state.written.code, facts: code.facts, acts: code.acts)).inserted
        else { return nil }
        return difference(state.written, state.decided)
    }

    private func difference(_ written: WrittenWorld, _ decided: DecidedWorld) -> String? {
        for product in 0..<2 {
            let (expected, found) = (written.owners(of: product), decided.owners(of: product, catalog))
            if expected != found { return "the owners of \(product) are \(found), expected \(expected)" }
        }
        var purchases = decided.purchases(catalog)
        if fault == nil, let difference = difference(ofValues: decided, purchases) { return difference }
        if fault == .otherProductIgnored {
            purchases = purchases.filter { $0.transaction != FactsCatalog.key(0, 2) }
        }
        for customer in 0..<2 {
            let expected = written.access(of: customer)
            let entitlements = CustomerEntitlements(
                EntitlementInput(
                    customer: CustomerNumber(rawValue: Int64(customer)), purchases: purchases,
                    renewals: decided.renewals))
            for (place, day) in WrittenStatement.changes.enumerated() {
                let found = entitlements.access(.at(FactsCatalog.day(day)), refundShortfall: .forgive)
                for product in 0..<2 {
                    let access = found.first { $0.productID == FactsCatalog.products[product] }
                    guard !expected[product][place].agrees(with: access) else { continue }
                    let answer = access.map {
                        "\($0.denial?.rawValue ?? "active") until \($0.until.map { "\($0)" } ?? "ever")"
                    }
                    return """
                        customer \(customer), product \(product), day \(day): found \(answer ?? "nothing"), \
                        expected \(expected[product][place])
                        """
                }
            }
        }
        return nil
    }
}

extension SmallWorlds {
    /// Writes and reads the value of each subscription, and compares its rows with what the rules give without it.
    private func difference(ofValues decided: DecidedWorld, _ purchases: [OwnedPurchase]) -> String? {
        var access: [PurchaseRows.Access] = []
        for product in 0..<2 {
            guard let value = decided.value(of: product, catalog) else { continue }
            guard let read = try? PurchaseState(encoded: value.encoded()), read == value else {
                return "the value of \(product) is another one after reading it"
            }
            let rows = PurchaseRows(of: read)
            let owners = (0..<3).map { rows.owners[FactsCatalog.key(product, $0)]?.customer.map { Int($0.rawValue) } }
            let expected = decided.owners(of: product, catalog)
            if owners != expected { return "the owners in the value of \(product) are \(owners), expected \(expected)" }
            access += rows.access
        }
        let grounds = (0..<2).flatMap { customer in
            CustomerEntitlements(
                EntitlementInput(
                    customer: CustomerNumber(rawValue: Int64(customer)), purchases: purchases,
                    renewals: decided.renewals)
            ).grounds
        }
        let expected = grounds.map { ground in
            PurchaseRows.Access(
                ground.customer, ground.productID, .access(ground.timeline, ground.kind ?? .autoRenewable))
        }
        return Set(access) == Set(expected) && access.count == expected.count
            ? nil : "the access in the values is \(access), expected \(expected)"
    }
}

extension WrittenAccess {
    fileprivate func agrees(with access: ProductAccess?) -> Bool {
        if let until { return access?.isActive == true && access?.until == FactsCatalog.day(until) }
        guard let access else { return reasons.isEmpty }
        guard let denial = access.denial else { return false }
        return reasons.contains(denial.rawValue) || isOfAnother && denial == .ownedByAnother
            || isOfAnotherLater && denial == .notStarted
    }
}

/// A wrong rule, to show that the comparison finds it.
public enum PlantedFault: Sendable, CaseIterable {
    /// The evidence that arrived last decides, not that which was signed last.
    case latestArrival
    /// Claims transfer, whatever the setting `transfer` says.
    case claimsTransfer
    /// Account tokens are not read.
    case tokensIgnored
    /// Of the periods of one subscription, only those of its first product count.
    case otherProductIgnored
}
