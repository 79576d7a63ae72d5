import PurchaseVerification

/// Seals the journal into the Merkle log and publishes its checkpoints, at most a second after a commit.
///
/// The order is fixed: commit the tree; write its size and root to the signer's file and flush it; publish the
/// checkpoint. After a crash between two steps, the next round continues.
public actor LogSealing {
    let ledger: PurchaseLedger
    private let key: EntryKey
    private let signer: CheckpointSigner?
    private let publishers: [any CheckpointPublisher]
    private let interval: Duration
    /// The last checkpoint that each publisher accepted.
    private var published: [Checkpoint?]
    private var latest: Task<Round, any Error>?

    /// The result of a round.
    public struct Round: Sendable, Equatable {
        /// The number of entries that were sealed.
        public var sealed = 0
        /// The entries of this round that no server with the key wrote. They should raise an alarm.
        public var refused: [Int64] = []
        /// The number of such entries in all rounds.
        public var refusedInAll: Int64 = 0
        /// The checkpoint that was published; `nil` if the log did not change.
        public var checkpoint: SignedCheckpoint?
    }

    /// Creates a sealer of a ledger.
    ///
    /// - Parameters:
    ///   - ledger: the ledger, opened with the key of entries.
    ///   - signer: signs checkpoints; `nil` if another server does.
    ///   - publishers: the destinations of checkpoints.
    ///   - interval: the time between two rounds.
    /// - Throws: `notAuthentic` if the ledger was opened without the key of entries.
    public init(
        ledger: PurchaseLedger, signer: CheckpointSigner?, publishers: [any CheckpointPublisher] = [],
        interval: Duration = .milliseconds(500)
    ) throws(LogError) {
        guard let key = ledger.entryKey else {
            throw LogError(.notAuthentic, "the ledger was opened without the key of entries; nothing can be sealed")
        }
        self.ledger = ledger
        self.key = key
        self.signer = signer
        self.publishers = publishers
        published = Array(repeating: nil, count: max(1, publishers.count))
        self.interval = interval
    }

    /// Runs rounds until the task is cancelled, and then a last one.
    ///
    /// - Parameter report: called with the result of each round.
    public func run(_ report: @Sendable (Result<Round, any Error>) -> Void) async {
        while !Task.isCancelled {
            report(await result())
            do { try await Task.sleep(for: interval) } catch { break }
        }
        report(await result())
    }

    /// Seals pending entries, signs the tree, and publishes the checkpoint. Rounds never overlap, and cancelling a task
    /// does not interrupt its round.
    @discardableResult
    public func round() async throws -> Round {
        let before = latest
        let task = Task {
            _ = await before?.result
            return try await self.perform()
        }
        latest = task
        return try await task.value
    }

    private func result() async -> Result<Round, any Error> {
        do { return .success(try await round()) } catch { return .failure(error) }
    }

    private func perform() async throws -> Round {
        var round = try await seal()
        guard let signed = try await sign() else { return round }
        try await publish(signed)
        round.checkpoint = signed
        return round
    }

    // MARK: The three steps

    /// Commits the tree of all pending entries.
    package func seal() async throws -> Round {
        var round = Round()
        while true {
            let (isPending, refused) = try await ledger.answer(HasPendingEntries())
            round.refusedInAll = refused
            guard isPending else { return round }
            let outcome = try await ledger.perform(SealEntries(key: key))
            guard !outcome.isEmpty else { return round }
            round.sealed += outcome.sealed
            round.refused += outcome.refused
        }
    }

    /// Signs the tree after checking its new leaves and computing their root again.
    ///
    /// - Returns: `nil` without a signer, and if this tree was already published.
    /// - Throws: `shorter`, `rewritten` or `notAuthentic` if the log does not extend the last signed tree.
    package func sign() async throws -> SignedCheckpoint? {
        guard let signer else { return nil }
        let known = signer.knownSize
        let log = try await ledger.answer(LogEdge(size: known == nil ? signer.head.size : nil))
        if let edge = log.edge { try signer.begin(edge) }
        if published.allSatisfy({ $0?.size == log.size && $0?.root == log.root }) { return nil }
        var next = known ?? signer.head.size
        guard next <= log.size else {
            throw LogError(.shorter, "the log has \(log.size) leaves, and \(next) were read before")
        }
        while next < log.size {
            let leaves = try await ledger.answer(LogLeaves(key: key, range: next..<log.size))
            signer.extend(leaves)
            next += Int64(leaves.count)
        }
        return try signer.sign(log.root)
    }

    /// Publishes a checkpoint. If a publisher fails, the next round publishes to it again; the other publishers are not
    /// affected.
    package func publish(_ signed: SignedCheckpoint) async throws {
        var failure: (any Error)?
        for (index, publisher) in publishers.enumerated() where published[index] != signed.checkpoint {
            do {
                try await publisher.publish(signed)
                published[index] = signed.checkpoint
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        if publishers.isEmpty { published = [signed.checkpoint] }
    }
}
