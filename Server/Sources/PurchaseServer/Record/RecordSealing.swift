import Logging
import PurchaseLedger
import ServiceLifecycle

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
