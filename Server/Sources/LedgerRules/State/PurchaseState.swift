import PurchaseVerification

/// A purchase as one value: an original with the copies of its buyer and of families and groups, and everything that
/// decides about it. It holds inputs only, sorted by content: equal inputs are equal values and equal bytes.
package struct PurchaseState: Sendable, Hashable {
    /// A claim that binds, or a transfer by an operator.
    struct Act: StateElement {
        var entry: Int64 = 0
        /// The place of its transaction.
        var transaction: UInt32 = 0
        var customer: Int64 = 0
        /// The former owner in an operator's transfer, or the guest of a takeover.
        var former: Int64?
        /// 0 a claim, 1 one that may transfer, 2 a transfer by an operator, 3 a takeover.
        var kind: UInt8 = 0
    }

    /// A customer who was merged into another.
    struct Merge: StateElement {
        var entry: Int64 = 0
        var customer: Int64 = 0
        var target: Int64 = 0
    }

    /// A token by which owners are found.
    struct Token: StateElement {
        var token = AppAccountToken(high: 0, low: 0)
        /// The customer as assigned; `nil` for an unknown token.
        var customer: Int64?
    }

    /// The newest signed status of a holder.
    struct Status: StateElement {
        /// The name of the holder (`PurchaseHolder.name`).
        var holder: UInt32 = 0
        var value: Int64 = 0
        var stamp = Timestamp.epoch
    }

    /// The units that a customer consumed from the lot.
    struct Take: StateElement {
        var customer: Int64 = 0
        var units: Int64 = 0
    }

    /// An operator's revocation.
    struct Revocation: StateElement {
        var entry: Int64 = 0
        var from = Timestamp.epoch
        var liftedAt: Timestamp?
        /// Whether it revokes a member's copies. Those of a member who was erased have no name any more.
        var isShared = false
        /// The place of the member's transaction.
        var transaction: UInt32?
    }

    /// An order that a transaction paid.
    struct Payment: StateElement {
        var transaction: UInt32 = 0
        var order: Int64 = 0
    }

    /// A customer who was erased.
    struct Erasure: StateElement { var customer: Int64 = 0 }

    var app: Int64 = 0
    var texts = TextList()
    var environment: UInt32 = 0
    var id: UInt32 = 0
    var second: Int64 = 0
    /// By id and second.
    var transactions: [StateFacts] = []
    /// By entry and transaction.
    var acts: [Act] = []
    /// The merges and erasures of customers of this purchase.
    var merges: [Merge] = []
    var erasures: [Erasure] = []
    var tokens: [Token] = []
    /// By transaction signed beside it, and by what they say about the end of a period.
    var renewals: [StateRenewal] = []
    var statuses: [Status] = []
    var takes: [Take] = []
    var revocations: [Revocation] = []
    var payments: [Payment] = []
    init() {}

    // MARK: The encoding

    /// The version of new values.
    private static let version: UInt8 = 1

    /// The value in its stored form: the version; the texts, each once, in order; then its parts, which refer to texts,
    /// transactions and tokens by their places.
    package func encoded() -> [UInt8] {
        var writer = StateWriter(capacity: 64 + 160 * (transactions.count + renewals.count))
        var version = Self.version
        writer.byte(&version)
        writer.texts(texts)
        var copy = self
        copy.visit(&writer)
        return writer.bytes
    }

    /// Reads a stored value.
    ///
    /// - Throws: `unknownVersion`, or `malformed` for anything except the exact bytes that `encoded` gives for a value.
    package init(encoded bytes: [UInt8]) throws(FactsDecodingError) {
        let read = bytes.withUnsafeBytes { bytes in
            Result { () throws(FactsDecodingError) in try PurchaseState(reading: bytes) }
        }
        self = try read.get()
    }

    private init(reading bytes: UnsafeRawBufferPointer) throws(FactsDecodingError) {
        var reader = StateReader(bytes)
        var version: UInt8 = 0
        try reader.byte(&version)
        guard version == Self.version else { throw .unknownVersion(version) }
        texts = try reader.texts()
        try visit(&reader)
        guard reader.isAtEnd, isSorted, hasValidPlaces else { throw reader.malformed }
    }

    private mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.signed(&app)
        try coder.place(&environment)
        try coder.place(&id)
        try coder.signed(&second)
        try coder.list(&transactions)
        try coder.list(&acts)
        try coder.list(&merges)
        try coder.list(&erasures)
        try coder.list(&tokens)
        try coder.list(&renewals)
        try coder.list(&statuses)
        try coder.list(&takes)
        try coder.list(&revocations)
        try coder.list(&payments)
    }

    /// Replaces provisional places of texts with the final ones.
    mutating func map(_ mapper: PlaceMapper) {
        var mapper = mapper
        visit(&mapper)
    }

    private var isSorted: Bool {
        func ascends<Element>(_ list: [Element], _ isBefore: (Element, Element) -> Bool) -> Bool {
            list.indices.dropFirst().allSatisfy { isBefore(list[$0 - 1], list[$0]) }
        }
        return ascends(transactions) { ($0.id, $0.second) < ($1.id, $1.second) }
            && ascends(acts) { ($0.entry, $0.transaction) < ($1.entry, $1.transaction) }
            && ascends(merges) { ($0.entry, $0.customer) < ($1.entry, $1.customer) }
            && ascends(erasures) { $0.customer < $1.customer } && ascends(tokens) { $0.token < $1.token }
            && ascends(renewals) { $0.isBefore($1) } && ascends(statuses) { $0.holder < $1.holder }
            && ascends(takes) { $0.customer < $1.customer } && ascends(revocations) { $0.entry < $1.entry }
            && ascends(payments) { ($0.transaction, $0.order) < ($1.transaction, $1.order) }
    }

    /// Whether places of transactions and tokens lead to one, and to each token leads a place.
    private var hasValidPlaces: Bool {
        var isUsed = [Bool](repeating: false, count: tokens.count)
        func isToken(_ place: UInt32?) -> Bool {
            guard let place else { return true }
            guard place < isUsed.count else { return false }
            isUsed[Int(place)] = true
            return true
        }
        return acts.allSatisfy { $0.transaction < transactions.count }
            && payments.allSatisfy { $0.transaction < transactions.count }
            && revocations.allSatisfy { $0.transaction.map { $0 < transactions.count } ?? true }
            && transactions.allSatisfy { isToken($0.tokenStamp == nil ? nil : $0.token) && isToken($0.otherToken) }
            && renewals.allSatisfy { isToken($0.token) } && isUsed.allSatisfy(\.self)
    }
}

extension PurchaseState.Act {
    static var leastBytes: Int { 4 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        var head = kind << 1 | (former == nil ? 0 : 1)
        try coder.byte(&head)
        try coder.require(head < 6 || head == 7)
        kind = head >> 1
        try coder.signed(&entry)
        try coder.place(&transaction, of: Int(UInt32.max))
        try coder.signed(&customer)
        try coder.signed(&former, if: head & 1 == 1)
        // Only a transfer and a takeover have a former owner.
        try coder.require(kind >= 2 || former == nil)
    }
}

extension PurchaseState.Merge {
    static var leastBytes: Int { 3 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.signed(&entry)
        try coder.signed(&customer)
        try coder.signed(&target)
    }
}

extension PurchaseState.Token {
    static var leastBytes: Int { 17 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        var (high, low) = (token.high, token.low)
        for shift in stride(from: UInt64(56), through: 0, by: -8) { try coder.octet(&high, shift) }
        for shift in stride(from: UInt64(56), through: 0, by: -8) { try coder.octet(&low, shift) }
        token = AppAccountToken(high: high, low: low)
        var parts = Presence()
        parts.note(customer != nil)
        try parts.visit(&coder)
        try coder.signed(&customer, if: parts.next())
    }
}

extension StateCoder {
    /// One byte of a number of eight bytes.
    fileprivate mutating func octet(_ word: inout UInt64, _ shift: UInt64) throws(Failure) {
        var octet = UInt8(truncatingIfNeeded: word >> shift)
        try byte(&octet)
        word = word & ~(0xFF << shift) | UInt64(octet) << shift
    }
}

extension PurchaseState.Status {
    static var leastBytes: Int { 3 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.place(&holder)
        try coder.signed(&value)
        try coder.moment(&stamp)
    }
}

extension PurchaseState.Take {
    static var leastBytes: Int { 2 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.signed(&customer)
        try coder.signed(&units)
        // The rules subtract it.
        try coder.require(units >= 0)
    }
}

extension PurchaseState.Revocation {
    static var leastBytes: Int { 3 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        var parts = Presence()
        parts.note(liftedAt != nil)
        parts.note(isShared)
        parts.note(transaction != nil)
        try parts.visit(&coder)
        try coder.signed(&entry)
        try coder.moment(&from)
        try coder.moment(&liftedAt, from: from, if: parts.next())
        isShared = parts.next()
        try coder.place(&transaction, of: Int(UInt32.max), if: parts.next())
    }
}

extension PurchaseState.Payment {
    static var leastBytes: Int { 2 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.place(&transaction, of: Int(UInt32.max))
        try coder.signed(&order)
    }
}

extension PurchaseState.Erasure {
    static var leastBytes: Int { 1 }

    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) { try coder.signed(&customer) }
}
