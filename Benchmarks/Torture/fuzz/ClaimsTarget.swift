import Foundation
import HostileBytes
import PurchaseVerification

/// Uses the input as the claims of genuine signed data. `inspect` reads them although the signature does not match.
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
        // An independent reader finds the same in them.
        guard let object = try? JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any] else {
            return demand(Self.hasLongExponent(claims), "claims were read that are no JSON to another reader")
        }
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
        case .realtimeRequest(let content):
            demand(content.productID == object["productId"] as? String, "another product was read")
            _ = (content.environment.name, content.otherClaims.count, content.appAppleID)
        case .appReceipt, .transactionReceipt:
            demand(false, "signed data became a receipt")
        }
    }

    /// JSON that passes the check is also JSON for another reader, and violates no invariant as header or claims.
    func check(json: [UInt8]) {
        if (try? StrictJSON.check(json)) != nil {
            let object = try? JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed)
            demand(object != nil || Self.hasLongExponent(json), "JSON passed that is none to another reader")
        }
        check(json)
        var jws = genuine
        jws.header = json
        World.shared.checkVerdict(of: jws.bytes)
    }

    /// Whether a number may be out of the other reader's range.
    private static func hasLongExponent(_ json: [UInt8]) -> Bool {
        let text = String(decoding: json, as: UTF8.self)
        return text.range(of: "[0-9][eE][+-]?[0-9]{2}", options: .regularExpression) != nil
    }

    /// The tokens of JSON, and names that `String` would have to normalise.
    static let jsonSeeds: [[UInt8]] = [
        #"{"bundleId":"a","transactionId":"1","productId":"b","signedDate":1700000000000.5,"more":[{},[],"\u00e9\ud83d\ude00\/",-1.5e+3,null,true,false]}"#,
        #"{"alg":"ES256","x5c":["AAAA","AAAA","AAAA"],"crit":null}"#,
        #"{"notificationType":"A","data":{"signedTransactionInfo":"a.b.c"},"a":{"b":1,"b":2}}"#, "[1,]", "\u{FEFF}{}",
        "{\"e\u{301}\u{316}\u{301}\":1}", #"{"\u0061":1}"#, " \t\n\r0 ", #""\ud800""#, "-0", "1e400",
    ].map { Array($0.utf8) }
}
