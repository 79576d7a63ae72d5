import Foundation

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
