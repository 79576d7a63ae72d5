import PurchaseVerification

/// The newest renewal info of one slot (`RenewalStatement.slot`) in a `PurchaseState`, with places of texts and tokens.
struct StateRenewal: StateElement {
    var stamp = Timestamp.epoch
    /// The transaction signed beside it.
    var beside: UInt32?
    var product, nextProduct, download, claims: UInt32?
    var autoRenewStatus, expirationIntent, priceIncreaseStatus: Int64?
    var isInBillingRetry: Bool?
    var isGraceEndUnknown = false
    var graceEnd, renewalDate, recentStart: Timestamp?
    var price: StateFacts.Price?
    var offer: StateFacts.Offer?
    var token: UInt32?

    static var leastBytes: Int { 4 }
    init() {}

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        var parts = Presence()
        parts.note(beside != nil, product != nil, nextProduct != nil)
        parts.note(download != nil, claims != nil, autoRenewStatus != nil)
        parts.note(expirationIntent != nil, priceIncreaseStatus != nil, isInBillingRetry != nil)
        parts.note(isInBillingRetry == true, isGraceEndUnknown, graceEnd != nil)
        parts.note(renewalDate != nil, recentStart != nil, price != nil)
        parts.note(offer != nil)
        parts.note(token != nil)
        try parts.visit(&coder)
        try coder.moment(&stamp)
        try coder.place(&beside, if: parts.next())
        try coder.place(&product, if: parts.next())
        try coder.place(&nextProduct, if: parts.next())
        try coder.place(&download, if: parts.next())
        try coder.place(&claims, if: parts.next())
        try coder.signed(&autoRenewStatus, if: parts.next())
        try coder.signed(&expirationIntent, if: parts.next())
        try coder.signed(&priceIncreaseStatus, if: parts.next())
        let (isStated, isRetried) = (parts.next(), parts.next())
        try coder.require(isStated || !isRetried)
        isInBillingRetry = isStated ? isRetried : nil
        isGraceEndUnknown = parts.next()
        try coder.moment(&graceEnd, from: stamp, if: parts.next())
        try coder.moment(&renewalDate, from: stamp, if: parts.next())
        try coder.moment(&recentStart, from: stamp, if: parts.next())
        if parts.next() {
            var known = price ?? StateFacts.Price()
            try coder.price(&known)
            price = known
        }
        if parts.next() {
            var known = offer ?? StateFacts.Offer()
            try coder.offer(&known)
            offer = known
        }
        try coder.place(&token, of: Coder.tokenLimit, if: parts.next())
        try coder.require(!isGraceEndUnknown || graceEnd == nil)
    }

    /// The order of slots: by the text signed beside it, and by what it says about the end of a period.
    func isBefore(_ other: StateRenewal) -> Bool {
        let places = (beside.map { Int64($0) } ?? -1, other.beside.map { Int64($0) } ?? -1)
        return places.0 == places.1 ? concern < other.concern : places.0 < places.1
    }

    private var concern: RenewalStatement.Concern {
        let end = isGraceEndUnknown ? .latestStorable : graceEnd
        return end.map { .grace(until: $0) } ?? (isInBillingRetry == true ? .retry : .none)
    }
}

extension StateRenewal {
    init(_ statement: RenewalStatement, _ texts: inout StateTexts, _ tokens: [AppAccountToken: UInt32]) {
        let info = statement.info
        stamp = statement.stamp
        beside = texts.place(statement.beside)
        product = texts.place(info.productID)
        nextProduct = texts.place(info.nextProductID)
        download = texts.place(info.appTransactionID)
        claims = texts.place(info.otherClaims.map { ExactText(String(decoding: $0, as: UTF8.self)) })
        (autoRenewStatus, expirationIntent) = (info.autoRenewStatus, info.expirationIntent)
        (priceIncreaseStatus, isInBillingRetry) = (info.priceIncreaseStatus, info.isInBillingRetry)
        isGraceEndUnknown = info.isGraceEndUnknown
        graceEnd = isGraceEndUnknown ? nil : info.graceEnd
        (renewalDate, recentStart) = (info.renewalDate, info.recentStart)
        price = info.renewalPrice.map { StateFacts.Price($0, &texts) }
        offer = info.offer.map { StateFacts.Offer($0, &texts) }
        token = info.accountToken.flatMap { tokens[$0] }
    }

    func statement(of key: RenewalKey, in state: PurchaseState) -> RenewalStatement {
        var info = RenewalInfo()
        info.productID = state.text(product)
        info.nextProductID = state.text(nextProduct)
        info.appTransactionID = state.text(download)
        info.otherClaims = state.text(claims).map { Array($0.string.utf8) }
        (info.autoRenewStatus, info.expirationIntent) = (autoRenewStatus, expirationIntent)
        (info.priceIncreaseStatus, info.isInBillingRetry) = (priceIncreaseStatus, isInBillingRetry)
        (info.isGraceEndUnknown, info.graceEnd) = (isGraceEndUnknown, graceEnd)
        (info.renewalDate, info.recentStart) = (renewalDate, recentStart)
        info.renewalPrice = price.flatMap { $0.price(in: state) }
        info.offer = offer.flatMap { $0.offer(in: state) }
        info.accountToken = token.map { state.tokens[Int($0)].token }
        return RenewalStatement(key: key, stamp: stamp, info: info, beside: state.text(beside))
    }
}
