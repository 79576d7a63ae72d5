import Foundation

/// An extension for all subscribers of a product, with its outcome.
struct MassExtensionRecord: Codable, Equatable, Sendable {
    let requestIdentifier: String
    let date: Date
    let succeededCount: Int64
    let failedCount: Int64
}
