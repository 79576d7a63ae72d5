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
