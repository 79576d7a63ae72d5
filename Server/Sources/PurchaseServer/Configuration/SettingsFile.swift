import Foundation
public import PurchaseLedger
package import PurchaseVerification
import Yams

/// `assay.yaml`: the settings of a server and the apps that share it (docs/settings.md, "Settings").
public struct SettingsFile: Sendable {
    /// The settings of the server, by their names (`ServerSetting`).
    package private(set) var values: [String: ServerSettingValue] = [:]
    /// The apps by their names.
    public private(set) var apps: [String: App] = [:]

    /// An app, and the values that only the drop-in needs.
    public struct App: Sendable {
        public var app: RegisteredApp
        /// The app's shared secret.
        public var sharedSecret: String?
        /// The file that contains it.
        public var sharedSecretFile: String?
        /// Its keys of the App Store Server API.
        package var appStoreKeys: [AppStoreKeySettings] = []
        /// How `verifyReceipt` answers for its receipts.
        public var dropIn = DropInSettings(app: "")
        /// The receivers of its events and of its notifications.
        package var webhooks: [WebhookSettings] = []
        /// What is answered when Apple asks what to show to a customer who is about to cancel.
        package var retention = RetentionRules()
    }

    /// An error in the file, and how to correct it.
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// The line, from 1; `nil` for the file as a whole.
        public var line: Int?
        /// The error.
        public var fault: String
        /// The text to write instead.
        public var remedy: String

        public var description: String { "\(line.map { "line \($0): " } ?? "")\(fault). \(remedy)." }
    }

    /// The surroundings of the file.
    package struct Surroundings {
        /// The folder of the file, to which paths are relative; `nil` leaves them unchanged.
        package var folder: String?
        /// Whether certificates besides Apple's are trusted even if the file names none.
        package var isTrustExtended = false
        /// The reader of the files that the settings name; `nil` to read none.
        package var files: NamedFiles?

        /// Surroundings in which no other file is read.
        package init() {}
    }

    /// All errors in the file.
    public struct Problems: Error, Sendable, CustomStringConvertible {
        /// In the order of their lines.
        public let problems: [Problem]

        public var description: String { problems.map(\.description).joined(separator: "\n") }
    }

    /// Reads the text of a file, without reading other files.
    ///
    /// - Throws: `Problems`, all of them at once.
    public init(_ text: String) throws {
        try self.init(text, beside: Surroundings())
    }

    /// Reads the text of a file.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - surroundings: the surroundings of the file.
    /// - Throws: `Problems`, all of them at once.
    package init(_ text: String, beside surroundings: Surroundings) throws {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw Problems(problems: [SettingsReader.problem(error)])
        }
        // An empty file sets nothing.
        guard let root else { return }
        var reader = SettingsReader(surroundings)
        var top = reader.section(root, "the file")
        values = reader.values(of: &top)
        reader.checkLimit(values)
        if values[ServerSetting.trust.name] != nil { reader.surroundings.isTrustExtended = true }
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
    /// The settings of the table that are in the file, each checked by its own parser.
    fileprivate mutating func values(of top: inout SettingsSection) -> [String: ServerSettingValue] {
        var values: [String: ServerSettingValue] = [:]
        let paths = ServerSetting.all.map { setting in (setting, setting.name.split(separator: ".").map(String.init)) }
        for name in ["server", "record", "limits", "app_store"] {
            guard var section = section(&top, name) else { continue }
            var inner: [String: SettingsSection] = [:]
            for (setting, path) in paths where path.first == name {
                if path.count == 2 {
                    values[setting.name] = value(setting, &section, path[1])
                } else if path.count == 3 {
                    if inner[path[1]] == nil { inner[path[1]] = self.section(&section, path[1]) }
                    guard var rate = inner[path[1]] else { continue }
                    values[setting.name] = value(setting, &rate, path[2])
                    inner[path[1]] = rate
                }
            }
            for rate in inner.values { finish(rate) }
            finish(section)
        }
        return values
    }

    private mutating func value(
        _ setting: ServerSetting, _ section: inout SettingsSection, _ key: String
    ) -> ServerSettingValue? {
        guard section.lines[key] != nil else {
            section.known.append(key)
            return nil
        }
        let line = section.lines[key] ?? nil
        let noted = problems.count
        let texts = setting.isList ? self.texts(&section, key) : text(&section, key).map { [$0] } ?? []
        guard problems.count == noted, !texts.isEmpty else { return nil }
        let value = ServerSettingValue(.file(line: line), texts.map { resolved($0, setting.path) })
        // The configuration is not used: this only checks whether the value can be read.
        var configuration = ServerConfiguration()
        do throws(SettingFault) {
            if setting.path == .whole, surroundings.files == nil { return value }
            try setting.put(value, surroundings.files ?? .unread, into: &configuration)
        } catch {
            note(line, "\(key) \(error.fault)", error.remedy)
        }
        return value
    }

    fileprivate mutating func app(_ entry: SettingsSection.Entry) -> SettingsFile.App {
        var section = section(entry.value, "apps.\(entry.key)")
        if !ExactText(entry.key).isIdentifier || entry.key.utf8.count > RegisteredApp.nameBytes {
            note(
                entry.line, "the name of an app is empty, has control characters or has \(entry.key.utf8.count) bytes",
                "Write a name of at most \(RegisteredApp.nameBytes) bytes")
        }
        var app = RegisteredApp(id: entry.key, bundleIDs: bundleIDs(&section, of: entry))
        app.appleID = number(&section, "apple_id", in: 1...Int64.max).map { UInt64($0) }
        if let appleID = app.appleID { unique("\(appleID)", "the apple_id", of: entry.key, section.lines["apple_id"]) }
        let environments = environments(&section, "environments")
        if !environments.isEmpty { app.environments = environments }
        app.versions = Set(texts(&section, "versions"))
        if let transfer = choice(&section, "transfer", TransferPolicy.self) { app.transfer = transfer }
        if let lifetime = lifetime(&section, "order_lifetime") { app.orderLifetime = lifetime }
        if let access = choice(&section, "sandbox_access", SandboxAccess.self) { app.sandboxAccess = access }
        if let policy = choice(&section, "refund_shortfall", RefundShortfallPolicy.self) {
            app.refundShortfall = policy
        }
        if let tolerance = tolerance(&section, "lapse_tolerance") { app.lapseTolerance = tolerance }
        if let mode = choice(&section, "mode", AppStoreMode.self) { app.mode = mode }
        if let isRequired = flag(&section, "require_signed_transaction") { app.requiresSignedTransaction = isRequired }
        if let isRequired = flag(&section, "require_account_token") { app.requiresAccountToken = isRequired }
        let keys = appStoreKeys(&section, app: entry.key)
        app.hasAppStoreKey = !keys.isEmpty
        if let isSet = flag(&section, "set_account_tokens") { app.setsAccountTokens = isSet }
        if app.setsAccountTokens, keys.isEmpty {
            note(
                section.lines["set_account_tokens"], "the app \(entry.key) sets account tokens and has no key for it",
                "Add app_store_keys, or remove set_account_tokens")
        }
        if let budget = evidenceBudget(&section) { app.unverifiedEvidence = budget }
        namedProducts = []
        app.refunds = refunds(&section)
        app.offers = offers(&section)
        let retention = retention(&section, app.offers)
        let sharedSecret = text(&section, "shared_secret")
        let sharedSecretFile = text(&section, "shared_secret_file").map { resolved($0, .whole) }
        if sharedSecret != nil, sharedSecretFile != nil {
            note(
                section.lines["shared_secret"], "the app \(entry.key) has two shared secrets",
                "Keep shared_secret or shared_secret_file")
        }
        if let sharedSecretFile { checkSecretFile(sharedSecretFile, section.lines["shared_secret_file"]) }
        if let products = self.section(&section, "products") {
            for entry in products.entries { app.products[entry.key] = product(entry) }
            checkNamedProducts(products, of: entry.key)
        }
        let webhooks = webhooks(&section, app: entry.key) + forwards(&section, of: app)
        let dropIn = dropIn(&section, app)
        finish(section)
        return SettingsFile.App(
            app: app, sharedSecret: sharedSecret, sharedSecretFile: sharedSecretFile, appStoreKeys: keys,
            dropIn: dropIn,
            webhooks: webhooks, retention: retention)
    }

    private mutating func product(_ entry: SettingsSection.Entry) -> RegisteredProduct? {
        var section = section(entry.value, "products.\(entry.key)")
        if !ExactText(entry.key).isIdentifier {
            note(
                entry.line, "the product id is empty, too long or has control characters",
                "Write it as in App Store Connect")
        }
        let key = kindKey(&section, of: entry)
        let kind = choice(&section, key, ProductKind.self)
        let lines = section.lines
        let duration = duration(&section, "duration")
        let entitlements = lines["entitlements"] == nil ? [] : texts(&section, "entitlements")
        for name in entitlements where !ExactText(name).isIdentifier {
            note(
                lines["entitlements"], "an entitlement of \(entry.key) is too long or has control characters",
                "Give it a short name: entitlements: [pro]")
        }
        section.known += ["entitlements"]
        finish(section)
        guard let kind else {
            if lines[key] == nil {
                note(
                    entry.line, "the product \(entry.key) has no kind",
                    "Add kind: \(ProductKind.allCases.map(\.rawValue).joined(separator: ", or "))")
            }
            return nil
        }
        switch (kind, duration) {
        case (.nonRenewing, nil) where lines["duration"] == nil:
            note(
                entry.line, "the non-renewing subscription \(entry.key) has no duration",
                "Add duration: 30d, or 1mo or 1y; receipts do not say when it ends")
        case (.nonRenewing, _), (_, nil): break
        case (_, .some):
            note(
                lines["duration"], "the product \(entry.key) has a duration, but is \(kind.rawValue)",
                "Remove it; only non_renewing products need one")
        }
        return RegisteredProduct(
            kind: kind, duration: kind == .nonRenewing ? duration : nil, entitlements: entitlements)
    }

    /// The name of the member for a product's kind: `kind`, or `type` in the first versions of the file.
    private mutating func kindKey(_ section: inout SettingsSection, of entry: SettingsSection.Entry) -> String {
        guard section.lines["type"] != nil else { return "kind" }
        if section.take("kind") != nil {
            note(section.lines["type"], "the product \(entry.key) has a kind and a type", "Keep kind")
        }
        return "type"
    }
}

extension SettingsFile {
    /// Reads the bytes of a file, in UTF-8.
    ///
    /// - Throws: `Problems`, all of them at once.
    package init(_ bytes: [UInt8], beside surroundings: Surroundings) throws {
        try self.init(try Self.text(of: bytes), beside: surroundings)
    }

    /// The text of a file in UTF-8, without a byte order mark.
    ///
    /// - Throws: `Problems` with the first line that is not UTF-8.
    private static func text(of bytes: [UInt8]) throws -> String {
        var bytes = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // No character of several bytes contains a line feed.
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let wrong = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw Problems(problems: [
            Problem(
                line: wrong.map { $0 + 1 }, fault: "the text is not UTF-8",
                remedy: "Save the file as UTF-8, or remove the bytes that are not")
        ])
    }
}

/// The reader of the files that settings name.
package struct NamedFiles: Sendable {
    /// The certificates of a file.
    package var anchors: @Sendable (_ path: String) throws(SettingFault) -> [TrustAnchor]
    /// The secret that a file holds.
    package var secret: @Sendable (_ path: String) throws(SettingFault) -> String
    /// The private key that a file of mode 0600 holds.
    package var privateKey: @Sendable (_ path: String) throws(SettingFault) -> String
    /// The bytes of a file.
    package var bytes: @Sendable (_ path: String) throws(SettingFault) -> [UInt8]
    /// A variable of the environment.
    package var variable: @Sendable (_ name: String) -> String?

    package init(
        anchors: @escaping @Sendable (_ path: String) throws(SettingFault) -> [TrustAnchor],
        secret: @escaping @Sendable (_ path: String) throws(SettingFault) -> String,
        privateKey: (@Sendable (_ path: String) throws(SettingFault) -> String)? = nil,
        bytes: @escaping @Sendable (_ path: String) throws(SettingFault) -> [UInt8] = { _ throws(SettingFault) in [] },
        variable: @escaping @Sendable (_ name: String) -> String? = { _ in nil }
    ) {
        self.anchors = anchors
        self.secret = secret
        self.privateKey = privateKey ?? secret
        self.bytes = bytes
        self.variable = variable
    }

    /// Reads no files: certificates and secrets are empty. For commands that neither verify nor answer.
    package static let unread = NamedFiles { _ throws(SettingFault) in
        []
    } secret: { _ throws(SettingFault) in
        ""
    }
}
