import HostileBytes
import LibFuzzer

/// libFuzzer calls it for every new input. Half of the time it changes bytes as libFuzzer would, half of the time the
/// structure of DER, with corrected lengths: changes of bytes alone rarely get past the first length.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(
    _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
    guard let bytes else { return 0 }
    var generator = SeededGenerator(seed: UInt64(seed))
    if FuzzTarget.chosen.isDER, generator.below(2) == 0,
        let changed = structure(Array(UnsafeBufferPointer(start: bytes, count: count)), &generator),
        changed.count <= capacity
    {
        for (index, byte) in changed.enumerated() { bytes[index] = byte }
        return changed.count
    }
    return LLVMFuzzerMutate(bytes, count, capacity)
}

/// One to four changes of the structure; `nil` if the input has no structure.
private func structure(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8]? {
    // The input of the target `ber` is the content of an indefinite length, so the end octets follow.
    let tail: [UInt8] = FuzzTarget.chosen == .ber && bytes.suffix(4) == [0, 0, 0, 0] ? [0, 0, 0, 0] : []
    guard var tree = DERTree(Array(bytes.dropLast(tail.count))) else { return nil }
    for _ in 0...generator.below(4) {
        let mutation = StructureMutation.allCases[generator.below(StructureMutation.allCases.count)]
        mutation.apply(to: &tree, &generator, changed: fuzzed)
    }
    return tree.bytes + tail
}

/// Some content as libFuzzer changes it.
private func fuzzed(_ content: [UInt8]) -> [UInt8] {
    var buffer = content + [UInt8](repeating: 0, count: 32)
    let capacity = buffer.count
    let count = buffer.withUnsafeMutableBufferPointer { LLVMFuzzerMutate($0.baseAddress, content.count, capacity) }
    return Array(buffer.prefix(count))
}
