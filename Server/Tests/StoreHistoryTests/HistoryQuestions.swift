import AppStoreSimulator
import ExpectedEntitlements
import Foundation
import ServerTestSupport
import TestSupport

/// Questions for every product of random customers, at random times and around everything that begins and ends.
struct HistoryQuestions: Sendable {
    let store: AppStore
    let expected: ExpectedEntitlements
    let server: HistoryServer
    var random: SeededGenerator
    private var asked = 0
    private(set) var activeAnswers = 0
    private(set) var inactiveAnswers = 0
    private(set) var shortfalls = 0
    /// The differences between the ledger's answers and the expected ones.
    private(set) var differences: [String] = []

    init(store: AppStore, expected: ExpectedEntitlements, server: HistoryServer, random: SeededGenerator) {
        self.store = store
        self.expected = expected
        self.server = server
        self.random = random
    }

    mutating func ask() async throws {
        let customer = pick(HistoryCatalog.customers)
        // A customer who claims another customer's purchase gets it in the environment of the purchase.
        let isSandbox = (customer == "tess") != (Int.random(in: 0..<4, using: &random) == 0)
        let environment = isSandbox ? StoreEnvironment.sandbox : .production
        let products = store.products
        let time = time(products.flatMap { expected.boundaries(of: customer, $0, environment) })
        let answers = try await server.entitlements(of: customer, in: environment, at: time, now: store.now)
        for product in products {
            let starts = expected.starts(of: customer, product, environment)
            // The ledger gives access five minutes early.
            guard !starts.contains(where: { $0 > time && $0.addingTimeInterval(-300) <= time }) else { continue }
            let access = expected.access(of: customer, to: product, in: environment, at: time)
            let answer = answers[product.productID] ?? ExpectedEntitlements.Access()
            activeAnswers += access.isActive ? 1 : 0
            inactiveAnswers += access.isActive ? 0 : 1
            shortfalls += access.shortfall > 0 ? 1 : 0
            guard access != answer else { continue }
            let question = "\(customer), \(product.productID), \(environment.rawValue), \(time.formatted(.iso8601))"
            differences.append("\(question): expected \(access), found \(answer)")
        }
    }

    /// Now, or a time of the history; mostly one near a boundary, where an answer changes.
    private mutating func time(_ boundaries: [Date]) -> Date {
        asked += 1
        if asked.isMultiple(of: 20) { return store.now }
        if let boundary = boundaries.randomElement(using: &random), Int.random(in: 0..<4, using: &random) > 0 {
            return min(store.now, boundary.addingTimeInterval(pick([-301, -1, 0, 1, 86_400])))
        }
        let seconds = Int(store.now.timeIntervalSince(HistoryCatalog.start))
        return HistoryCatalog.start.addingTimeInterval(Double(Int.random(in: 0...seconds, using: &random)))
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
