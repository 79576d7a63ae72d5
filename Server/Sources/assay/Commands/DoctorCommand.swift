import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// `assay doctor`: examines an installation.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examines an installation, before it goes live or when something is wrong.",
        discussion: """
            It reads the settings as 'assay serve' does, and examines files and their modes, the database (schema, test write, \
            space, durability, clock), the trusted certificates, the keys, the port, the webhooks (a signed test delivery to \
            each), the record with its published checkpoints, and the age of the backups. Run it as the user of the server.

            Each line is fine, a warning or failed, with what to do.

            Exit status: 0 if nothing failed, 1 if something failed, 2 for wrong usage.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    @Option(name: .long, help: "The folder of backups. Also: BACKUP_FOLDER.")
    var backups: String?

    @Flag(name: .long, help: "Ask the App Store to send a test notification for each app that has a key.")
    var askApple = false

    @Flag(name: .long, help: "Send no test delivery to webhooks.")
    var noDeliveries = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    /// Where the package's timer writes backups.
    private static let defaultBackups = "/var/backups/assay"

    func run() async throws {
        let report = DoctorReport(findings: await findings(ProcessInfo.processInfo.environment))
        Terminal.write(json ? try report.json() : report.text)
        if report.failed > 0 { throw ExitCode.rejected }
    }

    private func findings(_ environment: [String: String]) async -> [DoctorFinding] {
        let place: LedgerPlace
        let configuration: ServerConfiguration
        let keys: RecordKeys
        do {
            let isTrustExtended = environment[ServerSetting.trust.variable ?? ""] != nil
            place = try options.readPlace(environment, isTrustExtended: isTrustExtended)
            configuration = try place.configuration(options: [:])
            keys = try place.recordKeys()
        } catch {
            return Self.findings(of: error, options.settingsPath(environment))
        }
        let now = Timestamp(Date())
        var findings = [settings(place, configuration)]
        let (listening, isRunning) = await ListeningExamination(configuration: configuration).findings()
        let record = RecordExamination(
            keys: keys, places: configuration.record.checkpoints, isRunning: isRunning, now: now)
        let webhooks = WebhookExamination(webhooks: configuration.webhooks, now: now)
        findings += await DatabaseExamination(place: place, now: now).findings { database in
            await record.findings(database) + (await webhooks.deliveries(database))
                + (await LimitExamination(now: now).refusals(database))
        }
        findings += CertificateExamination(anchors: configuration.anchors, server: configuration.tls, now: now)
            .findings()
        findings += KeyExamination(keys: keys).findings() + listening
        if !noDeliveries { findings += await webhooks.trials() }
        findings += await AppStoreExamination(configuration: configuration).findings(isAsking: askApple)
        let folder = backups ?? environment["BACKUP_FOLDER"] ?? Self.defaultBackups
        findings.append(BackupExamination(folder: folder, now: now).finding())
        let order = DoctorFinding.Check.allCases
        return order.flatMap { check in findings.filter { $0.check == check } }
    }

    private func settings(_ place: LedgerPlace, _ configuration: ServerConfiguration) -> DoctorFinding {
        let name = place.path ?? "no settings file"
        guard !configuration.apps.isEmpty else {
            return .warning(
                .settings, "\(name): no app, so purchases cannot be claimed",
                do: "Add apps with their bundle_ids and products to the settings file.")
        }
        return .fine(.settings, "\(name): \(configuration.apps.count) apps, \(configuration.webhooks.count) receivers")
    }

    /// Why the settings cannot be used.
    private static func findings(of error: any Error, _ path: String) -> [DoctorFinding] {
        switch error {
        case let problems as SettingsFile.Problems:
            problems.problems.map { problem in
                let line = problem.line.map { " line \($0):" } ?? ""
                return .failed(.settings, "\(path):\(line) \(problem.fault)", do: "\(problem.remedy).")
            }
        case let error as ValidationError:
            [.failed(.settings, error.message, do: "Correct the option, the variable or the settings file.")]
        case let error as InputError:
            [.failed(.settings, "\(path): \(error.reason)", do: "Name the settings file with --config.")]
        default:
            [.failed(.settings, "\(path): \(error)", do: "Name the settings file with --config.")]
        }
    }
}
