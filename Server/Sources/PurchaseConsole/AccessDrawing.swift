import PurchaseLedger
import PurchaseVerification

/// A drawing of when a customer had access to what: a bar for each purchase, in a row for each product, with marks for
/// what happened.
struct AccessDrawing {
    private static let (left, width, rowHeight) = (6.0, 588.0, 38.0)

    private let first: Int64
    private let last: Int64
    private let now: Int64

    /// The values of the template; `nil` if there is nothing to draw.
    ///
    /// - Parameter claims: claims of the customer; those of drawn products are marks.
    static func fields(
        _ purchases: [RecordedPurchase], now: Timestamp, claims: [SubmissionRecord]
    ) -> [String: Any]? {
        let starts = purchases.compactMap { $0.purchasedAt?.millisecondsSince1970 }
        guard let first = starts.min() else { return nil }
        let ends = purchases.flatMap { [$0.expiresAt, $0.graceEnd] }.compactMap { $0?.millisecondsSince1970 }
        let now = now.millisecondsSince1970
        let timeline = AccessDrawing(first: first, last: max(now, ends.max() ?? now, first + 1), now: now)
        let products = Dictionary(grouping: purchases, by: \.productID).sorted { $0.key < $1.key }
        let rows = products.enumerated().map { index, row in
            timeline.row(
                row.key, row.value, claims.filter { $0.productID == row.key }, top: Double(index) * rowHeight)
        }
        return [
            "height": number(Double(products.count) * rowHeight + 6), "rows": rows, "now": number(timeline.place(now)),
            "from": "\(Timestamp(millisecondsSince1970: first))",
            "to": "\(Timestamp(millisecondsSince1970: timeline.last))", "count": products.count,
        ]
    }

    private func row(
        _ product: String, _ purchases: [RecordedPurchase], _ claims: [SubmissionRecord], top: Double
    ) -> [String: Any] {
        var (bars, marks): ([[String: Any]], [[String: Any]]) = ([], [])
        for purchase in purchases {
            guard let start = purchase.purchasedAt else { continue }
            let end =
                purchase.withdrawal?.date ?? purchase.upgradedAt ?? purchase.expiresAt
                ?? Timestamp(millisecondsSince1970: now)
            // The units of a consumable are used up at some time that is not drawn.
            if purchase.productKind != .consumable {
                bars.append(bar(purchase.withdrawal == nil ? "bar" : "bar withdrawn", start, end, top))
            }
            let isRenewal = purchase.transactionID != purchase.originalTransactionID && purchase.expiresAt != nil
            marks.append(mark(isRenewal ? "renewal" : "purchase", start, top + 23, purchase.transactionID))
            if let withdrawal = purchase.withdrawal {
                marks.append(mark("refund", withdrawal.date, top + 23, withdrawal.cause.rawValue))
            } else if purchase.upgradedAt == nil, let grace = purchase.graceEnd {
                bars.append(bar("bar grace", end, grace, top))
            }
        }
        for claim in claims {
            let kind = claim.verdict == .accepted ? "claim" : "claim refused"
            marks.append(mark(kind, claim.receivedAt, top + 34, claim.code))
        }
        return ["product": product, "textY": Self.number(top + 13), "bars": bars, "marks": marks]
    }

    private func bar(_ style: String, _ start: Timestamp, _ end: Timestamp, _ top: Double) -> [String: Any] {
        let (begin, end) = (place(start.millisecondsSince1970), place(end.millisecondsSince1970))
        return [
            "style": style, "x": Self.number(begin), "y": Self.number(top + 18),
            "width": Self.number(max(end - begin, 3)),
        ]
    }

    /// A mark at a time, with its meaning in words.
    private func mark(_ kind: String, _ time: Timestamp, _ middle: Double, _ what: String) -> [String: Any] {
        let x = place(time.millisecondsSince1970)
        func point(_ right: Double, _ down: Double) -> String {
            "\(Self.number(x + right)),\(Self.number(middle + down))"
        }
        let points: [String] =
            switch kind {
            case "purchase": [point(-4, -4), point(4, -4), point(4, 4), point(-4, 4)]
            case "renewal": [point(0, -5), point(5, 0), point(0, 5), point(-5, 0)]
            case "refund": [point(-4, -5), point(4, -5), point(0, 5)]
            default: [point(-4, 3), point(4, 3), point(0, -4)]
            }
        return ["style": kind, "points": points.joined(separator: " "), "words": "\(kind), \(time): \(what)"]
    }

    private func place(_ time: Int64) -> Double {
        Self.left + Self.width * Double(min(max(time, first), last) - first) / Double(last - first)
    }

    private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension RecordedPurchase {
    /// The end of the grace period after the purchase's own; `nil` if Apple gave none.
    fileprivate var graceEnd: Timestamp? { renewal?.info.graceEnd.flatMap { end in expiresAt.map { max(end, $0) } } }
}
