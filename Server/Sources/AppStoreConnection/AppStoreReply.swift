public import PurchaseAPI

/// A conclusive reply of `verifyReceipt`.
public struct AppStoreReply: Sendable {
    public var status: VerifyReceiptStatus { response.status }
    /// The environment that answered.
    public let environment: ValidationEnvironment
    /// The reply as received, after decompression.
    public let json: [UInt8]
    /// The reply, decoded.
    public let response: VerifyReceiptResponse

    /// A reply by its parts.
    public init(environment: ValidationEnvironment, json: [UInt8], response: VerifyReceiptResponse) {
        self.environment = environment
        self.json = json
        self.response = response
    }
}
