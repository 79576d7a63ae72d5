import PurchaseLedger
import PurchaseVerification
import Testing

/// What the change of one lot does to balances, without a database.
@Suite("Changes of a lot")
struct LotChangeTests {
    private static let alice = PurchaseStory.alice
    private static let bob = PurchaseStory.bob
    private static let coins: Int64 = 7
    private static let gems: Int64 = 8

    private static func lot(
        _ owner: CustomerNumber = alice, withdrawn: Int64 = 0, taken: Int64 = 0, product: Int64 = coins,
        reason: NoAccessReason? = nil
    ) -> LotChange.Lot {
        LotChange.Lot(
            owner: owner, product: product, quantity: 5, withdrawn: withdrawn, taken: taken, purchasedAt: .day(0),
            reason: reason)
    }

    private static func add(
        _ remaining: Int64, _ shortfall: Int64, to customer: CustomerNumber = alice, product: Int64 = coins
    ) -> LotChange.Step {
        .add(remaining: remaining, shortfall: shortfall, to: customer, product: product)
    }

    @Test("33.1 Lots come before the balances that they change")
    func steps() {
        let cases: [(LotChange.Lot?, LotChange.Lot?, takes: [CustomerNumber: Int64], [LotChange.Step])] = [
            (nil, Self.lot(), [:], [.write(Self.lot(), isNew: true), Self.add(5, 0)]),
            // Units that an import delivered before the lot was known.
            (nil, Self.lot(), [Self.alice: 5], [.write(Self.lot(taken: 5), isNew: true), Self.add(0, 0)]),
            // Refunded after use, and the refund reversed.
            (
                Self.lot(taken: 3), Self.lot(withdrawn: 5), [Self.alice: 3],
                [.write(Self.lot(withdrawn: 5, taken: 3), isNew: false), Self.add(-2, 3)]
            ),
            (
                Self.lot(withdrawn: 5, taken: 3), Self.lot(), [Self.alice: 3],
                [.write(Self.lot(taken: 3), isNew: false), Self.add(2, -3)]
            ),
            // Transferred: what the former owner used is their shortfall.
            (
                Self.lot(taken: 3), Self.lot(Self.bob), [Self.alice: 3],
                [.write(Self.lot(Self.bob), isNew: false), Self.add(-2, 3), Self.add(5, 0, to: Self.bob)]
            ),
            // A new owner gets a balance, even if it is empty.
            (
                Self.lot(withdrawn: 5), Self.lot(Self.bob, withdrawn: 5), [:],
                [
                    .write(Self.lot(Self.bob, withdrawn: 5), isNew: false), .explain(Self.alice, product: Self.coins),
                    Self.add(0, 0, to: Self.bob),
                ]
            ),
            // Gone: it adds nothing, not even the shortfall of those who used it.
            (Self.lot(taken: 3), nil, [Self.alice: 3], [.delete, Self.add(-2, 0)]),
            (Self.lot(withdrawn: 5, taken: 3), nil, [Self.alice: 3], [.delete, Self.add(0, -3)]),
            // Another product: subtracted from the balance of the former one first.
            (
                Self.lot(taken: 1), Self.lot(product: Self.gems), [Self.alice: 1],
                [
                    .delete, Self.add(-4, 0), .write(Self.lot(taken: 1, product: Self.gems), isNew: true),
                    Self.add(4, 0, product: Self.gems),
                ]
            ),
            // Only the reason of an empty balance can be another one.
            (
                Self.lot(withdrawn: 5, reason: .cancelled), Self.lot(withdrawn: 5, reason: .revoked), [:],
                [
                    .write(Self.lot(withdrawn: 5, reason: .revoked), isNew: false),
                    .explain(Self.alice, product: Self.coins),
                ]
            ),
            // Nothing changes.
            (Self.lot(taken: 2), Self.lot(), [Self.alice: 2, Self.bob: 1], []), (nil, nil, [Self.alice: 2], []),
        ]
        for (former, lot, takes, steps) in cases {
            #expect(LotChange(from: former, to: lot, takes: takes).steps == steps)
        }
    }

    @Test("33.1 The sum of all parts is the balance, whatever the order of the changes")
    func sums() {
        // Alice used 3 and Bob 1; the lot is refunded, moves to Bob and back, and the refund is reversed.
        let takes: [CustomerNumber: Int64] = [Self.alice: 3, Self.bob: 1]
        let states = [
            nil, Self.lot(), Self.lot(withdrawn: 4), Self.lot(Self.bob, withdrawn: 4), Self.lot(Self.bob),
            Self.lot(product: Self.gems), Self.lot(withdrawn: 5), nil, Self.lot(Self.bob),
        ]
        var balances: [Int64: [CustomerNumber: [Int64]]] = [:]
        var former: LotChange.Lot?
        for state in states {
            let change = LotChange(from: former, to: state, takes: takes)
            for case .add(let remaining, let shortfall, let customer, let product) in change.steps {
                let sum = balances[product]?[customer] ?? [0, 0]
                balances[product, default: [:]][customer] = [sum[0] + remaining, sum[1] + shortfall]
            }
            former = change.lot
            for customer in [Self.alice, Self.bob] {
                let units = state.map { $0.owner == customer ? $0.quantity - $0.withdrawn : 0 } ?? 0
                let taken = state == nil ? 0 : takes[customer] ?? 0
                let expected = [max(0, units - taken), max(0, taken - units)]
                #expect((balances[state?.product ?? Self.coins]?[customer] ?? [0, 0]) == expected)
            }
        }
    }
}
