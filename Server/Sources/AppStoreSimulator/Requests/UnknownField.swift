import Foundation

/// A member or parameter that the request does not have.
struct UnknownField: Error {
    let words: String

    /// - Parameters:
    ///   - name: as the client wrote it, with the objects that it is in.
    ///   - known: the names that are allowed in its place.
    init(_ name: String, known: [String]) {
        let shown = name.unicodeScalars.prefix(80).map { $0.isASCII && $0.value >= 0x20 ? String($0) : "?" }.joined()
        let last = shown.split(separator: ".").last.map(String.init) ?? shown
        let suggestion = known.map { ($0, Self.distance(Self.plain($0), Self.plain(last))) }.min { $0.1 < $1.1 }
            .flatMap { $0.1 <= 2 ? "; did you mean '\($0.0)'?" : nil }
        words = "The field '\(shown)' is unknown\(suggestion ?? ".") Known fields: \(known.joined(separator: ", "))."
    }

    /// The name without the differences between `productId`, `product-id` and `product_id`.
    private static func plain(_ name: String) -> [UInt8] {
        name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
    }

    /// The number of letters to insert, delete or replace (Levenshtein). Names have at most 80 bytes.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (line, byte) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in second.enumerated() {
                let above = row[column + 1]
                row[column + 1] = byte == other ? diagonal : 1 + min(diagonal, above, row[column])
                diagonal = above
            }
        }
        return row[second.count]
    }
}
