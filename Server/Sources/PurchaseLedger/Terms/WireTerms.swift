package import PurchaseAPI
package import PurchaseVerification

package import struct PurchaseAPI.ProductType

// The terms of the rules in the words of the wire, which answers of the ledger are made of.

extension EnvironmentName {
    package init(_ environment: AppStoreEnvironment) { self.init(rawValue: environment.name) }
}

extension ProductType {
    package init(_ kind: ProductKind) { self.init(rawValue: kind.rawValue) }
}

extension OfferMessage {
    package init(_ offer: PurchaseOffer) {
        self.init(
            type: offer.type, identifier: offer.identifier?.string, discountType: offer.discountType?.string,
            period: offer.period?.string)
    }
}

extension WithdrawalMessage {
    package init(_ withdrawal: Withdrawal) {
        self.init(
            at: "\(withdrawal.date)", units: withdrawal.units, reason: Reason(rawValue: withdrawal.cause.rawValue))
    }
}

extension EntitlementMessage {
    package init(_ entitlement: Entitlement) {
        let isBalance = entitlement.productKind == .consumable
        self.init(
            productID: entitlement.productID, productType: ProductType(entitlement.productKind),
            environment: EnvironmentName(entitlement.environment), state: State(rawValue: entitlement.state.rawValue),
            reason: entitlement.reason.map { Reason(rawValue: $0.rawValue) },
            balance: isBalance ? entitlement.balance : nil, shortfall: isBalance ? entitlement.shortfall : nil,
            since: entitlement.since.map { "\($0)" }, until: entitlement.until.map { "\($0)" },
            transactionID: entitlement.transactionID, assumed: entitlement.isAssumed ? true : nil,
            graceEndUnknown: entitlement.isGraceEndUnknown ? true : nil,
            renewal: entitlement.renewal.map { RenewalMessage($0) },
            cancelReason: entitlement.cancelReason.map { CancelReason(number: $0) },
            lastConfirmedAt: entitlement.lastConfirmedAt.map { "\($0)" },
            sources: entitlement.sources.isEmpty ? nil : entitlement.sources, seats: entitlement.seats)
    }
}

extension RenewalMessage {
    package init(_ statement: RenewalStatement) { self.init(statement.info, signedAt: statement.stamp) }

    package init(_ info: RenewalInfo, signedAt stamp: Timestamp) {
        self.init(
            autoRenew: info.autoRenewStatus.flatMap { $0 == 0 || $0 == 1 ? $0 == 1 : nil },
            nextProduct: info.nextProductID?.string, renewsAt: info.renewalDate.map { "\($0)" },
            price: info.renewalPrice?.milliunits, currency: info.renewalPrice?.currency?.string,
            graceUntil: info.graceEnd.map { "\($0)" }, graceEndUnknown: info.isGraceEndUnknown ? true : nil,
            billingRetry: info.isInBillingRetry,
            priceConsent: info.priceIncreaseStatus.flatMap { PriceConsent(number: $0) },
            intent: info.expirationIntent.map { Intent(number: $0) }, offer: info.offer.map { OfferMessage($0) },
            commitment: info.commitment.map { CommitmentMessage($0) }, bundleProductID: info.bundleProductID,
            signedAt: "\(stamp)")
    }
}

extension CommitmentMessage {
    fileprivate init(_ commitment: RenewalCommitment) {
        self.init(
            period: commitment.period, of: commitment.periods, until: commitment.until.map { "\($0)" },
            autoRenew: commitment.renews)
    }
}

extension NamedEntitlementMessage {
    package init(_ access: NamedAccess) {
        self.init(
            name: access.name.string, state: access.isActive ? .active : .inactive,
            until: access.until.map { "\($0)" }, products: access.products.map(\.string))
    }
}
