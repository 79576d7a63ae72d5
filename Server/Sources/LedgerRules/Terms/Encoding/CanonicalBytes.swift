import PurchaseVerification

/// Bytes that are already canonical.
struct CanonicalBytes: CanonicalValue {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }
    init(from reader: inout CanonicalReader) throws(FactsDecodingError) { bytes = try reader.counted() }
    func encode(to writer: inout CanonicalWriter) { writer.write(counted: bytes) }
}
