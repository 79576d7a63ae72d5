/// The reason why an attempt failed. Its text is stored in the log and the database, and contains no part of the URL or
/// the secrets.
package struct WebhookFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let code: Code
    private let detail: String?

    /// The stable part.
    package enum Code: String, Sendable, CaseIterable {
        /// The status was not 2xx.
        case status = "status_refused"
        /// The receiver answered 410; the webhook is disabled.
        case gone
        /// The receiver answered with a redirect, which is not followed.
        case redirect = "redirect_refused"
        /// The attempt exceeded its time limit.
        case timeout = "timed_out"
        /// The name of the host has no address.
        case name = "name_not_resolved"
        /// The addresses of the host are not public, and the host is not among `allow_hosts`.
        case address = "address_refused"
        /// No connection, or it ended before the answer was complete.
        case connection = "connection_failed"
        /// The certificate was refused, or the other side does not speak TLS.
        case tls = "tls_failed"
        /// The answer is not HTTP.
        case malformed = "answer_malformed"
    }

    package init(_ code: Code, _ detail: String? = nil) {
        (self.code, self.detail) = (code, detail)
    }

    package var description: String { detail.map { "\(code.rawValue): \($0)" } ?? code.rawValue }
}
