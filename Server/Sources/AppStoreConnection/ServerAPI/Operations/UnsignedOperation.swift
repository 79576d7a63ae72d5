/// A call whose answer Apple does not sign and this library does not read: a row of `UnsignedCall` with its
/// identifiers. Where Apple answers with JSON, it is the `body` of the answer.
///
///     try await client.call(UnsignedOperation(.getSeats, "2000000000000001"), for: app)
public struct UnsignedOperation: AppStoreServerOperation {
    public typealias Answer = Void

    public let call: UnsignedCall
    public private(set) var request: AppStoreServerRequest

    /// - Parameters:
    ///   - call: the row.
    ///   - identifiers: the parts of the path that the row leaves open, in their order.
    ///   - query: the query.
    ///   - body: the body, for an image.
    public init(
        _ call: UnsignedCall, _ identifiers: String..., query: [(name: String, value: String)] = [],
        body: AppStoreServerRequest.Body? = nil
    ) {
        self.call = call
        request = AppStoreServerRequest(call.row.method, call.path(identifiers))
        (request.query, request.body) = (query, body)
    }

    /// A call with a JSON body.
    public init(_ call: UnsignedCall, _ identifiers: String..., json: some Encodable) {
        self.call = call
        request = AppStoreServerRequest(call.row.method, call.path(identifiers), json: json)
    }

    public var terms: AppStoreServerTerms { call.row.terms(named: call.name) }
}

/// Apple's calls without signed answers, each a row: the method, the path, the calls of one app in a second in
/// production, where it can be called, and whether it may be made again if its outcome is unknown. For groups and seats
/// Apple states no limit; 1 is the smallest of the others.
public enum UnsignedCall: String, Sendable, CaseIterable {
    case finishTransaction, setAppAccountToken, sendConsumption, sendConsumptionV1
    /// The External Purchase Server API; Apple states no limit. A report that is sent twice is an error.
    case sendExternalReport, getExternalReport
    case extendAllRenewalDates, getExtensionStatus
    case getCurrentGroups, getGroupMembers, getSeats, claimSeat, associateSeat, unclaimSeat
    case uploadImage, deleteImage, listImages, uploadMessage, deleteMessage, listMessages
    case setDefaultMessage, getDefaultMessage, deleteDefaultMessage
    case setRealtimeURL, getRealtimeURL, deleteRealtimeURL, startPerformanceTest, getPerformanceTest

    struct Row {
        let method: AppStoreServerRequest.Method
        /// With `{}` for each identifier.
        let path: String
        let callsPerSecond: Double
        let place: AppStoreServerPlace
        let isRepeatable: Bool

        init(
            _ method: AppStoreServerRequest.Method, _ path: String, _ callsPerSecond: Double,
            _ place: AppStoreServerPlace, isRepeatable: Bool = true
        ) {
            (self.method, self.path, self.callsPerSecond) = (method, path, callsPerSecond)
            (self.place, self.isRepeatable) = (place, isRepeatable)
        }

        func terms(named name: String) -> AppStoreServerTerms {
            AppStoreServerTerms(name: name, callsPerSecond: callsPerSecond, place: place, isRepeatable: isRepeatable)
        }
    }

    var row: Row {
        switch self {
        case .finishTransaction: Row(.post, "inApps/v1/transactions/{}/finish", 50, .environmentOfID)
        case .setAppAccountToken: Row(.put, "inApps/v1/transactions/{}/appAccountToken", 20, .environmentOfID)
        case .sendConsumption: Row(.put, "inApps/v2/transactions/consumption/{}", 50, .environmentOfID)
        case .sendConsumptionV1: Row(.put, "inApps/v1/transactions/consumption/{}", 50, .environmentOfID)
        case .sendExternalReport: Row(.put, "externalPurchase/v1/reports", 1, .anyEnvironment, isRepeatable: false)
        case .getExternalReport: Row(.get, "externalPurchase/v1/reports/{}", 1, .anyEnvironment)
        case .extendAllRenewalDates: Row(.post, "inApps/v1/subscriptions/extend/mass", 1, .anyEnvironment)
        case .getExtensionStatus: Row(.get, "inApps/v1/subscriptions/extend/mass/{}/{}", 1, .anyEnvironment)
        case .getCurrentGroups: Row(.get, "groups/v1/currentGroups/{}", 1, .ofGroups)
        case .getGroupMembers: Row(.get, "groups/v1/group/{}", 1, .ofGroups)
        case .getSeats: Row(.get, "groups/v1/transactions/{}/seats", 1, .ofGroups)
        case .claimSeat: Row(.post, "groups/v1/transactions/{}/seats", 1, .ofGroups)
        case .associateSeat: Row(.post, "groups/v1/transactions/{}/seats/{}/associate", 1, .ofGroups)
        case .unclaimSeat: Row(.delete, "groups/v1/transactions/{}/seats/{}", 1, .ofGroups)
        case .uploadImage: Row(.put, "inApps/v1/messaging/image/{}", 1, .anyEnvironment, isRepeatable: false)
        case .deleteImage: Row(.delete, "inApps/v1/messaging/image/{}", 1, .anyEnvironment)
        case .listImages: Row(.get, "inApps/v1/messaging/image/list", 1, .anyEnvironment)
        case .uploadMessage: Row(.put, "inApps/v1/messaging/message/{}", 1, .anyEnvironment, isRepeatable: false)
        case .deleteMessage: Row(.delete, "inApps/v1/messaging/message/{}", 1, .anyEnvironment)
        case .listMessages: Row(.get, "inApps/v1/messaging/message/list", 1, .anyEnvironment)
        case .setDefaultMessage: Row(.put, "inApps/v1/messaging/default/{}/{}", 10, .anyEnvironment)
        case .getDefaultMessage: Row(.get, "inApps/v1/messaging/default/{}/{}", 1, .anyEnvironment)
        case .deleteDefaultMessage: Row(.delete, "inApps/v1/messaging/default/{}/{}", 1, .anyEnvironment)
        case .setRealtimeURL: Row(.put, "inApps/v1/messaging/realtime/url", 1, .anyEnvironment)
        case .getRealtimeURL: Row(.get, "inApps/v1/messaging/realtime/url", 1, .anyEnvironment)
        case .deleteRealtimeURL: Row(.delete, "inApps/v1/messaging/realtime/url", 1, .anyEnvironment)
        case .startPerformanceTest:
            Row(.post, "inApps/v1/messaging/performanceTest", 1, .only(.sandbox), isRepeatable: false)
        case .getPerformanceTest: Row(.get, "inApps/v1/messaging/performanceTest/result/{}", 1, .only(.sandbox))
        }
    }

    /// The name in metrics, like that of a type.
    var name: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// The path with the identifiers in place of `{}`.
    func path(_ identifiers: [String]) -> [String] {
        var rest = identifiers[...]
        return row.path.split(separator: "/").map { $0 == "{}" ? rest.popFirst() ?? "" : String($0) }
    }
}
