import PurchaseVerification

/// Identifies a process that delivers to webhooks, and the holder that it runs for.
///
/// A process that holds the lock of a signing key on its machine has the key's holder: the process that held the lock
/// before it has ended. So it may take the lease of its predecessor at once. Each process has another owner, so a
/// predecessor cannot record anything after its lease was taken.
public struct WebhookOwner: Sendable, Equatable {
    /// The number of bytes that name the holder.
    static let holderSize = 16

    /// What a lease stores: the holder, and a random number.
    public let bytes: [UInt8]
    /// Whether it may take a lease of its holder that has not ended. It does so once, at its start: if two machines
    /// have copies of one key, they do not take the lease from each other again and again.
    public let replacesPredecessor: Bool

    /// A process.
    ///
    /// - Parameter key: the public key of the signing key whose lock this process holds; `nil` if it holds none.
    public init(holderOf key: LogVerifierKey?) {
        let digest = key.map { StorableEvidence.sha256(Array("assay webhook holder\n\($0.text)".utf8)) }
        let holder = digest.map { Array($0.prefix(Self.holderSize)) } ?? Self.random
        bytes = holder + Self.random
        replacesPredecessor = key != nil
    }

    private static var random: [UInt8] { (0..<holderSize).map { _ in UInt8.random(in: .min ... .max) } }

    /// Whether two processes have the same holder.
    static func haveOneHolder(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == 2 * holderSize && second.count == first.count
            && first.prefix(holderSize) == second.prefix(holderSize)
    }
}
