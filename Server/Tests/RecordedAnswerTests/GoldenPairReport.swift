import Foundation
import PurchaseVerification
import TestSupport

/// The fields of our answer that equal Apple's, those that need the store's state, and those that differ.
struct GoldenPairReport {
    let pair: String
    let golden: String
    private(set) var equal = 0
    private(set) var storeState: [String] = []
    private(set) var edited: [String] = []
    private(set) var different: [String] = []
    private let editedFields: [CorpusItem.EditedField]
    private let isLatest: Bool

    init(_ item: CorpusItem) {
        pair = item.pair ?? item.name
        golden = item.golden ?? "edited"
        editedFields = item.editedFields ?? []
        // The request is the latest receipt that Apple made with its answer.
        isLatest = golden != "exact"
    }

    var line: String {
        let name = pair.padding(toLength: 58, withPad: " ", startingAt: 0)
        return "\(golden.padding(toLength: 7, withPad: " ", startingAt: 0)) \(name) equal \(equal), store's state "
            + "\(storeState.count), edited or damaged \(edited.count), different \(different.count)"
    }

    static func object(_ data: Data) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    /// Reverses the renaming that the manifest records for one publisher.
    static func undoSubstitutions(_ data: Data) -> Data {
        let text = String(decoding: data, as: UTF8.self)
        guard text.contains("com.company.appclient") else { return data }
        return Data(
            text.replacing("com.company.appclient", with: "com.browsec.vpnclient").replacing(
                "company_", with: "browsec_"
            )
            .utf8)
    }

    mutating func compare(_ ours: [String: Any], with apple: [String: Any], request: Data) {
        compareMembers(ours, apple, place: "", except: ["receipt", "latest_receipt_info", "status"])
        compareStatus(ours, apple)
        let ourReceipt = ours["receipt"] as? [String: Any] ?? [:]
        let appleReceipt = apple["receipt"] as? [String: Any] ?? [:]
        compareMembers(ourReceipt, appleReceipt, place: "receipt", except: ["in_app"])
        if isLatest { compareDates(ourReceipt, appleReceipt, request) }
        let ourPurchases = ourReceipt["in_app"] as? [[String: Any]] ?? []
        compareList(
            ourPurchases, appleReceipt["in_app"] as? [[String: Any]] ?? [], place: "receipt.in_app", ordered: true)
        if let latest = apple["latest_receipt_info"] as? [[String: Any]] {
            compareList(
                ours["latest_receipt_info"] as? [[String: Any]] ?? [], latest, place: "latest_receipt_info",
                ordered: false)
        }
    }

    /// Publishers of edited answers also drop or change the status.
    private mutating func compareStatus(_ ours: [String: Any], _ apple: [String: Any]) {
        if Self.isSame(ours["status"], apple["status"]) {
            equal += 1
        } else if golden == "edited" {
            edited.append("status")
        } else {
            different.append("status")
        }
    }

    private mutating func compareMembers(
        _ ours: [String: Any], _ apple: [String: Any], place: String, except: Set<String>
    ) {
        for key in Set(ours.keys).union(apple.keys).subtracting(except) {
            let path = place.isEmpty ? key : "\(place).\(key)"
            if Self.isSame(ours[key], apple[key]) {
                equal += 1
            } else if isEdited(place, key) || (ours[key] == nil && !AppleKeys.contains(key, place: place)) {
                edited.append(path)
            } else if Self.needsStore(path, key, isLatest: isLatest) {
                storeState.append(path)
            } else if Self.isRounded(ours[key], apple[key]) {
                edited.append(path)
            } else {
                different.append("\(path): ours \(ours[key] ?? "absent"), Apple's \(apple[key] ?? "absent")")
            }
        }
    }

    /// Part A of the format notes: in a receipt that Apple's server made, attribute 12 is the request date, and
    /// attribute 8 the creation date of the receipt that was sent, or a second or two before it. The sandbox leaves 8
    /// empty.
    private mutating func compareDates(_ ours: [String: Any], _ apple: [String: Any], _ request: Data) {
        guard let created = Int64(ours["receipt_creation_date_ms"] as? String ?? ""),
            let asked = Int64(apple["request_date_ms"] as? String ?? ""),
            let sentAt = Int64(apple["receipt_creation_date_ms"] as? String ?? "")
        else { return different.append("dates are missing") }
        if asked / 1000 == created / 1000 {
            equal += 1
        } else if golden == "edited" {
            edited.append("request_date")
        } else {
            different.append("attribute 12 is \(created), Apple's request date \(asked)")
        }
        guard let receipt = Self.receipt(request), let sent = receipt.sentReceiptCreationDate else { return }
        let distance = sentAt - sent.millisecondsSince1970
        if (0...2999).contains(distance) {
            equal += 1
        } else if golden == "edited" {
            edited.append("receipt_creation_date")
        } else {
            different.append("attribute 8 is \(sent), Apple's creation date \(sentAt)")
        }
    }

    private static func receipt(_ request: Data) -> AppReceipt? {
        guard let text = (try? object(request))?["receipt-data"] as? String else { return nil }
        return try? PurchaseVerifier().verifyAppReceipt(Array(text.utf8), policies: [])
    }

    private mutating func compareList(
        _ ours: [[String: Any]], _ apple: [[String: Any]], place: String, ordered: Bool
    ) {
        func identifiers(_ list: [[String: Any]]) -> [String] { list.map { $0["transaction_id"] as? String ?? "" } }
        let known = Dictionary(ours.map { ($0["transaction_id"] as? String ?? "", $0) }) { first, _ in first }
        let appleIdentifiers = identifiers(apple)
        if ordered, identifiers(ours) != appleIdentifiers {
            if golden == "latest" {
                // Apple's list belongs to the receipt that was sent, which is not the receipt in the corpus.
                storeState.append("\(place) order")
            } else if golden == "edited" {
                edited.append("\(place) order")
            } else {
                different.append("\(place) is in another order")
            }
        } else if ordered {
            equal += 1
        }
        for purchase in apple {
            let identifier = purchase["transaction_id"] as? String ?? ""
            guard let same = known[identifier] else {
                // Bought or renewed after the receipt was signed, or renamed by the publisher.
                if isEdited(place, "transaction_id") { edited.append("\(place)[\(identifier)]") }
                storeState.append("\(place)[\(identifier)]")
                continue
            }
            compareMembers(same, purchase, place: place, except: [])
        }
        for identifier in identifiers(ours) where !appleIdentifiers.contains(identifier) {
            storeState.append("\(place)[\(identifier)]")
        }
    }

    /// Whether the manifest states that the publisher changed the field, or another form of the same date.
    private func isEdited(_ place: String, _ key: String) -> Bool {
        editedFields.contains { field in
            field.place == place && (field.field == key || Self.stem(field.field) == Self.stem(key))
        }
    }

    private static func stem(_ key: String) -> String {
        key.hasSuffix("_ms") ? String(key.dropLast(3)) : key.hasSuffix("_pst") ? String(key.dropLast(4)) : key
    }

    /// Values that only the store knows (part A, "without attribute"), and values that depend on the time and the text
    /// of the request.
    private static func needsStore(_ path: String, _ key: String, isLatest: Bool) -> Bool {
        let keys: Set = [
            "pending_renewal_info", "subscription_group_identifier", "app_account_token", "offer_code_ref_name",
            "is_upgraded", "cancellation_reason", "latest_receipt", "latest_receipt_info",
        ]
        if keys.contains(key) || stem(path) == "receipt.request_date" { return true }
        return isLatest && stem(path) == "receipt.receipt_creation_date"
    }

    private static func isSame(_ left: Any?, _ right: Any?) -> Bool {
        switch (left, right) {
        case (let left as NSNumber, let right as NSNumber): left.decimalValue == right.decimalValue
        case (let left as NSObject, let right as NSObject): left == right
        default: false
        }
    }

    /// A number that a JavaScript tool rounded.
    private static func isRounded(_ left: Any?, _ right: Any?) -> Bool {
        guard let left = left as? NSNumber, let right = right as? NSNumber else { return false }
        return left.doubleValue > 9_007_199_254_740_992 && left.doubleValue == right.doubleValue
    }
}

/// The keys of Apple's answers, by object; any other key was added by the publisher of the answer.
private enum AppleKeys {
    static func contains(_ key: String, place: String) -> Bool {
        switch place {
        case "": top.contains(key)
        case "receipt": receipt.contains(stem(key))
        default: purchase.contains(stem(key))
        }
    }

    private static let top: Set = [
        "environment", "receipt", "latest_receipt_info", "latest_receipt", "pending_renewal_info", "status",
        "is_retryable", "is-retryable", "exception",
    ]
    private static let receipt: Set = [
        "receipt_type", "adam_id", "app_item_id", "bundle_id", "application_version", "download_id",
        "version_external_identifier", "receipt_creation_date", "request_date", "original_purchase_date",
        "original_application_version", "expiration_date", "preorder_date", "in_app",
    ]
    private static let purchase: Set = [
        "quantity", "product_id", "transaction_id", "original_transaction_id", "purchase_date",
        "original_purchase_date", "expires_date", "cancellation_date", "cancellation_reason",
        "web_order_line_item_id", "is_trial_period", "is_in_intro_offer_period", "is_upgraded",
        "in_app_ownership_type", "promotional_offer_id", "offer_code_ref_name", "app_account_token",
        "subscription_group_identifier",
    ]

    private static func stem(_ key: String) -> String {
        key.hasSuffix("_ms") ? String(key.dropLast(3)) : key.hasSuffix("_pst") ? String(key.dropLast(4)) : key
    }
}
