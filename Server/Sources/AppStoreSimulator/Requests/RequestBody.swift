import Foundation

/// The JSON body of a request, with the names of its members: other names are refused, because a misspelled member
/// would otherwise be ignored.
protocol RequestBody: Decodable, Sendable {
    static var members: [BodyMember] { get }
}

extension RequestBody {
    /// Checks the names of the members. Their length and number are bounded already (`WrittenJSON.checkLimits`).
    /// - Throws: `UnknownField`.
    static func checkMembers(of json: Data) throws {
        guard let value = try? JSONSerialization.jsonObject(with: json) else { return }
        try check(value, members, path: "")
    }

    private static func check(_ value: Any, _ members: [BodyMember], path: String) throws {
        if let values = value as? [Any] {
            for value in values { try check(value, members, path: path) }
        }
        guard let object = value as? [String: Any] else { return }
        for (name, value) in object.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            guard let member = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw UnknownField(path + name, known: members.map(\.name))
            }
            if !member.members.isEmpty { try check(value, member.members, path: "\(path)\(name).") }
        }
    }
}

/// The name of a member, and the members of its value if that is an object or an array of objects.
struct BodyMember: Sendable, ExpressibleByStringLiteral {
    let name: String
    let members: [BodyMember]

    init(_ name: String, _ members: [BodyMember]) {
        self.name = name
        self.members = members
    }

    init(stringLiteral name: String) {
        self.init(name, [])
    }
}

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
