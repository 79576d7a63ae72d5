import Foundation
import HostileBytes
import PurchaseVerification

/// Puts bytes where the claims of genuine signed data stand. `inspect` reads them though the signature does not match.
struct ClaimsTarget {
    private let genuine: LooseJWS

    init(_ store: EvidenceSamples) throws {
        guard let sample = try store.signedPayload().first, let genuine = LooseJWS(sample.bytes) else {
            throw FuzzError.unreadableSeed
        }
        self.genuine = genuine
    }

    func check(_ claims: [UInt8]) {
        var jws = genuine
        jws.payload = claims
        let inspection = World.shared.checkVerdict(of: jws.bytes)
        guard let content = inspection.content else { return }
        demand(content.payload == claims, "other claims were read")
        // Another reader finds the same in them.
        let object = try? JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any]
        // Of a claim that stands twice one reader takes the first, the other the last. A damaged text in a
        // place that the core need not read yet, only the other refuses.
        guard let object, Self.names.allSatisfy({ Self.standsOnce($0, claims) }) else { return }
        switch content {
        case .signedTransaction(let content):
            demand(content.productID == object["productId"] as? String, "another product was read")
            demand(content.transactionID == object["transactionId"] as? String, "another transaction was read")
            _ = (content.environment.name, content.otherClaims.count, content.price, content.quantity)
        case .signedRenewalInfo(let content):
            demand(content.productID == object["productId"] as? String, "another product was read")
            _ = (content.environment.name, content.otherClaims.count, content.renewalDate?.description)
        case .appTransaction(let content):
            demand(content.bundleID == object["bundleId"] as? String, "another app was read")
            _ = (content.environment?.name, content.otherClaims.count)
        case .notification(let content):
            demand(content.notificationUUID == object["notificationUUID"] as? String, "another notification was read")
            _ = (content.environment?.name, content.bundleID, content.appAppleID, content.otherClaims.count)
        case .appReceipt, .transactionReceipt:
            demand(false, "signed data became a receipt")
        }
    }

    private static let names = ["productId", "transactionId", "bundleId", "notificationUUID"]

    private static func standsOnce(_ name: String, _ claims: [UInt8]) -> Bool {
        let text = String(decoding: claims, as: UTF8.self)
        // A name may be written with escapes, too.
        return text.components(separatedBy: "\"\(name)\"").count <= 2 && !text.contains("\\u")
    }
}
