import Logging
import PurchaseLedger
import ServiceLifecycle
import Synchronization

/// Seals the journal into the Merkle log while the server runs, and publishes its checkpoints. It ends after the server
/// has answered its last request: waiting entries are sealed and published then.
struct RecordSealing: Service {
    private let sealing: LogSealing
    private let urls: [CheckpointURL]
    private let metrics: ServerMetrics
    private let logger: Logger

    /// A sealer of a ledger.
    ///
    /// - Parameters:
    ///   - ledger: the ledger, which was opened with the key of entries.
    ///   - signer: signs checkpoints; `nil` if another server does.
    ///   - places: where checkpoints go.
    ///   - metrics: counts the rounds.
    ///   - logger: where failures are logged.
    /// - Throws: `notAuthentic` if the ledger was opened without the key of entries.
    init(
        ledger: PurchaseLedger, signer: CheckpointSigner?, places: [CheckpointPlace], metrics: ServerMetrics,
        logger: Logger
    ) throws(LogError) {
        var publishers: [any CheckpointPublisher] = []
        var urls: [CheckpointURL] = []
        for place in places {
            switch place {
            case .standardOutput: publishers.append(CheckpointStream())
            case .file(let path): publishers.append(CheckpointFile(path: path))
            case .url(let url):
                let publisher = CheckpointURL(url, logger: logger)
                publishers.append(publisher)
                urls.append(publisher)
            }
        }
        sealing = try LogSealing(ledger: ledger, signer: signer, publishers: publishers)
        self.urls = urls
        self.metrics = metrics
        self.logger = logger
    }

    /// Checks that checkpoints can be written to their files.
    ///
    /// - Throws: `LogError` that names the setting.
    static func requireUsable(_ places: [CheckpointPlace]) throws(LogError) {
        for case .file(let path) in places {
            do throws(LogError) {
                try RecordFile.requireFolder(of: path)
            } catch {
                throw LogError(error.code, "\(ServerSetting.checkpoints.name): \(error.detail)")
            }
        }
    }

    func run() async throws {
        let report = SealingReport(logger: logger, metrics: metrics)
        await cancelWhenGracefulShutdown {
            await sealing.run { report.add($0) }
        }
        for url in urls { await url.end() }
    }
}

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
