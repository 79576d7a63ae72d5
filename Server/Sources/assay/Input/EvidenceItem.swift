import Foundation
import PurchaseAPI
import PurchaseVerification

/// One piece of evidence to check, and its source.
struct EvidenceItem: Sendable {
    /// The argument that named it.
    let source: String
    /// The line, counted from 1, if the source is a stream of requests.
    let line: Int?
    /// The evidence as found in the source: bytes, or a request in JSON.
    let content: Content

    enum Content: Sendable {
        case evidence([UInt8])
        case request([UInt8])
    }

    /// The bytes of the evidence. A request without evidence gives no bytes, which every verifier refuses.
    func evidence() -> [UInt8] {
        switch content {
        case .evidence(let bytes): bytes
        case .request(let json): Self.receiptData(json) ?? json
        }
    }

    private static func receiptData(_ json: [UInt8]) -> [UInt8]? {
        // Nearly all requests are written plainly, which is read fast; `nil` for all others, which are read with care
        // below.
        if let request = plainRequest(json), !request.receiptText.isEmpty { return request.receiptText }
        guard let request = WrittenJSON.bounded(json) else { return nil }
        // Notifications of the App Store server have their JWS under another name.
        return request.string("receipt-data") ?? request.string("signedPayload") ?? []
    }

    private static func plainRequest(_ json: [UInt8]) -> VerifyReceiptRequest? {
        do {
            return try VerifyReceiptRequest(json: json) { _ in throw CocoaError(.coderReadCorrupt) }
        } catch {
            return nil
        }
    }
}
