import AppStoreSimulator
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@Suite("Any script")
struct RandomScriptTests {
    /// Runs random calls; some are refused, as they must be.
    private func run(_ seed: UInt64, steps: Int) throws -> (store: AppStore, refused: Int) {
        var random = SeededGenerator(seed: seed)
        var store = try StoreWorld.store(gracePeriodDays: 16, trial: seed % 2 == 0)
        var refused = 0
        for _ in 0..<steps {
            let before = store
            do {
                try step(&store, &random)
            } catch is StoreError {
                store = before
                refused += 1
            }
        }
        return (store, refused)
    }

    private func step(_ store: inout AppStore, _ random: inout SeededGenerator) throws {
        let app = StoreWorld.app
        let customer = ["ada", "grace"].randomElement(using: &random) ?? "ada"
        let product = ["coins", "full", "season", "gold", "silver"].randomElement(using: &random) ?? "coins"
        let transaction = store.transactions.randomElement(using: &random)?.transactionID ?? ""
        let subscription = store.subscriptions.randomElement(using: &random)?.originalTransactionID ?? ""
        switch Int.random(in: 0..<16, using: &random) {
        case 0...3: try store.buy(product, of: app, by: customer)
        case 4: try store.finish(transaction)
        case 5: try store.refund(transaction)
        case 6: try store.reverseRefund(of: transaction)
        case 7: try store.restore(app, for: customer)
        case 8: try store.share(transaction, with: customer)
        case 9: try store.setBilling(works: Bool.random(using: &random), for: subscription)
        case 10: try store.setAutoRenewal(Bool.random(using: &random), for: subscription)
        case 11: try store.changeProduct(of: subscription, to: product)
        case 12: try store.refreshReceipt(of: app, for: customer)
        case 13: try store.refund(transaction, percentage: .random(in: 1...100_000, using: &random))
        case 14: try store.extendRenewal(of: subscription, days: .random(in: 1...90, using: &random))
        default: try store.moveClock(to: store.now.addingTimeInterval(.random(in: 0...4_000_000, using: &random)))
        }
    }

    @Test(
        "keeps identifiers unique, events in order, periods without overlap and receipts complete",
        arguments: 1...40)
    func invariants(seed: Int) throws {
        let (store, refused) = try run(UInt64(seed), steps: 120)
        #expect(refused < 120, "every step was refused")
        #expect(store.events.count > 10)
        #expect(Set(store.transactions.map(\.transactionID)).count == store.transactions.count)
        #expect(store.events.map(\.date) == store.events.map(\.date).sorted())
        #expect(store.events.map(\.number) == Array(1...store.events.count))
        let originals = Set(store.transactions.map(\.transactionID))
        for transaction in store.transactions {
            #expect(originals.contains(transaction.originalTransactionID))
            #expect(transaction.purchaseDate <= store.now)
        }
        for subscription in store.subscriptions {
            let periods = store.transactions.filter {
                $0.originalTransactionID == subscription.originalTransactionID && $0.restoredFrom == nil
            }
            // A subscriber who subscribes again after a refund that is reversed later has paid for both periods.
            let reversed = store.events.filter { $0.kind == .refundReversed }.compactMap(\.transaction?.transactionID)
            for (period, next) in zip(periods, periods.dropFirst())
            where !period.isUpgraded && period.revocation == nil && !reversed.contains(period.transactionID) {
                #expect(try #require(period.expiresDate) <= next.purchaseDate)
            }
            if subscription.status == .active, subscription.sharedFrom == nil {
                #expect(subscription.expiresDate > store.now)
            }
        }
        for customer in ["ada", "grace"] {
            var refreshed = store
            let receipt = try refreshed.refreshReceipt(of: StoreWorld.app, for: customer).transactions
            #expect(!receipt.contains { $0.kind == .consumable && $0.isFinished })
            #expect(!receipt.contains { $0.restoredAs != nil })
            let others = store.transactions.filter {
                $0.customerID == customer && $0.kind != .consumable && $0.restoredAs == nil
            }
            #expect(Set(others.map(\.transactionID)).isSubset(of: Set(receipt.map(\.transactionID))))
        }
    }

    @Test("leads to the same content each time", arguments: 1...5)
    func sameContent(seed: Int) throws {
        let (first, _) = try run(UInt64(seed), steps: 80)
        let (second, _) = try run(UInt64(seed), steps: 80)
        // Compared outside of the expectation, which would print all of it.
        let isSame =
            first.events == second.events && first.transactions == second.transactions
            && first.subscriptions == second.subscriptions
        #expect(isSame)
    }
}
