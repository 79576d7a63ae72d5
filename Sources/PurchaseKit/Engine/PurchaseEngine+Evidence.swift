import Foundation
public import PurchaseVerification

extension PurchaseEngine {
    /// The evidence of a transaction.
    enum Gathered {
        /// The evidence as verified here; `nil` if only the server judges it.
        case verified(PurchaseEvidence, VerifiedEvidence?)
        case refused(PurchaseError)
        case undetermined(PurchaseError)
    }

    /// Gathers and verifies the evidence: the signed transaction, or otherwise the app receipt, or otherwise the transaction
    /// receipt.
    func evidence(for transaction: PaymentTransaction, mayRefresh: Bool) async -> Gathered {
        guard let text = transaction.signedTransaction, !text.isEmpty else {
            return await receiptEvidence(for: transaction, mayRefresh: mayRefresh)
        }
        let evidence = PurchaseEvidence.signedTransaction(text)
        // The server judges why StoreKit does not vouch for it.
        if !transaction.isVerifiedByStoreKit, server != nil { return .verified(evidence, nil) }
        switch await verifier.verify(evidence, proves: transaction) {
        case .refused(let error):
            guard transaction.isVerifiedByStoreKit, error.isBeyondThisVersion else { return .refused(error) }
            return .undetermined(error)
        case .undetermined(let error): return .undetermined(error)
        case .verified(let verified):
            guard transaction.isVerifiedByStoreKit else { return .undetermined(PurchaseError(.unverified)) }
            return .verified(evidence, verified)
        }
    }

    /// If the receipt does not prove the purchase, it is refreshed once and checked again. The first failure is not reported; the
    /// second failure, or the error of the refresh, is. The refresh may ask for a password, so without permission the app
    /// receives an event instead.
    private func receiptEvidence(for transaction: PaymentTransaction, mayRefresh: Bool) async -> Gathered {
        let first = await loadedEvidence(for: transaction)
        guard case .undetermined(let error) = first, error.isMendedByRefresh else { return first }
        guard mayRefresh else {
            emit(PurchaseEvent(.refreshNeeded, transaction))
            return first
        }
        do {
            try await receipts.refresh()
        } catch {
            return .undetermined(
                PurchaseError(.refreshFailed, found: (error as? PurchaseError)?.code.rawValue ?? "\(error)"))
        }
        return await loadedEvidence(for: transaction)
    }

    private func loadedEvidence(for transaction: PaymentTransaction) async -> Gathered {
        let evidence: PurchaseEvidence
        do {
            if let receipt = try await receipts.load() {
                evidence = .appReceipt(Data(receipt))
            } else if let receipt = transaction.transactionReceipt {
                evidence = .transactionReceipt(Data(receipt))
            } else {
                return .undetermined(PurchaseError(.evidenceMissing))
            }
        } catch {
            return .undetermined(PurchaseError(.receiptMissing, error))
        }
        switch await verifier.verify(evidence, proves: transaction) {
        case .verified(let verified): return .verified(evidence, verified)
        case .refused(let error): return .refused(error)
        case .undetermined(let error): return .undetermined(error)
        }
    }

    /// Checks a signed app transaction (`AppTransaction.jwsRepresentation`) as an app does at its launch, without network: Apple's signature,
    /// bundle id, environment and device.
    ///
    /// - Throws: `PurchaseError`: why it is not accepted.
    public func verify(appTransaction: String) async throws {
        switch await verifier.verify(.signedTransaction(appTransaction), proves: nil) {
        case .verified(.appTransaction): return
        case .verified(let other):
            throw PurchaseError(.evidenceMissing, expected: "an app transaction", found: other.kind.rawValue)
        case .refused(let error), .undetermined(let error): throw error
        }
    }

    /// Checks the app receipt as an app does at its launch, without network and without refreshing it.
    ///
    /// Without a receipt there is nothing to refuse: in the sandbox and in TestFlight there is none before the first purchase.
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
        switch await verifier.verify(.appReceipt(Data(bytes)), proves: nil) {
        case .verified(.appReceipt(let receipt)): return receipt
        case .verified(let other):
            throw PurchaseError(.evidenceMissing, expected: "an app receipt", found: other.kind.rawValue)
        case .refused(let error), .undetermined(let error): throw error
        }
    }
}

extension PurchaseError {
    /// Whether another receipt may help. It cannot help before the first unlock of the device, or against an environment that the
    /// app does not accept.
    fileprivate var isMendedByRefresh: Bool {
        code != .deviceUnknown && code.rawValue != ReasonCode.environmentNotAccepted.rawValue
            && code.rawValue != ReasonCode.environmentNotVouchedFor.rawValue
    }

    /// Whether Apple may have signed it by means that this version of the app does not know: another root, another algorithm. StoreKit
    /// belongs to the system and knows them.
    fileprivate var isBeyondThisVersion: Bool {
        let codes: [ReasonCode] = [
            .issuerUnknown, .jwsAlgorithmUnsupported, .jwsHeaderUnsupported, .jwsCertificateCountUnsupported,
            .certificateAlgorithmUnsupported, .publicKeyUnacceptable, .criticalExtensionUnknown, .evidenceUnsupported,
        ]
        return codes.contains { $0.rawValue == code.rawValue }
    }
}
