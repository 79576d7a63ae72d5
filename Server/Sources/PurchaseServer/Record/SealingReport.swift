import Logging
import PurchaseLedger
import Synchronization

/// Logs faults in rounds of sealing: each once when it begins, and then once a minute.
final class SealingReport: Sendable {
    /// Rounds between two lines about the same fault: a minute.
    private static let repetition = 120

    private let logger: Logger
    private let metrics: ServerMetrics
    private let state = Mutex(State())

    private struct State {
        var fault: String?
        var rounds = 0
    }

    init(logger: Logger, metrics: ServerMetrics) {
        (self.logger, self.metrics) = (logger, metrics)
    }

    func add(_ result: Result<LogSealing.Round, any Error>) {
        switch result {
        case .success(let round) where round.refusedInAll == 0:
            metrics.noteSealing("done")
            if change(nil) { logger.notice("the record is sealed again") }
        case .success(let round):
            metrics.noteSealing("refused")
            guard change("refused \(round.refusedInAll)") else { return }
            logger.error(
                "journal entries get no place in the log, because no server with the key wrote them; run assay audit verify",
                metadata: [
                    "code": "\(LogError.Code.notAuthentic.rawValue)",
                    "entries": .stringConvertible(round.refusedInAll),
                ])
        case .failure(let error):
            metrics.noteSealing("failed")
            // The text of the same fault can differ: it names temporary files, whose names are random.
            let code = (error as? LogError)?.code.rawValue
            guard change(code ?? "\(error)") else { return }
            var metadata: Logger.Metadata = ["error": "\(error)"]
            if let code { metadata["code"] = "\(code)" }
            logger.error("the record is not sealed, signed or published", metadata: metadata)
        }
    }

    /// - Returns: whether to log: the fault differs from the one before, or it lasts.
    private func change(_ fault: String?) -> Bool {
        state.withLock { state in
            state.rounds += 1
            guard fault == state.fault else {
                (state.fault, state.rounds) = (fault, 0)
                return true
            }
            return fault != nil && state.rounds % Self.repetition == 0
        }
    }
}
