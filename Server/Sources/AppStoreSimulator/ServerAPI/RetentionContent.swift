import Foundation

/// The content of the Retention Messaging API, of one app and environment.
struct RetentionContent: Codable, Equatable, Sendable {
    /// By their ids, as they were uploaded.
    var images: [String: Image] = [:]
    var messages: [String: Message] = [:]
    /// The ids of messages, by product and locale.
    var defaults: [String: String] = [:]
    var realtimeAddress: String?
    /// The ids of the performance tests that passed.
    var tests: [String] = []

    /// An uploaded image; its pixels are not kept.
    struct Image: Codable, Equatable, Sendable {
        /// `FULL_SIZE` or `BULLET_POINT`.
        let size: String
        var state: String
        /// The order of the uploads.
        let number: Int
    }

    /// An uploaded message.
    struct Message: Codable, Equatable, Sendable {
        /// The images that it shows.
        let images: [String]
        var state: String
        /// The order of the uploads.
        let number: Int
    }
}
