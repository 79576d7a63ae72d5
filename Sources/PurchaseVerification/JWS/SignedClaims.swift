// The claims of signed payloads, whatever their kind.

/// The claims of one kind of signed data.
public protocol SignedClaims: AnyObject, Sendable {
    /// When Apple signed the data; the validity of its certificates is checked at this time.
    var signedDate: AppStoreTime? { get }
    /// Every claim that has no field.
    var otherClaims: [String: JSONValue] { get }
}

/// Signed data of one of the five kinds, told apart by claims that only one of them has.
enum AnySignedClaims: Sendable {
    case transaction(TransactionClaims)
    case renewalInfo(RenewalInfoClaims)
    case appTransaction(AppTransactionClaims)
    case notification(NotificationClaims)
    case realtimeRequest(RealtimeRequestClaims)

    /// - Throws: `claims_malformed`, `claims_unrecognized`.
    init(_ payload: [UInt8]) throws(VerificationError) {
        var reader = try ClaimReader(payload)
        self =
            switch try reader.kind {
            case .notification: .notification(try NotificationClaims(&reader))
            case .appTransaction: .appTransaction(try AppTransactionClaims(&reader))
            case .signedRenewalInfo: .renewalInfo(try RenewalInfoClaims(&reader))
            case .realtimeRequest: .realtimeRequest(try RealtimeRequestClaims(&reader))
            default: .transaction(try TransactionClaims(&reader))
            }
    }

    var kind: EvidenceKind {
        switch self {
        case .transaction: .signedTransaction
        case .renewalInfo: .signedRenewalInfo
        case .appTransaction: .appTransaction
        case .notification: .notification
        case .realtimeRequest: .realtimeRequest
        }
    }

    /// The stated signing date. An app transaction states it under another name.
    var signedDate: AppStoreTime? {
        switch self {
        case .transaction(let claims): claims.signedDate
        case .renewalInfo(let claims): claims.signedDate
        case .appTransaction(let claims): claims.creationDate ?? claims.signedDate
        case .notification(let claims): claims.signedDate
        case .realtimeRequest(let claims): claims.signedDate
        }
    }
}

extension EvidenceKind {
    /// The kind of signed data, by the names of its claims alone. Their values are not read, so it costs
    /// little before anything is verified.
    ///
    /// - Throws: `claims_malformed`, `claims_unrecognized`.
    init(signedPayload: [UInt8]) throws(VerificationError) { self = try ClaimReader(signedPayload).kind }
}

extension ClaimReader {
    /// Whether only a notification has these claims.
    fileprivate var isNotification: Bool { has("notificationType") || has("notificationUUID") }

    /// The kind whose distinguishing claims are present.
    fileprivate var kind: EvidenceKind {
        get throws(VerificationError) {
            if isNotification { return .notification }
            if has("receiptType") || has("receiptCreationDate") { return .appTransaction }
            if has("autoRenewStatus") || has("autoRenewProductId") { return .signedRenewalInfo }
            if has("bundleId") || has("transactionId") { return .signedTransaction }
            if has("userLocale"), has("requestIdentifier") { return .realtimeRequest }
            throw VerificationError(
                .claimsUnrecognized,
                expected: "a transaction, renewal info, an app transaction, a notification or a realtime request")
        }
    }
}

/// The only date that is read before the signature is checked. It is used only for the certificates.
struct SigningDate {
    let moment: AppStoreTime?

    /// Reads the date of a payload. A notification without one was signed no earlier than the latest of the signed
    /// payloads in it, which its own signature covers.
    init(_ payload: [UInt8]) throws(VerificationError) {
        var reader = try ClaimReader(payload)
        var moment = try reader.signingDate
        if moment == nil, reader.isNotification {
            for text in try reader.nestedTexts {
                var part = try ClaimReader(try CompactJWS(Array(text.utf8)).payload)
                moment = [moment, try part.signingDate].compactMap(\.self).max()
            }
        }
        self.moment = moment
    }
}

extension ClaimReader {
    /// The signing date that the payload itself states.
    fileprivate var signingDate: AppStoreTime? {
        mutating get throws(VerificationError) {
            if let creationDate = try date("receiptCreationDate") { return creationDate }
            return try date("signedDate")
        }
    }

    /// The signed payloads in the data of a notification.
    fileprivate var nestedTexts: [String] {
        mutating get throws(VerificationError) {
            var texts: [String] = []
            for place in ["data", "appData"] as [StaticString] {
                texts += try object(place) { data throws(VerificationError) in try data.signedTexts } ?? []
            }
            return texts
        }
    }

    private var signedTexts: [String] {
        mutating get throws(VerificationError) {
            var texts: [String] = []
            for name in ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"] as [StaticString] {
                if let text: String = try claim(name) { texts.append(text) }
            }
            return texts
        }
    }
}
