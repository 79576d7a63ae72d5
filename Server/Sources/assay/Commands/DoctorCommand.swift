import ArgumentParser
import Foundation
import PurchaseServer

/// `assay doctor`: examines an installation.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examines an installation, before it goes live or when something is wrong.",
        discussion: """
            It reads the settings as 'assay serve' does, with the same options, and examines files and their modes, the database (schema, test write, \
            space, durability, clock), the trusted certificates, the keys, the port, the webhooks (a signed test delivery to \
            each), the record with its published checkpoints, and the age of the backups. Run it as the user of the server.

            Each line is fine, a warning or failed, with what to do.

            Exit status: 0 if nothing failed, 1 if something failed, 2 for wrong usage.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var server: ServerOptions
    @Option(help: "The folder of backups. Also: BACKUP_FOLDER.") var backups: String?
    @Flag(help: "Ask the App Store to send a test notification for each app that has a key.") var askApple = false
    @Flag(help: "Send no test delivery to webhooks.") var noDeliveries = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let report = DoctorReport(findings: await findings(ProcessInfo.processInfo.environment))
        Terminal.write(json ? try report.json() : report.text)
        if report.failed > 0 { throw ExitCode.rejected }
    }

    private func findings(_ environment: [String: String]) async -> [DoctorFinding] {
        let examination = InstallationExamination(
            settingsPath: options.settingsPath(environment),
            backups: backups ?? InstallationExamination.backups(environment), isAskingApple: askApple,
            isDelivering: !noDeliveries
        ) {
            var place = try options.place(environment, options: server.values, files: .read)
            // The settings of 'assay dev' without a settings file are in no file.
            if options.folder != nil, options.config == nil { place.configuration.apps = ["dev": DevSettings.app("")] }
            return place
        }
        return await examination.findings()
    }
}
