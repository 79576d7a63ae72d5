import Foundation
import PurchaseVerification
import Synchronization

/// The verdicts that were written so far. Ctrl-C ends the program with a summary of them.
final class VerdictOutput: Sendable {
    private struct State {
        var summary = VerdictSummary()
        var progress = ProgressBar()
    }

    private let state = Mutex(State())
    private let format: any VerdictFormat
    private let showsProgress: Bool

    /// The exit status after SIGINT, as shells have it.
    private static let interrupted: Int32 = 130

    init(_ format: any VerdictFormat, showsProgress: Bool) {
        (self.format, self.showsProgress) = (format, showsProgress)
    }

    var summary: VerdictSummary { state.withLock { $0.summary } }

    /// Writes the verdicts of a batch.
    ///
    /// - Parameter share: the share of the input that was read.
    func write(_ batch: VerdictBatch, share: Double) {
        state.withLock { state in
            state.summary.add(batch)
            if !batch.text.isEmpty {
                state.progress.clear()
                Terminal.write(batch.text)
            }
            if showsProgress { state.progress.show(done: state.summary.count, share: share) }
        }
    }

    func clearProgress() { state.withLock { $0.progress.clear() } }

    /// Ends the program at SIGINT, between two batches, with the results so far.
    ///
    /// - Returns: the source of the signal, which must be kept.
    func endAtInterrupt() -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            self.state.withLock { state in
                state.progress.clear()
                let (verified, rejected) = (state.summary.verified, state.summary.rejected)
                Terminal.complain("interrupted; until then \(verified) verified, \(rejected) rejected")
                Foundation.exit(Self.interrupted)
            }
        }
        source.resume()
        return source
    }
}

/// The verdicts of a batch, written out.
struct VerdictBatch: Sendable {
    private(set) var text: [UInt8] = []
    private(set) var verified = 0
    private(set) var rejected = 0
    private(set) var undetermined = 0

    mutating func append(_ verdict: EvidenceVerdict, _ format: any VerdictFormat, _ shown: ShownVerdicts) {
        if shown == .all || shown == .rejected && verdict.outcome != .verified { format.write(verdict, to: &text) }
        switch verdict.outcome {
        case .verified: verified += 1
        case .rejected: rejected += 1
        case .undetermined: undetermined += 1
        }
    }
}

/// The number of verdicts of each kind.
struct VerdictSummary {
    private(set) var verified = 0
    private(set) var rejected = 0
    private(set) var undetermined = 0

    var count: Int { verified + rejected + undetermined }

    mutating func add(_ batch: VerdictBatch) {
        verified += batch.verified
        rejected += batch.rejected
        undetermined += batch.undetermined
    }
}

/// The verdicts that are written.
enum ShownVerdicts {
    case all, rejected, none
}

/// Runs batches of work on several cores and hands their results out in the order in which the batches came.
///
/// Only as many batches are in progress as keep every core busy, so a stream of any length takes little memory.
struct ParallelBatches {
    /// The number of batches that may run at the same time.
    let jobs: Int

    /// Runs all batches.
    ///
    /// - Parameters:
    ///   - next: the next batch; `nil` at the end.
    ///   - work: is called on several cores.
    ///   - output: is called with one result after the other. An error of it ends everything.
    func run<Batch: Sendable, Output: Sendable, Failure: Error>(
        next: () -> Batch?,
        work: @escaping @Sendable (Batch) async -> Output,
        output: (Output) async throws(Failure) -> Void
    ) async throws(Failure) {
        let failure: Failure? = await withTaskGroup(of: (Int, Output).self) { group in
            var started = 0
            var received = 0
            var written = 0
            var waiting: [Int: Output] = [:]
            var isExhausted = false
            while true {
                // As many batches run as allowed, but none runs far ahead of the output.
                while !isExhausted, started - received < jobs, started - written < jobs * 4 {
                    guard let batch = next() else {
                        isExhausted = true
                        break
                    }
                    let index = started
                    started += 1
                    group.addTask { (index, await work(batch)) }
                }
                guard let (index, result) = await group.next() else { return nil }
                received += 1
                waiting[index] = result
                while let result = waiting.removeValue(forKey: written) {
                    do throws(Failure) {
                        try await output(result)
                    } catch {
                        group.cancelAll()
                        return error
                    }
                    written += 1
                }
            }
        }
        if let failure { throw failure }
    }
}
