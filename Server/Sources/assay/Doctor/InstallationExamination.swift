import ArgumentParser
import Foundation
import PurchaseConsole
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// Examines an installation: every check of `assay doctor`.
struct InstallationExamination: Sendable {
    /// The settings file, as given.
    let settingsPath: String
    /// The folder of backups.
    let backups: String
    /// Whether the App Store is asked to send test notifications.
    let isAskingApple: Bool
    /// Whether each webhook gets a signed test delivery.
    let isDelivering: Bool
    /// Reads the settings.
    let readPlace: @Sendable () throws -> LedgerPlace

    /// The folder of backups that the environment names, or that of the package's timer.
    static func backups(_ environment: [String: String]) -> String {
        environment["BACKUP_FOLDER"] ?? "/var/backups/assay"
    }

    /// The findings, in the order of the checks.
    func findings() async -> [DoctorFinding] {
        let place: LedgerPlace
        do {
            place = try readPlace()
        } catch {
            return findings(of: error)
        }
        let (configuration, keys) = (place.configuration, place.recordKeys)
        let now = Timestamp(Date())
        var findings = [settings(place, configuration)]
        findings += place.warnings.map { .warning(.settings, $0.fault, do: "\($0.remedy).") }
        let (listening, isRunning) = await ListeningExamination(configuration: configuration).findings()
        let record = RecordExamination(
            keys: keys, places: configuration.record.checkpoints, isRunning: isRunning, now: now)
        let webhooks = WebhookExamination(webhooks: configuration.webhooks, now: now)
        findings += await DatabaseExamination(place: place, now: now).findings { database in
            await record.findings(database) + (await webhooks.deliveries(database))
                + (await LimitExamination(now: now).claims(database, apps: configuration.apps.keys.sorted()))
        }
        findings += CertificateExamination(anchors: configuration.anchors, server: configuration.tls, now: now)
            .findings()
        findings += KeyExamination(keys: keys).findings() + listening
        if isDelivering { findings += await webhooks.trials() }
        let skew = isRunning ? await ReadinessQuestion(configuration).answer().clockSkew : nil
        findings += await AppStoreExamination(configuration: configuration, knownSkew: skew)
            .findings(isAsking: isAskingApple)
        findings.append(BackupExamination(folder: backups, now: now).finding())
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
        let apps = counted(configuration.apps.count, "app")
        return .fine(.settings, "\(name): \(apps), \(counted(configuration.webhooks.count, "receiver"))")
    }

    /// Why the settings cannot be used.
    private func findings(of error: any Error) -> [DoctorFinding] {
        switch error {
        case let problems as SettingProblems:
            problems.problems.map { .failed(.settings, "\($0.fault) (\($0.code.rawValue))", do: "\($0.remedy).") }
        case let error as InputError:
            [.failed(.settings, "\(settingsPath): \(error.reason)", do: "Name the settings file with --config.")]
        default:
            [.failed(.settings, "\(settingsPath): \(error)", do: "Name the settings file with --config.")]
        }
    }
}

extension InstallationFinding {
    init(_ finding: DoctorFinding) {
        self.init(
            state: finding.state.rawValue, check: finding.check.rawValue, found: finding.found, action: finding.action)
    }
}

/// How old the newest backup is.
struct BackupExamination {
    let folder: String
    let now: AppStoreTime

    /// A daily backup, and half a day for a late one, in milliseconds.
    private static let age: Int64 = 36 * 3_600_000

    func finding() -> DoctorFinding {
        let action =
            "Start the timer assay-backup.timer, or run 'assay database backup --verify FILE' daily; --backups names the folder."
        let manager = FileManager.default
        let newest: Date?
        do {
            newest = try manager.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sqlite") }.compactMap {
                try manager.attributesOfItem(atPath: "\(folder)/\($0)")[.modificationDate] as? Date
            }.max()
        } catch {
            return .warning(.backups, "\(folder) cannot be read, so no backup is known", do: action)
        }
        guard let newest else { return .warning(.backups, "\(folder) has no backup", do: action) }
        let time = AppStoreTime(newest)
        let found = "the newest backup in \(folder) is of \(time)"
        return now.millisecondsSince1970 - time.millisecondsSince1970 > Self.age
            ? .warning(.backups, found, do: action) : .fine(.backups, found)
    }
}

/// What one check found about an installation.
struct DoctorFinding: Sendable, Equatable, Encodable {
    /// What was checked; a stable code, such as `database_schema`.
    let check: Check
    let state: State
    /// The facts, as a sentence without a full stop.
    let found: String
    /// What to do, as a sentence; `nil` if nothing has to be done.
    let action: String?

    /// The checks, in the order in which they are shown.
    enum Check: String, Sendable, CaseIterable, Encodable {
        case settings
        case database
        case databaseSchema = "database_schema"
        case databaseWrites = "database_writes"
        case databaseSpace = "database_space"
        case databaseDurability = "database_durability"
        case clock
        case certificates
        case keys
        case listening
        case proxies
        case limits
        case webhooks
        case appStore = "app_store"
        case record
        case checkpoints
        case backups
    }

    enum State: String, Sendable, CaseIterable, Encodable {
        case fine, warning, failed
    }

    private init(_ check: Check, _ state: State, _ found: String, _ action: String?) {
        (self.check, self.state, self.found, self.action) = (check, state, found, action)
    }

    static func fine(_ check: Check, _ found: String) -> DoctorFinding { DoctorFinding(check, .fine, found, nil) }

    static func warning(_ check: Check, _ found: String, do action: String) -> DoctorFinding {
        DoctorFinding(check, .warning, found, action)
    }

    static func failed(_ check: Check, _ found: String, do action: String) -> DoctorFinding {
        DoctorFinding(check, .failed, found, action)
    }
}

/// All findings of an examination, for people and for programs.
struct DoctorReport: Encodable {
    let findings: [DoctorFinding]

    private enum CodingKeys: String, CodingKey {
        case findings, failed, warnings
    }

    var failed: Int { findings.count { $0.state == .failed } }
    var warnings: Int { findings.count { $0.state == .warning } }

    /// One line for each finding, and one for what to do.
    var text: String {
        let width = DoctorFinding.Check.allCases.map(\.rawValue.count).max() ?? 0
        let lines = findings.map { finding in
            let check = finding.check.rawValue.padding(toLength: width, withPad: " ", startingAt: 0)
            let state = finding.state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            let action = finding.action.map { "\n\(String(repeating: " ", count: width + 11))\($0.printable)" } ?? ""
            return "\(state)  \(check)  \(finding.found.printable)\(action)\n"
        }
        return lines.joined()
            + "assay: \(failed) failed, \(counted(warnings, "warning")), \(counted(findings.count, "check"))\n"
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(findings, forKey: .findings)
        try container.encode(failed, forKey: .failed)
        try container.encode(warnings, forKey: .warnings)
    }
}
