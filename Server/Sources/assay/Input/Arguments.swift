public import ArgumentParser
public import Foundation
import PurchaseAPI
public import PurchaseLedger
import PurchaseServer
public import PurchaseVerification

extension Timestamp: @retroactive ExpressibleByArgument {
    /// RFC 3339, such as `2026-01-31T12:00:00Z`.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension DeviceIdentifier: @retroactive ExpressibleByArgument {
    /// A UUID, or hexadecimal bytes.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension AppStoreEnvironment: @retroactive ExpressibleByArgument {
    /// The environment of an argument; the names that are known are taken in any case.
    public init(argument: String) {
        switch argument.lowercased() {
        case "production": self = .production
        case "sandbox": self = .sandbox
        case "xcode": self = .xcode
        default: self = .other(argument)
        }
    }
}

extension APIKeyScope: ExpressibleByArgument {}

extension ConsumptionRequestState: ExpressibleByArgument {}

extension OrderStatus: ExpressibleByArgument {}
extension FigurePeriods.Step: ExpressibleByArgument {}
extension ImportedConsumables: ExpressibleByArgument {}

extension UUID: @retroactive ExpressibleByArgument {
    /// 32 hexadecimal digits with dashes.
    public init?(argument: String) {
        self.init(uuidString: argument)
    }
}

/// The options that give settings of the server, besides those of `LedgerDatabaseOptions`.
struct ServerOptions: ParsableArguments {
    @Option(help: .setting(ServerSetting.host)) var host: String?
    @Option(help: .setting(ServerSetting.port)) var port: String?
    @Option(help: .setting(ServerSetting.tlsCertificate)) var tlsCertificate: String?
    @Option(help: .setting(ServerSetting.tlsKey)) var tlsKey: String?
    @Option(help: .setting(ServerSetting.admin)) var admin: String?
    @Option(help: .setting(ServerSetting.trust)) var trust: [String] = []
    @Option(help: .setting(ServerSetting.environments)) var environment: [String] = []
    @Option(help: .setting(ServerSetting.sharedSecret)) var sharedSecretFile: String?
    @Option(help: .setting(ServerSetting.answerKey)) var answerKey: String?
    @Option(help: .setting(ServerSetting.trustedProxies)) var trustedProxy: [String] = []
    @Option(help: .setting(ServerSetting.logLevel)) var logLevel: String?
    @Option(help: .setting(ServerSetting.logFormat)) var logFormat: String?
    @Option(help: .setting(ServerSetting.signingKey)) var signingKey: String?
    @Option(help: .setting(ServerSetting.origin)) var origin: String?
    @Option(help: .setting(ServerSetting.checkpoints)) var checkpoints: [String] = []
    @Option(help: .setting(ServerSetting.bodyBytes)) var maxBodyBytes: String?
    @Option(help: .setting(ServerSetting.apiBodyBytes)) var maxApiBodyBytes: String?
    @Option(help: .setting(ServerSetting.connections)) var maxConnections: String?
    @Option(help: .setting(ServerSetting.connectionsPerAddress)) var maxConnectionsPerAddress: String?
    @Option(help: .setting(ServerSetting.requestSeconds)) var requestSeconds: String?
    @Option(help: .setting(ServerSetting.idleSeconds)) var idleSeconds: String?

    /// The values of the options by their names, including the dashes.
    var values: [String: [String]] {
        var values: [String: [String]] = [:]
        for (label, value) in Mirror(reflecting: self).children {
            let text = (value as? Option<String?>)?.wrappedValue.map { [$0] }
            guard let label, let texts = text ?? (value as? Option<[String]>)?.wrappedValue else { continue }
            // The name of a wrapped property begins with an underscore.
            let name = label.dropFirst().map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
            values["--\(name)"] = texts
        }
        return values
    }
}

extension ArgumentHelp {
    /// The help of an option that is in the table of settings.
    static func setting(_ setting: ServerSetting.Setting) -> ArgumentHelp { ArgumentHelp(setting.help) }
}

/// The app that an operator's command applies to, and its database.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var ledger: LedgerDatabaseOptions

    @Option(
        name: .customLong("app"),
        help: ArgumentHelp(
            "The app, by its name in the settings; it can be left out if there is one.", valueName: "app"))
    var namedApp: String?

    /// Opens the ledger, if it knows the app.
    ///
    /// - Parameters:
    ///   - access: whether the command writes.
    ///   - trust: the certificates that evidence is verified with, for commands that verify any.
    ///   - body: the command's work, with the name of the app.
    func withLedger(
        _ access: LedgerDatabaseOptions.LedgerAccess = .writing, trust: LedgerTrustOption? = nil,
        _ body: (PurchaseLedger, String) async throws -> Void
    ) async throws {
        try await ledger.withLedger(access, trust: trust) { ledger in
            try await body(ledger, try app(of: ledger))
        }
    }

    /// The app that is named, or the only one of a ledger.
    ///
    /// - Throws: `InputError` if the ledger does not know the app, or if none is named and it has several or none.
    func app(of ledger: PurchaseLedger) throws -> String {
        guard let app = namedApp else {
            if ledger.apps.count == 1 { return ledger.apps[0] }
            let known = ledger.apps.isEmpty ? "no app yet" : "several: \(ledger.apps.joined(separator: ", "))"
            throw InputError("--app", "is missing, and the ledger has \(known); name one with --app")
        }
        guard ledger.apps.contains(where: { ExactText($0) == ExactText(app) }) else {
            let known = ledger.apps.isEmpty ? "none" : ledger.apps.joined(separator: ", ")
            throw InputError(
                app, "the ledger has no such app, but \(known); 'assay serve' records the apps of its settings")
        }
        return app
    }
}

/// The operator's reason for an action.
struct ReasonOption: ParsableArguments {
    @Option(help: "Why: \(RequestMembers.reasonRule). It is recorded.") var reason: String

    func validate() throws { try Self.require(reason) }

    /// The rule of the HTTP API.
    static func require(_ reason: String) throws {
        guard RequestMembers.isReason(reason) else {
            throw ValidationError("--reason is '\(reason.printable)'. Write \(RequestMembers.reasonRule).")
        }
    }
}
