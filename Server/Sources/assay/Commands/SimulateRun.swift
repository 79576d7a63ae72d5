import AppStoreSimulator
import ArgumentParser
import EvidenceMint
import Foundation
import Hummingbird
import Logging
import PurchaseServer
import ServiceLifecycle
import TextFormats

/// `assay simulate run`: a script for the store.
struct SimulateRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a scenario: purchases, renewals and refunds in a file, with the answers that are expected.",
        discussion: """
            The file is YAML with an app, products, customers and steps (docs/simulator.md). Without '--store', it runs on a \
            new store in this process. With '--server', the step 'send' delivers evidence to that server, which must trust \
            the authority: 'assay serve --trust FOLDER/trust.pem'. With '--notify', the store sends notifications; the step \
            'deliver' waits for them. Exit status: 0 every answer was as expected, 1 some \
            differed, 2 the file has an error or a store does not answer.
            """)

    @Argument(help: ArgumentHelp("The scenario; '-' is standard input.", valueName: "file"))
    var file: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A running simulator, such as http://127.0.0.1:8090, instead of a new one.", valueName: "url"))
    var store: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The server that the step 'send' delivers to, such as http://127.0.0.1:8080.", valueName: "url")
    )
    var server: String?

    @Option(
        name: .long, help: ArgumentHelp("The file with that server's key for /v1/purchases.", valueName: "file"))
    var serverKeyFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The address that gets notifications, such as http://127.0.0.1:8080/notifications/v2.", valueName: "url"))
    var notify: String?

    @Option(name: .long, help: "The folder of the authority; it is created if it does not exist.")
    var authority = "assay-authority"

    @Flag(name: .long, help: "Print only steps whose answers differ.")
    var quiet = false

    func validate() throws {
        guard store == nil || server == nil && serverKeyFile == nil && notify == nil else {
            throw ValidationError(
                "A running simulator has its own '--server' and '--notify'; with '--store', name neither of them.")
        }
    }

    func run() async throws {
        let bytes = try InputFile.read(file)
        guard bytes.count <= Scenario.largestBytes else {
            throw InputError(file, "a scenario has at most \(Scenario.largestBytes) bytes, found \(bytes.count)")
        }
        do {
            let scenario = try Scenario(yaml: String(decoding: bytes, as: UTF8.self))
            let wrong = if let store { try await run(scenario, store) } else { try await runOnNewStore(scenario) }
            if wrong > 0 { throw ExitCode.rejected }
        } catch let error as ScenarioError {
            throw InputError(file, "\(error)")
        }
    }

    /// Runs the scenario on a store that exists only as long as it takes.
    private func runOnNewStore(_ scenario: Scenario) async throws -> Int {
        var configuration = SimulatorConfiguration()
        configuration.port = 0
        configuration.server = server
        configuration.notificationURL = notify
        configuration.serverKey = try serverKeyFile.map { try SecretFile.text($0) }
        let folder = URL(fileURLWithPath: authority, isDirectory: true)
        let (addresses, ready) = AsyncStream.makeStream(of: String.self)
        let logger = LineLogHandler.logger(.text, level: .warning)
        let store = ServiceGroup(
            services: [
                try simulatorServer(
                    configuration, authority: try AppStoreAuthority(folder: folder), logger: logger
                ) { address in
                    ready.yield(address)
                    ready.finish()
                }
            ], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // Also if it cannot start, so that the wait for its address ends.
                defer { ready.finish() }
                try await store.run()
            }
            guard let address = await addresses.first(where: { _ in true }) else {
                try await group.waitForAll()
                throw InputError(file, "the store stopped before the scenario began")
            }
            let outcome: Result<Int, any Error>
            do {
                outcome = .success(try await run(scenario, address))
            } catch {
                outcome = .failure(error)
            }
            // Also after an error, because a cancelled store logs further errors.
            await store.triggerGracefulShutdown()
            try await group.waitForAll()
            return try outcome.get()
        }
    }

    private func run(_ scenario: Scenario, _ address: String) async throws -> Int {
        var steps = 0
        let wrong = try await ScenarioRun(store: address).run(scenario) { result in
            steps += 1
            guard !quiet || !result.differences.isEmpty else { return }
            let verdict = result.differences.isEmpty ? "ok  " : "FAIL"
            let step = result.step.padding(toLength: max(40, result.step.count), withPad: " ", startingAt: 0)
            Terminal.write("\(verdict)  \(step)  \(result.time)\n")
            let place = result.line.map { "line \($0): " } ?? ""
            for field in quiet ? [] : result.fields { Terminal.write("      \(field.printable)\n") }
            for difference in result.differences { Terminal.write("      \(place)\(difference.printable)\n") }
        }
        Terminal.write("\(counted(steps, "step")), \(wrong) with another answer than expected\n")
        return wrong
    }
}

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
        let run = try AttackRun(
            against: against,
            authority: try AppStoreAuthority(folder: URL(fileURLWithPath: authority, isDirectory: true)),
            bundleID: bundleID, environmentNames: environmentNames, appAppleID: appAppleID,
            apiKey: try apiKeyFile.map { try SecretFile.text($0) })
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
    }

    private static func line(_ result: AttackResult) -> String {
        let name = result.attack.name.padding(toLength: 54, withPad: " ", startingAt: 0)
        let verdict = result.isRight ? "right" : "WRONG"
        return "  \(verdict)  \(name)  must be \(result.expected.printable); was \(result.answered.printable)\n"
    }
}
