import Crypto
import Foundation
import PurchaseKit
import StoreKit
import Testing

@testable import StoreKitAdapters

extension StoreKitAdapterTests {
    /// What becomes of purchases with the original API, whose queue brings everything by its observer.
    @Suite("Outcomes of the original API")
    struct OriginalOutcomeTests {
        @Test("1.3 A payment that a customer cancelled is cancelled, and the next customer's purchase is theirs")
        func cancelled() async throws {
            try await Simulator.run { simulator in
                let queue = OriginalQueue()
                let line = RequestRecorder()
                let key = Curve25519.Signing.PrivateKey().publicKey.rawRepresentation.base64EncodedString()
                let server = PurchaseConnection(service: line, key: "key", answerKeys: try AnswerKeys(current: key))
                let engine = try simulator.engine(queue, NoReceiptSource(), server)
                let events = await engine.events()
                let updates = queue.updates()
                let run = Task { await engine.run() }
                defer { run.cancel() }
                await engine.signIn(PurchaseCustomer(id: "alice"))
                try await simulator.post("control/payments/mode", ["mode": "cancelled"], isControl: true)
                #expect(await engine.buy("pro") == .queued)
                for await event in events {
                    #expect(event.name != "failed", "\(event)")
                    guard case .cancelled(let report) = event else { continue }
                    #expect(report.productID == "pro")
                    break
                }
                for await transaction in updates where transaction.state == .failed {
                    #expect(transaction.failure?.code == .paymentFailed)
                    #expect(transaction.failure?.cause == PurchaseError.Cause(domain: "SKErrorDomain", code: 2))
                    break
                }
                #expect(try await engine.diagnostics().startedPurchases == 0)
                // A promoted purchase, which the app did not begin.
                await engine.signIn(PurchaseCustomer(id: "bob"))
                try await simulator.post("control/payments/mode", ["mode": "normal"], isControl: true)
                _ = try await queue.buy(PurchasePayment(productID: "pro"))
                while line.customers.isEmpty { try await Task.sleep(nanoseconds: 20_000_000) }
                #expect(Set(line.customers) == ["bob"])
            }
        }

        @Test(
            "3 A model has the outcome of a purchase that the queue brings later, each once", arguments: [true, false])
        func outcomes(isOriginal: Bool) async throws {
            try await Simulator.run { try await Self.followOutcomes($0, isOriginal) }
        }

        @MainActor
        private static func followOutcomes(_ simulator: Simulator, _ isOriginal: Bool) async throws {
            let queue: any PaymentQueue = isOriginal ? OriginalQueue() : StoreKit2Queue()
            let model = PurchaseModel(try simulator.engine(queue, NoReceiptSource()))
            let told = Told()
            model.onOutcome = { told.all.append("\($0) \($1.code)") }
            await model.buy("pro")
            try await wait { model.outcome?.isGranted == true && model.isActive("pro") }
            if case .granted(let purchase, _) = model.outcome { #expect(purchase.productID == "pro") }
            try await simulator.post("control/payments/mode", ["mode": "cancelled"], isControl: true)
            await model.buy("coins")
            try await wait { model.outcome == .cancelled }
            try await simulator.post("control/payments/mode", ["mode": "ask-to-buy"], isControl: true)
            await model.buy("coins")
            try await wait { model.outcome == .pending }
            try await simulator.post("control/payments/payment-1/approve", [:], isControl: true)
            if isOriginal {
                // The stand-in's original queue looks once, when an observer comes.
                SKPaymentQueue.default().add(Bystander.one)
                SKPaymentQueue.default().remove(Bystander.one)
            }
            try await wait { model.outcome?.isGranted == true && model.balance("coins") == 1 }
            // What comes twice is told once.
            let all = told.all.filter { !isOriginal || !$0.hasSuffix(" pending") }
            let waiting = isOriginal ? [] : ["coins pending"]
            #expect(all == ["pro granted", "coins cancelled"] + waiting + ["coins granted"], "\(told.all)")
            #expect(!model.isBusy)
        }

        @Test("1.12 The proofs of transactions that arrive together are looked up once")
        func proofs() async throws {
            try await Simulator.run { simulator in
                for _ in 0..<20 { try await simulator.post("app/purchases", ["product_id": "coins"]) }
                let reads = StoreKit.Transaction.standInReads
                let queue = OriginalQueue()
                var seen: Set<String> = []
                for await transaction in queue.updates() {
                    #expect(transaction.signedTransaction != nil)
                    if let id = transaction.transactionID { seen.insert(id) }
                    if seen.count == 20 { break }
                }
                #expect(StoreKit.Transaction.standInReads - reads <= 2)
            }
        }

        @Test("1.12 Of a purchase that waits for an approval or for the customer, the queue keeps nothing")
        func kept() async throws {
            try await Simulator.run { simulator in
                let queue = OriginalQueue(prefersSignedTransactions: false)
                let updates = queue.updates()
                try await simulator.post("control/payments/mode", ["mode": "ask-to-buy"], isControl: true)
                _ = try await queue.buy(PurchasePayment(productID: "coins"))
                var states: [PaymentTransaction.State] = []
                for await transaction in updates {
                    states.append(transaction.state)
                    if transaction.state == .deferred { break }
                }
                #expect(states == [.purchasing, .deferred])
                #expect(queue.kept.count == 0)
            }
        }

        /// Waits until it holds, for ten seconds at most.
        @MainActor
        private static func wait(_ holds: @MainActor () -> Bool) async throws {
            for _ in 0..<500 {
                if holds() { return }
                try await Task.sleep(nanoseconds: 20_000_000)
            }
            Issue.record("it did not happen within ten seconds")
        }
    }
}

/// What a model told.
@MainActor
private final class Told {
    var all: [String] = []
}

/// An observer that does nothing.
private final class Bystander: SKPaymentTransactionObserver, Sendable {
    static let one = Bystander()

    func paymentQueue(_: SKPaymentQueue, updatedTransactions _: [SKPaymentTransaction]) {}
}

/// A line to a server that does not answer. It records the customers for whom evidence was sent.
private final class RequestRecorder: PurchaseService, @unchecked Sendable {
    private let lock = NSLock()
    private var found: [String] = []

    var customers: [String] { lock.withLock { found } }

    func send(_ request: ServiceRequest) async throws -> ServiceAnswer {
        let sent = try JSONDecoder().decode(Sent.self, from: Data(request.body))
        lock.withLock { found.append(sent.customerID) }
        throw PurchaseError(.connectionFailed)
    }

    private struct Sent: Decodable {
        let customerID: String

        enum CodingKeys: String, CodingKey { case customerID = "customer_id" }
    }
}
