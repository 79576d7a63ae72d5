/// Reads the claims of one JSON object by name, and counts what it has read, so that the others can be kept.
struct ClaimReader {
    private let container: KeyedDecodingContainer<ClaimName>
    private var read: [String] = []

    init(_ decoder: any Decoder) throws(VerificationError) {
        do {
            container = try decoder.container(keyedBy: ClaimName.self)
        } catch {
            throw VerificationError(.claimsMalformed, expected: "a JSON object")
        }
        // No kind has more claims.
        read.reserveCapacity(40)
    }

    /// Whether there is a claim of this name.
    func has(_ name: String) -> Bool { container.contains(ClaimName(name)) }

    /// A claim on which a check or a decision rests. It may be absent or `null`, but of no other type.
    mutating func claim<Value: Decodable>(
        _ name: String, _ type: Value.Type = Value.self
    ) throws(VerificationError) -> Value? {
        try claim(name, as: type) { try $0.decode(type, forKey: $1) }
    }

    // The same for the types that most claims have: the decoder's own methods for them take a third of the time.

    mutating func claim(_ name: String) throws(VerificationError) -> String? {
        try claim(name, as: String.self) { try $0.decode(String.self, forKey: $1) }
    }

    mutating func claim(_ name: String) throws(VerificationError) -> Int64? {
        try claim(name, as: Int64.self) { try $0.decode(Int64.self, forKey: $1) }
    }

    mutating func claim(_ name: String) throws(VerificationError) -> Double? {
        try claim(name, as: Double.self) { try $0.decode(Double.self, forKey: $1) }
    }

    mutating func claim(_ name: String) throws(VerificationError) -> Bool? {
        try claim(name, as: Bool.self) { try $0.decode(Bool.self, forKey: $1) }
    }

    @inline(__always)
    private mutating func claim<Value>(
        _ name: String, as type: Value.Type, _ decode: (KeyedDecodingContainer<ClaimName>, ClaimName) throws -> Value
    ) throws(VerificationError) -> Value? {
        let key = ClaimName(name)
        guard container.contains(key) else { return nil }
        read.append(name)
        do {
            return try decode(container, key)
        } catch {
            // Asked only now: each question looks the claim up again.
            if isNull(key) { return nil }
            if let error = error as? VerificationError { throw error }
            throw VerificationError(.claimsMalformed, expected: "\(name) as \(type)", found: "another type")
        }
    }

    /// A claim that only describes: of another type than expected, it stays among the others as it is.
    mutating func description<Value: Decodable>(_ name: String, _ type: Value.Type = Value.self) -> Value? {
        description(name) { try $0.decode(type, forKey: $1) }
    }

    mutating func description(_ name: String) -> String? {
        description(name) { try $0.decode(String.self, forKey: $1) }
    }

    mutating func description(_ name: String) -> Int64? {
        description(name) { try $0.decode(Int64.self, forKey: $1) }
    }

    @inline(__always)
    private mutating func description<Value>(
        _ name: String, _ decode: (KeyedDecodingContainer<ClaimName>, ClaimName) throws -> Value
    ) -> Value? {
        let key = ClaimName(name)
        guard container.contains(key) else { return nil }
        do {
            let value = try decode(container, key)
            read.append(name)
            return value
        } catch {
            if isNull(key) { read.append(name) }
            return nil
        }
    }

    private func isNull(_ key: ClaimName) -> Bool {
        do {
            return try container.decodeNil(forKey: key)
        } catch {
            return false
        }
    }

    /// A moment in milliseconds since 1970, whole from Apple and with a fraction from Xcode.
    mutating func date(_ name: String) throws(VerificationError) -> Timestamp? {
        guard let milliseconds: Double = try claim(name) else { return nil }
        guard let moment = Timestamp(signedMilliseconds: milliseconds) else {
            throw VerificationError(
                .claimsMalformed, expected: "milliseconds since 1970 as \(name)", found: "\(milliseconds)")
        }
        return moment
    }

    /// A value of an open set.
    mutating func open<Value: OpenValue>(
        _ name: String, _ type: Value.Type = Value.self
    ) throws(VerificationError) -> Value? where Value.RawValue == String {
        guard let raw: String = try claim(name) else { return nil }
        guard raw.isOpenValue else {
            throw VerificationError(
                .claimsMalformed,
                expected: "at most \(VerificationBudget.openValueBytes) ASCII characters as \(name)", found: raw)
        }
        return Value(rawValue: raw)
    }

    mutating func open<Value: OpenValue>(
        _ name: String, _ type: Value.Type = Value.self
    ) throws(VerificationError) -> Value? where Value.RawValue == Int64 {
        guard let raw: Int64 = try claim(name) else { return nil }
        return Value(rawValue: raw)
    }

    /// A value of an open set that only describes.
    mutating func openDescription<Value: OpenValue>(_ name: String, _ type: Value.Type = Value.self) -> Value?
    where Value.RawValue == String {
        guard let raw: String = description(name) else { return nil }
        guard raw.isOpenValue else {
            // It stays among the others.
            read.removeLast()
            return nil
        }
        return Value(rawValue: raw)
    }

    mutating func openDescription<Value: OpenValue>(_ name: String, _ type: Value.Type = Value.self) -> Value?
    where Value.RawValue == Int64 {
        guard let raw: Int64 = description(name) else { return nil }
        return Value(rawValue: raw)
    }

    /// The claims that were not read, as they are.
    func others() throws(VerificationError) -> [String: JSONValue] {
        let names = container.allKeys
        guard names.count > read.count else { return [:] }
        let known = Set(read)
        var others: [String: JSONValue] = [:]
        for name in names where !known.contains(name.stringValue) {
            do {
                others[name.stringValue] = try container.decode(JSONValue.self, forKey: name)
            } catch {
                throw VerificationError(.claimsMalformed, expected: "JSON", found: name.stringValue)
            }
        }
        return others
    }
}

extension String {
    /// Whether the text can be one of an open set, such as `DID_RENEW`. Being short and ASCII, it may be compared and hashed.
    fileprivate var isOpenValue: Bool {
        utf8.count <= VerificationBudget.openValueBytes && utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }
}

/// The name of a claim.
struct ClaimName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Timestamp {
    /// Rounded down to the millisecond; `nil` outside of the years that a claim may name. Dates before 1970 are no fault in
    /// themselves: Xcode writes one where there is no date, and no certificate was valid at any.
    init?(signedMilliseconds: Double) {
        guard signedMilliseconds >= Double(VerificationBudget.earliestMilliseconds),
            signedMilliseconds < Double(VerificationBudget.latestMilliseconds)
        else { return nil }
        self.init(millisecondsSince1970: Int64(signedMilliseconds.rounded(.down)))
    }
}
