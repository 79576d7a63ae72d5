import PurchaseVerification

/// Writes the parts of a value, or reads them: each type states the order of its parts once, for both ways.
protocol StateCoder {
    associatedtype Failure: Error

    static var isReading: Bool { get }
    mutating func byte(_ value: inout UInt8) throws(Failure)
    mutating func unsigned(_ value: inout UInt64) throws(Failure)
    /// The place of a text in the list of texts.
    mutating func place(_ value: inout UInt32) throws(Failure)
    /// - Parameter limit: the number of things of which it is the place.
    mutating func place(_ value: inout UInt32, of limit: Int) throws(Failure)
    mutating func list<Element: StateElement>(_ elements: inout [Element]) throws(Failure)
    /// Refuses what cannot have been written.
    mutating func require(_ condition: Bool) throws(Failure)
}

/// A part of which a value has a list. It consists of numbers and places only, so a list is one allocation.
protocol StateElement: Sendable, Hashable {
    /// The least number of bytes of an element.
    static var leastBytes: Int { get }
    init()
    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

extension StateCoder {
    mutating func signed(_ value: inout Int64) throws(Failure) {
        var folded = UInt64(bitPattern: (value << 1) ^ (value >> 63))
        try unsigned(&folded)
        value = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    /// A time, as its distance from another one: nearly all times of a period are near each other.
    mutating func moment(_ value: inout Timestamp, from base: Timestamp = .epoch) throws(Failure) {
        var distance = value.millisecondsSince1970 &- base.millisecondsSince1970
        try signed(&distance)
        guard Self.isReading else { return }
        value = Timestamp(millisecondsSince1970: base.millisecondsSince1970 &+ distance)
        try require(Timestamp.storable.contains(value.millisecondsSince1970))
    }

    mutating func signed(_ value: inout Int64?, if isPresent: Bool) throws(Failure) {
        guard isPresent else { return }
        var number = value ?? 0
        try signed(&number)
        value = number
    }

    mutating func place(_ value: inout UInt32?, if isPresent: Bool) throws(Failure) {
        guard isPresent else { return }
        var place = value ?? 0
        try self.place(&place)
        value = place
    }

    mutating func place(_ value: inout UInt32?, of limit: Int, if isPresent: Bool) throws(Failure) {
        guard isPresent else { return }
        var place = value ?? 0
        try self.place(&place, of: limit)
        value = place
    }

    mutating func moment(_ value: inout Timestamp?, from base: Timestamp, if isPresent: Bool) throws(Failure) {
        guard isPresent else { return }
        var moment = value ?? base
        try self.moment(&moment, from: base)
        value = moment
    }
}

/// Which optional parts are present, one bit each, in the order in which they are noted.
struct Presence {
    private(set) var bits: UInt64 = 0
    private var count: UInt64

    /// - Parameter count: the number of parts that will be read.
    init(count: UInt64 = 0) { self.count = count }

    mutating func note(_ isPresent: Bool) {
        if isPresent { bits |= 1 << count }
        count += 1
    }

    mutating func note(_ first: Bool, _ second: Bool, _ third: Bool) {
        note(first)
        note(second)
        note(third)
    }

    /// Writes or reads the bits.
    mutating func visit<Coder: StateCoder>(_ coder: inout Coder) throws(Coder.Failure) {
        try coder.unsigned(&bits)
        try coder.require(bits >> count == 0)
        count = 0
    }

    /// Whether the next part is present.
    mutating func next() -> Bool {
        defer { count += 1 }
        return bits >> count & 1 == 1
    }
}

/// Writes a value.
struct StateWriter: StateCoder {
    private(set) var bytes: [UInt8] = []

    static var isReading: Bool { false }

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func byte(_ value: inout UInt8) { bytes.append(value) }

    /// In groups of seven bits, the lowest first (LEB128).
    mutating func unsigned(_ value: inout UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func place(_ value: inout UInt32) { place(&value, of: 0) }

    mutating func place(_ value: inout UInt32, of limit: Int) {
        var number = UInt64(value)
        unsigned(&number)
    }

    mutating func list<Element: StateElement>(_ elements: inout [Element]) {
        var count = UInt64(elements.count)
        unsigned(&count)
        for element in elements {
            var element = element
            element.visit(&self)
        }
    }

    /// The number of texts, their lengths, and then the texts.
    mutating func texts(_ texts: TextList) {
        var count = UInt64(texts.count)
        unsigned(&count)
        for place in 0..<texts.count {
            var length = UInt64(texts.range(place).count)
            unsigned(&length)
        }
        bytes.append(contentsOf: texts.bytes)
    }

    mutating func require(_ condition: Bool) {}
}

/// Reads a value. It never reads beyond the bytes, and allocates in proportion to them.
struct StateReader: StateCoder {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// Whether each text was referred to.
    private var isUsed: [Bool] = []

    static var isReading: Bool { true }

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether everything was read, and no text stands there for nothing.
    var isAtEnd: Bool { position == bytes.count && isUsed.allSatisfy(\.self) }
    var malformed: FactsDecodingError { .malformed(offset: position) }

    mutating func byte(_ value: inout UInt8) throws(FactsDecodingError) {
        guard position < bytes.count else { throw malformed }
        value = bytes[position]
        position += 1
    }

    mutating func unsigned(_ value: inout UInt64) throws(FactsDecodingError) {
        guard position < bytes.count else { throw malformed }
        let first = bytes[position]
        position += 1
        value = first < 0x80 ? UInt64(first) : try groups(after: first)
    }

    /// The rest of a number that has several groups.
    private mutating func groups(after first: UInt8) throws(FactsDecodingError) -> UInt64 {
        var (number, shift) = (UInt64(first & 0x7F), UInt64(7))
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            let group = UInt64(byte & 0x7F)
            // The tenth group has room for one bit.
            guard shift < 63 || group <= 1 else { throw malformed }
            number |= group << shift
            if byte < 0x80 {
                // A last group of zeros is not written.
                guard byte != 0 else { throw malformed }
                return number
            }
            guard shift < 63 else { throw malformed }
            shift += 7
        }
        throw malformed
    }

    mutating func place(_ value: inout UInt32) throws(FactsDecodingError) {
        try place(&value, of: isUsed.count)
        isUsed[Int(value)] = true
    }

    mutating func place(_ value: inout UInt32, of limit: Int) throws(FactsDecodingError) {
        var number: UInt64 = 0
        try unsigned(&number)
        guard number < UInt64(limit), let place = UInt32(exactly: number) else { throw malformed }
        value = place
    }

    /// A count of things that have at least some bytes each.
    private mutating func count(_ leastBytes: Int) throws(FactsDecodingError) -> Int {
        var count: UInt64 = 0
        try unsigned(&count)
        guard count <= UInt64((bytes.count - position) / leastBytes) else { throw malformed }
        return Int(count)
    }

    mutating func list<Element: StateElement>(_ elements: inout [Element]) throws(FactsDecodingError) {
        let count = try count(Element.leastBytes)
        elements = []
        elements.reserveCapacity(min(count, 1024))
        for _ in 0..<count {
            var element = Element()
            try element.visit(&self)
            elements.append(element)
        }
    }

    /// The texts, each of which is greater than the one before it.
    mutating func texts() throws(FactsDecodingError) -> TextList {
        let count = try count(1)
        var ends: [UInt32] = []
        ends.reserveCapacity(min(count, 4096))
        var end: UInt64 = 0
        for _ in 0..<count {
            var length: UInt64 = 0
            try unsigned(&length)
            guard length <= UInt64(bytes.count - position), let sum = UInt32(exactly: end + length) else {
                throw malformed
            }
            end = UInt64(sum)
            ends.append(sum)
        }
        guard end <= UInt64(bytes.count - position) else { throw malformed }
        let content = position..<(position + Int(end))
        guard let texts = TextList(UnsafeRawBufferPointer(rebasing: bytes[content]), ends: ends) else {
            throw malformed
        }
        position = content.upperBound
        isUsed = [Bool](repeating: false, count: count)
        return texts
    }

    mutating func require(_ condition: Bool) throws(FactsDecodingError) { guard condition else { throw malformed } }
}

/// The texts of a value in ascending order, each once. They lie in one piece of memory, so reading a value makes no
/// string.
struct TextList: Sendable, Hashable {
    fileprivate let bytes: [UInt8]
    private let ends: [UInt32]

    /// - Parameter texts: in ascending order.
    init(_ texts: [ExactText] = []) {
        var bytes: [UInt8] = []
        ends = texts.map { text in
            bytes.append(contentsOf: text.string.utf8)
            return UInt32(bytes.count)
        }
        self.bytes = bytes
    }

    /// Texts that were written; `nil` if one is not UTF-8, or not greater than the one before it.
    fileprivate init?(_ bytes: UnsafeRawBufferPointer, ends: [UInt32]) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var (begin, former) = (0, 0..<0)
        for (place, end) in ends.enumerated() {
            let text = begin..<Int(end)
            // A text begins with a character, not within one.
            if let first = bytes[text].first, first & 0xC0 == 0x80 { return nil }
            guard place == 0 || bytes[former].lexicographicallyPrecedes(bytes[text]) else { return nil }
            (begin, former) = (text.upperBound, text)
        }
        (self.bytes, self.ends) = (Array(bytes), ends)
    }

    var count: Int { ends.count }

    fileprivate func range(_ place: Int) -> Range<Int> { (place == 0 ? 0 : Int(ends[place - 1]))..<Int(ends[place]) }

    subscript(place: UInt32) -> ExactText { ExactText(String(decoding: bytes[range(Int(place))], as: UTF8.self)) }
}

/// Gives the texts of a value their final places.
struct PlaceMapper: StateCoder {
    /// The final place, by the provisional one.
    let places: [UInt32]

    static var isReading: Bool { false }

    mutating func byte(_ value: inout UInt8) {}
    mutating func unsigned(_ value: inout UInt64) {}
    mutating func place(_ value: inout UInt32) { value = places[Int(value)] }
    mutating func place(_ value: inout UInt32, of limit: Int) {}
    mutating func list<Element: StateElement>(_ elements: inout [Element]) {
        for place in elements.indices { elements[place].visit(&self) }
    }
    mutating func require(_ condition: Bool) {}
}

/// The texts of a value while it is made, each once.
struct StateTexts {
    private var places: [ExactText: UInt32] = [:]

    /// The provisional place of a text.
    mutating func place(_ text: ExactText) -> UInt32 {
        if let place = places[text] { return place }
        let place = UInt32(places.count)
        places[text] = place
        return place
    }

    mutating func place(_ text: ExactText?) -> UInt32? { text.map { place($0) } }

    /// The texts in order, and the final place of each provisional one.
    var sorted: (texts: TextList, mapper: PlaceMapper) {
        let ordered = places.sorted { $0.key < $1.key }
        var final = [UInt32](repeating: 0, count: ordered.count)
        for (place, text) in ordered.enumerated() { final[Int(text.value)] = UInt32(place) }
        return (TextList(ordered.map(\.key)), PlaceMapper(places: final))
    }
}
