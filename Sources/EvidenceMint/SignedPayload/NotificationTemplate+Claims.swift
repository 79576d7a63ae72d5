extension NotificationTemplate {
    /// All claims, in the order of the App Store.
    public func claims(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim] {
        var list = ClaimList(dateStyle)
        list.add("notificationType", notificationType)
        list.add("subtype", subtype)
        list.add("notificationUUID", notificationUUID)
        list.add("data", object: try data.map { try $0.members(dateStyle, sign) })
        list.add("summary", object: summary?.members(dateStyle))
        list.add("externalPurchaseToken", object: externalPurchaseToken?.members(dateStyle))
        list.add("appData", object: try appData.map { try $0.members(dateStyle, sign) })
        list.add("version", version)
        list.add("signedDate", signedDate)
        return list.claims + extra
    }
}

extension NotificationTemplate.Data {
    fileprivate func members(
        _ style: ClaimDateStyle, _ sign: (any SignedPayloadTemplate) throws -> String
    ) rethrows -> [Claim] {
        var list = ClaimList(style)
        list.add("appAppleId", appAppleID)
        list.add("bundleId", bundleID)
        list.add("bundleVersion", bundleVersion)
        list.add("environment", environment)
        list.add("signedTransactionInfo", try transaction.map { try sign($0) })
        list.add("signedRenewalInfo", try renewalInfo.map { try sign($0) })
        list.add("status", status)
        list.add("consumptionRequestReason", consumptionRequestReason)
        return list.claims + extra
    }
}

extension NotificationTemplate.Summary {
    fileprivate func members(_ style: ClaimDateStyle) -> [Claim] {
        var list = ClaimList(style)
        list.add("requestIdentifier", requestIdentifier)
        list.add("environment", environment)
        list.add("appAppleId", appAppleID)
        list.add("bundleId", bundleID)
        list.add("productId", productID)
        list.add("storefrontCountryCodes", storefrontCountryCodes)
        list.add("failedCount", failedCount)
        list.add("succeededCount", succeededCount)
        return list.claims
    }
}

extension NotificationTemplate.ExternalPurchaseToken {
    fileprivate func members(_ style: ClaimDateStyle) -> [Claim] {
        var list = ClaimList(style)
        list.add("externalPurchaseId", externalPurchaseID)
        list.add("tokenCreationDate", tokenCreationDate)
        list.add("tokenExpirationDate", tokenExpirationDate)
        list.add("tokenType", tokenType)
        list.add("appAppleId", appAppleID)
        list.add("bundleId", bundleID)
        return list.claims
    }
}

extension NotificationTemplate.AppData {
    fileprivate func members(
        _ style: ClaimDateStyle, _ sign: (any SignedPayloadTemplate) throws -> String
    ) rethrows -> [Claim] {
        var list = ClaimList(style)
        list.add("appAppleId", appAppleID)
        list.add("bundleId", bundleID)
        list.add("environment", environment)
        list.add("signedAppTransactionInfo", try appTransaction.map { try sign($0) })
        return list.claims
    }
}
