// The Retention Messaging API: images, messages, defaults, the realtime address, and the performance test.

public import Foundation
public import PurchaseVerification

private func path(_ parts: String...) -> [String] { ["inApps", "v1", "messaging"] + parts }

/// Uploads an image (Apple, "Upload Image").
public struct UploadRetentionImage: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }
    public static var isRepeatable: Bool { false }

    public var identifier: UUID
    /// A PNG without transparency.
    public var png: [UInt8]
    public var size: RetentionImageSize?

    public init(_ identifier: UUID, png: [UInt8], size: RetentionImageSize? = nil) {
        self.identifier = identifier
        self.png = png
        self.size = size
    }

    public var request: AppStoreServerRequest {
        var request = AppStoreServerRequest(.put, path("image", identifier.lowercased))
        if let size { request.query = [("imageSize", size.rawValue)] }
        request.body = AppStoreServerRequest.Body(bytes: png, contentType: "image/png")
        return request
    }
}

/// The place for which an image is made (Apple, "imageSize").
public struct RetentionImageSize: OpenValue, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let fullSize = Self(rawValue: "FULL_SIZE")
    public static let bulletPoint = Self(rawValue: "BULLET_POINT")
}

/// Deletes an image (Apple, "Delete Image").
public struct DeleteRetentionImage: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var identifier: UUID

    public init(_ identifier: UUID) { self.identifier = identifier }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.delete, path("image", identifier.lowercased))
    }
}

/// The images (Apple, "Get Image List").
public struct ListRetentionImages: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public init() {}

    public var request: AppStoreServerRequest { AppStoreServerRequest(.get, path("image", "list")) }

    private struct Reply: Decodable {
        let imageIdentifiers: [RetentionImage]?
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> [RetentionImage] {
        try reply.decoded(Reply.self).imageIdentifiers ?? []
    }
}

/// An image and its state.
public struct RetentionImage: Sendable, Decodable {
    public let imageIdentifier: String
    /// `PENDING`, `APPROVED` or `REJECTED`.
    public let imageState: String?
    public let imageSize: RetentionImageSize?
}

/// Uploads a message (Apple, "Upload Message"). Apple refuses a message that exists.
public struct UploadRetentionMessage: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }
    public static var isRepeatable: Bool { false }

    public var identifier: UUID
    public var message: RetentionMessage

    public init(_ identifier: UUID, _ message: RetentionMessage) {
        self.identifier = identifier
        self.message = message
    }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.put, path("message", identifier.lowercased), json: message)
    }
}

/// The text of a message (Apple, "UploadMessageRequestBody").
public struct RetentionMessage: Sendable, Equatable, Codable {
    /// At most 66 characters.
    public var header: String
    /// At most 144 characters.
    public var body: String
    public var image: Image?
    /// `ABOVE_BODY` or `ABOVE_IMAGE`.
    public var headerPosition: String?
    public var bulletPoints: [BulletPoint]?

    /// An image of a message.
    public struct Image: Sendable, Equatable, Codable {
        public var imageIdentifier: String
        /// At most 150 characters.
        public var altText: String

        public init(imageIdentifier: String, altText: String) {
            self.imageIdentifier = imageIdentifier
            self.altText = altText
        }
    }

    /// A line of a message.
    public struct BulletPoint: Sendable, Equatable, Codable {
        /// At most 66 characters.
        public var text: String
        public var imageIdentifier: String
        /// At most 150 characters.
        public var altText: String

        public init(text: String, imageIdentifier: String, altText: String) {
            self.text = text
            self.imageIdentifier = imageIdentifier
            self.altText = altText
        }
    }

    public init(header: String, body: String, image: Image? = nil) {
        self.header = header
        self.body = body
        self.image = image
    }
}

/// Deletes a message (Apple, "Delete Message").
public struct DeleteRetentionMessage: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var identifier: UUID

    public init(_ identifier: UUID) { self.identifier = identifier }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.delete, path("message", identifier.lowercased))
    }
}

/// The messages (Apple, "Get Message List").
public struct ListRetentionMessages: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public init() {}

    public var request: AppStoreServerRequest { AppStoreServerRequest(.get, path("message", "list")) }

    private struct Reply: Decodable {
        let messageIdentifiers: [UploadedRetentionMessage]?
    }

    public func read(
        _ reply: AppStoreServerReply
    ) throws(AppStoreServerReplyFault) -> [UploadedRetentionMessage] {
        try reply.decoded(Reply.self).messageIdentifiers ?? []
    }
}

/// A message and its state.
public struct UploadedRetentionMessage: Sendable, Decodable {
    public let messageIdentifier: String
    /// `PENDING`, `APPROVED` or `REJECTED`.
    public let messageState: String?
}

/// Makes a message the default of a product and a locale (Apple, "Configure Default Message").
public struct SetDefaultRetentionMessage: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 10 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var productID: String
    public var locale: String
    public var message: UUID

    public init(_ message: UUID, of productID: String, locale: String) {
        self.message = message
        self.productID = productID
        self.locale = locale
    }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(
            .put, path("default", productID, locale), json: ["messageIdentifier": message.lowercased])
    }
}

/// The default message of a product and a locale (Apple, "Get Default Message").
public struct GetDefaultRetentionMessage: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var productID: String
    public var locale: String

    public init(of productID: String, locale: String) {
        self.productID = productID
        self.locale = locale
    }

    public var request: AppStoreServerRequest { AppStoreServerRequest(.get, path("default", productID, locale)) }

    private struct Reply: Decodable {
        let messageIdentifier: String
    }

    /// - Returns: the identifier of the message.
    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> String {
        try reply.decoded(Reply.self).messageIdentifier
    }
}

/// Removes a default message (Apple, "Delete Default Message").
public struct DeleteDefaultRetentionMessage: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var productID: String
    public var locale: String

    public init(of productID: String, locale: String) {
        self.productID = productID
        self.locale = locale
    }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.delete, path("default", productID, locale))
    }
}

/// Sets the address that Apple asks in real time (Apple, "Configure Realtime URL").
public struct SetRealtimeURL: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public var url: String

    public init(_ url: String) { self.url = url }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.put, path("realtime", "url"), json: ["realtimeURL": url])
    }
}

/// The address that Apple asks in real time (Apple, "Get Realtime URL").
public struct GetRealtimeURL: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public init() {}

    public var request: AppStoreServerRequest { AppStoreServerRequest(.get, path("realtime", "url")) }

    private struct Reply: Decodable {
        let realtimeURL: String
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> String {
        try reply.decoded(Reply.self).realtimeURL
    }
}

/// Removes the address that Apple asks in real time (Apple, "Delete Realtime URL").
public struct DeleteRealtimeURL: AppStoreServerOperation {
    public typealias Answer = Void

    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .anyEnvironment }

    public init() {}

    public var request: AppStoreServerRequest { AppStoreServerRequest(.delete, path("realtime", "url")) }
}

/// Begins a test of the realtime address (Apple, "Initiate Performance Test"). Production needs a passed one.
public struct StartPerformanceTest: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }
    public static var isRepeatable: Bool { false }

    public var originalTransactionID: String

    public init(_ originalTransactionID: String) { self.originalTransactionID = originalTransactionID }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(
            .post, path("performanceTest"), json: ["originalTransactionId": originalTransactionID])
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> StartedPerformanceTest {
        try reply.decoded(StartedPerformanceTest.self)
    }
}

/// A test that began.
public struct StartedPerformanceTest: Sendable, Decodable {
    public let config: PerformanceTestConfiguration?
    public let requestId: String
}

/// The terms of a test.
public struct PerformanceTestConfiguration: Sendable, Decodable {
    public let maxConcurrentRequests: Int64?
    public let totalRequests: Int64?
    public let totalDuration: Int64?
    public let responseTimeThreshold: Int64?
    public let successRateThreshold: Int64?
}

/// The result of a test (Apple, "Get Performance Test Results").
public struct GetPerformanceTest: AppStoreServerOperation {
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    public var requestID: String

    public init(_ requestID: String) { self.requestID = requestID }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, path("performanceTest", "result", requestID))
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> PerformanceTestResult {
        try reply.decoded(PerformanceTestResult.self)
    }
}

/// The result of a test.
public struct PerformanceTestResult: Sendable, Decodable {
    public let config: PerformanceTestConfiguration?
    public let target: String?
    /// `PENDING`, `PASS` or `FAIL`.
    public let result: String?
    public let successRate: Int64?
    public let numPending: Int64?
    public let responseTimes: ResponseTimes?
    public let failures: [String: Int64]?

    /// In milliseconds.
    public struct ResponseTimes: Sendable, Decodable {
        public let average: Int64?
        public let p50: Int64?
        public let p90: Int64?
        public let p95: Int64?
        public let p99: Int64?
    }
}
