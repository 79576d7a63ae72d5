import Foundation
import Logging
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// The table of settings: each place in which one can be given, and their precedence.
@Suite("Settings of the server")
struct ServerSettingTests {
    private func configuration(
        options: [String: [String]] = [:], environment: [String: String] = [:], file: String = ""
    ) throws -> ServerConfiguration {
        try WrittenSettings.read(file, options: options, environment: environment)
    }

    @Test("Each name, variable and option belongs to one setting")
    func unique() {
        #expect(ServerSetting.all.count > 15)
        for names in [
            ServerSetting.all.map(\.name), ServerSetting.all.compactMap(\.variable),
            ServerSetting.all.compactMap(\.option),
        ] {
            #expect(Set(names).count == names.count)
        }
    }

    @Test("An option overrides the environment, which overrides the file, which overrides the default")
    func precedence() throws {
        let file = "server:\n  port: 1\n  host: file\n  log_level: debug\n"
        let environment = ["ASSAY_PORT": "2", "ASSAY_HOST": "environment"]
        let all = try configuration(options: ["--port": ["3"]], environment: environment, file: file)
        #expect(all.port == 3 && all.host == "environment" && all.logLevel == .debug)
        #expect(try configuration(environment: environment, file: file).port == 2)
        #expect(try configuration(file: file).port == 1)
        #expect(try configuration().port == 8080)
        #expect(try configuration(options: ["--port": []], file: file).port == 1)
    }

    @Test("The documented default is the one in use")
    func defaults() throws {
        let silent = try configuration()
        // A rate without a burst also sets the burst.
        for setting in ServerSetting.all where setting.defaultText != "none" && !setting.name.hasSuffix("per_second") {
            let texts = setting.defaultText.components(separatedBy: ", ").map { "\"\($0)\"" }
            let name = setting.name.components(separatedBy: ".")
            let value = texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]"
            let file =
                name.count == 2
                ? "\(name[0]):\n  \(name[1]): \(value)\n" : "\(name[0]):\n  \(name[1]):\n    \(name[2]): \(value)\n"
            let given = try configuration(file: file)
            #expect("\(given.limits)" == "\(silent.limits)", "\(setting.name)")
            #expect(given.host == silent.host && given.port == silent.port && given.database == silent.database)
            #expect(
                given.logLevel == silent.logLevel && given.logFormat == silent.logFormat
                    && given.environments == silent.environments)
        }
    }

    @Test(
        "A wrong value is reported with the place where it was given",
        arguments: [
            (["--port": ["x"]], [:], "--port is 'x'. Write a whole number from 0 to 65535."),
            ([:], ["ASSAY_PORT": "70000"], "ASSAY_PORT is '70000'. Write a whole number from 0 to 65535."),
            ([:], ["ASSAY_HOST": ""], "ASSAY_HOST is set, but empty. Give it a value, or remove it."),
            (
                ["--trusted-proxy": ["::1", "x/y"]], [:],
                "--trusted-proxy has 'x/y'. Write addresses or ranges: 127.0.0.1, 10.0.0.0/8, fd00::/8."
            ),
            (
                ["--trusted-proxy": ["10.0.0.0/8", "fc00::/7", "128.0.0.0/1"]], [:],
                "--trusted-proxy believes addresses of the whole internet, so each client could choose the address that is "
                    + "recorded. Write the addresses or the private range of the proxies: 10.0.0.0/8."
            ),
            (
                ["--checkpoints": ["https://me:secret@example.com/checkpoint"]], [:],
                "--checkpoints has a value that is neither a file nor a URL without a user. "
                    + "Write a file, https://example.com/checkpoint, or -."
            ),
            (
                ["--checkpoints": ["me:secret@example.com/checkpoint"]], [:],
                "--checkpoints has a value that is neither a file nor a URL without a user. "
                    + "Write a file, https://example.com/checkpoint, or -."
            ),
            (
                ["--log-level": ["loud"]], [:],
                "--log-level is 'loud'. Choose one of trace, debug, info, notice, warning, error, critical."
            ),
            (["--log-format": ["xml"]], [:], "--log-format is 'xml'. Choose one of text, json."),
            (
                [:], ["ASSAY_ENVIRONMENT": "sandbox,Prodction"],
                "ASSAY_ENVIRONMENT has 'Prodction', which is not an environment of Apple. Write Production, Sandbox or "
                    + "Xcode, or name the certificate of its signer with --trust."
            ),
        ] as [([String: [String]], [String: String], String)])
    func faults(options: [String: [String]], environment: [String: String], message: String) {
        let problems = #expect(throws: SettingProblems.self) {
            try configuration(options: options, environment: environment)
        }?.problems
        #expect(problems?.map { "\($0.fault). \($0.remedy)." } == [message] && problems?.first?.line == nil)
    }

    @Test("A file of the key of answers that cannot be read is reported as such, with its path")
    func answerKey() {
        let files = NamedFiles { _ throws(SettingFault) in
            []
        } secret: { _ throws(SettingFault) in
            throw SettingFault("cannot be read: no such file", "Name a file with a shared secret")
        }
        let problems = #expect(throws: SettingProblems.self) {
            try WrittenSettings.read("", options: ["--answer-key": ["x"]], files: files)
        }
        #expect(
            problems?.description
                == "--answer-key 'x' cannot be read: no such file. Name the file that assay keys signing --for answers "
                + "makes. (setting_wrong)")
    }

    @Test("The shared secret itself is in the environment; everywhere else its file is named")
    func sharedSecret() throws {
        let file = "server:\n  shared_secret_file: path\n"
        #expect(try configuration(file: file).sharedSecret == "path")
        #expect(try configuration(environment: ["ASSAY_SHARED_SECRET": "secret"], file: file).sharedSecret == "secret")
        let option = ["--shared-secret-file": ["other"]]
        #expect(
            try configuration(options: option, environment: ["ASSAY_SHARED_SECRET": "secret"], file: file).sharedSecret
                == "other")
    }

    @Test("A list is separated by commas in the environment, and an option is repeated")
    func lists() throws {
        let ranges = ["127.0.0.1", "10.0.0.0/8"].compactMap(AddressRange.init)
        #expect(
            try configuration(environment: ["ASSAY_TRUSTED_PROXIES": "127.0.0.1, 10.0.0.0/8"]).trustedProxies == ranges)
        #expect(try configuration(options: ["--trusted-proxy": ["127.0.0.1", "10.0.0.0/8"]]).trustedProxies == ranges)
        let environments = try configuration(environment: [
            "ASSAY_ENVIRONMENT": "production,Simulator", "ASSAY_TRUST": "x",
        ]).environments
        #expect(environments == [.production, .other("Simulator")])
    }

    @Test("Paths in the file begin in its folder; those of options and of the environment do not")
    func paths() throws {
        let text = """
            server:
              database: sqlite:data/assay.sqlite
              shared_secret_file: secret
            apps:
              game:
                bundle_ids: [a]
                shared_secret_file: game.secret
              tool:
                bundle_ids: [b]
                shared_secret_file: /run/tool.secret
            """
        let settings = try ServerSettings(file: Array(text.utf8), folder: "/etc/assay", files: WrittenSettings.files)
        let configuration = settings.configuration
        #expect(configuration.database == "sqlite:/etc/assay/data/assay.sqlite")
        #expect(configuration.sharedSecret == "/etc/assay/secret")
        #expect(configuration.sharedSecrets == ["a": "/etc/assay/game.secret", "b": "/run/tool.secret"])
        let other = try ServerSettings(
            file: Array(text.utf8), folder: "/etc/assay", environment: ["ASSAY_DATABASE": "sqlite:here.sqlite"],
            files: nil)
        #expect(other.configuration.database == "sqlite:here.sqlite")
    }
}
