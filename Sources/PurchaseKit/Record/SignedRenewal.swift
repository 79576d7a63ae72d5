import Foundation
import PurchaseVerification

/// What the newest signature of the App Store says about a period of a subscription that the server has not answered
/// about yet (docs/purchase-kit.md, "A renewal while the server does not answer").
struct SignedRenewal: Codable, Equatable {
    let key: PurchaseKey
    let originalTransactionID: String
    let productID: String
    /// When the paid period begins and ends.
    let begins: Date
    let ends: Date
    let signedAt: Date
    private(set) var appAccountToken: UUID?
    private(set) var isFamilyShared: Bool
    /// Whether it was refunded, revoked, or replaced by an upgrade.
    let isWithdrawn: Bool

    /// A period by verified evidence; `nil` if it does not state all of it, or says that it was bought.
    init?(_ verified: VerifiedEvidence, _ facts: TransactionFacts) {
        let id = facts.transactionID
        guard verified.productKind(of: id) == .autoRenewableSubscription,
            let environment = verified.facts.environment,
            let original = facts.originalTransactionID, let productID = facts.productID,
            let begins = facts.purchaseDate?.date, let ends = verified.expirationDate(of: id),
            let signedAt = verified.facts.signingDate?.date
        else { return nil }
        isWithdrawn = verified.withdrawal(of: id) != nil
        guard isWithdrawn || !verified.isPurchase else { return nil }
        key = PurchaseKey(environment: environment.name, transactionID: id)
        (originalTransactionID, self.productID) = (original, productID)
        (self.begins, self.ends, self.signedAt) = (begins, ends, signedAt)
        appAccountToken = verified.appAccountToken
        isFamilyShared = verified.isFamilyShared(id) ?? false
    }

    /// The same with what earlier evidence said about whose it is: a receipt states less than a signed transaction.
    func with(ownershipOf known: SignedRenewal) -> SignedRenewal {
        var renewal = self
        renewal.appAccountToken = appAccountToken ?? known.appAccountToken
        renewal.isFamilyShared = isFamilyShared || known.isFamilyShared
        return renewal
    }
}

extension PurchaseRecord {
    /// The number of renewals, and of refused ones, that are kept. A subscription of the sandbox has twelve a day.
    static let renewalLimit = 50

    /// Notes what verified evidence says about periods that may prolong an answer, or withdraw what it rests on.
    mutating func note(_ verified: VerifiedEvidence) {
        for facts in verified.facts.transactions {
            guard let new = SignedRenewal(verified, facts) else { continue }
            if let place = renewals?.firstIndex(where: { $0.key == new.key }),
                let known = renewals?[place]
            {
                if new.signedAt > known.signedAt { renewals?[place] = new.with(ownershipOf: known) }
            } else if isNews(new) {
                renewals = (renewals ?? []).suffix(Self.renewalLimit - 1) + [new]
            }
        }
    }

    /// Notes that the server gives nothing for a period, which then prolongs no answer, also signed again.
    mutating func refuseRenewal(_ key: PurchaseKey) {
        renewals?.removeAll { $0.key.matches(key) }
        let others = (refusedRenewals ?? []).filter { $0 != key.digest }
        refusedRenewals = others.suffix(Self.renewalLimit - 1) + [key.digest]
    }

    mutating func refuseRenewal(_ entry: OutboxEntry) {
        guard entry.transaction.expirationDate == nil else { return refuseRenewal(entry.purchaseKey) }
        refuseRenewal(noted: entry.purchaseKey)
    }

    /// The same for a key that may be one of another purchase.
    mutating func refuseRenewal(noted key: PurchaseKey) {
        if (renewals ?? []).contains(where: { $0.key.matches(key) }) { refuseRenewal(key) }
    }

    /// Notes that the server granted a period, which it may have refused before.
    mutating func acceptRenewal(_ key: PurchaseKey) {
        refusedRenewals?.removeAll { $0 == key.digest }
    }

    mutating func dropAnsweredRenewals() {
        renewals = renewals?.filter { isNews($0) }
    }

    /// Until when renewals prolong what an answer grants; `nil` if none does.
    func renewedEnd(of answer: StoredEntitlement) -> Date? {
        guard let renewals, !renewals.isEmpty, answer.isActive, let until = answer.until,
            let grant = grant(of: answer)
        else { return nil }
        let ofOriginal = renewals.filter { $0.isOfSameSubscription(as: grant) }
        let isWithdrawn = ofOriginal.contains { $0.isWithdrawn && $0.signedAt > answer.signedAt }
        let answers = entitlements.filter { purchase(of: $0)?.originalID == grant.originalID }
        let isOfAnother = answers.contains { other in
            other.customerID != answer.customerID && other.isActive && other.signedAt > answer.signedAt
        }
        guard !isWithdrawn, !isOfAnother else { return nil }
        let newest = answers.map(\.signedAt).max()
        let fitting = ofOriginal.filter { renewal in
            renewal.productID == answer.productID && renewal.signedAt > newest ?? answer.signedAt
                && renewal.isFamilyShared == grant.isFamilyShared ?? false
                && !(refusedRenewals ?? []).contains(renewal.key.digest)
                && belongs(renewal.appAccountToken, to: answer.customerID, grant)
        }
        var end = until
        for renewal in fitting.sorted(by: { $0.begins < $1.begins })
        where renewal.begins.timeIntervalSince(end) <= TimeMark.tolerance {
            end = max(end, renewal.ends)
        }
        return end > until ? end : nil
    }

    /// Whether a renewal is newer than an answer that rests on its original, and says more.
    private func isNews(_ renewal: SignedRenewal) -> Bool {
        entitlements.contains { answer in
            guard answer.isActive, let until = answer.until, renewal.signedAt > answer.signedAt,
                renewal.isWithdrawn || (renewal.productID == answer.productID && renewal.ends > until),
                let grant = grant(of: answer)
            else { return false }
            return renewal.isOfSameSubscription(as: grant)
        }
    }

    /// The purchase on which an answer rests, if the record has it for the same customer.
    private func grant(of answer: StoredEntitlement) -> GrantedPurchase? {
        purchase(of: answer).flatMap { $0.customerID == answer.customerID ? $0 : nil }
    }

    /// The purchase on which an answer rests, whoever the record has it for.
    private func purchase(of answer: StoredEntitlement) -> GrantedPurchase? {
        guard let id = answer.transactionID else { return nil }
        let key = PurchaseKey(environment: answer.environment, transactionID: id)
        return granted.last { $0.key == key }
    }

    /// Whether an account token does not name another customer.
    private func belongs(_ token: UUID?, to customerID: String, _ grant: GrantedPurchase) -> Bool {
        guard let token else { return true }
        guard !isMade(token) else { return customers[token] == customerID || token == grant.appAccountToken }
        return customers[token].map { $0 == customerID } ?? (token == grant.appAccountToken)
    }
}

extension SignedRenewal {
    fileprivate func isOfSameSubscription(as purchase: GrantedPurchase) -> Bool {
        originalTransactionID == purchase.originalID && key.environment == purchase.key.environment
    }
}

extension GrantedPurchase {
    /// The original transaction, which a first purchase is itself.
    fileprivate var originalID: String { originalTransactionID ?? key.transactionID }

    /// Takes what verified evidence says about whose it is.
    mutating func takeOwnership(_ evidence: [VerifiedEvidence]) {
        for verified in evidence
        where verified.facts.transactions.contains(where: { key.transactionID == $0.transactionID }) {
            appAccountToken = verified.appAccountToken ?? appAccountToken
            isFamilyShared = verified.isFamilyShared(key.transactionID) ?? isFamilyShared
        }
    }
}
