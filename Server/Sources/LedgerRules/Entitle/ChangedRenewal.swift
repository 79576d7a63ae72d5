import PurchaseVerification

/// Which of the signed values of a renewal changed (docs/ledger.md, "Changes of a renewal").
extension RenewalChange {
    /// The change between the newest statements before and after evidence; `nil` if no field changed.
    ///
    /// - Parameters:
    ///   - former: the facts before; `nil` if nothing was signed, which is compared as a subscription that renews and
    ///     has nothing else.
    ///   - current: the facts after.
    ///   - period: the transaction of the period whose commitment is shown; `nil` under rules that show none.
    package init?(from former: ObservedRenewal?, to current: ObservedRenewal, commitmentOf period: ObservedTransaction?)
    {
        self.init(
            former: former.map { Signed($0.newest, commitmentOf: period) },
            current: Signed(current.newest, commitmentOf: period))
        guard !changed.isEmpty else { return nil }
    }

    /// The fields that differ.
    public var changed: [Field] {
        let before = former?.info ?? current.info.withoutChanges
        let now = current.info
        return Field.allCases.filter { field in
            switch field {
            case .autoRenew: before.renews != now.renews
            case .nextProduct: before.following != now.following
            case .priceConsent: before.priceIncreaseStatus != now.priceIncreaseStatus
            case .billingRetry: (before.isInBillingRetry ?? false) != (now.isInBillingRetry ?? false)
            case .graceUntil:
                before.graceEnd != now.graceEnd || before.isGraceEndUnknown != now.isGraceEndUnknown
            case .offer: before.offer != now.offer
            case .commitment: before.commits != now.commits
            }
        }
    }
}

extension RenewalChange.Signed {
    /// What is shown of a statement. Account tokens, downloads and other claims identify people or devices.
    fileprivate init(_ statement: RenewalStatement, commitmentOf period: ObservedTransaction?) {
        var info = statement.info
        let commitment = period.flatMap { info.showingCommitment(of: $0).otherClaims }
        (info.accountToken, info.appTransactionID, info.otherClaims, info.recentStart) = (nil, nil, commitment, nil)
        self.init(stamp: statement.stamp, info: info)
    }
}

extension RenewalInfo {
    fileprivate var renews: Bool { autoRenewStatus != 0 }
    /// Whether another commitment follows.
    fileprivate var commits: Bool { commitment?.renews ?? true }
    fileprivate var following: ExactText? { nextProductID ?? productID }

    /// The renewal info of the same subscription before anything was changed.
    fileprivate var withoutChanges: RenewalInfo {
        var info = RenewalInfo()
        info.productID = productID ?? nextProductID
        return info
    }
}
