import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI

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
        self.key = key
        self.keys = keys
        self.readingKeys = readingKeys
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
            let password = app.sharedSecret.map { [Claim("password", .string($0))] } ?? []
            return Message(
                path: transaction.environment == .sandbox ? "/sandbox/verifyReceipt" : "/verifyReceipt",
                body: ClaimValue.object([Claim("receipt-data", .string(evidence.appReceipt))] + password).json,
                bundleID: app.bundleID)
        }
        let proof =
            way == .appReceipt
            ? Claim("receipt_data", .string(evidence.appReceipt))
            : Claim("signed_transaction", .string(evidence.signedTransaction))
        let order = orderID.map { [Claim("order_id", .string($0))] } ?? []
        let customer = orderID == nil || customerID != nil
        let buyer = customer ? [Claim("customer_id", .string(customerID ?? transaction.customerID))] : []
        return Message(
            path: "/v1/purchases",
            body: ClaimValue.object(
                [
                    proof, Claim("product_id", .string(transaction.productID)),
                    Claim("transaction_id", .string(transaction.transactionID)),
                ] + order + buyer
            ).json, bundleID: app.bundleID)
    }

    /// Sends the message.
    /// - Returns: a JSON object with the request, the status, the reason code and the answer.
    /// - Throws: `SimulatorRefusal`.
    func send(_ message: Message) async throws -> [UInt8] {
        let isOurs = message.path == "/v1/purchases"
        let headers = isOurs ? (keys[message.bundleID] ?? key).map { [("Authorization", "Bearer \($0)")] } ?? [] : []
        let start = ContinuousClock.now
        let answer: AttackClient.Answer
        do {
            answer = try await client.post(message.path, message.body, headers: headers)
        } catch {
            throw SimulatorRefusal(
                .badGateway, "server_unreachable",
                "The server at \(address) does not answer: \(NetworkFailure.words(error)). Check '--server'.")
        }
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        var members = [
            Claim("url", .string(address + message.path)),
            Claim("needs_key", .boolean(isOurs)),
            Claim("request", .raw(String(decoding: message.body, as: UTF8.self))),
            Claim("status", .integer(Int64(answer.status))),
            Claim("milliseconds", .integer(Int64(milliseconds.rounded()))),
        ]
        if let reason = answer.reason { members.append(Claim("reason", .string(reason))) }
        members.append(Claim("answer", Self.shown(answer.body)))
        return ClaimValue.object(members).json
    }

    /// What the server says that a customer may use.
    /// - Returns: a JSON object with the address, the status and the answer.
    /// - Throws: `SimulatorRefusal`.
    func entitlements(of customerID: String, in environment: String, bundleID: String) async throws -> [UInt8] {
        let name =
            customerID.addingPercentEncoding(withAllowedCharacters: .alphanumerics.intersection(.asciiOnly)) ?? ""
        let path = "/v1/customers/\(name)/entitlements?environment=\(environment)"
        let key = readingKeys[bundleID] ?? keys[bundleID] ?? key
        let answer: AttackClient.Answer
        do {
            answer = try await client.request(
                "GET", path, [], headers: key.map { [("Authorization", "Bearer \($0)")] } ?? [])
        } catch {
            throw SimulatorRefusal(
                .badGateway, "server_unreachable",
                "The server at \(address) does not answer: \(NetworkFailure.words(error)). Check '--server'.")
        }
        return ClaimValue.object([
            Claim("url", .string(address + path)), Claim("status", .integer(Int64(answer.status))),
            Claim("answer", Self.shown(answer.body)),
        ]).json
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
