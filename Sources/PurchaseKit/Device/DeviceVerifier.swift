public import Foundation
import PurchaseMessages
public import PurchaseVerification

/// The checks on the device, without network: container, Apple's signature, bundle id, version, device, transaction.
public struct DeviceVerifier: Sendable {
    private let verifier: PurchaseVerifier
    private let app: AppIdentity
    private let device: any DeviceIdentity

    /// - Parameters:
    ///   - app: the app.
    ///   - device: names this device.
    ///   - anchors: certificates to trust. Others than Apple's belong into test builds.
    public init(app: AppIdentity, device: any DeviceIdentity, anchors: [TrustAnchor] = TrustAnchor.apple) {
        (self.app, self.device, verifier) = (app, device, PurchaseVerifier(anchors: anchors))
    }

    public enum Verdict: Sendable {
        case verified(VerifiedEvidence)
        /// A signature is wrong: Apple did not sign these bytes.
        case forged(PurchaseError)
        /// It may be genuine, but does not prove the purchase on this device now; newer evidence may.
        case undetermined(PurchaseError)

        func get() throws -> VerifiedEvidence {
            switch self {
            case .verified(let evidence): return evidence
            case .forged(let error), .undetermined(let error): throw error
            }
        }
    }

    /// Checks evidence, and that it proves a transaction.
    ///
    /// - Parameters:
    ///   - evidence: the evidence.
    ///   - transaction: the transaction; `nil` to check the evidence alone, as at the launch of a Mac app.
    ///   - isVerifiedByStoreKit: whether StoreKit verified signed evidence that is checked alone.
    public func verify(
        _ evidence: PurchaseEvidence, proves transaction: PaymentTransaction?, isVerifiedByStoreKit: Bool = false
    ) async -> Verdict {
        let verified: VerifiedEvidence
        do throws(VerificationError) {
            verified = try verifier.verify(
                evidence.bytes,
                policies: [EnvironmentPolicy(accepting: app.environments), BundleIDPolicy(app.bundleID)])
            // Only the app receipt is made again for each version of the app. A transaction receipt keeps the version
            // of the purchase, and signed transactions have none.
            if case .appReceipt(let receipt) = verified { try ApplicationVersionPolicy(app.version).check(receipt) }
        } catch {
            return Self.verdict(error)
        }
        let isVouchedFor =
            transaction.map { $0.signedTransaction != nil && $0.isVerifiedByStoreKit } ?? isVerifiedByStoreKit
        if let error = await deviceError(verified, isVouchedFor: isVouchedFor) { return .undetermined(error) }
        if let error = transaction.flatMap({ Self.error(of: $0, in: verified) }) {
            return .undetermined(error)
        }
        return .verified(verified)
    }

    /// What signed renewal info says about a subscription; `nil` if it is about another one, or does not verify.
    func renewal(_ renewalInfo: String, of originalTransactionID: String?) -> PurchaseRenewal? {
        let verified = try? verifier.verify(
            Array(renewalInfo.utf8), policies: [EnvironmentPolicy(accepting: app.environments)])
        guard case .signedRenewalInfo(let info) = verified, let original = info.originalTransactionID,
            original.isSame(as: originalTransactionID)
        else { return nil }
        return PurchaseRenewal(info)
    }

    /// Only a wrong signature is a forgery. Everything else may be a cut copy, a setting of this app, or a change at
    /// Apple, which must not cost a customer what they paid for.
    private static func verdict(_ error: VerificationError) -> Verdict {
        switch error.code {
        case .evidenceEmpty: .undetermined(PurchaseError(.receiptMissing))
        case .signatureInvalid, .messageDigestMismatch, .certificateSignatureInvalid: .forged(PurchaseError(error))
        default: .undetermined(PurchaseError(error))
        }
    }

    /// Why the evidence is not for this device; `nil` if it is.
    private func deviceError(
        _ evidence: VerifiedEvidence, isVouchedFor: Bool
    ) async -> PurchaseError? {
        let candidates: [DeviceIdentifier]
        switch evidence {
        case .appReceipt, .transactionReceipt:
            candidates = await device.receiptIdentifiers()
            if candidates.isEmpty { return PurchaseError(.deviceUnknown) }
        default: candidates = await device.deviceVerificationID().map { [$0] } ?? []
        }
        // `AppStore.deviceVerificationID` is `nil` for some customers for good; StoreKit has compared the device by
        // then.
        if candidates.isEmpty, isVouchedFor { return nil }
        var last = PurchaseError(.deviceUnknown)
        for candidate in candidates {
            do throws(VerificationError) {
                try evidence.facts.requireDevice(candidate)
                return nil
            } catch {
                last = PurchaseError(error)
            }
        }
        return last
    }

    /// Distinguishes two errors: the receipt does not contain this purchase yet, or the purchase is of another product.
    private static func error(of transaction: PaymentTransaction, in evidence: VerifiedEvidence) -> PurchaseError? {
        guard let found = evidence.facts(proving: transaction) else {
            return PurchaseError(
                .transactionNotInEvidence, expected: "transaction \(transaction.transactionID ?? "")",
                found: "\(evidence.facts.transactions.count) others")
        }
        guard transaction.productID.isSame(as: found.productID) else {
            return PurchaseError(.productMismatch, expected: transaction.productID, found: found.productID)
        }
        return nil
    }
}

/// The app, in values that are compiled into it: `Info.plist` can be changed on the device together with the receipt.
public struct AppIdentity: Sendable {
    public let bundleID: String
    /// The version in receipts: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on the Mac.
    public let version: String
    /// The accepted environments, as signed bytes state them. Xcode's evidence verifies only with an added anchor.
    public let environments: Set<AppStoreEnvironment>

    /// - Parameters:
    ///   - bundleID: the bundle id, as a literal.
    ///   - version: the version, as a literal: `CFBundleVersion` on iOS, `CFBundleShortVersionString` on the Mac.
    ///   - environments: the accepted environments. TestFlight is `sandbox`.
    public init(
        bundleID: String, version: String, environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    ) {
        (self.bundleID, self.version, self.environments) = (bundleID, version, environments)
    }
}

/// The evidence that proves a purchase to the server.
public enum PurchaseEvidence: Sendable, Codable, Equatable {
    /// A signed transaction of StoreKit 2; preferred in the original API, too: the receipt on the disk is behind.
    case signedTransaction(String)
    case appReceipt(Data)
    /// The receipt of one transaction, on systems without an app receipt.
    case transactionReceipt(Data)

    var bytes: [UInt8] {
        switch self {
        case .signedTransaction(let text): Array(text.utf8)
        case .appReceipt(let data), .transactionReceipt(let data): [UInt8](data)
        }
    }

    var receiptData: String? {
        switch self {
        case .signedTransaction: nil
        case .appReceipt(let data), .transactionReceipt(let data): data.base64EncodedString()
        }
    }

    var signedTransaction: String? {
        if case .signedTransaction(let text) = self { text } else { nil }
    }
}
