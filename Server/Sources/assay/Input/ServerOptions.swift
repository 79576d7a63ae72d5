import ArgumentParser
import PurchaseServer

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
