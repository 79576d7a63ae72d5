import EvidenceMint
import Foundation
import PurchaseAPI

/// A JSON object from outside, whose members are read with exact types.
struct APIObject: Sendable {
    private let members: [String: Value]

    /// A JSON value.
    private enum Value: Decodable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case string(String)
        case array([Value])
        case object([String: Value])
        /// A number with a fraction, or a greater one.
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .integer(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Value].self) {
                self = .array(value)
            } else if let value = try? container.decode([String: Value].self) {
                self = .object(value)
            } else {
                self = .other
            }
        }
    }

    private init(members: [String: Value]) {
        self.members = members
    }

    /// - Returns: nil if the text is not an object, or exceeds the limits of the simulator.
    init?(_ json: some Sequence<UInt8>) {
        let bytes = Array(json)
        do {
            try WrittenJSON.checkLimits(of: bytes)
            members = try JSONDecoder().decode([String: Value].self, from: Data(bytes))
        } catch {
            return nil
        }
    }

    var names: [String] { Array(members.keys) }

    /// Whether the object has the member with a value other than null.
    func has(_ name: String) -> Bool {
        switch members[name] {
        case nil, .null: false
        default: true
        }
    }

    /// A text; nil if the member is absent or null.
    /// - Throws: the failure for any other type.
    func string(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> String? {
        guard has(name) else { return nil }
        guard case .string(let value) = members[name] else { throw failure }
        return value
    }

    /// A whole number; nil if the member is absent or null.
    /// - Throws: the failure for any other type.
    func integer(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Int64? {
        guard has(name) else { return nil }
        guard case .integer(let value) = members[name] else { throw failure }
        return value
    }

    /// A Boolean; nil if the member is absent or null.
    /// - Throws: the failure for any other type.
    func boolean(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Bool? {
        guard has(name) else { return nil }
        guard case .boolean(let value) = members[name] else { throw failure }
        return value
    }

    /// An array of texts; nil if the member is absent or null.
    /// - Throws: the failure for any other type.
    func strings(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> [String]? {
        guard has(name) else { return nil }
        guard case .array(let values) = members[name] else { throw failure }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw failure }
            texts.append(text)
        }
        return texts
    }

    /// An object; nil if the member is absent or null.
    /// - Throws: the failure for any other type.
    func object(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> APIObject? {
        guard has(name) else { return nil }
        guard case .object(let value) = members[name] else { throw failure }
        return APIObject(members: value)
    }

    /// An array of objects; nil if the member is absent or null.
    /// - Throws: the failure for any other type.
    func objects(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> [APIObject]? {
        guard has(name) else { return nil }
        guard case .array(let values) = members[name] else { throw failure }
        var objects: [APIObject] = []
        for value in values {
            guard case .object(let object) = value else { throw failure }
            objects.append(APIObject(members: object))
        }
        return objects
    }
}
