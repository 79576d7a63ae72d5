import AppStoreConnection
import ArgumentParser
import Foundation

/// Whether and how `verify` asks Apple.
struct AskAppleOptions: ParsableArguments {
    @Flag(
        name: .long,
        help: ArgumentHelp(
            "Also ask Apple's verifyReceipt about each genuine receipt.",
            discussion: "The receipts are sent to Apple, or to the addresses of the options below."))
    var askApple = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file with the app's shared secret, for receipts with auto-renewables; or set ASSAY_SHARED_SECRET.",
            valueName: "file"))
    var sharedSecretFile: String?

    @Flag(help: "Ask for the latest period of each subscription only.") var excludeOldTransactions = false

    @Option(name: .long, help: ArgumentHelp("The address to ask instead of Apple's for production.", valueName: "url"))
    var verifyReceiptProduction: String?

    @Option(name: .long, help: ArgumentHelp("The address to ask instead of Apple's for the sandbox.", valueName: "url"))
    var verifyReceiptSandbox: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The certificate authorities in PEM that these addresses are trusted by.", valueName: "file")
    )
    var tlsTrust: String?

    func validate() throws {
        let others = [sharedSecretFile, verifyReceiptProduction, verifyReceiptSandbox, tlsTrust]
        guard askApple || others.allSatisfy({ $0 == nil }) && !excludeOldTransactions else {
            throw ValidationError("These options are about asking Apple; add '--ask-apple'.")
        }
        // Otherwise a sandbox receipt would go to Apple and a production receipt to a test server, or the reverse.
        guard (verifyReceiptProduction == nil) == (verifyReceiptSandbox == nil) else {
            throw ValidationError("Name both '--verify-receipt-production' and '--verify-receipt-sandbox'.")
        }
    }

    /// The question of the options; `nil` if Apple is not asked.
    func question() throws -> AppleQuestion? {
        guard askApple else { return nil }
        let apple = AppStoreConnectionSettings.apple
        let settings = try AppStoreConnectionSettings(
            production: verifyReceiptProduction ?? apple.verifyReceiptProduction.absoluteString,
            sandbox: verifyReceiptSandbox ?? apple.verifyReceiptSandbox.absoluteString, trustFile: tlsTrust)
        // The client comes last: once it is there, it must be shut down.
        let secret = try secret()
        return AppleQuestion(
            client: try VerifyReceiptClient(settings), sharedSecret: secret,
            excludesOldTransactions: excludeOldTransactions)
    }

    private func secret() throws -> SharedSecret? {
        if let sharedSecretFile { return SharedSecret(try SecretFile.secret(sharedSecretFile)) }
        return ProcessInfo.processInfo.environment["ASSAY_SHARED_SECRET"].flatMap { SharedSecret($0) }
    }
}
