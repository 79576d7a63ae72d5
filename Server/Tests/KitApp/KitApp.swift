import Crypto
import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseVerification
import Synchronization

/// An app as a process, which ends itself with SIGKILL at a step: before or after one of its external calls. Tests run
/// it again and check the purchase.
///
///     kit-app SIMULATOR-PORT SERVER-URL FOLDER API-KEY ANSWER-KEY TRUST CUSTOMER STEP PROOF ORDER buy|restore|resume
///
/// PROOF is `jws` or `receipt`, ORDER is an order's id or `-`.
@main
struct KitApp {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 12, let port = Int(arguments[1]), let server = URL(string: arguments[2]),
            let step = Int(arguments[8])
        else { throw PurchaseError(.fieldMissing, expected: "eleven arguments") }
        let (folder, customer) = (arguments[3], arguments[7])
        let anchors = try arguments[6].split(separator: ",").map { text in
            try TrustAnchor(certificate: [UInt8](Data(base64Encoded: String(text)) ?? Data()))
        }
        let steps = Steps(last: step)
        let simulator = SimulatorDevice(port: port, customerID: customer, isSigned: arguments[9] == "jws")
        let order = arguments[10] == "-" ? nil : PurchaseOrder(orderID: arguments[10])
        let service = HTTPPurchaseService(server: server)
        let store = FilePurchaseStore(
            file: URL(fileURLWithPath: folder).appendingPathComponent("purchases"),
            key: SymmetricKey(data: Array("the key of the test's own store.".utf8)))
        let engine = PurchaseEngine(
            queue: MortalQueue(queue: simulator, steps: steps),
            receipts: MortalReceipts(receipts: simulator, steps: steps),
            verifier: DeviceVerifier(
                app: AppIdentity(bundleID: "com.example.app", version: "1.0"), device: simulator, anchors: anchors),
            server: PurchaseConnection(
                service: MortalService(service: service, steps: steps), key: arguments[4],
                answerKeys: try AnswerKeys(current: arguments[5])),
            store: MortalStore(store: store, steps: steps))
        await engine.signIn(PurchaseCustomer(id: customer))
        await engine.start()
        switch arguments[11] {
        case "buy": await engine.buy("coins", order: order)
        case "restore": await engine.restore()
        // As a customer does who sees the event `refreshNeeded`.
        default: if try await engine.diagnostics().waiting.count > 0 { await engine.refreshAndRetry() }
        }
        let granted = try await engine.purchases().count
        let waiting = try await engine.diagnostics().waiting.count
        print("steps \(steps.count.load(ordering: .relaxed)) granted \(granted) waiting \(waiting)")
    }
}

/// Counts the calls, and ends the process at one of them.
final class Steps: Sendable {
    let count = Atomic(0)
    private let last: Int

    /// - Parameter last: the step at which the process ends; 0 for none.
    init(last: Int) { self.last = last }

    func next() {
        guard count.add(1, ordering: .relaxed).newValue == last else { return }
        kill(getpid(), SIGKILL)
    }
}

struct MortalStore: PurchaseStore {
    let store: FilePurchaseStore
    let steps: Steps

    func read() throws -> [UInt8]? {
        steps.next()
        return try store.read()
    }

    func write(_ document: [UInt8]) throws {
        steps.next()
        try store.write(document)
        steps.next()
    }
}

extension MortalStore {
    func evidence(_ name: String) throws -> [UInt8]? { try store.evidence(name) }

    func keepEvidence(_ evidence: [UInt8], _ name: String) throws {
        steps.next()
        try store.keepEvidence(evidence, name)
        steps.next()
    }

    func removeEvidence(_ name: String) throws {
        steps.next()
        try store.removeEvidence(name)
    }
}

struct MortalReceipts: ReceiptSource {
    let receipts: SimulatorDevice
    let steps: Steps

    func load() async throws -> [UInt8]? {
        steps.next()
        return try await receipts.load()
    }

    func refresh() async throws {
        steps.next()
        try await receipts.refresh()
        steps.next()
    }
}

struct MortalService: PurchaseService {
    let service: HTTPPurchaseService
    let steps: Steps

    func send(_ request: ServiceRequest) async throws -> ServiceAnswer {
        steps.next()
        let answer = try await service.send(request)
        steps.next()
        return answer
    }
}

struct MortalQueue: PaymentQueue {
    let queue: SimulatorDevice
    let steps: Steps

    func updates() -> AsyncStream<PaymentTransaction> { queue.updates() }

    func unfinished() async throws -> [PaymentTransaction] {
        steps.next()
        return try await queue.unfinished()
    }

    func current() async throws -> [PaymentTransaction]? {
        steps.next()
        return try await queue.current()
    }

    func environment() async -> String? { await queue.environment() }

    func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
        steps.next()
        let result = try await queue.buy(payment)
        steps.next()
        return result
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        steps.next()
        try await queue.finish(transaction)
        steps.next()
    }

    func restore() async throws -> [PaymentTransaction] {
        steps.next()
        return try await queue.restore()
    }
}
