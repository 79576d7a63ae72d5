import Foundation
public import PurchaseVerification

extension PurchaseEngine {
    /// The evidence of a transaction, and what the device thinks of it.
    struct Gathered {
        /// The evidence; `nil` if there is none.
        var evidence: PurchaseEvidence?
        /// The evidence as verified here; `nil` if it does not prove the transaction on this device.
        var verified: VerifiedEvidence?
        /// Why it does not.
        var error: PurchaseError?
        var isForged = false
        /// Whether it is one of Xcode's store in a debug build, where nothing signed is looked at.
        var isVouchedForByXcode = false
    }

    /// Gathers and verifies the evidence: the signed transaction, or otherwise the app receipt, or otherwise the
    /// transaction receipt.
    ///
    /// Without a server, a receipt also proves a purchase whose signed transaction this version cannot verify.
    func evidence(for transaction: PaymentTransaction, mayRefresh: Bool) async -> Gathered {
        if server == nil, transaction.isVouchedForByXcode { return Gathered(isVouchedForByXcode: true) }
        guard let text = transaction.signedTransaction, !text.isEmpty else {
            return await receiptEvidence(for: transaction, mayRefresh: mayRefresh)
        }
        var gathered = await gather(.signedTransaction(text), for: transaction)
        if gathered.verified != nil, !transaction.isVerifiedByStoreKit {
            (gathered.verified, gathered.error) = (nil, PurchaseError(.unverified))
        }
        // A receipt may be older than a withdrawal, and does not stand for what StoreKit refused.
        guard server == nil, gathered.verified == nil, transaction.isVerifiedByStoreKit,
            transaction.revocationDate == nil, !transaction.isUpgraded, !(receipts is NoReceiptSource)
        else { return gathered }
        let receipt = await receiptEvidence(for: transaction, mayRefresh: mayRefresh)
        return receipt.verified == nil ? gathered : receipt
    }

    /// If the receipt does not prove the purchase, whatever the reason, it is refreshed once and checked again. The
    /// first failure is not reported; the second failure, or the error of the refresh, is. The refresh may ask for a
    /// password, so without permission the app receives an event instead.
    private func receiptEvidence(for transaction: PaymentTransaction, mayRefresh: Bool) async -> Gathered {
        let first = await loadedEvidence(for: transaction)
        guard first.verified == nil, first.error?.isMendedByRefresh ?? true else { return first }
        guard mayRefresh else {
            emit(.refreshNeeded(PurchaseReport(transaction)))
            return first
        }
        do {
            try await receipts.refresh()
        } catch {
            var failed = first
            failed.error = PurchaseError(
                .refreshFailed, found: (error as? PurchaseError)?.code.rawValue ?? "\(error)")
            failed.isForged = false
            return failed
        }
        return await loadedEvidence(for: transaction)
    }

    private func loadedEvidence(for transaction: PaymentTransaction) async -> Gathered {
        let evidence: PurchaseEvidence
        do {
            if let receipt = try await receipts.load() {
                evidence = .appReceipt(Data(receipt))
            } else if let receipt = transaction.transactionReceipt {
                evidence = .transactionReceipt(receipt)
            } else {
                return Gathered(error: PurchaseError(.evidenceMissing))
            }
        } catch {
            return Gathered(error: PurchaseError(.receiptMissing, error))
        }
        return await gather(evidence, for: transaction)
    }

    /// Evidence with what the device thinks of it. Its signed time is taken, and renewals that it proves are noted.
    func gather(_ evidence: PurchaseEvidence, for transaction: PaymentTransaction?) async -> Gathered {
        let kept = evidence.bytes.isEmpty ? nil : evidence
        switch await verifier.verify(evidence, proves: transaction) {
        case .verified(let verified):
            if let date = verified.facts.signingDate?.date { see(signed: date) }
            if server != nil, transaction?.isVerifiedByStoreKit ?? true { _ = changes { $0.note(verified) } }
            return Gathered(evidence: kept, verified: verified)
        case .forged(let error): return Gathered(evidence: kept, error: error, isForged: true)
        case .undetermined(let error): return Gathered(evidence: kept, error: error)
        }
    }

    /// Checks a signed app transaction (`AppTransaction.jwsRepresentation`) as an app does at its launch, without
    /// network: Apple's signature, bundle id, environment and device.
    ///
    /// - Parameters:
    ///   - appTransaction: the signed app transaction.
    ///   - isVerifiedByStoreKit: whether StoreKit returned it as `verified`. Then it also counts on a device that has
    ///     no identifier.
    /// - Returns: its content: `originalApplicationVersion` and `originalPurchaseDate` say whether the customer paid
    ///   for the app before it became free. In the sandbox the version is always 1.0.
    /// - Throws: `PurchaseError`: why it is not accepted.
    @discardableResult
    package func verify(
        appTransaction: String, isVerifiedByStoreKit: Bool = false
    ) async throws -> SignedAppTransaction {
        let verified = try await verifier.verify(
            .signedTransaction(appTransaction), proves: nil, isVerifiedByStoreKit: isVerifiedByStoreKit
        ).get()
        if case .appTransaction(let transaction) = verified { return transaction }
        throw PurchaseError(.evidenceMissing, expected: "an app transaction", found: verified.kind.rawValue)
    }

    /// Checks the app receipt as an app does at its launch, without network and without refreshing it.
    ///
    /// Without a receipt there is nothing to refuse: in the sandbox and in TestFlight there is none before the first
    /// purchase.
    ///
    /// - Returns: the verified receipt; `nil` if there is no receipt.
    /// - Throws: `PurchaseError`: why the receipt is not accepted.
    public func verifiedReceipt() async throws -> AppReceipt? {
        let bytes: [UInt8]?
        do {
            bytes = try await receipts.load()
        } catch {
            throw PurchaseError(.receiptMissing, error)
        }
        guard let bytes, !bytes.isEmpty else { return nil }
        let verified = try await verifier.verify(.appReceipt(Data(bytes)), proves: nil).get()
        if case .appReceipt(let receipt) = verified { return receipt }
        throw PurchaseError(.evidenceMissing, expected: "an app receipt", found: verified.kind.rawValue)
    }
}

extension PurchaseError {
    /// Whether another receipt may help: not before the first unlock, and not against an environment.
    fileprivate var isMendedByRefresh: Bool {
        code != .deviceUnknown && code.rawValue != ReasonCode.environmentNotAccepted.rawValue
            && code.rawValue != ReasonCode.environmentNotVouchedFor.rawValue
    }
}
