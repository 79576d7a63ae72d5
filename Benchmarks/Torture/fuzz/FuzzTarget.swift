import Foundation
import HostileBytes
import LibFuzzer

/// The targets of the fuzzer.
enum FuzzTarget: String, CaseIterable {
    /// Whole evidence.
    case container
    /// The signed content of an otherwise genuine container.
    case payload
    /// A certificate, in every possible position.
    case certificate
    /// Evidence before its text encoding is known.
    case text
    /// The content of an indefinite length.
    case ber
    /// Dates and device identifiers.
    case date
    /// A property list, as a whole receipt and as the signed list of one.
    case propertyList
    /// The signature field of an otherwise genuine transaction receipt.
    case signatureField
    /// A transaction receipt.
    case transactionReceipt
    /// Signed data.
    case compactJWS
    /// The claims of otherwise genuine signed data.
    case claims
    /// JSON: on its own, and as header and claims of otherwise genuine signed data.
    case json
    /// Tests the fuzzer, not the core: fails on purpose, so that the script knows that failures are detected.
    case canary

    /// The target named on the command line.
    static let chosen = CommandLine.arguments.dropFirst().first.flatMap(FuzzTarget.init) ?? .canary

    /// Whether mutations of DER structure make sense.
    var isDER: Bool {
        switch self {
        case .container, .payload, .certificate, .ber: true
        case .text, .date, .propertyList, .signatureField, .transactionReceipt, .compactJWS, .claims, .json, .canary:
            false
        }
    }

    /// Creates the values that all inputs share.
    func prepare() {
        switch self {
        case .date, .canary: break
        case .container, .payload, .certificate, .text, .ber, .propertyList, .signatureField, .transactionReceipt,
            .compactJWS, .claims, .json:
            _ = World.shared
        }
    }

    /// Runs one input, and traps if an invariant is violated.
    func run(_ bytes: [UInt8]) {
        switch self {
        case .container, .transactionReceipt, .compactJWS: World.shared.checkVerdict(of: bytes)
        case .payload: World.shared.payload.check(bytes)
        case .certificate: World.shared.certificate.check(bytes)
        case .text: TextTarget.check(bytes)
        case .ber: World.shared.checkIndefinite(bytes)
        case .date: DateTarget.check(bytes)
        case .propertyList: World.shared.transactionReceipt.check(list: bytes)
        case .signatureField: World.shared.transactionReceipt.check(signatureField: bytes)
        case .claims: World.shared.claims.check(bytes)
        case .json: World.shared.claims.check(json: bytes)
        case .canary: demand(!bytes.contains(0x21), "the canary has met an exclamation mark")
        }
    }

    /// The seeds of the fuzzer.
    func seeds() throws -> [[UInt8]] {
        let world = World.shared
        return switch self {
        case .container: world.samples.map(\.bytes)
        case .payload: world.samples.compactMap { PayloadTarget.content(of: $0.bytes) }
        case .certificate: Array(Set(world.samples.flatMap { CertificateTarget.certificates(of: $0.bytes) }))
        case .text: world.samples.flatMap(TextTarget.spellings)
        case .ber: world.samples.map(World.insideIndefinite)
        case .date: DateTarget.seeds
        case .propertyList: world.receipts.map(\.bytes) + world.looseReceipts.map(\.purchaseInfo)
        case .signatureField: world.looseReceipts.map(\.field)
        case .transactionReceipt: world.receipts.map(\.bytes) + world.receipts.map(\.evidence)
        case .compactJWS: world.signedPayload.map(\.bytes)
        case .claims: world.signedPayload.compactMap { LooseJWS($0.bytes)?.payload }
        case .json: ClaimsTarget.jsonSeeds + world.signedPayload.compactMap { LooseJWS($0.bytes)?.header }
        case .canary: [[0x20]]
        }
    }
}

/// Stops the run with a message if an invariant is violated, so that libFuzzer keeps the input.
func demand(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("VIOLATED: \(sentence())\n".utf8))
    fatalError("an invariant does not hold")
}

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
        StructureMutation.change(&tree, &generator, changed: fuzzed)
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
