import CZlib

/// Split and compressed evidence, before the keys of its shared parts are known.
package struct CompressedEvidence {
    let form: StoredContent.Form
    /// The shared parts, which are stored separately.
    package let parts: [[UInt8]]
    private let content: [UInt8]

    /// Splits and compresses evidence.
    ///
    /// - Returns: `nil` if that saves nothing, or if the pieces would not restore the same bytes.
    package init?(_ evidence: [UInt8], sharesParts: Bool) {
        let split = EvidenceSplitter(sharesParts: sharesParts).split(evidence)
        guard split.parts.count <= SplitEvidence.maximumParts,
            split.shape.count <= SplitEvidence.maximumShape(size: evidence.count),
            split.joined(limit: evidence.count) == evidence
        else { return nil }
        form =
            switch split.literals.first {
            // The tag of a SEQUENCE.
            case 0x30: .splitReceipt1
            case UInt8(ascii: "{") where split.literals.dropFirst().first == 0x0A: .splitPropertyList1
            default: .splitClaims1
            }
        guard let dictionary = form.dictionary,
            let deflated = Deflate.compressed(split.shape + split.literals, dictionary)
        else { return nil }
        var content: [UInt8] = []
        content.append(number: split.shape.count)
        content.append(number: split.literals.count)
        content.append(number: split.opaque.count)
        content += split.opaque
        content += deflated
        guard content.count < evidence.count else { return nil }
        parts = split.parts
        self.content = content
    }

    /// The stored bytes.
    ///
    /// - Parameter keys: the keys of the parts, in order.
    package func stored(keys: [Int64]) -> [UInt8] {
        var stored: [UInt8] = []
        stored.reserveCapacity(16 + 9 * keys.count + content.count)
        stored += [form.rawValue, 0, 0, 0, 0]
        stored.append(number: keys.count)
        for key in keys { stored.append(number: Int(key)) }
        stored += content
        StoredContent.seal(&stored)
        return stored
    }

    /// The evidence of stored bytes.
    ///
    /// - Parameters:
    ///   - size: the size of the evidence in bytes.
    ///   - part: the bytes of a shared part.
    /// - Returns: `nil` if the stored bytes are not a form of that many bytes.
    package static func evidence(
        _ stored: [UInt8], _ dictionary: CompressionDictionary, size: Int,
        part: (Int64) throws(LedgerStorageError) -> [UInt8]?
    ) throws(LedgerStorageError) -> [UInt8]? {
        var rest = stored.dropFirst(5)
        guard let count = rest.popNumber(), count <= SplitEvidence.maximumParts else { return nil }
        var split = SplitEvidence()
        for _ in 0..<count {
            guard let key = rest.popNumber(), let bytes = try part(Int64(key)) else { return nil }
            split.parts.append(bytes)
        }
        guard let shape = rest.popNumber(), let literals = rest.popNumber(), let opaque = rest.popNumber(),
            literals <= size, shape <= SplitEvidence.maximumShape(size: size), opaque <= rest.count
        else { return nil }
        split.opaque = Array(rest.prefix(opaque))
        guard let expanded = Deflate.expanded(rest.dropFirst(opaque), dictionary, count: shape + literals) else {
            return nil
        }
        split.shape = Array(expanded.prefix(shape))
        split.literals = Array(expanded.dropFirst(shape))
        return split.joined(limit: size)
    }
}
