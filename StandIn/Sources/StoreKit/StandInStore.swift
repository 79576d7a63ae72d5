public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The simulated store behind the declarations of this module: which one, and whose device this is. StoreKit itself has
/// nothing of this.
public struct StandInStore: Sendable {
    public var address: URL
    public var bundleID: String
    public var customerID: String
    public var receipt: URL

    public init(address: URL, bundleID: String, customerID: String, receipt: URL) {
        self.address = address
        self.bundleID = bundleID
        self.customerID = customerID
        self.receipt = receipt
    }

    /// The store of this process. A test sets it once, before it uses anything else.
    public static var current: StandInStore? {
        get { lock.withLock { store } }
        set { lock.withLock { store = newValue } }
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var store: StandInStore?

    /// The store refused a request.
    struct Refusal: Error {
        let status: Int
        let text: String
    }

    static func require() throws -> StandInStore {
        guard let current else { throw Refusal(status: 0, text: "StandInStore.current is not set") }
        return current
    }

    /// Writes a new receipt to the device.
    func refreshReceipt() async throws {
        let answer: SoldReceipt = try await post("app/receipt/refresh", owner)
        try (Data(base64Encoded: answer.appReceipt) ?? Data()).write(to: receipt, options: .atomic)
    }

    var owner: [String: String] { ["bundle_id": bundleID, "customer_id": customerID] }

    func get<Answer: Decodable>(_ path: String, _ more: [String: String] = [:]) async throws -> Answer {
        var components = URLComponents(url: address.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        components?.queryItems = owner.merging(more) { $1 }.map { URLQueryItem(name: $0, value: $1) }
        guard let url = components?.url else { throw Refusal(status: 0, text: path) }
        return try await answer(URLRequest(url: url))
    }

    func post<Answer: Decodable>(_ path: String, _ body: [String: Any]) async throws -> Answer {
        var request = URLRequest(url: address.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        return try await answer(request)
    }

    /// Sends a request. A cancelled task waits for its answer: on Linux, `URLSession.data(for:)` can deadlock when its
    /// task is cancelled while the answer arrives.
    private static func send(_ request: URLRequest) async throws -> (Data, Int) {
        try await withCheckedThrowingContinuation { continuation in
            URLSession.shared.dataTask(with: request) { data, response, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: (data ?? Data(), (response as? HTTPURLResponse)?.statusCode ?? 0))
            }.resume()
        }
    }

    private func answer<Answer: Decodable>(_ request: URLRequest) async throws -> Answer {
        let (data, status) = try await Self.send(request)
        guard (200..<300).contains(status) else {
            throw Refusal(status: status, text: String(decoding: data, as: UTF8.self))
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: data)
    }
}

// What the simulator answers. The strategy of the decoder makes `transactionId` of `transaction_id`.

struct SoldQueue: Decodable, Sendable {
    let last: Int
    let transactions: [Sold]
}

struct SoldPayment: Decodable, Sendable {
    let result: String
    let transaction: Sold?
}

struct Sold: Decodable, Sendable {
    let transaction: Facts
    let evidence: Evidence

    struct Facts: Decodable, Sendable {
        let transactionId: String
        let originalTransactionId: String
        let productId: String
        let quantity: Int
        let appAccountToken: String?
        let subscriptionGroupId: String?
        let environment: String
        let purchaseDate: Date
        let expiresDate: Date?
        let upgradeDate: Date?
        let revocation: Revocation?
    }

    struct Revocation: Decodable, Sendable {
        let date: Date
    }

    struct Evidence: Decodable, Sendable {
        let signedTransaction: String
        let signedRenewalInfo: String?
        let transactionReceipt: String
        let appTransaction: String
    }
}

struct SoldReceipt: Decodable {
    let appReceipt: String
}

struct SoldProduct: Decodable {
    let productId: String
    let kind: String
    let price: Int64
    let currency: String
    let subscription: Terms?

    struct Terms: Decodable {
        let groupId: String
        let period: String
        let offers: [Offer]?
    }

    struct Offer: Decodable {
        let offerId: String
        let kind: String
        let mode: String
        let period: String
        let periods: Int
        let price: Int64
    }
}

struct SoldDevice: Decodable {
    let deviceId: String
}

struct Nothing: Decodable {}
