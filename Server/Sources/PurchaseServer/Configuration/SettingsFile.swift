import Foundation
public import PurchaseLedger
import PurchaseVerification
import Yams

/// `assay.yaml`: the settings of a server and the apps that share it (docs/purchase-server.md, "Settings").
public struct SettingsFile: Sendable {
    /// The address to listen on.
    public var host: String?
    /// The port to listen on.
    public var port: Int?
    /// The database, as `sqlite:PATH`.
    public var database: String?
    /// Files of certificates to trust besides Apple's roots.
    public var trust: [String] = []
    /// The proxies whose `X-Forwarded-For` is believed.
    public var trustedProxies: [AddressRange] = []
    /// The apps by their names.
    public var apps: [String: App] = [:]
    /// How often one key may call.
    public var perKey: RateLimit?
    /// How often one address may call.
    public var perAddress: RateLimit?
    /// The largest request body, in bytes.
    public var bodyBytes: Int?

    /// An app, and what only the drop-in needs to know of it.
    public struct App: Sendable {
        public var app: RegisteredApp
        /// The app's shared secret.
        public var sharedSecret: String?
        /// The file that it stands in.
        public var sharedSecretFile: String?
    }

    /// Something that is wrong in the file, and what to do about it.
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// The line, from 1; `nil` where the file as a whole is meant.
        public var line: Int?
        /// What is wrong.
        public var fault: String
        /// What to write instead.
        public var remedy: String

        public var description: String { "\(line.map { "line \($0): " } ?? "")\(fault). \(remedy)." }
    }

    /// What the file is read beside.
    public struct Surroundings {
        /// Whether certificates besides Apple's are trusted, though the file names none.
        public var isTrustExtended = false
        /// What is wrong with a file that the settings name, in words; `nil` if it is what it should be.
        public var fault: (_ path: String, _ use: FileUse) -> String? = { _, _ in nil }

        /// Surroundings in which every file is as it should be.
        public init() {}
    }

    /// What a file that the settings name is for.
    public enum FileUse: Sendable {
        case trust
        case sharedSecret
    }

    /// All that is wrong in the file.
    public struct Problems: Error, Sendable, CustomStringConvertible {
        /// In the order of their lines.
        public let problems: [Problem]

        public var description: String { problems.map(\.description).joined(separator: "\n") }
    }

    /// Reads the text of a file.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - surroundings: what else there is to know; without it no other file is looked at.
    /// - Throws: `Problems`, all of them at once.
    public init(_ text: String, beside surroundings: Surroundings = Surroundings()) throws {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw Problems(problems: [SettingsReader.problem(error)])
        }
        // A file with nothing in it sets nothing.
        guard let root else { return }
        var reader = SettingsReader(surroundings)
        var top = reader.section(root, "the file")
        if var server = reader.section(&top, "server") {
            host = reader.text(&server, "host")
            port = reader.number(&server, "port", in: 0...65_535).map { Int($0) }
            database = reader.database(&server, "database")
            trust = reader.texts(&server, "trust")
            if !trust.isEmpty { reader.surroundings.isTrustExtended = true }
            for path in trust { reader.checkFile(path, .trust, server.lines["trust"]) }
            trustedProxies = reader.addressRanges(&server, "trusted_proxies")
            reader.finish(server)
        }
        if var limits = reader.section(&top, "limits") {
            perKey = reader.rate(&limits, "per_key")
            perAddress = reader.rate(&limits, "per_address")
            bodyBytes = reader.number(&limits, "body_bytes", in: 1...1 << 30).map { Int($0) }
            reader.finish(limits)
        }
        if let apps = reader.section(&top, "apps") {
            for entry in apps.entries {
                let app = reader.app(entry)
                self.apps[app.app.id] = app
            }
        }
        reader.finish(top)
        guard reader.problems.isEmpty else {
            throw Problems(problems: reader.problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
    }
}

extension SettingsReader {
    /// One app of the file.
    fileprivate mutating func app(_ entry: SettingsSection.Entry) -> SettingsFile.App {
        var section = section(entry.value, "apps.\(entry.key)")
        if !LedgerText.isIdentifier(entry.key) {
            note(entry.line, "the name of the app is empty, too long or has control characters", "Give it a short name")
        }
        var app = RegisteredApp(id: entry.key, bundleIDs: Set(texts(&section, "bundle_ids")))
        if app.bundleIDs.isEmpty {
            note(entry.line, "the app \(entry.key) has no bundle ids", "Add bundle_ids: [com.example.app]")
        }
        for bundleID in app.bundleIDs.sorted() {
            unique(bundleID, "the bundle id", of: entry.key, section.lines["bundle_ids"])
        }
        app.appleID = number(&section, "apple_id", in: 1...Int64.max).map { UInt64($0) }
        if let appleID = app.appleID { unique("\(appleID)", "the apple_id", of: entry.key, section.lines["apple_id"]) }
        let environments = environments(&section, "environments")
        if !environments.isEmpty { app.environments = environments }
        app.versions = Set(texts(&section, "versions"))
        if let transfer = choice(&section, "transfer", TransferPolicy.self) { app.transfer = transfer }
        if let lifetime = duration(&section, "order_lifetime") { app.orderLifetime = lifetime }
        let sharedSecret = text(&section, "shared_secret")
        let sharedSecretFile = text(&section, "shared_secret_file")
        if sharedSecret != nil, sharedSecretFile != nil {
            note(
                section.lines["shared_secret"], "the app \(entry.key) has two shared secrets",
                "Keep shared_secret or shared_secret_file")
        }
        if let sharedSecretFile { checkFile(sharedSecretFile, .sharedSecret, section.lines["shared_secret_file"]) }
        if let products = self.section(&section, "products") {
            for entry in products.entries { app.products[entry.key] = product(entry) }
        }
        finish(section)
        return SettingsFile.App(app: app, sharedSecret: sharedSecret, sharedSecretFile: sharedSecretFile)
    }

    private mutating func product(_ entry: SettingsSection.Entry) -> RegisteredProduct? {
        var section = section(entry.value, "products.\(entry.key)")
        if !LedgerText.isIdentifier(entry.key) {
            note(
                entry.line, "the product id is empty, too long or has control characters",
                "Write it as in App Store Connect")
        }
        let kind = choice(&section, "type", ProductKind.self)
        let lines = section.lines
        let duration = duration(&section, "duration")
        finish(section)
        guard let kind else {
            if lines["type"] == nil {
                note(
                    entry.line, "the product \(entry.key) has no type",
                    "Add type: \(ProductKind.allCases.map(\.rawValue).joined(separator: ", or "))")
            }
            return nil
        }
        switch (kind, duration) {
        case (.nonRenewing, nil) where lines["duration"] == nil:
            note(
                entry.line, "the non-renewing subscription \(entry.key) has no duration",
                "Add duration: 30d; receipts do not say when it ends")
        case (.nonRenewing, _), (_, nil): break
        case (_, .some):
            note(
                lines["duration"], "the product \(entry.key) has a duration, but is \(kind.rawValue)",
                "Remove it; only non_renewing products need one")
        }
        return RegisteredProduct(kind: kind, duration: kind == .nonRenewing ? duration : nil)
    }
}
