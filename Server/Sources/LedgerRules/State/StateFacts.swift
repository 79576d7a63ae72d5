import PurchaseVerification

/// A text or a number that evidence states, with its witness.
struct Stated<Value: Sendable & Hashable>: Sendable, Hashable {
    // Behind the witness, most values take no space of their own.
    var witness: Witness
    var value: Value

    init(value: Value, witness: Witness) { (self.value, self.witness) = (value, witness) }
}

/// The facts of one transaction in a `PurchaseState`: `TransactionFields` with places of texts and tokens, so it is
/// copied without counting references.
struct StateFacts: StateElement {
    struct Price: Sendable, Hashable {
        var milliunits: Int64?
        var currency: UInt32?
    }
    struct Shop: Sendable, Hashable { var country, number: UInt32? }
    struct Offer: Sendable, Hashable {
        var type: Int64?
        var identifier, discountType, period: UInt32?
    }
    struct Revoked: Sendable, Hashable {
        var date = Timestamp.epoch
        var reason, percentage: Int64?
        var type: UInt32?
    }
    struct Seats: Sendable, Hashable {
        var stamp = Timestamp.epoch
        var quantity: Int64 = 0
        var revoked: Int64 = 0
        var management, reason: UInt32?
    }

    var id: UInt32 = 0
    var second: Int64 = 0
    /// When it was first observed; of an erased transaction, when it was erased.
    var knownAt = Timestamp.epoch
    var kind: ProductKind?
    var duration: PassDuration?
    /// The place of the token by which its owner is found, if that is not the token of the facts.
    var otherToken: UInt32?
    /// Whether the token of the facts is forgotten, and no other stands for it.
    var isTokenForgotten = false

    var bundle, original, product, group, lineItem, ownership, reason, download, claims: Stated<UInt32>?
    var statedKind: Stated<ProductKind>?
    var purchaseDate, originalPurchaseDate, signedEnd: Stated<Timestamp>?
    var quantity: Stated<Int64>?
    var price: Stated<Price>?
    var storefront: Stated<Shop>?
    var offer: Stated<Offer>?
    var productNumber: Stated<UInt64>?
    var receiptEnd, firstEnd, cancellation, lastWithdrawal: Timestamp?
    /// When the newest signed transaction was signed, and what it states of a revocation.
    var signedAt: Timestamp?
    var revocation: Revoked?
    var upgrade: StampedUpgrade?
    var tokenStamp: Timestamp?
    var token: UInt32 = 0
    var seats: Seats?

    static var leastBytes: Int { 6 }
    init() {}

    // MARK: The encoding

    /// Id, second and time of the first news; which fields are present; the witness of most fields, and which fields
    /// have another; terms and fields. Times are distances from the stamp of that witness.
    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.place(&id)
        try coder.signed(&second)
        var frame = Frame()
        if !Coder.isReading { note(in: &frame) }
        try frame.open(&coder)
        let base = frame.base.stamp
        try coder.moment(&knownAt, from: base)
        try coder.terms(&kind, &duration)
        try coder.place(&otherToken, of: Coder.tokenLimit, if: frame.present.next())
        isTokenForgotten = frame.present.next()
        try frame.texts(&bundle, &original, &product, &coder)
        try frame.texts(&group, &lineItem, &ownership, &coder)
        try frame.texts(&reason, &download, &claims, &coder)
        try frame.visit(&statedKind, .consumable, &coder) { kind, coder throws(Coder.Failure) in
            try coder.kind(&kind)
        }
        try frame.moment(&purchaseDate, &coder)
        try frame.moment(&originalPurchaseDate, &coder)
        try frame.moment(&signedEnd, &coder)
        try frame.visit(&quantity, 0, &coder) { number, coder throws(Coder.Failure) in try coder.signed(&number) }
        try frame.visit(&price, Price(), &coder) { price, coder throws(Coder.Failure) in try coder.price(&price) }
        try frame.visit(&storefront, Shop(), &coder) { shop, coder throws(Coder.Failure) in
            var parts = Presence()
            parts.note(shop.country != nil)
            parts.note(shop.number != nil)
            try parts.visit(&coder)
            try coder.require(parts.bits != 0)
            try coder.place(&shop.country, if: parts.next())
            try coder.place(&shop.number, if: parts.next())
        }
        try frame.visit(&offer, Offer(), &coder) { offer, coder throws(Coder.Failure) in try coder.offer(&offer) }
        try frame.visit(&productNumber, 0, &coder) { number, coder throws(Coder.Failure) in
            try coder.unsigned(&number)
        }
        try coder.moment(&receiptEnd, from: base, if: frame.present.next())
        try coder.moment(&firstEnd, from: signedEnd?.value ?? base, if: frame.present.next())
        try coder.moment(&cancellation, from: base, if: frame.present.next())
        try coder.moment(&lastWithdrawal, from: base, if: frame.present.next())
        try coder.moment(&signedAt, from: base, if: frame.present.next())
        if frame.present.next() { try visitRevocation(&coder, base) }
        if frame.present.next() { try visitUpgrade(&coder, base) }
        try coder.moment(&tokenStamp, from: base, if: frame.present.next())
        if tokenStamp != nil { try coder.place(&token, of: Coder.tokenLimit) }
        if frame.present.next() { try visitSeats(&coder, base) }
        try coder.require(frame.isComplete && (revocation == nil || signedAt != nil))
        try coder.require(!isTokenForgotten || tokenStamp != nil && otherToken == nil)
        try coder.require(otherToken == nil || tokenStamp == nil || otherToken != token)
    }

    /// The fields in the order of `visit`.
    private func note(in frame: inout Frame) {
        frame.present.note(otherToken != nil)
        frame.present.note(isTokenForgotten)
        frame.note(bundle?.witness, original?.witness, product?.witness)
        frame.note(group?.witness, lineItem?.witness, ownership?.witness)
        frame.note(reason?.witness, download?.witness, claims?.witness)
        frame.note(statedKind?.witness)
        frame.note(purchaseDate?.witness)
        frame.note(originalPurchaseDate?.witness)
        frame.note(signedEnd?.witness)
        frame.note(quantity?.witness)
        frame.note(price?.witness)
        frame.note(storefront?.witness)
        frame.note(offer?.witness)
        frame.note(productNumber?.witness)
        frame.present.note(receiptEnd != nil)
        frame.present.note(firstEnd != nil)
        frame.present.note(cancellation != nil)
        frame.present.note(lastWithdrawal != nil)
        frame.present.note(signedAt != nil)
        frame.present.note(revocation != nil)
        frame.present.note(upgrade != nil)
        frame.present.note(tokenStamp != nil)
        frame.present.note(seats != nil)
    }

    private mutating func visitRevocation<Coder: StateCoder>(
        _ coder: inout Coder, _ base: Timestamp
    ) throws(Coder.Failure) {
        var revoked = revocation ?? Revoked()
        var parts = Presence()
        parts.note(revoked.reason != nil)
        parts.note(revoked.type != nil)
        parts.note(revoked.percentage != nil)
        try parts.visit(&coder)
        try coder.moment(&revoked.date, from: base)
        try coder.signed(&revoked.reason, if: parts.next())
        try coder.place(&revoked.type, if: parts.next())
        try coder.signed(&revoked.percentage, if: parts.next())
        revocation = revoked
    }

    private mutating func visitUpgrade<Coder: StateCoder>(
        _ coder: inout Coder, _ base: Timestamp
    ) throws(Coder.Failure) {
        var stamps = upgrade ?? StampedUpgrade(earliest: base, newest: base)
        var parts = Presence()
        parts.note(stamps.newestWithout != nil)
        try parts.visit(&coder)
        try coder.moment(&stamps.earliest, from: base)
        try coder.moment(&stamps.newest, from: stamps.earliest)
        try coder.moment(&stamps.newestWithout, from: stamps.earliest, if: parts.next())
        upgrade = stamps
    }

    private mutating func visitSeats<Coder: StateCoder>(
        _ coder: inout Coder, _ base: Timestamp
    ) throws(Coder.Failure) {
        var seats = seats ?? Seats()
        var parts = Presence()
        parts.note(seats.management != nil)
        parts.note(seats.reason != nil)
        try parts.visit(&coder)
        try coder.moment(&seats.stamp, from: base)
        try coder.signed(&seats.quantity)
        try coder.signed(&seats.revoked)
        try coder.place(&seats.management, if: parts.next())
        try coder.place(&seats.reason, if: parts.next())
        self.seats = seats
    }
}

/// Which fields of a transaction are present, and their witnesses: most have the same one.
private struct Frame {
    var present = Presence()
    private var others = Presence()
    /// The witness of the first field that has one.
    private(set) var base = Self.blank
    private var hasBase = false

    private static let blank = Witness(source: .transactionReceipt, stamp: .epoch)

    /// Whether the witness is that of a field that was read; without such a field, it is blank.
    var isComplete: Bool { hasBase || base == Self.blank }

    mutating func note(_ witness: Witness?) {
        present.note(witness != nil)
        if let witness, !hasBase { (base, hasBase) = (witness, true) }
        others.note(witness.map { $0 != base } ?? false)
    }

    mutating func note(_ first: Witness?, _ second: Witness?, _ third: Witness?) {
        note(first)
        note(second)
        note(third)
    }

    mutating func open<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        // The counts of `StateFacts.note`.
        if Coder.isReading { (present, others) = (Presence(count: 29), Presence(count: 18)) }
        try present.visit(&coder)
        try others.visit(&coder)
        try coder.witness(&base, from: .epoch)
    }

    mutating func visit<Value, Coder: StateCoder>(
        _ field: inout Stated<Value>?, _ blank: Value, _ coder: inout Coder,
        _ body: (inout Value, inout Coder) throws(Coder.Failure) -> Void
    ) throws(Coder.Failure) {
        let (isPresent, hasOther) = (present.next(), others.next())
        guard isPresent else { return try coder.require(!hasOther) }
        var stated = field ?? Stated(value: blank, witness: base)
        // The first field has the common witness, so another one is different.
        try coder.require(hasBase || !hasOther)
        hasBase = true
        if hasOther {
            try coder.witness(&stated.witness, from: base.stamp)
            try coder.require(stated.witness != base)
        }
        try body(&stated.value, &coder)
        field = stated
    }

    mutating func moment<Coder: StateCoder>(
        _ field: inout Stated<Timestamp>?, _ coder: inout Coder
    ) throws(Coder.Failure) {
        let stamp = base.stamp
        try visit(&field, .epoch, &coder) { moment, coder throws(Coder.Failure) in
            try coder.moment(&moment, from: stamp)
        }
    }

    mutating func texts<Coder: StateCoder>(
        _ first: inout Stated<UInt32>?, _ second: inout Stated<UInt32>?, _ third: inout Stated<UInt32>?,
        _ coder: inout Coder
    ) throws(Coder.Failure) {
        try visit(&first, 0, &coder) { place, coder throws(Coder.Failure) in try coder.place(&place) }
        try visit(&second, 0, &coder) { place, coder throws(Coder.Failure) in try coder.place(&place) }
        try visit(&third, 0, &coder) { place, coder throws(Coder.Failure) in try coder.place(&place) }
    }
}

extension StateCoder {
    /// The tokens of a value are known only when it was read, so places of tokens are checked then.
    static var tokenLimit: Int { Int(UInt32.max) }

    mutating func witness(_ witness: inout Witness, from base: Timestamp) throws(Failure) {
        var (source, stamp) = (witness.source.rawValue, witness.stamp)
        try byte(&source)
        guard let known = EvidenceSource(rawValue: source) else { return try require(false) }
        // Only signed data has a stamp.
        if known == .signedData { try moment(&stamp, from: base) }
        if Self.isReading { witness = Witness(source: known, stamp: stamp) }
    }

    mutating func kind(_ kind: inout ProductKind) throws(Failure) {
        var number = Self.number(of: kind)
        try byte(&number)
        try require(Self.kind(number) != nil)
        kind = Self.kind(number) ?? kind
    }

    /// The kind in the settings and the unit of the duration in one byte, then the duration.
    mutating func terms(_ kind: inout ProductKind?, _ duration: inout PassDuration?) throws(Failure) {
        var (unit, count): (UInt8, Int64) =
            switch duration {
            case nil: (0, 0)
            case .fixed(let milliseconds): (1, milliseconds)
            case .months(let months): (2, months)
            }
        var head = kind.map(Self.number(of:)) ?? 0
        head |= unit << 3
        try byte(&head)
        unit = head >> 3
        try require(unit <= 2 && head & 7 <= 4)
        if unit != 0 { try signed(&count) }
        try require(unit == 0 || count > 0)
        guard Self.isReading else { return }
        kind = Self.kind(head & 7)
        duration = unit == 0 ? nil : unit == 1 ? .fixed(milliseconds: count) : .months(count)
    }

    private static func number(of kind: ProductKind) -> UInt8 {
        switch kind {
        case .consumable: 1
        case .nonConsumable: 2
        case .autoRenewable: 3
        case .nonRenewing: 4
        }
    }

    private static func kind(_ number: UInt8) -> ProductKind? {
        switch number {
        case 1: .consumable
        case 2: .nonConsumable
        case 3: .autoRenewable
        case 4: .nonRenewing
        default: nil
        }
    }

    mutating func price(_ price: inout StateFacts.Price) throws(Failure) {
        var parts = Presence()
        parts.note(price.milliunits != nil)
        parts.note(price.currency != nil)
        try parts.visit(&self)
        try require(parts.bits != 0)
        try signed(&price.milliunits, if: parts.next())
        try place(&price.currency, if: parts.next())
    }

    mutating func offer(_ offer: inout StateFacts.Offer) throws(Failure) {
        var parts = Presence()
        parts.note(offer.type != nil)
        parts.note(offer.identifier != nil)
        parts.note(offer.discountType != nil)
        parts.note(offer.period != nil)
        try parts.visit(&self)
        try require(parts.bits != 0)
        try signed(&offer.type, if: parts.next())
        try place(&offer.identifier, if: parts.next())
        try place(&offer.discountType, if: parts.next())
        try place(&offer.period, if: parts.next())
    }
}
