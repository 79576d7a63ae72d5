import ArgumentParser
import PurchaseServer

/// The signing key of the log.
struct SigningKeyOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp(ServerSetting.signingKey.help))
    var signingKey: String?

    func keys(_ options: LedgerDatabaseOptions) throws -> RecordKeys {
        let given = ServerSetting.signingKey.option.map { [$0: signingKey.map { [$0] } ?? []] } ?? [:]
        return try options.place().recordKeys(options: given)
    }
}
