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

    /// What a server says about itself.
    package struct Answer: Sendable {
        /// `ready`, the code of the reason why the server is not, or why nothing is known as a sentence.
        package var status: String
        /// The requests of today that a limit refused, by code.
        package var limitedToday: [String: Int] = [:]
    }

    package func answer() async -> Answer {
        do {
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: address), timeout: Self.limit)
            let body = try await response.body.collect(upTo: 1 << 16)
            let json = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
            return Answer(
                status: json?["status"] as? String ?? json?["code"] as? String ?? "it does not answer as Assay does",
                limitedToday: json?["limited_today"] as? [String: Int] ?? [:])
        } catch {
            return Answer(status: "it does not answer as Assay does (\(error))")
        }
    }
}
