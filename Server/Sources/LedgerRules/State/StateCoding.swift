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
    private var count: UInt64 = 0

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
        for place in elements.indices { elements[place].visit(&self) }
    }

    mutating func texts(_ texts: [ExactText]) {
        var count = UInt64(texts.count)
        unsigned(&count)
        for text in texts {
            var length = UInt64(text.string.utf8.count)
            unsigned(&length)
            bytes.append(contentsOf: text.string.utf8)
        }
    }

    mutating func require(_ condition: Bool) {}
}

/// Reads a value. It never reads beyond the bytes, and allocates in proportion to them.
struct StateReader: StateCoder {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var textCount = 0

    static var isReading: Bool { true }

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    var malformed: FactsDecodingError { .malformed(offset: position) }

    mutating func byte(_ value: inout UInt8) throws(FactsDecodingError) {
        guard position < bytes.count else { throw malformed }
        value = bytes[position]
        position += 1
    }

    mutating func unsigned(_ value: inout UInt64) throws(FactsDecodingError) {
        var (number, shift, byte): (UInt64, UInt64, UInt8) = (0, 0, 0)
        while true {
            try self.byte(&byte)
            let group = UInt64(byte & 0x7F)
            // The tenth group has room for one bit.
            guard shift < 63 || (shift == 63 && group <= 1) else { throw malformed }
            number |= group << shift
            if byte & 0x80 == 0 { break }
            shift += 7
        }
        value = number
    }

    mutating func place(_ value: inout UInt32) throws(FactsDecodingError) { try place(&value, of: textCount) }

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
    mutating func texts() throws(FactsDecodingError) -> [ExactText] {
        let count = try count(1)
        var texts: [ExactText] = []
        texts.reserveCapacity(min(count, 4096))
        for _ in 0..<count {
            var length: UInt64 = 0
            try unsigned(&length)
            guard length <= UInt64(bytes.count - position) else { throw malformed }
            let end = position + Int(length)
            // Bytes that are not UTF-8 are repaired here; the comparison with the input then refuses them.
            let text = ExactText(String(decoding: bytes[position..<end], as: UTF8.self))
            guard texts.last.map({ $0 < text }) ?? true else { throw malformed }
            texts.append(text)
            position = end
        }
        textCount = texts.count
        return texts
    }

    mutating func require(_ condition: Bool) throws(FactsDecodingError) { guard condition else { throw malformed } }
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
    var sorted: (texts: [ExactText], mapper: PlaceMapper) {
        let ordered = places.sorted { $0.key < $1.key }
        var final = [UInt32](repeating: 0, count: ordered.count)
        for (place, text) in ordered.enumerated() { final[Int(text.value)] = UInt32(place) }
        return (ordered.map(\.key), PlaceMapper(places: final))
    }
}
