import Foundation
import HTTPTypes
import KitTestSupport
import NIOCore
import PurchaseKit
import ServerTestSupport
import Synchronization

/// The connection between a device and the server. A test can cut it, and can act as an attacker in it.
final class KitLink: PurchaseService, Sendable {
    /// What happens to a request and its answer.
    typealias Hop =
        @Sendable (ServiceRequest, (ServiceRequest) async throws -> ServiceAnswer) async throws ->
        ServiceAnswer

    private let http: LiveClient
    private let hop = Mutex<Hop?>(nil)
    /// Everything that the device sent.
    let sent = Mutex<[ServiceRequest]>([])

    init(_ http: LiveClient) { self.http = http }

    /// Puts an attacker between the device and the server; nil removes it.
    func intercept(_ hop: Hop?) { self.hop.withLock { $0 = hop } }

    func send(_ request: ServiceRequest) async throws -> ServiceAnswer {
        sent.withLock { $0.append(request) }
        guard let hop = hop.withLock({ $0 }) else { return try await forward(request) }
        return try await hop(request) { try await self.forward($0) }
    }

    private func forward(_ request: ServiceRequest) async throws -> ServiceAnswer {
        var fields = HTTPFields()
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields[name] = value
        }
        let answer = try await http.execute(
            uri: request.path, method: request.method == "GET" ? .get : .post, headers: fields,
            body: ByteBuffer(bytes: request.body))
        var headers: [String: String] = [:]
        for field in answer.headers { headers[field.name.canonicalName] = field.value }
        return ServiceAnswer(
            status: answer.status.code, headers: headers, body: Array(answer.body.readableBytesView))
    }
}

/// The connection is cut.
struct LineCut: Error {}

/// The queue of a device, which can fail.
final class KitQueue: PaymentQueue, Sendable {
    private let device: SimulatorDevice
    private let failures = Mutex(0)
    private let unavailable = Mutex(0)
    let finished = Mutex<[String?]>([])
    /// How often the current transactions were asked for.
    let reads = Mutex(0)
    /// An environment other than the store's, as that of another build on the same phone.
    let otherEnvironment = Mutex<String?>(nil)

    /// What the App Store sells.
    let onSale = Mutex<[PurchaseProduct]>([])
    /// Whether the App Store lists nothing as the customer's now.
    let listsNothing = Mutex(false)
    /// The error of the next purchases, before the customer is asked.
    let refusal = Mutex<PurchaseError?>(nil)
    /// What the next purchase returns without a payment: the App Store account has the product.
    let owned = Mutex<PaymentTransaction?>(nil)
    /// Whether the customer is asked to pay and has not answered yet.
    let isAsking = Mutex(false)
    /// Whether the signed transactions of the next purchases cannot be read.
    let isGarbled = Mutex(false)

    init(_ device: SimulatorDevice) { self.device = device }

    /// Lets the next calls of `finish` fail.
    func failToFinish(_ times: Int) { failures.withLock { $0 = times } }

    func updates() -> AsyncStream<PaymentTransaction> { device.updates() }
    /// Lets the next requests for unfinished transactions fail.
    func failToList(_ times: Int) { unavailable.withLock { $0 = times } }

    func unfinished() async throws -> [PaymentTransaction] {
        let fails = unavailable.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if fails { throw LineCut() }
        return try await device.unfinished()
    }
    func products(_: [String]) async throws -> [PurchaseProduct] { onSale.withLock { $0 } }
    func current() async throws -> [PaymentTransaction]? {
        reads.withLock { $0 += 1 }
        if listsNothing.withLock({ $0 }) { return [] }
        return try await device.current()
    }
    func latest(_ productIDs: [String]) async throws -> [PaymentTransaction] { try await device.latest(productIDs) }
    func appTransaction(refreshes: Bool) async -> String? { await device.appTransaction(refreshes: refreshes) }
    func environment() async -> String? {
        if let other = otherEnvironment.withLock({ $0 }) { return other }
        return await device.environment()
    }
    func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
        if let error = refusal.withLock({ $0 }) { throw error }
        if let owned = owned.withLock({ $0 }) { return .purchased(owned) }
        while isAsking.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let result = try await device.buy(payment)
        guard isGarbled.withLock({ $0 }), case .purchased(var transaction) = result else { return result }
        transaction.signedTransaction = "garbled"
        return .purchased(transaction)
    }
    func restore() async throws -> [PaymentTransaction] {
        if let error = refusal.withLock({ $0 }) { throw error }
        return try await device.restore()
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        let fails = failures.withLock { failures in
            defer { failures = max(0, failures - 1) }
            return failures > 0
        }
        if fails { throw LineCut() }
        finished.withLock { $0.append(transaction.transactionID) }
        try await device.finish(transaction)
    }
}

/// The receipt of a device: the store's, or another one.
final class KitReceipts: ReceiptSource, Sendable {
    private let device: SimulatorDevice
    private let state = Mutex(State())

    private struct State {
        var refreshes = 0
        var isCancelled = false
        var other: [UInt8]?
    }

    init(_ device: SimulatorDevice) { self.device = device }

    var refreshes: Int { state.withLock { $0.refreshes } }
    func cancelRefreshes() { state.withLock { $0.isCancelled = true } }
    func replace(by other: [UInt8]?) { state.withLock { $0.other = other } }

    func load() async throws -> [UInt8]? {
        if let other = state.withLock({ $0.other }) { return other }
        return try await device.load()
    }

    func refresh() async throws {
        let isCancelled = state.withLock { state in
            state.refreshes += 1
            state.other = nil
            return state.isCancelled
        }
        if isCancelled { throw LineCut() }
        try await device.refresh()
    }
}

/// The clock of the server, which the test moves.
final class KitClock: Sendable {
    private let passed = Mutex(0.0)

    var now: Date { Date().addingTimeInterval(passed.withLock { $0 }) }
    func pass(_ seconds: Double) { passed.withLock { $0 += seconds } }
}

/// A clock that the test moves.
final class KitTime: PurchaseTime, Sendable {
    private let state = Mutex((now: Date(), uptime: 0.0))

    var now: Date { state.withLock { $0.now } }
    var uptime: Double { state.withLock { $0.uptime } }
    func sleep(seconds: Double) async throws { try await Task.sleep(for: .milliseconds(20)) }

    /// Sets the clock of the device, as its owner can.
    func set(_ seconds: Double) { state.withLock { $0.now += seconds } }

    /// Lets time pass.
    func pass(_ seconds: Double) { state.withLock { $0 = ($0.now + seconds, $0.uptime + seconds) } }
}
