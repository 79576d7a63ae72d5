extension ClaimDetails {
    /// The bytes that `JSONEncoder` writes with sorted keys. Every purchase has such details, and they are written by
    /// the only thread that writes to the database, where the encoder takes longer than all statements of a purchase.
    func canonicalJSON() -> [UInt8] {
        var json = JSONText(capacity: 512)
        json.open()
        json.add("appStore", appStore?.rawValue)
        json.add("customer", customer)
        json.add("evidenceKind", evidenceKind)
        json.add("expected", expected)
        json.add("found", found)
        if let imported {
            json.key("imported")
            json.open()
            json.add("announced", imported.announced)
            json.add("at", imported.at)
            json.add("consumables", imported.consumables)
            if let takes = imported.takes {
                json.key("takes")
                json.list(takes) { json, take in
                    json.open()
                    json.add("environment", take.environment)
                    json.add("grantID", take.grantID)
                    json.add("originalID", take.originalID)
                    json.add("second", take.second)
                    json.add("units", take.units)
                    json.close()
                }
            }
            json.close()
        }
        json.add("isRestore", isRestore)
        json.add("keyID", keyID)
        json.add("order", order)
        json.key("outcomes")
        json.list(outcomes) { json, outcome in
            json.open()
            json.add("binds", outcome.binds)
            json.add("code", outcome.code)
            json.add("environment", outcome.environment)
            json.add("order", outcome.order)
            json.add("second", outcome.second)
            json.add("transactionID", outcome.transactionID)
            json.close()
        }
        json.add("productID", productID)
        json.add("quantity", quantity)
        json.add("replayed", replayed)
        json.add("sourceAddress", sourceAddress)
        json.add("transactionID", transactionID)
        json.add("transfer", transfer)
        if let unknownMembers {
            json.key("unknownMembers")
            json.strings(unknownMembers)
        }
        json.add("unverified", unverified?.rawValue)
        json.close()
        return json.bytes
    }
}

/// Writes JSON from front to back, without white space. The caller writes the keys in order.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    /// Whether the next member or element is the first of its object or list.
    private var isFirst = true

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func open() {
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
    }

    mutating func close() {
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    mutating func key(_ key: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        bytes += UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func list<Element>(_ elements: [Element], _ write: (inout JSONText, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
        isFirst = false
    }

    mutating func strings(_ texts: [String]) {
        list(texts) { json, text in json.append(text) }
    }

    mutating func add(_ key: StaticString, _ text: String?) {
        guard let text else { return }
        self.key(key)
        append(text)
    }

    private mutating func append(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            if utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
                bytes += utf8
            } else {
                for byte in utf8 { append(escaped: byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func add(_ key: StaticString, _ number: Int64?) {
        guard let number else { return }
        self.key(key)
        bytes += String(number).utf8
    }

    mutating func add(_ key: StaticString, _ flag: Bool) {
        self.key(key)
        bytes += (flag ? "true" : "false").utf8
    }

    /// RFC 8259, section 7.
    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): bytes += #"\""#.utf8
        case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
        case 0x08: bytes += #"\b"#.utf8
        case 0x09: bytes += #"\t"#.utf8
        case 0x0A: bytes += #"\n"#.utf8
        case 0x0C: bytes += #"\f"#.utf8
        case 0x0D: bytes += #"\r"#.utf8
        case 0..<0x20:
            bytes += #"\u00"#.utf8
            let digits = Array("0123456789abcdef".utf8)
            bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default: bytes.append(byte)
        }
    }
}
