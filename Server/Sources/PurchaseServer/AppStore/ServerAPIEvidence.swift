package import AppStoreConnection
import Logging
package import PurchaseLedger
import PurchaseVerification

/// Records what the App Store Server API answers: through the same path as any other evidence.
package struct ServerAPIEvidence: Sendable {
    /// The source of the entries.
    package static let source = "app_store_server_api"

    private let ledger: PurchaseLedger
    private let workers: WorkerPool

    package init(_ ledger: PurchaseLedger, _ workers: WorkerPool) {
        (self.ledger, self.workers) = (ledger, workers)
    }

    /// Observes signed transactions and renewal info, without a claim.
    ///
    /// - Parameters:
    ///   - texts: compact JWS that the client has verified. The ledger verifies them again, under its own settings.
    ///   - app: the app of the settings.
    package func observe(_ texts: [String], app: String) async throws {
        for text in texts {
            let submission = EvidenceSubmission(app: app, source: Self.source, evidence: Array(text.utf8))
            let examined = try await workers.run { [ledger] in ledger.examine(submission) }
            _ = try await ledger.perform(ObserveEvidence(examined))
        }
    }

    /// Receives a notification as if Apple had just delivered it. One that was received before changes nothing.
    ///
    package func receive(_ sent: SentNotification, app: String) async throws -> Reception {
        let submission = EvidenceSubmission(sentNotification: Array(sent.text.utf8))
        let examined = try await workers.run { [ledger] in
            Result { () throws(VerificationError) in try ledger.genuine(submission) }
        }
        switch examined {
        case .failure(let error): return error.code.refusesNotificationForGood ? .refused : .undecided
        case .success(let examined):
            guard examined.isNotification, examined.isOfAppleID, examined.observer == app else { return .refused }
            return try await ledger.perform(ObserveEvidence(examined)).isRepeated ? .known : .new
        }
    }

    /// What became of a notification.
    package enum Reception: Sendable {
        case new, known
        /// It is malformed, forged or of another app.
        case refused
        /// Its certificates lead to no trusted authority, or this version cannot read its form: that can change.
        case undecided
    }
}

extension ReasonCode {
    /// Whether a notification with this error is malformed or forged, whatever changes at Apple or in this version.
    var refusesNotificationForGood: Bool {
        switch self {
        // Signed by a known key, and not of a form that this version reads: a newer version may.
        case .claimsMalformed, .claimsUnrecognized, .certificateAlgorithmUnsupported, .publicKeyUnacceptable,
            .criticalExtensionUnknown, .jwsAlgorithmUnsupported, .jwsHeaderUnsupported,
            .jwsCertificateCountUnsupported, .pathTooLong, .pathBudgetExceeded, .issuerUnknown,
            .environmentNotVouchedFor, .certificateJustExpired:
            false
        default: true
        }
    }

    /// Whether the certificates lead to no authority that this server trusts, as after a change of Apple's
    /// certificates.
    var isOfUnknownIssuer: Bool { self == .issuerUnknown }
}
