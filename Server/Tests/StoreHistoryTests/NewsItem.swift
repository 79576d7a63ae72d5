import AppStoreSimulator
import Foundation

/// Something that arrives at the server.
struct NewsItem: Sendable {
    /// The place of its signature among all signatures of the history.
    let order: Int
    let content: Content
    /// The person whom it concerns.
    let customer: String
    /// When it arrives.
    var arrival: Date

    enum Content: Sendable {
        /// A signed notification of an event, and its UUID.
        case notification(StoreEvent, uuid: String, payload: String)
        /// A claim of a transaction with its signed data.
        case claim(StoreTransaction, payload: String)
    }

    var payload: String {
        switch content {
        case .notification(_, _, let payload), .claim(_, let payload): payload
        }
    }

    /// The transaction that it states.
    var transactionID: String? {
        switch content {
        case .notification(let event, _, _): event.transaction?.transactionID
        case .claim(let transaction, _): transaction.transactionID
        }
    }

    var isClaim: Bool { if case .claim = content { true } else { false } }

    /// The words of a report.
    var name: String {
        switch content {
        case .notification(let event, _, _):
            let words = [event.notification?.type, event.notification?.subtype].compactMap(\.self)
            return
                "\(words.joined(separator: " ")) \(event.transaction?.transactionID ?? "") of \(event.date.ISO8601Format())"
        case .claim(let transaction, _): return "claim of \(transaction.transactionID) by \(customer)"
        }
    }
}
