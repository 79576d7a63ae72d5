import PurchaseLedger
import PurchaseVerification
import SQLiteFloor

/// A query of clients.
struct Question {
    private static let count = 500

    let name: String
    private let ask: @Sendable (FilledLedger, Int) async throws -> Void

    static let all = [
        Question("entitlements of a customer") { world, number in
            let customer = world.customer(number)
            _ = try await world.answer(EntitlementsOfCustomer(app: FilledLedger.app, customerID: customer))
        },
        orders("orders, newest 50", nil, limit: 50),
        orders("open orders, 50", .created, limit: 50),
        orders("expired orders, 1", .expired, limit: 1),
        Question("orders of a customer") { world, number in
            _ = try await world.answer(
                OrderList(app: FilledLedger.app, customerID: world.customer(number), limit: 20))
        },
        submissions("submissions, newest 50", limit: 50) { _, _, _ in },
        submissions("submissions of a customer", limit: 10) { $0.customerID = $1.customer($2) },
        submissions("submissions of a transaction", limit: 10) { filter, world, number in
            filter.transactionID = world.transaction(number)
        },
        submissions("rejected submissions", limit: 50) { filter, _, _ in filter.verdict = .rejected },
        submissions("submissions of a code", limit: 50) { filter, _, _ in filter.code = "already_claimed" },
    ]

    private init(_ name: String, _ ask: @escaping @Sendable (FilledLedger, Int) async throws -> Void) {
        (self.name, self.ask) = (name, ask)
    }

    private static func orders(_ name: String, _ status: OrderStatus?, limit: Int) -> Question {
        Question(name) { world, _ in
            _ = try await world.answer(OrderList(app: FilledLedger.app, status: status, limit: limit))
        }
    }

    private static func submissions(
        _ name: String, limit: Int, _ change: @escaping @Sendable (inout SubmissionFilter, FilledLedger, Int) -> Void
    ) -> Question {
        Question(name) { world, number in
            var filter = SubmissionFilter()
            change(&filter, world, number)
            _ = try await world.answer(SubmissionList(app: FilledLedger.app, filter: filter, limit: limit))
        }
    }

    /// The median time of an answer.
    func microseconds(_ world: FilledLedger) async throws -> Double {
        var times: [Double] = []
        for number in 0..<Self.count {
            let start = ContinuousClock.now
            try await ask(world, number)
            times.append((ContinuousClock.now - start).seconds * 1_000_000)
        }
        return times.sorted()[times.count / 2]
    }
}
