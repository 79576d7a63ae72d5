import Foundation

/// The members of a request's JSON object, read one by one under their coding keys. The first wrong member is
/// remembered with its name and the expected value, which no decoder of the library reports.
public struct RequestMembers {
    /// The largest quantity that is read: beyond any order, and exact in every JSON reader.
    public static let largestQuantity: Int64 = 1_000_000_000

    /// A flaw of a request.
    public enum Flaw: Error, Sendable, Equatable {
        /// The body is not a JSON object; the number of its bytes.
        case notAnObject(bytes: Int)
        /// A required member is missing, null or empty.
        case missing(String)
        /// A member has the name of another API: camel case, hyphens, the plural, or another word.
        case misnamed(String, expected: String)
        /// A member has the wrong type or value; the text is the expected one.
        case malformed(String, expected: String)
    }

    /// The rule for identifiers.
    public struct IdentifierRule: Sendable {
        let isIdentifier: @Sendable (String) -> Bool
        let words: String

        /// - Parameters:
        ///   - words: the rule, to be read after "name: ".
        ///   - isIdentifier: the rule; it must look at the length of a text first, and compare nothing.
        public init(_ words: String, _ isIdentifier: @escaping @Sendable (String) -> Bool) {
            (self.words, self.isIdentifier) = (words, isIdentifier)
        }
    }

    /// A request with more members than this is searched for no misspelled names; ours have at most a dozen.
    private static let searchedMembers = 64

    private let members: [String: Any]
    /// The names of the members under their simplified spelling.
    private let spellings: [String: String]
    private let rule: IdentifierRule
    /// The names that were read: after a message was read, all that it has.
    private var known: [String] = []
    /// The first flaw; nil if there is none.
    public private(set) var flaw: Flaw?

    /// The first optional member that is present and `null`, which was read as absent.
    public private(set) var nullMember: String?

    /// A member that the message does not have.
    public struct UnknownMember: Sendable, Equatable {
        public var name: String
        /// The member that it may mean.
        public var suggestion: String?
    }

    /// The members that were not read, by name. Call it after the message was read.
    ///
    /// - Parameter limit: the maximum number of members; the names of the others are not compared.
    public func unknownMembers(limit: Int) -> [UnknownMember] {
        members.keys.filter { !known.contains($0) }.sorted().prefix(limit).map {
            UnknownMember(name: $0, suggestion: WordSuggestion.nearest(to: $0, among: known))
        }
    }

    /// - Parameters:
    ///   - json: the body. An empty body has no members. Its depth, values and names must have been bounded before: the
    ///     library's reader takes quadratic time for long names of hostile Unicode.
    ///   - rule: the rule for identifiers.
    public init(json: [UInt8], identifiers rule: IdentifierRule) {
        self.rule = rule
        let object = Self.object(json)
        members = object ?? [:]
        var spellings: [String: String] = [:]
        if members.count <= Self.searchedMembers {
            for name in members.keys.sorted() { spellings[Self.simplified(name)] = name }
        }
        self.spellings = spellings
        if object == nil { flaw = .notAnObject(bytes: json.count) }
    }

    private static func object(_ json: [UInt8]) -> [String: Any]? {
        if json.isEmpty { return [:] }
        if let plain = PlainJSONObject(json) {
            return Dictionary(
                uniqueKeysWithValues: plain.members.map { name, value in
                    switch value {
                    case .text(let text): (name, String(decoding: text, as: UTF8.self) as Any)
                    case .flag(let flag): (name, NSNumber(value: flag) as Any)
                    }
                })
        }
        do {
            return try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        } catch {
            // The caller names the bytes, which are not JSON.
            return nil
        }
    }

    /// A string; `nil` if it is absent, null, or of another type.
    public mutating func text(_ key: some CodingKey) -> String? {
        guard let value = present(key) else { return nil }
        guard let text = value as? String else {
            note(key, "a string")
            return nil
        }
        return text
    }

    /// A whole number within bounds; `nil` if it is absent, null, or something else.
    public mutating func number(_ key: some CodingKey, in bounds: ClosedRange<Int64>) -> Int64? {
        guard let value = present(key) else { return nil }
        guard let number = value as? NSNumber, !Self.isBoolean(number), let whole = Int64(exactly: number.doubleValue),
            bounds.contains(whole)
        else {
            note(key, "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
            return nil
        }
        return whole
    }

    /// `true` or `false`; `nil` if it is absent, null, or something else.
    public mutating func flag(_ key: some CodingKey) -> Bool? {
        guard let value = present(key) else { return nil }
        guard let number = value as? NSNumber, Self.isBoolean(number) else {
            note(key, "true or false")
            return nil
        }
        return number.doubleValue != 0
    }

    /// A quantity from 1; `nil` if it is absent, null, or something else.
    public mutating func quantity(_ key: some CodingKey) -> Int64? {
        number(key, in: 1...Self.largestQuantity)
    }

    /// A small object of strings; `nil` if it is absent, null, or something else.
    public mutating func texts(_ key: some CodingKey) -> [String: String]? {
        guard let value = present(key) else { return nil }
        guard let texts = value as? [String: String], texts.count <= 20,
            texts.allSatisfy({ Self.isText($0.key, limit: 40) && Self.isText($0.value, limit: 200) })
        else {
            note(key, "an object of at most 20 strings, of at most 200 characters, with names of at most 40")
            return nil
        }
        return texts
    }

    /// A list of strings, not empty; `nil` if it is absent, null, or something else. The strings may have any length.
    public mutating func list(_ key: some CodingKey, limit: Int) -> [String]? {
        guard let value = present(key) else { return nil }
        guard let list = value as? [Any], (1...limit).contains(list.count), let texts = list as? [String] else {
            note(key, "a list of 1 to \(limit) strings")
            return nil
        }
        return texts
    }

    /// A required list of objects, not empty; empty if it is missing or one of them is wrong, which is noted as a flaw.
    ///
    /// - Parameter read: reads one object; the place in the list is added to the name of a wrong member.
    mutating func objects<Value>(
        _ key: some CodingKey, limit: Int, _ read: ([String: Any]) throws(Flaw) -> Value
    ) -> [Value] {
        guard let value = present(key) else {
            miss(key.stringValue)
            return []
        }
        guard let list = value as? [[String: Any]], (1...limit).contains(list.count) else {
            note(key, "a list of 1 to \(limit) objects")
            return []
        }
        var values: [Value] = []
        for (index, object) in list.enumerated() {
            do throws(Flaw) {
                values.append(try read(object))
            } catch {
                guard flaw == nil, case .malformed(let name, let expected) = error else { continue }
                flaw = .malformed("\(key.stringValue)[\(index)].\(name)", expected: expected)
            }
        }
        return values
    }

    /// The operator's required reason for an action; empty if it is missing, which is noted as a flaw.
    public mutating func reason(_ key: some CodingKey) -> String {
        let reason = optionalReason(key)
        if reason == nil { miss(key.stringValue) }
        return reason ?? ""
    }

    /// The operator's reason for an action, if there is one.
    public mutating func optionalReason(_ key: some CodingKey) -> String? {
        guard let text = text(key) else { return nil }
        guard Self.isReason(text) else {
            note(key, Self.reasonRule)
            return nil
        }
        return text
    }

    /// The required format of the reason of an operator action.
    public static let reasonRule = "1 to 500 characters, not white space alone, without control characters"

    /// Whether a text can be the reason of an operator's action.
    public static func isReason(_ text: String) -> Bool {
        isText(text, limit: 500) && !text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
            && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    private static func isText(_ text: String, limit: Int) -> Bool {
        // A scalar takes at most 4 bytes, so this bounds the count below.
        text.utf8.count <= limit * 4 && text.unicodeScalars.count <= limit && !text.utf8.contains(0)
    }

    /// A required identifier; empty if it is missing, which is noted as a flaw.
    public mutating func identifier(_ key: some CodingKey) -> String {
        guard let text = optionalIdentifier(key) else {
            miss(key.stringValue)
            return ""
        }
        return text
    }

    /// An identifier, if it is present.
    public mutating func optionalIdentifier(_ key: some CodingKey) -> String? {
        guard let text = text(key) else { return nil }
        guard !text.isEmpty else {
            miss(key.stringValue)
            return nil
        }
        guard rule.isIdentifier(text) else {
            note(key, rule.words)
            return nil
        }
        return text
    }

    /// Notes that a member is missing.
    public mutating func miss(_ name: String) {
        if flaw == nil { flaw = .missing(name) }
    }

    /// Notes a member that has the name of another API for the same value. Call it only if the member itself is
    /// missing.
    mutating func findMisnamed(_ others: [String], expected key: some CodingKey) {
        guard flaw == nil, let other = others.first(where: { members[$0] != nil }) else { return }
        flaw = .misnamed(other, expected: key.stringValue)
    }

    /// Notes that a member, or several together, are wrong.
    public mutating func refuse(_ key: some CodingKey, _ expected: String) { note(key, expected) }

    private mutating func present(_ key: some CodingKey) -> Any? {
        known.append(key.stringValue)
        guard let value = members[key.stringValue] else {
            if let sent = spellings[Self.simplified(key.stringValue)], flaw == nil {
                flaw = .misnamed(sent, expected: key.stringValue)
            }
            return nil
        }
        guard value is NSNull else { return value }
        nullMember = nullMember ?? key.stringValue
        return nil
    }

    /// A name without case, hyphens, underscores and the plural, by which `productId` is found to mean `product_id`.
    private static func simplified(_ name: String) -> String {
        var letters = name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
            .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if letters.count > 1, letters.last == UInt8(ascii: "s") { letters.removeLast() }
        return String(decoding: letters, as: UTF8.self)
    }

    private mutating func note(_ key: some CodingKey, _ expected: String) {
        if flaw == nil { flaw = .malformed(key.stringValue, expected: expected) }
    }

    /// JSON's `true` and `false` are also read as numbers.
    static func isBoolean(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c"
    }
}

/// A request that is read from the members of a JSON object.
public protocol RequestMessage: Sendable {
    /// Whether unknown members are ignored with a warning. Apps that are newer than the server send such requests.
    static var ignoresUnknownMembers: Bool { get }

    /// Reads all members by name. If one is wrong, the request gets a default value, and the members have the flaw.
    init(members: inout RequestMembers)
}

extension RequestMessage {
    public static var ignoresUnknownMembers: Bool { false }
}

/// The body of a request that has no fields; it may be empty.
public struct NoFields: Codable, Sendable, Equatable {
    public init() {}
}

extension NoFields: RequestMessage {
    public init(members: inout RequestMembers) {}
}

/// Finds the word that a mistyped one may mean.
public enum WordSuggestion {
    /// The longest word that is compared, in characters: longer than any command, column, parameter or member.
    public static let largestWord = 32
    /// The maximum number of letters by which a word may differ from the typed one.
    private static let largestDistance = 2

    /// The word that is nearest to a typed one; `nil` if none is near.
    public static func nearest(to word: String, among words: [String]) -> String? {
        guard word.utf8.count <= largestWord else { return nil }
        let nearest = words.min { distance(word, $0) < distance(word, $1) }
        return nearest.flatMap { distance(word, $0) <= largestDistance ? $0 : nil }
    }

    /// The number of letters to insert, delete or replace (Levenshtein).
    private static func distance(_ word: String, _ other: String) -> Int {
        let (word, other) = (Array(word.utf8), Array(other.utf8))
        var previous = Array(0...other.count)
        for (row, letter) in word.enumerated() {
            var current = [row + 1]
            for (column, candidate) in other.enumerated() {
                let replaced = previous[column] + (letter == candidate ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[other.count]
    }
}
