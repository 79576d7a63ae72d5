import BuildInformation
import Logging
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// The first line of a server's log: the version, the database and the settings.
struct ServeStart {
    let configuration: ServerConfiguration
    /// The settings file; `nil` if none was read.
    let settings: String?
    let database: String

    /// The build, for the metrics.
    var build: ServerBuild { ServerBuild(version: "\(Assay.version)", commit: "\(BuildInformation.commit)") }

    func log(to logger: Logger) {
        logger.notice(
            "assay serve starts",
            metadata: [
                "version": "\(Assay.version)", "commit": "\(BuildInformation.commit)",
                "settings": "\(settings ?? "none")", "database": "\(database)",
                "schema": .stringConvertible(Int(LedgerMigrations.current)),
                "apps": .array(configuration.apps.keys.sorted().map { "\($0)" }),
                "environments": .array(configuration.environments.map(\.name).sorted().map { "\($0)" }),
                "trust_anchors": .array(configuration.anchors.map { "\($0.subject)" }),
            ])
    }
}
