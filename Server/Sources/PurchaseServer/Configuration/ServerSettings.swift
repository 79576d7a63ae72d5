import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Yams

/// The configuration of a server, read from the settings file, the environment and the options.
package struct ServerSettings: Sendable {
    package var configuration = ServerConfiguration()
    /// What is probably a mistake, and stops nothing.
    package private(set) var warnings: [SettingProblem] = []

    /// Reads the settings of all places.
    ///
    /// - Parameters:
    ///   - file: the bytes of the settings file; empty for none.
    ///   - folder: the folder of the file, in which relative paths begin; `nil` leaves them unchanged.
    ///   - environment: the variables of the process.
    ///   - options: the values of options by their names, including the dashes; an empty list counts as absent.
    ///   - files: the reader of the files that settings name; `nil` for commands that neither verify nor answer.
    /// - Throws: all problems at once.
    package init(
        file: [UInt8] = [], folder: String? = nil, environment: [String: String] = [:],
        options: [String: [String]] = [:], files: NamedFiles?
    ) throws(SettingProblems) {
        var reader = SettingsReader(folder: folder, files: files)
        let root = reader.root(file)
        var given = root.map { reader.given(ServerSetting.all.map(\.name) + ["apps"], in: $0) } ?? [:]
        for setting in ServerSetting.all {
            // A value is checked also if another place overrides it.
            for entry in [given[setting.name], reader.entry(setting, environment), reader.entry(setting, options)] {
                guard let entry else { continue }
                setting.apply(entry, &reader, &configuration)
                given[setting.name] = entry
            }
        }
        check(given, &reader)
        if let apps = given["apps"] {
            reader.isTrustExtended = files == nil || given[ServerSetting.trust.name] != nil
            for entry in reader.entries(apps) { add(AppSettings(entry, &reader)) }
        }
        warnings = Self.unknownVariables(environment, besides: reader.namedVariables)
        guard reader.problems.isEmpty else {
            throw SettingProblems(
                problems: reader.problems.sorted { ($0.line ?? .max) < ($1.line ?? .max) }, warnings: warnings)
        }
    }

    private mutating func add(_ app: AppSettings) {
        configuration.apps[app.app.id] = app.app
        configuration.retention[app.app.id] = app.retention
        if !app.appStoreKeys.isEmpty { configuration.appStoreKeys[app.app.id] = app.appStoreKeys }
        configuration.webhooks += app.webhooks
        configuration.stripe[app.app.id] = app.stripe
        for bundleID in app.app.bundleIDs {
            configuration.dropIn[bundleID] = app.dropIn
            if let secret = app.sharedSecret { configuration.sharedSecrets[bundleID] = secret }
        }
    }

    /// Checks settings that depend on each other.
    private mutating func check(_ given: [String: SettingEntry], _ reader: inout SettingsReader) {
        // A second server on any free port must not fail for the port of the first one's listener for operators.
        if given[ServerSetting.admin.name] == nil {
            configuration.isAdminStandard = true
            configuration.admin = configuration.port == 0 ? .port(host: "127.0.0.1", 0) : .standard
        }
        let (store, tls) = (configuration.appStore, ["server.tls.certificate", "server.tls.key"])
        for (section, what, names, isHalf) in [
            ("server.tls", "files", tls, (given[tls[0]] == nil) != (given[tls[1]] == nil)),
            (
                "app_store", "addresses of verifyReceipt",
                ["app_store.verify_receipt_production", "app_store.verify_receipt_sandbox"], store.isMixed
            ),
            (
                "app_store", "addresses of the Server API",
                ["app_store.server_api_production", "app_store.server_api_sandbox"], store.isServerAPIMixed
            ),
        ] where isHalf {
            let entries = names.compactMap { given[$0] }
            guard let entry = entries.first, !entries.contains(where: reader.isWrong) else { continue }
            reader.note(
                entry.place, "\(section) has only one of its two \(what)",
                "Write both \(names.joined(separator: " and ")), or none", .conflict)
        }
        if let files = reader.files, let entry = given[ServerSetting.tlsCertificate.name],
            case (let certificate?, let key?) = configuration.tlsFiles
        {
            do throws(SettingFault) {
                configuration.tls = try ServerCertificate(certificateFile: certificate, keyFile: key, files)
            } catch {
                reader.note(entry.place, "server.tls: \(error.fault)", error.remedy, error.code)
            }
        }
        let limit = configuration.appStore.serverAPILimitPercent
        if let entry = given["app_store.server_api_limit_percent"], limit > 100,
            given["app_store.server_api_production"] == nil, given["app_store.server_api_sandbox"] == nil
        {
            reader.note(
                entry,
                SettingFault(
                    "is \(limit), and Apple refuses what is above its limits",
                    "Write at most 100, or the addresses of a simulator whose limits were raised", .conflict))
        }
        // An environment that is not Apple's is most likely misspelled, and then every receipt would be refused.
        if let entry = given[ServerSetting.environments.name], reader.files != nil,
            given[ServerSetting.trust.name] == nil,
            let other = configuration.environments.subtracting(AppStoreEnvironment.ofApple).map(\.name).min()
        {
            reader.note(
                entry,
                SettingFault(
                    "has '\(other)', which is not an environment of Apple",
                    "Write Production, Sandbox or Xcode, or name the certificate of its signer with --trust"))
        }
    }

    /// Variables that look like settings and are none: a setting that is meant there has its default.
    private static func unknownVariables(
        _ environment: [String: String], besides named: Set<String>
    ) -> [SettingProblem] {
        let known = ServerSetting.all.compactMap(\.variable) + ["ASSAY_CONFIG"]
        let unknown = environment.keys.filter { $0.hasPrefix("ASSAY_") && !known.contains($0) && !named.contains($0) }
        return unknown.sorted().map { name in
            let meant = WordSuggestion.nearest(to: name, among: known).map { "Did you mean \($0)? " } ?? ""
            return SettingProblem(
                code: .unknownVariable, place: .environment, fault: "the variable \(name.prefix(64)) is not a setting",
                remedy: "\(meant)docs/settings.md lists all variables")
        }
    }
}

extension SettingsReader {
    /// The value of a variable; `nil` if it has none.
    fileprivate mutating func entry(
        _ setting: ServerSetting.Setting, _ environment: [String: String]
    ) -> SettingEntry? {
        guard let name = setting.variable, let text = environment[name] else { return nil }
        let texts = setting.isList ? text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } : [text]
        return written(texts, setting, name, .environment)
    }

    /// The value of an option; `nil` if it has none.
    fileprivate mutating func entry(_ setting: ServerSetting.Setting, _ options: [String: [String]]) -> SettingEntry? {
        guard let name = setting.option, let texts = options[name], !texts.isEmpty else { return nil }
        return written(texts, setting, name, .option)
    }

    private mutating func written(
        _ texts: [String], _ setting: ServerSetting.Setting, _ name: String, _ place: SettingProblem.Place
    ) -> SettingEntry? {
        guard texts.contains(where: { !$0.isEmpty }) else {
            note(place, "\(name) is set, but empty", "Give it a value, or remove it", .missing)
            return nil
        }
        // A word such as 'null' is text here.
        let nodes = texts.map { Node.scalar(Node.Scalar($0, Tag(.str), .doubleQuoted)) }
        return SettingEntry(
            key: setting.name, name: name, node: setting.isList ? Node(nodes) : nodes[nodes.count - 1], place: place,
            folder: nil, files: files)
    }
}

extension ServerConfiguration {
    /// The settings that differ from those of a running server and that only a restart changes.
    package func settingsThatNeedRestart(comparedWith running: ServerConfiguration) -> [ServerSetting.Setting] {
        ServerSetting.all.filter { $0.differs?(self, running) ?? false }
    }
}
