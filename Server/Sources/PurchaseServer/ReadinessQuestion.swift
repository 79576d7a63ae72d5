import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// Asks the server that listens where the settings say for its readiness (`GET /readyz`).
package struct ReadinessQuestion: Sendable {
    private let address: String
    private let isSecure: Bool

    /// How long the answer is waited for.
    private static let limit = TimeAmount.seconds(5)

    package init(_ configuration: ServerConfiguration) {
        let wildcards = ["0.0.0.0": "127.0.0.1", "::": "::1"]
        let host = wildcards[configuration.host] ?? configuration.host
        isSecure = configuration.tls != nil
        let place = "\(host.contains(":") ? "[\(host)]" : host):\(configuration.port)"
        address = "\(isSecure ? "https" : "http")://\(place)/readyz"
    }

    /// What a server says about itself.
    package struct Answer: Sendable {
        /// `ready`, the code of the reason why the server is not, or why nothing is known as a sentence.
        package var status: String
        /// The requests of today that a limit refused, by code.
        package var limitedToday: [String: Int] = [:]
        /// The seconds by which its clock is ahead of the App Store's; `nil` before Apple's first answer.
        package var clockSkew: Double?
    }

    package func answer() async -> Answer {
        do {
            let body = try await body()
            let json = try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any]
            return Answer(
                status: json?["status"] as? String ?? json?["code"] as? String ?? "it does not answer as Assay does",
                limitedToday: json?["limited_today"] as? [String: Int] ?? [:],
                clockSkew: (json?["app_store_clock_skew_seconds"] as? NSNumber)?.doubleValue)
        } catch {
            return Answer(status: "it does not answer as Assay does (\(error))")
        }
    }

    /// The certificate is for the server's name, and this asks by an address: nothing secret is sent, so it is not
    /// checked.
    private func body() async throws -> ByteBuffer {
        var configuration = HTTPClient.Configuration()
        if isSecure {
            configuration.tlsConfiguration = .makeClientConfiguration()
            configuration.tlsConfiguration?.certificateVerification = .none
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let response = try await client.execute(HTTPClientRequest(url: address), timeout: Self.limit)
            let body = try await response.body.collect(upTo: 1 << 16)
            try await client.shutdown()
            return body
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
