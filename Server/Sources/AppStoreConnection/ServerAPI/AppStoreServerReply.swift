import Foundation
public import PurchaseVerification

/// A reply of the App Store Server API, with what is needed to verify it.
public struct AppStoreServerReply: Sendable {
    /// The environment that was asked.
    public let environment: ValidationEnvironment
    /// The app on whose behalf it was asked.
    public let app: AppStoreServerApp
    public let body: [UInt8]
    /// When it was received.
    let receivedAt: AppStoreTime
    /// How long ago its data may have been signed, in milliseconds.
    let freshness: Int64

    /// Decodes the reply.
    public func decoded<Value: Decodable>(_ type: Value.Type) throws(AppStoreServerReplyFault) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw .unreadable(Self.words(error))
        }
    }

    /// Verifies a transaction: Apple's signature, the app, the environment, and that it was signed just now.
    public func transaction(_ text: String) throws(AppStoreServerReplyFault) -> TransactionJWS {
        guard case .signedTransaction(let content) = try verified(text, [bundle]) else {
            throw .otherAnswer(expected: "a signed transaction", found: "another kind of signed data")
        }
        try requireFresh(content.signedDate)
        return VerifiedJWS(text, content)
    }

    /// Verifies renewal info. It names no app: the transaction beside it does.
    public func renewalInfo(_ text: String) throws(AppStoreServerReplyFault) -> RenewalInfoJWS {
        guard case .signedRenewalInfo(let content) = try verified(text, []) else {
            throw .otherAnswer(expected: "signed renewal info", found: "another kind of signed data")
        }
        try requireFresh(content.signedDate)
        return VerifiedJWS(text, content)
    }

    /// Verifies an app transaction.
    public func appTransaction(
        _ text: String
    ) throws(AppStoreServerReplyFault) -> VerifiedJWS<SignedAppTransaction> {
        guard case .appTransaction(let content) = try verified(text, [bundle]) else {
            throw .otherAnswer(expected: "a signed app transaction", found: "another kind of signed data")
        }
        try requireFresh(content.creationDate ?? content.signedDate)
        return VerifiedJWS(text, content)
    }

    /// Verifies a notification. It is shown as it was signed when it was first sent.
    public func notification(
        _ text: String
    ) throws(AppStoreServerReplyFault) -> VerifiedJWS<AppStoreNotification> {
        guard case .notification(let content) = try verified(text, [bundle]) else {
            throw .otherAnswer(expected: "a notification", found: "another kind of signed data")
        }
        return VerifiedJWS(text, content)
    }

    /// Checks the fields of an answer that Apple does not sign. Absent ones say nothing.
    func require(bundleID: String?, environment name: String?) throws(AppStoreServerReplyFault) {
        if let bundleID, bundleID != app.bundleID {
            throw .otherAnswer(expected: "the app \(app.bundleID)", found: "the app \(bundleID.prefix(200))")
        }
        if let name, name != environment.rawValue {
            throw .otherAnswer(expected: environment.rawValue, found: "\(name.prefix(200))")
        }
    }

    /// The most entries of an answer: Apple's pages have 20, its longest list 50, and each costs two signature checks.
    static let mostEntries = 500

    /// Refuses an answer with more entries, before any is verified.
    func require(entries count: Int) throws(AppStoreServerReplyFault) {
        guard count <= Self.mostEntries else {
            throw .unreadable("\(count) entries, and an answer has at most \(Self.mostEntries)")
        }
    }

    /// Refuses a body that is neither empty nor an object.
    func requireNoPage() throws(AppStoreServerReplyFault) {
        let first = body.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        guard first == nil || first == UInt8(ascii: "{") else {
            throw .unreadable("the reply has a body that is not JSON of this operation")
        }
    }

    private var bundle: any PurchasePolicy { BundleIDPolicy(app.bundleID) }

    private func verified(
        _ text: String, _ policies: [any PurchasePolicy]
    ) throws(AppStoreServerReplyFault) -> VerifiedEvidence {
        let environment = EnvironmentPolicy(accepting: [AppStoreEnvironment(environment.rawValue)])
        do {
            return try app.verifier.verify(Array(text.utf8), policies: policies + [environment])
        } catch {
            throw .unverified(error.at(receivedAt))
        }
    }

    private func requireFresh(_ signedAt: AppStoreTime?) throws(AppStoreServerReplyFault) {
        guard let signedAt,
            receivedAt.millisecondsSince1970 - signedAt.millisecondsSince1970 <= freshness
        else { throw .oldAnswer(signedAt: signedAt) }
    }

    private static func words(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "the reply is not JSON" }
        func at(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case .keyNotFound(let key, let context): "no \(at(context.codingPath + [key]))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(at(context.codingPath)) has the wrong type"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty: "\(at(context.codingPath)) is malformed"
        default: "the reply is not JSON of this operation"
        }
    }
}

/// The reason why an answer is not believed.
public enum AppStoreServerReplyFault: Error, Sendable {
    /// It is not JSON of the operation.
    case unreadable(String)
    /// Signed data in it does not verify, or is of another app or environment.
    case unverified(VerificationError)
    /// It is genuine, and about something else than what was asked.
    case otherAnswer(expected: String, found: String)
    /// Apple signed it long before it was asked for.
    case oldAnswer(signedAt: AppStoreTime?)
}
