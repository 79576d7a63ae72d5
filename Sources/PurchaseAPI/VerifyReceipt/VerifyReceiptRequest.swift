import Foundation

/// The request body of `verifyReceipt` (Apple, "requestBody").
public struct VerifyReceiptRequest: Codable, Sendable, Equatable {
    /// The receipt in base64, as the bytes of its text.
    public var receiptText: [UInt8]
    /// The app's shared secret; needed for receipts with auto-renewable subscriptions.
    public var password: String?
    /// Whether only the latest period of each subscription is wanted.
    public var excludesOldTransactions: Bool

    /// The receipt in base64.
    public var receiptData: String {
        get { String(decoding: receiptText, as: UTF8.self) }
        set { receiptText = Array(newValue.utf8) }
    }

    public init(receiptData: String, password: String? = nil, excludesOldTransactions: Bool = false) {
        self.init(
            receiptText: Array(receiptData.utf8), password: password, excludesOldTransactions: excludesOldTransactions)
    }

    /// - Parameter receiptText: the receipt in base64, as the bytes of its text.
    public init(receiptText: [UInt8], password: String? = nil, excludesOldTransactions: Bool = false) {
        (self.receiptText, self.password) = (receiptText, password)
        self.excludesOldTransactions = excludesOldTransactions
    }

    private enum CodingKeys: String, CodingKey {
        case receiptData = "receipt-data"
        case password
        case excludesOldTransactions = "exclude-old-transactions"
    }

    /// Reads a request as clients write it: a flag may be a boolean, a number or a string, and an absent receipt is an
    /// empty one, which every verifier refuses.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        receiptText = Array((Self.text(container, .receiptData) ?? "").utf8)
        password = Self.text(container, .password)
        excludesOldTransactions = Self.flag(container, .excludesOldTransactions)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(receiptData, forKey: .receiptData)
        try container.encodeIfPresent(password, forKey: .password)
        try container.encode(excludesOldTransactions, forKey: .excludesOldTransactions)
    }

    private static func text(_ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys) -> String? {
        do {
            return try container.decodeIfPresent(String.self, forKey: key)
        } catch {
            // A value that is not a string counts as absent.
            return nil
        }
    }

    private static func flag(_ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys) -> Bool {
        guard container.contains(key) else { return false }
        // Clients send it as each of these types.
        if let flag = try? container.decode(Bool.self, forKey: key) { return flag }
        if let number = try? container.decode(Int.self, forKey: key) { return number != 0 }
        // Bounded first: the comparison of strings takes quadratic time for hostile Unicode.
        guard let word = text(container, key), word.utf8.count <= 4 else { return false }
        return ["true", "1"].contains(word.lowercased())
    }
}

extension VerifyReceiptRequest {
    /// Reads a request body.
    ///
    /// - Parameters:
    ///   - json: the body.
    ///   - check: throws if a body that is not written as nearly all are must not be decoded: to decode many small
    ///     values takes up to sixty times their size.
    /// - Throws: if it is not a JSON object, and what `check` throws.
    public init(json: [UInt8], check: ([UInt8]) throws -> Void = { _ in }) throws {
        if let request = Self.plain(json) {
            self = request
        } else {
            try check(json)
            self = try JSONDecoder().decode(VerifyReceiptRequest.self, from: Data(json))
        }
    }

    /// The request, if it is written as nearly all are: only the known keys, each at most once.
    private static func plain(_ json: [UInt8]) -> VerifyReceiptRequest? {
        guard let object = PlainJSONObject(json) else { return nil }
        var request = VerifyReceiptRequest(receiptText: [])
        var hasReceipt = false
        for (name, value) in object.members {
            switch (name, value) {
            case ("receipt-data", .text(let text)): (request.receiptText, hasReceipt) = (text, true)
            case ("password", .text(let text)): request.password = String(decoding: text, as: UTF8.self)
            case ("exclude-old-transactions", .flag(let flag)): request.excludesOldTransactions = flag
            default: return nil
            }
        }
        return hasReceipt ? request : nil
    }
}
