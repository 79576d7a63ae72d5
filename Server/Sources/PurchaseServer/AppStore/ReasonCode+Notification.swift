import PurchaseVerification

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
