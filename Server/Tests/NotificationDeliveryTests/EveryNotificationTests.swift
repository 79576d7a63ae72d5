import AppStoreSimulator
import Foundation
import PurchaseAPI
import TestSupport
import Testing

@Suite("28.4 Every notification reaches the server")
struct EveryNotificationTests {
    /// Apple's types with their subtypes; an empty text is no subtype.
    private static let types: [String: [String]] = [
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "OFFER_REDEEMED": ["INITIAL_BUY", "RESUBSCRIBE", "UPGRADE", "DOWNGRADE", ""],
        "DID_RENEW": ["", "BILLING_RECOVERY"],
        "DID_CHANGE_RENEWAL_PREF": ["UPGRADE", "DOWNGRADE", "", "INCREASE_QUANTITY", "DECREASE_QUANTITY"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "DID_FAIL_TO_RENEW": ["GRACE_PERIOD", ""],
        "GRACE_PERIOD_EXPIRED": [""],
        "EXPIRED": ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", ""],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"], "PRICE_CHANGE": [""],
        "REFUND": ["", "SEATS"], "REFUND_DECLINED": [""], "REFUND_REVERSED": [""], "CONSUMPTION_REQUEST": [""],
        "REVOKE": [""], "RENEWAL_EXTENDED": [""], "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "ONE_TIME_CHARGE": [""], "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "RESCIND_CONSENT": [""], "METADATA_UPDATE": [""], "MIGRATION": [""], "MIGRATE": [""], "UNCLAIM_SEATS": [""],
        "TEST": [""], "SOMETHING_NEW": ["SOMETIMES"],
    ]

    @Test("28.4 Each type and subtype is delivered, answered with 200, and listed by GET /v1/notifications")
    func everyType() async throws {
        try await DeliveredWorld.run { world in
            let example = Corpus.projectFolder.appending(path: "docs/examples/every-notification.yaml")
            let scenario = try Scenario(yaml: try String(contentsOf: example, encoding: .utf8))
            var differences: [String] = []
            let wrong = try await ScenarioRun(store: world.storeAddress).run(scenario) { result in
                differences += result.differences.map { "\(result.step): \($0)" }
            }
            #expect(wrong == 0 && differences.isEmpty, "\(differences)")

            let sent = try await world.sent()
            for notification in sent {
                let attempts = try #require(notification["attempts"] as? [[String: Any]])
                #expect(attempts.map { $0["status"] as? Int } == [200], "\(notification)")
            }
            func words(_ type: Any?, _ subtype: Any?) -> String {
                [type, subtype].compactMap { $0 as? String }.joined(separator: " ")
            }
            let wanted = Set(
                Self.types.flatMap { type, subtypes in
                    subtypes.map { words(type, $0.isEmpty ? nil : $0) }
                })
            let types = Set(sent.map { words($0["type"], $0["subtype"]) })
            #expect(wanted == types, "\(wanted.symmetricDifference(types).sorted())")

            let listed = try await world.received()
            func rows(_ pairs: [(String?, String)]) -> [String] { pairs.map { "\($0 ?? "none") \($1)" }.sorted() }
            #expect(
                rows(listed.map { ($0.notificationID, words($0.type, $0.subtype)) })
                    == rows(
                        sent.map { sent in
                            // Apple's two names of one type.
                            let type: Any? = sent["type"] as? String == "MIGRATE" ? "MIGRATION" : sent["type"]
                            return (sent["notification_uuid"] as? String, words(type, sent["subtype"]))
                        }))
        }
    }
}
