import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// A drawing of when a customer had access to what: a bar for each period or purchase, in a row for each product, with
/// marks for what happened and dates below.
struct AccessDrawing {
    private static let (left, width, rowHeight) = (6.0, 588.0, 38.0)

    private let first: Int64
    private let last: Int64
    private let now: Int64

    /// The values of the template; `nil` if there is nothing to draw.
    ///
    /// - Parameter claims: claims of the customer; those of drawn products are marks.
    static func fields(
        _ purchases: [RecordedPurchase], now: Timestamp, claims: [SubmissionMessage]
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
        let height = Double(products.count) * rowHeight + 6
        return [
            "height": number(height + 16), "axisY": number(height), "labelY": number(height + 13), "rows": rows,
            "now": number(timeline.place(now)), "ticks": timeline.ticks, "count": counted(products.count, "product"),
        ]
    }

    /// The dates of the axis: the first days of months, or, of a time of days, its beginning and its end.
    private var ticks: [[String: Any]] {
        func month(_ time: Int64) -> Int {
            let parts = "\(Timestamp(millisecondsSince1970: time))".split(separator: "-").prefix(2).compactMap {
                Int($0)
            }
            return parts.count == 2 ? parts[0] * 12 + parts[1] - 1 : 0
        }
        func tick(_ time: Timestamp, _ words: String, _ style: String) -> [String: Any] {
            ["x": Self.number(place(time.millisecondsSince1970)), "words": words, "style": style]
        }
        let (begin, end) = (month(first), month(last))
        let starts = stride(from: begin + 1, through: end, by: max(1, (end - begin + 6) / 7)).compactMap { month in
            Timestamp("\(month / 12)-\(month % 12 < 9 ? "0" : "")\(month % 12 + 1)-01T00:00:00Z")
        }
        guard starts.count < 3 else {
            // A date at an edge would be cut off.
            return starts.map {
                let x = place($0.millisecondsSince1970)
                let style = x < Self.left + 30 ? "start" : x > Self.left + Self.width - 30 ? "end" : "middle"
                return tick($0, ReadableTimes.day($0), style)
            }
        }
        let (from, to) = (Timestamp(millisecondsSince1970: first), Timestamp(millisecondsSince1970: last))
        return [tick(from, ReadableTimes.day(from), "start"), tick(to, ReadableTimes.day(to), "end")]
    }

    private func row(
        _ product: String, _ purchases: [RecordedPurchase], _ claims: [SubmissionMessage], top: Double
    ) -> [String: Any] {
        var (bars, marks): ([[String: Any]], [[String: Any]]) = ([], [])
        for purchase in purchases {
            guard let start = purchase.purchasedAt else { continue }
            // A refund takes back this period, whenever it came; what is not paid by the period ends with the refund.
            let end = purchase.upgradedAt ?? purchase.expiresAt ?? purchase.withdrawal?.date
            let name = "\(start) to \(end.map { "\($0)" } ?? "now"): \(purchase.state.text)"
            // The units of a consumable are used up at some time that is not drawn.
            if purchase.productKind != .consumable {
                let end = end ?? Timestamp(millisecondsSince1970: now)
                bars.append(bar(purchase.withdrawal == nil ? "paid" : "withdrawn", start, end, top, name))
            }
            let isRenewal = !purchase.isFirst && purchase.expiresAt != nil
            marks.append(mark(isRenewal ? "renewal" : "purchase", start, top + 23, purchase.transactionID))
            if let withdrawal = purchase.withdrawal {
                marks.append(mark("refund", withdrawal.date, top + 23, "of transaction \(purchase.transactionID)"))
            } else if purchase.upgradedAt == nil, let end, let grace = purchase.graceEnd {
                bars.append(bar("grace", end, grace, top, "\(end) to \(grace): grace period"))
            }
        }
        for claim in claims {
            guard let time = Timestamp(claim.receivedAt) else { continue }
            marks.append(mark(claim.verdict == .accepted ? "claim" : "claim refused", time, top + 34, claim.code))
        }
        return ["product": product, "textY": Self.number(top + 13), "bars": bars, "marks": marks]
    }

    private func bar(
        _ style: String, _ start: Timestamp, _ end: Timestamp, _ top: Double, _ words: String
    ) -> [String: Any] {
        let (begin, end) = (place(start.millisecondsSince1970), place(end.millisecondsSince1970))
        return [
            "style": style, "x": Self.number(begin), "y": Self.number(top + 18),
            // A gap tells one period from the next.
            "width": Self.number(max(end - begin - 1, 3)), "words": ReadableTimes.plain(words),
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
        return [
            "style": kind, "points": points.joined(separator: " "),
            "words": ReadableTimes.plain("\(kind), \(time): \(what)"),
        ]
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
