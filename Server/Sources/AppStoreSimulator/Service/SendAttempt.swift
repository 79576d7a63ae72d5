import Foundation

/// One attempt to send a notification.
struct SendAttempt: Codable, Equatable, Sendable {
    /// When, by the store's clock.
    let date: Date
    let result: SendAttemptResult
    /// The HTTP status of the answer; nil if there was none.
    var status: Int?
    /// What was seen, in words; nil if the notification was accepted.
    var detail: String?
    /// The time until the result, in real time.
    var milliseconds = 0
}
