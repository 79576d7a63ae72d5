import Foundation
import HummingbirdCore

/// The query of a list: `search`, `customer_id`, `offset` and `limit`.
struct ListQuery: Sendable {
    private let search: [UInt8]
    private let customerID: String?
    private let offset: Int
    private let limit: Int

    static let defaultLimit = 25
    static let maximumLimit = 200

    /// - Throws: `StoreError` with `invalid_value`, `FieldProblem`.
    init(_ uri: URI) throws {
        var values: [String: String] = [:]
        for (key, value) in uri.queryParameters {
            let name = String(key)
            guard Self.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw UnknownField(name, known: Self.names)
            }
            values[name] = String(value)
        }
        search = (values["search"] ?? "").utf8.map(Self.small)
        customerID = values["customer_id"].flatMap { $0.isEmpty ? nil : $0 }
        offset = try Self.number("offset", values, 0, 0...Int(Int32.max))
        limit = try Self.number("limit", values, Self.defaultLimit, 1...Self.maximumLimit)
    }

    private static let names = ["search", "customer_id", "offset", "limit"]

    private static func number(
        _ name: String, _ values: [String: String], _ standard: Int, _ range: ClosedRange<Int>
    ) throws -> Int {
        guard let text = values[name] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw StoreError(
                .invalidValue, "'\(name)' is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Whether the query asks for rows of this customer.
    func includes(_ customer: String?) -> Bool {
        guard let customerID else { return true }
        return customer.map { $0.utf8.elementsEqual(customerID.utf8) } ?? false
    }

    /// Whether one of the texts contains the searched text, in any case of ASCII letters.
    func finds(_ texts: [String?]) -> Bool {
        guard let first = search.first else { return true }
        return texts.contains { text in
            guard let bytes = text.map({ $0.utf8.map(Self.small) }), bytes.count >= search.count else { return false }
            return (0...(bytes.count - search.count)).contains {
                bytes[$0] == first && bytes[$0..<($0 + search.count)].elementsEqual(search)
            }
        }
    }

    /// The asked page of the rows, in their order.
    func page<Row: Encodable>(_ rows: [Row], by areInOrder: (Row, Row) -> Bool) -> ListPage<Row> {
        ListPage(
            total: rows.count, offset: offset,
            items: Array(rows.sorted(by: areInOrder).dropFirst(offset).prefix(limit)))
    }

    private static func small(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

struct ListPage<Row: Encodable & Sendable>: Encodable, Sendable {
    /// The number of rows that the query finds.
    let total: Int
    /// The number of rows before this page.
    let offset: Int
    let items: [Row]
}
