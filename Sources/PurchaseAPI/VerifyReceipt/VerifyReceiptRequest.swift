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
        self.receiptText = receiptText
        self.password = password
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
