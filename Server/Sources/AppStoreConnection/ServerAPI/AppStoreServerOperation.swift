/// A call of the App Store Server API: its request, its limit, and how its answer is read.
///
/// The library has a type for each operation of Apple. A caller can add one that Apple adds later.
public protocol AppStoreServerOperation: Sendable {
    associatedtype Answer: Sendable

    /// The calls of one app in a second in production; the sandbox allows a tenth of it.
    static var callsPerSecond: Double { get }
    /// Where it can be called.
    static var place: AppStoreServerPlace { get }
    /// Whether a call may be made again if its outcome is unknown.
    static var isRepeatable: Bool { get }

    /// What is said above, and the name; a row of a table states them itself.
    var terms: AppStoreServerTerms { get }

    var request: AppStoreServerRequest { get }

    /// Reads an answer, and verifies everything in it that Apple signed.
    ///
    /// - Throws: `AppStoreServerReplyFault` for an answer that is not believed.
    func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> Answer
}

extension AppStoreServerOperation {
    public static var callsPerSecond: Double { 50 }
    public static var place: AppStoreServerPlace { .environmentOfID }
    public static var isRepeatable: Bool { true }

    public var terms: AppStoreServerTerms {
        AppStoreServerTerms(
            name: "\(Self.self)", callsPerSecond: Self.callsPerSecond, place: Self.place,
            isRepeatable: Self.isRepeatable)
    }
}

/// How an operation may be called.
public struct AppStoreServerTerms: Sendable {
    /// The name in metrics: one of this version's operations.
    public let name: String
    /// The calls of one app in a second in production.
    public let callsPerSecond: Double
    public let place: AppStoreServerPlace
    /// Whether a call may be made again if its outcome is unknown.
    public let isRepeatable: Bool
}

extension AppStoreServerOperation where Answer == Void {
    /// Apple answers without a body. A page that a proxy sent in place of the answer confirms nothing.
    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) { try reply.requireNoPage() }
}

/// The environments in which an operation can be called.
public enum AppStoreServerPlace: Sendable, Equatable {
    /// The operation names a transaction or the like, which one of the environments knows: production is asked first,
    /// then the sandbox.
    case environmentOfID
    /// The operation has an effect or an answer in each environment: production, unless the caller names another.
    case anyEnvironment
    /// Only one environment has the operation.
    case only(ValidationEnvironment)
    /// The operation is about groups and seats, which only the environments of the settings have; of both, it is looked
    /// for as by `environmentOfID`.
    case ofGroups
}
