import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import TextFormats

/// `assay simulate attacks`: a red team for a running server.
struct SimulateAttacks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attacks",
        abstract: "Sends forged and misused evidence to a running server and checks each answer.",
        discussion: """
            The server must trust the simulator's authority: start it with '--trust FOLDER/trust.pem'. Genuine evidence is \
            sent first; if the server refuses it, the run ends. /v1/purchases and /notifications/v2 are attacked if the server has \
            them. \
            Exit status: 0 every answer was right, 1 some were wrong, 2 the attacks could not be made.
            """)

    @Option(
        name: .long, help: ArgumentHelp("The server, such as http://127.0.0.1:8080; plain http only.", valueName: "url")
    )
    var against: String

    @Option(name: .long, help: "The folder of the authority; it is created if it does not exist.")
    var authority = "assay-authority"

    @Option(name: .long, help: "The bundle id of the app that the server sells for.")
    var bundleID = "com.example.app"

    @Option(name: .long, help: "The names of the environments in the evidence: apple or simulator.")
    var environmentNames = EnvironmentNames.apple

    @Option(name: .long, help: "The app's number in the App Store, as the server knows it.")
    var appAppleID: Int64 = 1_234_567_890

    @Option(name: .long, help: "The file with the key for /v1/purchases.")
    var apiKeyFile: String?

    @Flag(name: .long, help: "Print only wrong answers.")
    var quiet = false

    func run() async throws {
        let key = try apiKeyFile.map {
            String(decoding: try InputFile.read($0), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        do {
            let run = try AttackRun(
                against: against,
                authority: try AppStoreAuthority(folder: URL(fileURLWithPath: authority, isDirectory: true)),
                bundleID: bundleID, environmentNames: environmentNames, appAppleID: appAppleID,
                apiKey: key)
            var made = 0
            var wrong = 0
            for target in Attack.Target.allCases {
                Terminal.write("\(target.rawValue)\n")
                let outcome = try await run.attack(target) { result in
                    made += 1
                    if !quiet || !result.isRight { Terminal.write(Self.line(result)) }
                }
                switch outcome {
                case .attacked(let count): wrong += count
                case .notThere: Terminal.write("  the server has no such route or does not know the app; skipped\n")
                case .locked: Terminal.write("  the server requires a key here (--api-key-file); skipped\n")
                }
            }
            Terminal.write("\(counted(made, "attack")), \(wrong) answered wrongly\n")
            if wrong > 0 { throw ExitCode.rejected }
        } catch let error as AttackError {
            Terminal.complain(error.description)
            throw ExitCode.unusable
        } catch let error as MintError {
            Terminal.complain(error.description)
            throw ExitCode.unusable
        }
    }

    private static func line(_ result: AttackResult) -> String {
        let name = result.attack.name.padding(toLength: 54, withPad: " ", startingAt: 0)
        let verdict = result.isRight ? "right" : "WRONG"
        return "  \(verdict)  \(name)  must be \(result.expected.printable); was \(result.answered.printable)\n"
    }
}
