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
        if reader.has("notificationType") || reader.has("notificationUUID") {
            self = .notification(try NotificationClaims(&reader))
        } else if reader.has("receiptType") || reader.has("receiptCreationDate") {
            self = .appTransaction(try AppTransactionClaims(&reader))
        } else if reader.has("autoRenewStatus") || reader.has("autoRenewProductId") {
            self = .renewalInfo(try RenewalInfoClaims(&reader))
        } else if reader.has("bundleId") || reader.has("transactionId") {
            self = .transaction(try TransactionClaims(&reader))
        } else {
            throw VerificationError(
                .claimsUnrecognized, expected: "a transaction, renewal info, an app transaction or a notification")
        }
    }
}

/// The one date that is read before the signature is checked, and used for the certificates alone.
struct SigningDate: Decodable {
    let moment: Timestamp?

    init(_ payload: [UInt8]) throws(VerificationError) {
        self = try decodeJSON(SigningDate.self, payload)
    }

    init(from decoder: any Decoder) throws {
        var reader = try ClaimReader(decoder)
        let creationDate = try reader.date("receiptCreationDate")
        moment = if let creationDate { creationDate } else { try reader.date("signedDate") }
    }
}

/// Decoders keep nothing between two calls.
private let decoder = JSONDecoder()

/// Decodes JSON, with one error for all that can be wrong with it.
private func decodeJSON<Value: Decodable>(_ type: Value.Type, _ json: [UInt8]) throws(VerificationError) -> Value {
    do {
        return try decoder.decode(type, from: Data(json))
    } catch let error as VerificationError {
        throw error
    } catch {
        throw VerificationError(.claimsMalformed, expected: "a JSON object")
    }
}
