import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle
import Synchronization

/// Records receipts that `verifyReceipt` got, where the settings of their app say so, within the daily budget. It runs
/// beside the answers, which do not wait for it: what comes faster than it is recorded is counted and left out.
final class ReceiptRecording: Service {
    /// The source of the entries.
    static let source = "verify_receipt"
    /// The name under which the daily budget counts them, in place of an API key.
    static let keyName = "verifyReceipt"
    /// How many receipts may wait.
    private static let waitingLimit = 256

    /// A receipt to record.
    private struct Receipt: Sendable {
        let app: String
        let evidence: [UInt8]
        let ledger: PurchaseLedger
    }

    private let stream: AsyncStream<Receipt>
    private let waiting: AsyncStream<Receipt>.Continuation
    private let workers: WorkerPool
    private let logger: Logger
    private let leftOut = Atomic(0)

    init(workers: WorkerPool, logger: Logger) {
        (self.workers, self.logger) = (workers, logger)
        (stream, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.waitingLimit))
    }

    /// Records a receipt later.
    func add(_ evidence: [UInt8], app: String, to ledger: PurchaseLedger) {
        let result = waiting.yield(Receipt(app: app, evidence: evidence, ledger: ledger))
        if case .dropped = result { leftOut.add(1, ordering: .relaxed) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await receipt in self.stream { await self.record(receipt) }
        }
    }

    private func record(_ receipt: Receipt) async {
        var submission = EvidenceSubmission(app: receipt.app, source: Self.source, evidence: receipt.evidence)
        submission.keyID = Self.keyName
        do {
            let examined = try await workers.run { [submission] in receipt.ledger.examine(submission) }
            _ = try await receipt.ledger.perform(ObserveEvidence(examined))
        } catch let error as LedgerStorageError where error.kind == .appMoved {
            // The servers of its new ledger record it.
        } catch {
            // The client has its answer, and sends the receipt again.
            leftOut.add(1, ordering: .relaxed)
        }
        let number = leftOut.exchange(0, ordering: .relaxed)
        guard number > 0 else { return }
        logger.warning("receipts were not recorded", metadata: ["receipts": .stringConvertible(number)])
    }
}

/// Decides which receipts of `verifyReceipt` are recorded, and for which app.
struct ReceiptRecords: Sendable {
    /// The settings of each app, by bundle id.
    private let settings: [String: DropInSettings]
    /// The only app that records what is refused. A forged or malformed receipt names an app that may be any other, so
    /// with several, it is recorded for none.
    private let appOfRefused: String?
    private let recording: ReceiptRecording
    private let ledger: PurchaseLedger

    init(settings: [String: DropInSettings], recording: ReceiptRecording, ledger: PurchaseLedger) {
        (self.settings, self.recording, self.ledger) = (settings, recording, ledger)
        let apps = Set(settings.values.filter { $0.recording != .off }.map { ExactText($0.app) })
        appOfRefused = apps.count == 1 ? apps.first?.string : nil
    }

    /// Notes a receipt that was answered.
    func note(_ prepared: PreparedAnswer) {
        guard let evidence = prepared.evidence else { return }
        guard let app = prepared.app else {
            if let appOfRefused { recording.add(evidence, app: appOfRefused, to: ledger) }
            return
        }
        let isRefused = prepared.subject == nil
        guard
            settings.values.contains(where: {
                ExactText($0.app) == ExactText(app) && ($0.recording == .all || isRefused && $0.recording == .refused)
            })
        else { return }
        recording.add(evidence, app: app, to: ledger)
    }
}
