import EvidenceMint
import Foundation

/// A request to the App Store Server API, read from HTTP.
struct ServerAPIRequest: Sendable {
    let operation: ServerAPIOperation
    let environment: StoreEnvironment
    /// The header `Authorization`.
    let authorization: String?
    /// The variable parts of the path, in order.
    var path: [String]
    /// The query, with repeated keys.
    let query: [(name: String, value: String)]
    let contentType: String?
    let body: [UInt8]

    /// The values of a key of the query.
    func values(_ name: String) -> [String] {
        query.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
    }

    /// The only value of a key; the last one if it is repeated.
    func value(_ name: String) -> String? { values(name).last }

    /// The JSON object of the body.
    /// - Throws: 4000000 for anything else.
    func object() throws -> APIObject {
        guard contentType?.split(separator: ";").first.map({ $0.lowercased() == "application/json" }) == true,
            let object = APIObject(body)
        else { throw ServerAPIFailure.generalBadRequest }
        return object
    }
}
