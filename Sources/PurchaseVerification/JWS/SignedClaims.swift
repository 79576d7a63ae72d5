#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The claims of one kind of signed data.
public protocol SignedClaims: AnyObject, Sendable {
    /// When Apple signed the data; its certificates are judged at this moment.
    var signedDate: Timestamp? { get }
    /// Every claim without a field of its own.
    var otherClaims: [String: JSONValue] { get }
}

/// Signed data of one of the four kinds, told apart by claims that only one of them has.
enum AnySignedClaims: Sendable {
    case transaction(TransactionClaims)
    case renewalInfo(RenewalInfoClaims)
    case appTransaction(AppTransactionClaims)
    case notification(NotificationClaims)

    /// - Throws: `claims_malformed`, `claims_unrecognized`.
    init(_ payload: [UInt8]) throws(VerificationError) {
        self = try decodeJSON(AnySignedClaims.self, payload)
    }

    var kind: EvidenceKind {
        switch self {
        case .transaction: .signedTransaction
        case .renewalInfo: .signedRenewalInfo
        case .appTransaction: .appTransaction
        case .notification: .notification
        }
    }

    /// When the data says it was signed. An app transaction says so by another name.
    var signedDate: Timestamp? {
        switch self {
        case .transaction(let claims): claims.signedDate
        case .renewalInfo(let claims): claims.signedDate
        case .appTransaction(let claims): claims.receiptCreationDate ?? claims.signedDate
        case .notification(let claims): claims.signedDate
        }
    }
}

extension AnySignedClaims: Decodable {
    init(from decoder: any Decoder) throws {
        var reader = try ClaimReader(decoder)
        switch try reader.kind {
        case .notification: self = .notification(try NotificationClaims(&reader))
        case .appTransaction: self = .appTransaction(try AppTransactionClaims(&reader))
        case .renewalInfo: self = .renewalInfo(try RenewalInfoClaims(&reader))
        case .transaction: self = .transaction(try TransactionClaims(&reader))
        }
    }
}

/// Which of the four kinds it is, told by the names of its claims alone: their values are not looked at, so it costs little
/// before anything is verified.
struct SignedPayloadKind: Decodable {
    let kind: EvidenceKind

    /// - Throws: `claims_malformed`, `claims_unrecognized`.
    init(_ payload: [UInt8]) throws(VerificationError) {
        self = try decodeJSON(SignedPayloadKind.self, payload)
    }

    init(from decoder: any Decoder) throws {
        switch try ClaimReader(decoder).kind {
        case .notification: kind = .notification
        case .appTransaction: kind = .appTransaction
        case .renewalInfo: kind = .signedRenewalInfo
        case .transaction: kind = .signedTransaction
        }
    }
}

extension ClaimReader {
    fileprivate enum Kind {
        case transaction
        case renewalInfo
        case appTransaction
        case notification
    }

    /// Whether only a notification has these claims.
    fileprivate var isNotification: Bool { has("notificationType") || has("notificationUUID") }

    /// The kind whose own claims are there.
    fileprivate var kind: Kind {
        get throws(VerificationError) {
            if isNotification { return .notification }
            if has("receiptType") || has("receiptCreationDate") { return .appTransaction }
            if has("autoRenewStatus") || has("autoRenewProductId") { return .renewalInfo }
            if has("bundleId") || has("transactionId") { return .transaction }
            throw VerificationError(
                .claimsUnrecognized, expected: "a transaction, renewal info, an app transaction or a notification")
        }
    }
}

/// The one date that is read before the signature is checked, and used for the certificates alone.
struct SigningDate {
    let moment: Timestamp?

    /// Reads the date of a payload. A notification without one was signed no earlier than the latest of the signed payloads in it,
    /// which its own signature covers.
    init(_ payload: [UInt8]) throws(VerificationError) {
        let dates = try decodeJSON(SigningDates.self, payload)
        var moment = dates.own
        for text in dates.nested {
            let part = try decodeJSON(SigningDates.self, try CompactJWS(Array(text.utf8)).payload)
            moment = [moment, part.own].compactMap(\.self).max()
        }
        self.moment = moment
    }
}

/// The date of a payload, or, where an undated notification has none, the signed payloads that have.
private struct SigningDates: Decodable {
    let own: Timestamp?
    private(set) var nested: [String] = []

    init(from decoder: any Decoder) throws {
        var reader = try ClaimReader(decoder)
        let creationDate = try reader.date("receiptCreationDate")
        own = if let creationDate { creationDate } else { try reader.date("signedDate") }
        guard own == nil, reader.isNotification else { return }
        let data = try reader.claim("data", NestedTexts.self)
        let appData = try reader.claim("appData", NestedTexts.self)
        nested = [data, appData].flatMap { $0?.texts ?? [] }
    }
}

/// The signed payloads in the data of a notification.
private struct NestedTexts: Decodable {
    let texts: [String]

    init(from decoder: any Decoder) throws {
        var reader = try ClaimReader(decoder)
        texts = try [
            reader.claim("signedTransactionInfo"), reader.claim("signedRenewalInfo"),
            reader.claim("signedAppTransactionInfo"),
        ].compactMap(\.self)
    }
}

/// Decoders keep nothing between two calls.
private let decoder = JSONDecoder()

/// Decodes JSON, with one error for all that can be wrong with it.
private func decodeJSON<Value: Decodable>(_ type: Value.Type, _ json: [UInt8]) throws(VerificationError) -> Value {
    if let excess = JSONBounds.excess(of: json) {
        throw VerificationError(.claimsMalformed, expected: excess)
    }
    do {
        return try decoder.decode(type, from: Data(json))
    } catch let error as VerificationError {
        throw error
    } catch {
        throw VerificationError(.claimsMalformed, expected: "a JSON object")
    }
}
