import PurchaseVerification

/// Facts as the rules read them, and as a value holds them.
extension StateFacts {
    init(_ facts: ObservedTransaction, _ texts: inout StateTexts, _ tokens: [AppAccountToken: UInt32]) {
        let fields = facts.fields
        id = texts.place(facts.key.transactionID)
        second = facts.key.second
        bundle = texts.stated(fields.bundleID)
        original = texts.stated(fields.originalTransactionID)
        product = texts.stated(fields.productID)
        group = texts.stated(fields.subscriptionGroupID)
        lineItem = texts.stated(fields.lineItemID)
        ownership = texts.stated(fields.ownershipType)
        reason = texts.stated(fields.reason)
        download = texts.stated(fields.appTransactionID)
        claims = fields.otherClaims.map { claims in
            let text = ExactText(String(decoding: claims.value.bytes, as: UTF8.self))
            return Stated(value: texts.place(text), witness: claims.witness)
        }
        statedKind = Stated(fields.kind)
        purchaseDate = Stated(fields.purchaseDate)
        originalPurchaseDate = Stated(fields.originalPurchaseDate)
        signedEnd = Stated(fields.signedEnd)
        quantity = Stated(fields.quantity)
        price = fields.price.map { Stated(value: Price($0.value, &texts), witness: $0.witness) }
        storefront = fields.storefront.map { shop in
            let (country, number) = (texts.place(shop.value.country), texts.place(shop.value.number))
            return Stated(value: Shop(country: country, number: number), witness: shop.witness)
        }
        offer = fields.offer.map { Stated(value: Offer($0.value, &texts), witness: $0.witness) }
        productNumber = Stated(fields.productNumber)
        (receiptEnd, firstEnd) = (fields.receiptEnd, fields.firstEnd)
        (cancellation, lastWithdrawal) = (fields.cancellation, fields.lastWithdrawal)
        signedAt = fields.revocation?.stamp
        revocation = fields.revocation?.revocation.map { revocation in
            Revoked(
                date: revocation.date, reason: revocation.reason, percentage: revocation.percentage,
                type: texts.place(revocation.type))
        }
        upgrade = fields.upgrade
        tokenStamp = fields.accountToken?.stamp
        token = fields.accountToken.flatMap { tokens[$0.token] } ?? 0
        seats = fields.seats.map { stated in
            Seats(
                stamp: stated.stamp, quantity: stated.seats.quantity, revoked: stated.seats.revoked,
                management: texts.place(stated.seats.invitationManagement),
                reason: texts.place(stated.seats.additionReason))
        }
    }

    /// The fields in a value.
    func fields(in state: PurchaseState) -> TransactionFields {
        var fields = TransactionFields()
        fields.bundleID = bundle?.text(in: state)
        fields.originalTransactionID = original?.text(in: state)
        fields.productID = product?.text(in: state)
        fields.subscriptionGroupID = group?.text(in: state)
        fields.lineItemID = lineItem?.text(in: state)
        fields.ownershipType = ownership?.text(in: state)
        fields.reason = reason?.text(in: state)
        fields.appTransactionID = download?.text(in: state)
        fields.otherClaims = claims?.text(in: state).map { CanonicalBytes(bytes: Array($0.string.utf8)) }
        fields.kind = statedKind?.witnessed
        fields.purchaseDate = purchaseDate?.witnessed
        fields.originalPurchaseDate = originalPurchaseDate?.witnessed
        fields.signedEnd = signedEnd?.witnessed
        fields.quantity = quantity?.witnessed
        fields.price = price.flatMap { price in
            price.value.price(in: state).map { Witnessed(value: $0, witness: price.witness) }
        }
        fields.storefront = storefront.flatMap { shop in
            let (country, number) = (state.text(shop.value.country), state.text(shop.value.number))
            return Storefront(country: country, number: number).map { Witnessed(value: $0, witness: shop.witness) }
        }
        fields.offer = offer.flatMap { offer in
            offer.value.offer(in: state).map { Witnessed(value: $0, witness: offer.witness) }
        }
        fields.productNumber = productNumber?.witnessed
        (fields.receiptEnd, fields.firstEnd) = (receiptEnd, firstEnd)
        (fields.cancellation, fields.lastWithdrawal) = (cancellation, lastWithdrawal)
        fields.revocation = signedAt.map { stamp in
            StampedRevocation(
                stamp: stamp,
                revocation: revocation.map { revocation in
                    Revocation(
                        date: revocation.date, reason: revocation.reason, type: state.text(revocation.type),
                        percentage: revocation.percentage)
                })
        }
        fields.upgrade = upgrade
        fields.accountToken = tokenStamp.map { StampedToken(stamp: $0, token: state.tokens[Int(token)].token) }
        fields.seats = seats.map { seats in
            StampedSeats(
                stamp: seats.stamp,
                seats: SeatFacts(
                    quantity: seats.quantity, revoked: seats.revoked,
                    invitationManagement: state.text(seats.management), additionReason: state.text(seats.reason)))
        }
        return fields
    }
}

extension StateFacts.Price {
    init(_ price: PurchasePrice, _ texts: inout StateTexts) {
        self.init(milliunits: price.milliunits, currency: texts.place(price.currency))
    }

    func price(in state: PurchaseState) -> PurchasePrice? {
        PurchasePrice(milliunits: milliunits, currency: state.text(currency))
    }
}

extension StateFacts.Offer {
    init(_ offer: PurchaseOffer, _ texts: inout StateTexts) {
        type = offer.type
        identifier = texts.place(offer.identifier)
        discountType = texts.place(offer.discountType)
        period = texts.place(offer.period)
    }

    func offer(in state: PurchaseState) -> PurchaseOffer? {
        PurchaseOffer(
            type: type, identifier: state.text(identifier), discountType: state.text(discountType),
            period: state.text(period))
    }
}

extension StateTexts {
    fileprivate mutating func stated(_ field: Witnessed<ExactText>?) -> Stated<UInt32>? {
        field.map { Stated(value: place($0.value), witness: $0.witness) }
    }
}

extension Stated where Value: CanonicalValue {
    fileprivate init?(_ field: Witnessed<Value>?) {
        guard let field else { return nil }
        self.init(value: field.value, witness: field.witness)
    }

    fileprivate var witnessed: Witnessed<Value> { Witnessed(value: value, witness: witness) }
}

extension Stated<UInt32> {
    fileprivate func text(in state: PurchaseState) -> Witnessed<ExactText> {
        Witnessed(value: state.texts[value], witness: witness)
    }
}

extension Witnessed<ExactText> {
    fileprivate func map(_ body: (ExactText) -> CanonicalBytes) -> Witnessed<CanonicalBytes> {
        Witnessed<CanonicalBytes>(value: body(value), witness: witness)
    }
}

extension PurchaseState {
    /// The text at a place.
    func text(_ place: UInt32?) -> ExactText? { place.map { texts[$0] } }
}
