import PurchaseLedger
import PurchaseVerification

/// A drawing of when a customer had access to what: a bar for each purchase, in a row for each product.
struct AccessTimeline {
    private static let (left, width, rowHeight) = (4.0, 592.0, 34.0)

    /// The values of the template; `nil` if there is nothing to draw.
    static func fields(_ purchases: [RecordedPurchase], now: Timestamp) -> [String: Any]? {
        let starts = purchases.compactMap { $0.purchasedAt?.millisecondsSince1970 }
        guard let first = starts.min() else { return nil }
        let now = now.millisecondsSince1970
        let ends = purchases.compactMap { $0.expiresAt?.millisecondsSince1970 }
        let last = max(now, ends.max() ?? now, first + 1)
        func place(_ time: Int64) -> Double {
            left + width * Double(min(max(time, first), last) - first) / Double(last - first)
        }
        func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
        var rows: [[String: Any]] = []
        let products = Dictionary(grouping: purchases, by: \.productID).sorted { $0.key < $1.key }
        for (index, (product, purchases)) in products.enumerated() {
            let top = Double(index) * rowHeight
            var bars: [[String: Any]] = []
            for purchase in purchases {
                guard let start = purchase.purchasedAt?.millisecondsSince1970 else { continue }
                let isWithdrawn = purchase.withdrawal != nil
                let end =
                    purchase.withdrawal?.date.millisecondsSince1970 ?? purchase.expiresAt?.millisecondsSince1970 ?? now
                let begin = place(start)
                bars.append([
                    "x": number(begin), "y": number(top + 18), "width": number(max(place(end) - begin, 3)),
                    "mark": number(place(end) - 2), "isWithdrawn": isWithdrawn,
                ])
            }
            rows.append(["product": product, "textY": number(top + 13), "bars": bars])
        }
        return [
            "height": number(Double(products.count) * rowHeight + 6), "rows": rows, "now": number(place(now)),
            "from": "\(Timestamp(millisecondsSince1970: first))", "to": "\(Timestamp(millisecondsSince1970: last))",
            "count": products.count,
        ]
    }
}
