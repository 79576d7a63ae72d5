import Foundation
public import PurchaseVerification

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One customer's device at the simulated App Store of `assay dev` or `assay simulate`, over its door for apps.
///
/// For debug builds: an app that is sold uses `PurchaseKitStoreKit`, and trusts Apple's roots only. On Apple's systems
/// the app needs `NSAllowsLocalNetworking` in its `Info.plist`, because the door is plain HTTP.
public struct SimulatedStore: Sendable {
    let address: String
    let bundleID: String
    let customerID: String

    /// - Parameters:
    ///   - port: the port of the store on this machine; `assay dev` opens it on 8090.
    ///   - bundleID: the app, which the store must know; `assay dev` has `com.example.app`.
    ///   - customerID: the store's customer whose device this is; `assay dev` has `alice`. It is an account of the App
    ///     Store, not one of your server's customers.
    public init(port: UInt16 = 8090, bundleID: String = "com.example.app", customerID: String = "alice") {
        self.init(address: "http://127.0.0.1:\(port)", bundleID: bundleID, customerID: customerID)
    }

    /// - Parameters:
    ///   - address: the address of a store on another machine, such as the Mac beside a phone.
    ///   - bundleID: the app, which the store must know.
    ///   - customerID: the store's customer whose device this is.
    public init(address: String, bundleID: String, customerID: String) {
        (self.address, self.bundleID, self.customerID) = (address, bundleID, customerID)
    }

    /// The roots of the store, for `DeviceVerifier(anchors:)`.
    ///
    /// - Throws: `SimulatedStoreError` if the store does not answer.
    public func anchors() async throws -> [TrustAnchor] {
        let text = String(decoding: try await send("GET", "trust.pem"), as: UTF8.self)
        return try text.split(separator: "\n").split { $0.hasPrefix("-----") }
            .compactMap { Data(base64Encoded: $0.joined()) }.map { try TrustAnchor(certificate: [UInt8]($0)) }
    }

    // MARK: HTTP

    var owner: [String: String] { ["bundle_id": bundleID, "customer_id": customerID] }

    func get<Answer: Decodable>(
        _: Answer.Type, _ path: String, _ more: [String: String] = [:]
    ) async throws -> Answer {
        try Self.read(try await send("GET", path, query: owner.merging(more) { $1 }))
    }

    func post<Answer: Decodable>(_: Answer.Type, _ path: String, _ body: [String: Any]) async throws -> Answer {
        try Self.read(try await send("POST", path, body: try JSONSerialization.data(withJSONObject: body)))
    }

    private static func read<Answer: Decodable>(_ data: Data) throws -> Answer {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: data)
    }

    private func send(
        _ method: String, _ path: String, query: [String: String] = [:], body: Data? = nil
    ) async throws -> Data {
        var components = URLComponents(string: "\(address)/\(path)")
        if !query.isEmpty { components?.queryItems = query.map { URLQueryItem(name: $0, value: $1) } }
        guard let url = components?.url else { throw SimulatedStoreError(status: 0, text: "\(address) is no address") }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let (data, status) = try await Self.answer(request)
        guard (200..<300).contains(status) else {
            throw SimulatedStoreError(status: status, text: String(decoding: data, as: UTF8.self))
        }
        return data
    }

    /// A cancelled task waits for its answer: on Linux, cancelling `URLSession.data(for:)` can deadlock.
    private static func answer(_ request: URLRequest) async throws -> (Data, Int) {
        try await withCheckedThrowingContinuation { continuation in
            URLSession.shared.dataTask(with: request) { data, response, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: (data ?? Data(), (response as? HTTPURLResponse)?.statusCode ?? 0))
            }.resume()
        }
    }
}

/// The simulated store refused a request, or did not understand it.
public struct SimulatedStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The HTTP status; 0 if the address is wrong.
    public let status: Int
    /// The store's problem document.
    public let text: String

    public var description: String { "\(status): \(text)" }
}
