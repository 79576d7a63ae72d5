import AsyncHTTPClient
import Foundation
import NIOCore

/// Asks the server that listens where the settings say for its readiness (`GET /readyz`).
package struct ReadinessQuestion: Sendable {
    private let address: String

    /// How long the answer is waited for.
    private static let limit = TimeAmount.seconds(5)

    package init(_ configuration: ServerConfiguration) {
        let wildcards = ["0.0.0.0": "127.0.0.1", "::": "::1"]
        let host = wildcards[configuration.host] ?? configuration.host
        address = "http://\(host.contains(":") ? "[\(host)]" : host):\(configuration.port)/readyz"
    }

    /// - Returns: `ready`, the code of the reason why the server is not, or why nothing is known as a sentence.
    package func answer() async -> String {
        do {
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: address), timeout: Self.limit)
            let body = try await response.body.collect(upTo: 1 << 16)
            let json = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
            return json?["status"] as? String ?? json?["code"] as? String ?? "it does not answer as Assay does"
        } catch {
            return "it does not answer as Assay does (\(error))"
        }
    }
}
