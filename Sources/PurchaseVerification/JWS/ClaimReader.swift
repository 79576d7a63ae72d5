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
    }

    /// Whether there is a claim of this name.
    func has(_ name: String) -> Bool { container.contains(ClaimName(name)) }

    /// A claim on which a check or a decision rests. It may be absent or `null`, but of no other type.
    mutating func claim<Value: Decodable>(
        _ name: String, _ type: Value.Type = Value.self
    ) throws(VerificationError) -> Value? {
        let key = ClaimName(name)
        guard container.contains(key) else { return nil }
        read.append(name)
        do {
            return try container.decodeIfPresent(type, forKey: key)
        } catch let error as VerificationError {
            throw error
        } catch {
            throw VerificationError(.claimsMalformed, expected: "\(name) as \(type)", found: "another type")
        }
    }

    /// A claim that only describes: of another type than expected, it stays among the others as it is.
    mutating func description<Value: Decodable>(_ name: String, _ type: Value.Type = Value.self) -> Value? {
        let key = ClaimName(name)
        guard container.contains(key) else { return nil }
        do {
            let value = try container.decodeIfPresent(type, forKey: key)
            read.append(name)
            return value
        } catch {
            return nil
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
    ) throws(VerificationError) -> Value? where Value.RawValue: Decodable {
        guard let raw: Value.RawValue = try claim(name) else { return nil }
        return Value(rawValue: raw)
    }

    /// A value of an open set that only describes.
    mutating func openDescription<Value: OpenValue>(_ name: String, _ type: Value.Type = Value.self) -> Value?
    where Value.RawValue: Decodable {
        guard let raw: Value.RawValue = description(name) else { return nil }
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

/// The name of a claim.
struct ClaimName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Timestamp {
    /// Rounded down to the millisecond; `nil` for what is no moment between the years 1970 and 9999.
    init?(signedMilliseconds: Double) {
        guard signedMilliseconds >= 0, signedMilliseconds < Double(VerificationBudget.latestMilliseconds) else {
            return nil
        }
        self.init(millisecondsSince1970: Int64(signedMilliseconds))
    }
}
