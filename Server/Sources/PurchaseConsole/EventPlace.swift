import PurchaseLedger
import PurchaseVerification

/// A position in the events of a customer, as text in a URL.
struct EventPlace {
    let cursor: TimelineCursor

    init(_ cursor: TimelineCursor) { self.cursor = cursor }

    init?(_ text: String?) {
        let parts = (text ?? "").split(separator: ".").compactMap { Int64($0) }
        guard parts.count == 3 else { return nil }
        cursor = TimelineCursor(
            event: parts[0], claim: JournalCursor(at: Timestamp(millisecondsSince1970: parts[1]), key: parts[2]))
    }

    var text: String { "\(cursor.event).\(cursor.claim.at.millisecondsSince1970).\(cursor.claim.key)" }
}
