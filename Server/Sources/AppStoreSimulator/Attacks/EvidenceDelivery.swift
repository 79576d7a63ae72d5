import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import Synchronization

/// Sends evidence to the server under test, as an app or a backend does, and returns the answer for people.
struct EvidenceDelivery: Sendable {
    let address: String
    private let keys: [String: String]
    private let readingKeys: [String: String]
    private let key: String?
    private let client: AttackClient

    /// - Parameters:
    ///   - address: `http://HOST:PORT`.
    ///   - key: for `/v1/purchases`.
    ///   - keys: for apps that have their own key, by bundle id.
    ///   - readingKeys: for what the server says of a customer, by bundle id, if that needs another key.
    init(
        _ address: String, key: String?, keys: [String: String], readingKeys: [String: String] = [:]
    ) throws(SimulatorConfigurationError) {
        do {
            client = try AttackClient(address, timeLimit: .seconds(30))
        } catch {
            throw .invalidServer(address)
        }
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        (self.key, self.keys, self.readingKeys) = (key, keys, readingKeys)
    }

    /// The interfaces of a server.
    enum Way: String, Codable, Sendable, Word {
        /// `POST /v1/purchases` with the signed transaction.
        case signedTransaction = "signed_transaction"
        /// `POST /v1/purchases` with the app receipt.
        case appReceipt = "app_receipt"
        /// `POST /verifyReceipt`, or `/sandbox/verifyReceipt`.
        case verifyReceipt = "verify_receipt"
    }

    /// A request to the server.
    struct Message: Sendable {
        let path: String
        let body: [UInt8]
        let bundleID: String
    }

    static func message(
        _ way: Way, _ transaction: StoreTransaction, _ evidence: TransactionEvidence, app: StoreApp,
        customerID: String?, orderID: String?
    ) -> Message {
        guard way != .verifyReceipt else {
            return Message(
                path: transaction.environment == .sandbox ? "/sandbox/verifyReceipt" : "/verifyReceipt",
                body: ClaimValue.object([
                    "receipt-data": .string(evidence.appReceipt), "password": app.sharedSecret.map(ClaimValue.string),
                ]).json, bundleID: app.bundleID)
        }
        let hasReceipt = way == .appReceipt
        // An order is claimed without its customer, unless one is named.
        let buyer = customerID ?? (orderID == nil ? transaction.customerID : nil)
        return Message(
            path: "/v1/purchases",
            body: ClaimValue.object([
                hasReceipt ? "receipt_data" : "signed_transaction": .string(
                    hasReceipt ? evidence.appReceipt : evidence.signedTransaction),
                "product_id": .string(transaction.productID), "transaction_id": .string(transaction.transactionID),
                "order_id": orderID.map(ClaimValue.string), "customer_id": buyer.map(ClaimValue.string),
            ]).json, bundleID: app.bundleID)
    }

    /// Sends the message.
    /// - Returns: a JSON object with the request, the status, the reason code and the answer.
    /// - Throws: `SimulatorRefusal`.
    func send(_ message: Message) async throws -> [UInt8] {
        let isOurs = message.path == "/v1/purchases"
        let start = ContinuousClock.now
        let answer = try await ask(
            "POST", message.path, message.body, key: isOurs ? keys[message.bundleID] ?? key : nil)
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return ClaimValue.object([
            "url": .string(address + message.path), "needs_key": .boolean(isOurs),
            "request": .raw(String(decoding: message.body, as: UTF8.self)), "status": .integer(Int64(answer.status)),
            "milliseconds": .integer(Int64(milliseconds.rounded())), "reason": answer.reason.map(ClaimValue.string),
            "answer": Self.shown(answer.body),
        ]).json
    }

    /// What the server says that a customer may use.
    /// - Returns: a JSON object with the address, the status and the answer.
    /// - Throws: `SimulatorRefusal`.
    func entitlements(of customerID: String, in environment: String, bundleID: String) async throws -> [UInt8] {
        let name =
            customerID.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.asciiOnly)) ?? ""
        let path = "/v1/customers/\(name)/entitlements?environment=\(environment)"
        let answer = try await ask("GET", path, [], key: readingKeys[bundleID] ?? keys[bundleID] ?? key)
        return ClaimValue.object([
            "url": .string(address + path), "status": .integer(Int64(answer.status)),
            "answer": Self.shown(answer.body),
        ]).json
    }

    private func ask(
        _ method: String, _ path: String, _ body: [UInt8], key: String?
    ) async throws -> AttackClient.Answer {
        do {
            return try await client.request(
                method, path, body, headers: key.map { [("Authorization", "Bearer \($0)")] } ?? [])
        } catch {
            throw SimulatorRefusal(
                .badGateway, "server_unreachable",
                "The server at \(address) does not answer: \(NetworkFailure.words(error)). Check '--server'.")
        }
    }

    /// The answer as JSON, or as text if it is not JSON.
    private static func shown(_ body: Data) -> ClaimValue {
        let text = String(decoding: body, as: UTF8.self)
        if case .success(let json) = WrittenJSON.read([UInt8](body)),
            [.object, .array].contains(json.nodes.first?.kind)
        {
            return .raw(text)
        }
        return .string(text)
    }
}

extension CharacterSet {
    fileprivate static let asciiOnly = CharacterSet(
        charactersIn: Unicode.Scalar(33 as UInt8)...Unicode.Scalar(126 as UInt8))
}

/// The server that the store sends evidence to, and notifications if it takes them. It can be named after the store has
/// started, because the two may need each other's address.
public final class EvidenceTarget: Sendable {
    private let named = Mutex<EvidenceDelivery?>(nil)
    /// The server's console for people, to which the page links.
    private let namedConsole = Mutex<String?>(nil)
    /// Whether the server gets notifications. Until it is named, none are sent.
    let takesNotifications: Bool
    /// In place of an address that is not known yet: notifications are scheduled from the start, and none is sent to
    /// it.
    static let unknownNotificationURL = "http://localhost/notifications/v2"
    /// The addresses for notifications, when they become known.
    let notificationURLs: AsyncStream<String>
    private let notificationURL: AsyncStream<String>.Continuation

    /// - Parameter takesNotifications: whether notifications are sent to the server's `/notifications/v2`.
    public init(takesNotifications: Bool = false) {
        self.takesNotifications = takesNotifications
        (notificationURLs, notificationURL) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Names the server.
    ///
    /// - Parameters:
    ///   - address: `http://HOST:PORT`.
    ///   - key: for its `/v1/purchases`.
    ///   - keys: for apps that have their own key, by bundle id.
    ///   - readingKeys: for what the server says of a customer, by bundle id, if that needs another key.
    /// - Throws: `SimulatorConfigurationError`.
    public func set(
        _ address: String, key: String?, keys: [String: String] = [:], readingKeys: [String: String] = [:]
    ) throws(SimulatorConfigurationError) {
        let delivery = try EvidenceDelivery(address, key: key, keys: keys, readingKeys: readingKeys)
        named.withLock { $0 = delivery }
        if takesNotifications { notificationURL.yield("\(address)/notifications/v2") }
    }

    /// Names the address of the server's console.
    public func setConsole(_ address: String) { namedConsole.withLock { $0 = address } }

    var console: String? { namedConsole.withLock { $0 } }

    var delivery: EvidenceDelivery? { named.withLock { $0 } }

    var address: String? { delivery?.address }
}
