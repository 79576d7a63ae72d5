import Foundation
import HTTPTypes
import NIOCore
public import PurchaseKit
public import PurchaseVerification
import ServerTestSupport
import Synchronization

/// A device with a customer of the simulated store: its payment queue, receipt and identity, over the simulator's
/// interface for apps.
public final class SimulatorDevice: PaymentQueue, ReceiptSource, DeviceIdentity, Sendable {
    private let http: LiveClient
    private let bundleID: String
    private let customerID: String
    /// Whether transactions have a JWS, as in StoreKit 2; otherwise the receipt proves them, as in the original API.
    private let isSigned: Bool
    /// The last event that `unfinished` has seen: updates begin after it, so that none is missed.
    private let last = Mutex<Int?>(nil)

    public init(port: Int, bundleID: String = "com.example.app", customerID: String, isSigned: Bool = true) {
        http = LiveClient(port: port)
        self.bundleID = bundleID
        self.customerID = customerID
        self.isSigned = isSigned
    }

    /// An answer with a status other than success.
    public struct Refusal: Error, CustomStringConvertible {
        public let status: Int
        public let text: String
        public var description: String { "\(status): \(text)" }
    }

    // MARK: PaymentQueue

    /// Asks the simulator several times a second.
    public func updates() -> AsyncStream<PaymentTransaction> {
        AsyncStream { continuation in
            let task = Task {
                while !Task.isCancelled {
                    if let after = self.last.withLock({ $0 }),
                        let queue = try? await self.answer(
                            Queue.self, .get, "/app/updates?\(self.owner)&after=\(after)")
                    {
                        for transaction in queue.transactions { continuation.yield(self.payment(transaction)) }
                        self.last.withLock { $0 = queue.last }
                    }
                    try? await Task.sleep(for: .milliseconds(20))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    public func unfinished() async throws -> [PaymentTransaction] {
        let queue = try await answer(Queue.self, .get, "/app/queue?\(owner)")
        last.withLock { $0 = $0 ?? queue.last }
        return queue.transactions.map { payment($0) }
    }

    public func current() async throws -> [PaymentTransaction]? {
        guard isSigned else { return nil }
        return try await answer(Queue.self, .get, "/app/current?\(owner)").transactions.map { payment($0) }
    }

    public func latest(_ productIDs: [String]) async throws -> [PaymentTransaction] {
        guard isSigned else { return [] }
        var transactions: [PaymentTransaction] = []
        for id in productIDs {
            let answer = try await answer(Queue.self, .get, "/app/latest?\(owner)&product_id=\(id)")
            transactions += answer.transactions.map { payment($0) }
        }
        return transactions
    }

    public func appTransaction(refreshes _: Bool) async -> String? {
        guard isSigned else { return nil }
        let current = try? await answer(Queue.self, .get, "/app/current?\(owner)")
        return current?.transactions.first?.evidence.appTransaction
    }

    public func environment() async -> String? {
        let device = try? await answer(Device.self, .get, "/app/device?customer_id=\(customerID)")
        return device.map { $0.environment == "production" ? "Production" : "Sandbox" }
    }

    public func buy(_ request: PurchasePayment) async throws -> PaymentResult {
        var body: [String: Any] = [
            "bundle_id": bundleID, "product_id": request.productID, "customer_id": customerID,
            "quantity": request.quantity,
        ]
        if let token = request.appAccountToken { body["app_account_token"] = token.uuidString }
        let payment = try await answer(Payment.self, .post, "/app/purchases", body)
        if let sold = payment.transaction { return .purchased(self.payment(sold)) }
        return payment.result == "cancelled" ? .cancelled : .pending
    }

    public func finish(_ transaction: PaymentTransaction) async throws {
        guard let id = transaction.transactionID else { return }
        _ = try await send(.post, "/app/finish", ["transaction_id": id])
    }

    public func restore() async throws -> [PaymentTransaction] {
        let body = ["bundle_id": bundleID, "customer_id": customerID]
        return try await answer(Queue.self, .post, "/app/restore", body).transactions.map { sold in
            var payment = payment(sold)
            payment.state = .restored
            return payment
        }
    }

    // MARK: ReceiptSource

    public func load() async throws -> [UInt8]? {
        do {
            let receipt = try await answer(Receipt.self, .get, "/app/receipt?\(owner)")
            return Data(base64Encoded: receipt.appReceipt).map { [UInt8]($0) }
        } catch let refusal as Refusal where refusal.status == 404 {
            return nil
        }
    }

    public func refresh() async throws {
        _ = try await send(.post, "/app/receipt/refresh", ["bundle_id": bundleID, "customer_id": customerID])
    }

    // MARK: DeviceIdentity

    public func receiptIdentifiers() async -> [DeviceIdentifier] {
        [await deviceVerificationID()].compactMap(\.self)
    }

    public func deviceVerificationID() async -> DeviceIdentifier? {
        let device = try? await answer(Device.self, .get, "/app/device?customer_id=\(customerID)")
        return device.flatMap { DeviceIdentifier($0.deviceID) }
    }

    // MARK: The tester's side

    /// Sends a request of the control API.
    @discardableResult
    public func control(_ path: String, _ body: [String: Any] = [:]) async throws -> String {
        String(decoding: try await send(.post, "/control/\(path)", body), as: UTF8.self)
    }

    /// A transaction as the store has it.
    public func stored(_ transactionID: String) async throws -> PaymentTransaction {
        payment(try await answer(Sold.self, .get, "/control/transactions/\(transactionID)"))
    }

    /// The signed app transaction that the store makes beside a transaction.
    public func appTransaction(_ transactionID: String) async throws -> String {
        try await answer(Sold.self, .get, "/control/transactions/\(transactionID)").evidence.appTransaction
    }

    /// Every transaction of the customer, each with whether it is finished.
    public func history() async throws -> [(transactionID: String, isFinished: Bool)] {
        try await answer(State.self, .get, "/control/state").transactions.filter { $0.customerID == customerID }
            .map { ($0.transactionID, $0.isFinished) }
    }

    // MARK: HTTP

    private var owner: String { "bundle_id=\(bundleID)&customer_id=\(customerID)" }

    private func answer<Answer: Decodable>(
        _: Answer.Type, _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Answer {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Answer.self, from: Data(try await send(method, path, body)))
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> [UInt8] {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        let response = try await http.execute(
            uri: path, method: method, headers: [.contentType: "application/json"],
            body: data.map { ByteBuffer(bytes: $0) })
        guard response.status.kind == .successful else {
            throw Refusal(status: response.status.code, text: String(buffer: response.body))
        }
        return Array(response.body.readableBytesView)
    }

    private func payment(_ sold: Sold) -> PaymentTransaction {
        let transaction = sold.transaction
        return PaymentTransaction(
            transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
            productID: transaction.productID, quantity: transaction.quantity,
            environment: isSigned ? (transaction.environment == "production" ? "Production" : "Sandbox") : nil,
            appAccountToken: transaction.appAccountToken.flatMap { UUID(uuidString: $0) },
            signedTransaction: isSigned ? sold.evidence.signedTransaction : nil,
            signedRenewalInfo: isSigned ? sold.evidence.signedRenewalInfo : nil,
            purchaseDate: transaction.purchaseDate, expirationDate: transaction.expiresDate,
            revocationDate: transaction.revocation?.date, isUpgraded: transaction.upgradeDate != nil)
    }

    private struct Queue: Decodable {
        let last: Int
        let transactions: [Sold]
    }

    private struct Payment: Decodable {
        let result: String
        let transaction: Sold?
    }

    private struct Sold: Decodable {
        let transaction: StoreTransaction
        let evidence: Evidence
    }

    private struct State: Decodable {
        let transactions: [StoreTransaction]
    }

    private struct StoreTransaction: Decodable {
        let transactionID: String
        let originalTransactionID: String
        let productID: String
        let customerID: String
        let quantity: Int
        let environment: String
        let appAccountToken: String?
        let purchaseDate: Date
        let expiresDate: Date?
        let upgradeDate: Date?
        let revocation: Revocation?
        let isFinished: Bool

        enum CodingKeys: String, CodingKey {
            case quantity, environment, revocation
            case transactionID = "transaction_id"
            case originalTransactionID = "original_transaction_id"
            case productID = "product_id"
            case customerID = "customer_id"
            case appAccountToken = "app_account_token"
            case purchaseDate = "purchase_date"
            case expiresDate = "expires_date"
            case upgradeDate = "upgrade_date"
            case isFinished = "is_finished"
        }
    }

    private struct Revocation: Decodable {
        let date: Date
    }

    private struct Evidence: Decodable {
        let signedTransaction: String
        let appTransaction: String
        let signedRenewalInfo: String?

        enum CodingKeys: String, CodingKey {
            case signedTransaction = "signed_transaction"
            case appTransaction = "app_transaction"
            case signedRenewalInfo = "signed_renewal_info"
        }
    }

    private struct Receipt: Decodable {
        let appReceipt: String

        enum CodingKeys: String, CodingKey {
            case appReceipt = "app_receipt"
        }
    }

    private struct Device: Decodable {
        let deviceID: String
        let environment: String

        enum CodingKeys: String, CodingKey {
            case environment
            case deviceID = "device_id"
        }
    }
}
