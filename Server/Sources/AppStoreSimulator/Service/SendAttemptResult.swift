/// The result of an attempt, in Apple's words (`sendAttemptResult`).
enum SendAttemptResult: String, Codable, Sendable, CaseIterable {
    /// A status from 200 to 206.
    case success = "SUCCESS"
    /// No connection, or no complete answer, in time.
    case timedOut = "TIMED_OUT"
    /// No trusted TLS connection.
    case tlsIssue = "TLS_ISSUE"
    /// Redirects that come back to an address, or more of them than are followed.
    case circularRedirect = "CIRCULAR_REDIRECT"
    /// The connection was closed before an answer.
    case noResponse = "NO_RESPONSE"
    /// No connection, or it was reset.
    case socketIssue = "SOCKET_ISSUE"
    /// The answer names a charset that is not supported.
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    /// The answer is not HTTP, or too large.
    case invalidResponse = "INVALID_RESPONSE"
    /// The connection was closed in the middle of the answer.
    case prematureClose = "PREMATURE_CLOSE"
    /// Any other status.
    case unsuccessfulResponseCode = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    /// The notification could not be signed, or the request could not be made.
    case other = "OTHER"
}
