import Foundation

/// A notification that is due, ready to be signed and sent.
struct OutgoingNotification: Sendable {
    let key: String
    let url: String
    let event: StoreEvent
    /// The store whose names the evidence has.
    let store: AppStore
    let fault: String?
    /// The date of the attempt.
    let date: Date
}
