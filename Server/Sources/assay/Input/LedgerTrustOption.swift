import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// The certificates with which a command verifies evidence again.
struct LedgerTrustOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp(ServerSetting.trust.help))
    var trust: [String] = []

    /// Apple's roots and the certificates of the option, the environment or the settings file, as the server takes
    /// them.
    func anchors(_ options: LedgerDatabaseOptions) throws -> [TrustAnchor] {
        let place = try options.place(isTrustExtended: true)
        let given = ServerSetting.trust.option.map { [$0: trust] } ?? [:]
        return try place.configuration(options: given).anchors
    }
}
