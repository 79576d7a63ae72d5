import AppStoreConnection
import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

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

/// Asks Apple about verified receipts.
struct AppleQuestion: Sendable {
    let client: VerifyReceiptClient
    let sharedSecret: SharedSecret?
    let excludesOldTransactions: Bool

    /// The number of receipts that Apple is asked about at the same time.
    static let atOnce = CallLimit.callsPerApp

    /// Apple's answer about verified evidence; `nil` if Apple is not asked: `verifyReceipt` reads only app receipts and
    /// transaction receipts, except Xcode's.
    func ask(_ evidence: VerifiedEvidence, _ item: EvidenceItem) async -> AppleAnswer? {
        guard let bytes = Self.bytes(item),
            let question = ReceiptQuestion(
                evidence, bytes: bytes, app: "", excludesOldTransactions: excludesOldTransactions,
                sharedSecret: sharedSecret)
        else { return nil }
        switch await client.validate(question.request) {
        case .undetermined(let reason): return AppleAnswer(undetermined: reason)
        case .conclusive(let reply): return AppleAnswer(reply, evidence)
        }
    }

    /// Closes the connections.
    func end() async throws { try await client.shutdown() }

    private static func bytes(_ item: EvidenceItem) -> [UInt8]? {
        do throws(VerificationError) {
            return try Evidence(item.evidence()).bytes
        } catch {
            // Verified evidence has been read before.
            return nil
        }
    }
}

/// Apple's answer about a receipt, compared with the facts that the receipt proves.
struct AppleAnswer: Sendable {
    let verdict: AppleVerdict
    /// The code; `nil` if Apple agrees.
    let code: String?
    let expected: String?
    let found: String?
    let message: String
    /// The status of the reply, if there was one.
    let status: Int?
    /// The environment that was asked last.
    let environment: String

    enum AppleVerdict: String, Sendable {
        case verified, rejected, undetermined
    }

    init(undetermined reason: UndeterminedValidation) {
        verdict = .undetermined
        code = reason.code.rawValue
        expected = nil
        found = reason.seen
        message = "Apple's answer could not be had; ask again later."
        status = reason.status?.rawValue
        environment = reason.environment.rawValue
    }

    init(_ reply: AppStoreReply, _ evidence: VerifiedEvidence) {
        status = reply.status.rawValue
        environment = reply.environment.rawValue
        let answer = AppStoreAnswer(reply, evidence)
        verdict = answer.refusal == nil ? .verified : .rejected
        (code, expected, found) = (answer.refusal?.code, answer.refusal?.expected, answer.refusal?.found)
        message = answer.refusal?.sentence ?? "Apple agrees."
    }
}
