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

    // A value of a type; nil if the member is absent or null. They throw the failure for any other type.

    func string(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> String? {
        try value(name, or: failure) { if case .string(let value) = $0 { value } else { nil } }
    }

    /// A whole number.
    func integer(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Int64? {
        try value(name, or: failure) { if case .integer(let value) = $0 { value } else { nil } }
    }

    func boolean(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Bool? {
        try value(name, or: failure) { if case .boolean(let value) = $0 { value } else { nil } }
    }

    func strings(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> [String]? {
        try value(name, or: failure) { value in
            guard case .array(let members) = value else { return nil }
            let texts = members.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == members.count ? texts : nil
        }
    }

    private func value<Wanted>(
        _ name: String, or failure: ServerAPIFailure, _ read: (Value) -> Wanted?
    ) throws(ServerAPIFailure) -> Wanted? {
        guard has(name), let member = members[name] else { return nil }
        guard let value = read(member) else { throw failure }
        return value
    }
}
