import Foundation
import Logging
import PurchaseServer
import TestSupport
import Testing

/// The tables of settings: each setting wrong once, and the documentation that they give.
@Suite("The tables of settings")
struct SettingsTableTests {
    /// Wrong values of the forms that accept most texts; all others are given a mapping or a word.
    private static let wrong: [String: String] = [
        "server.host": "host:80", "server.port": "70000", "server.tls.certificate": "bad", "server.tls.key": "bad",
        "server.admin": "8081", "server.database": "mysql://x", "server.trust": "bad", "server.environments": "Prod",
        "server.shared_secret_file": "bad", "server.answer_key_file": "bad", "server.trusted_proxies": "0.0.0.0/0",
        "server.log_level": "loud", "server.log_format": "xml", "record.origin": "a b", "record.checkpoints": "ftp://x",
        "app_store.tls_trust": "bad", "apps.NAME.bundle_ids": "a b", "apps.NAME.apple_id": "id1",
        "apps.NAME.environments": "Prod", "apps.NAME.shared_secret_file": "bad", "apps.NAME.lapse_tolerance": "2d",
        "apps.NAME.order_lifetime": "1mo", "apps.NAME.ask_for_missing_news_ms": "10",
        "apps.NAME.set_account_tokens": "true", "apps.NAME.products.ID.duration": "1 month",
        "apps.NAME.refunds.used": "grant_prorated", "apps.NAME.offers.promotional.ID.within": "1mo",
        "apps.NAME.retention[].message": "hello", "apps.NAME.webhooks[].url": "ftp://x",
        "apps.NAME.webhooks[].secrets": "env:UNSET", "apps.NAME.grounds.stripe.secret_file": "bad",
        "apps.NAME.forward.ENVIRONMENT[].url": "ftp://x",
    ]
    /// Settings whose value is a mapping or a list of mappings.
    private static let sections = [
        "products", "refunds.products", "offers.promotional", "offers.introductory", "offers.advanced_commerce",
        "retention", "app_store_keys", "webhooks", "forward",
        "grounds.stripe.products",
    ].map { "apps.NAME.\($0)" }

    private static let files = NamedFiles { path throws(SettingFault) in
        throw SettingFault("'\(path)': no such file", "Name a file", .file)
    } secret: { _ throws(SettingFault) in
        throw SettingFault("cannot be read: no such file", "Name a file", .file)
    } bytes: { path throws(SettingFault) in
        throw SettingFault("'\(path)': no such file", "Name a file", .file)
    }

    /// A value at its place, as YAML in one line.
    private static func yaml(_ path: some Collection<String>, _ value: String) -> String {
        guard let part = path.first else { return value }
        let inner = yaml(path.dropFirst(), value)
        let name = part.replacing("[]", with: "")
        let known = ["NAME": "game", "ID": "x", "ENVIRONMENT": "Production"][name] ?? name
        return "{ \(known): \(part.hasSuffix("[]") ? "[\(inner)]" : inner) }"
    }

    private static func problems(
        _ text: String, options: [String: [String]] = [:], environment: [String: String] = [:]
    ) throws -> [SettingProblem] {
        try WrittenSettings.problems(text, options: options, environment: environment, files: files)
    }

    @Test(
        "Each setting that is wrong is reported beside another problem",
        arguments: ServerSetting.rows + ServerSetting.appRows)
    func wrongInFile(setting: SettingRow) throws {
        let value = Self.wrong[setting.name] ?? (Self.sections.contains(setting.name) ? "word" : "{}")
        let path = setting.name.split(separator: ".").map(String.init)
        // A webhook has other settings that it needs.
        let text = Self.yaml(path, value).replacing(
            "webhooks: [{ ", with: path.last == "url" ? "webhooks: [{ " : "webhooks: [{ url: 'https://example.com', ")
        // In block style, another mapping follows.
        let block = text.dropFirst(2).dropLast(2)
        let problems = try Self.problems("\(block)\nmore: 1\n")
        let key = try #require(path.last).replacing("[]", with: "")
        #expect(
            problems.contains { $0.line == 1 && $0.code != .unknown && "\($0.fault) \($0.remedy)".contains(key) },
            "\(text): \(problems)")
        #expect(problems.contains { $0.line == 2 && $0.code == .unknown }, "\(problems)")
    }

    @Test(
        "Each variable and each option that is wrong is reported beside a problem of the file",
        arguments: ServerSetting.all.filter { $0.option != nil }.map(\.name))
    func wrongElsewhere(name: String) throws {
        let setting = try #require(ServerSetting.all.first { $0.name == name })
        let (option, variable) = (try #require(setting.option), try #require(setting.variable))
        // The variable holds the secret itself.
        let isSecret = variable == "ASSAY_SHARED_SECRET"
        let text = Self.wrong[name] ?? (setting.defaultText.first?.isNumber == true ? "0" : "")
        for (problems, place, found) in [
            (try Self.problems("more: 1\n", options: [option: [text]]), SettingProblem.Place.option, option),
            (
                try Self.problems("more: 1\n", environment: [variable: isSecret ? "" : text]), .environment, variable
            ),
        ] {
            #expect(problems.contains { $0.line == 1 && $0.code == .unknown }, "\(problems)")
            #expect(problems.contains { $0.place == place && $0.fault.hasPrefix("\(found) ") }, "\(found): \(problems)")
        }
    }

    @Test(
        "A malformed host, a variable that is not set, a wrong app and an option are reported together, with what was meant"
    )
    func together() throws {
        let text = """
            server:
              host: "127.0.0.1:8080"
              database: postgres://assay:${PASSWORD}@db/assay
              trust: [bad]
            apps:
              game:
                bundle_id: com.example.game
                webhooks:
                  - { url: https://example.com, secrets: env:UNSET }
              my game: { bundle_ids: com.example.other, transfr: move }
            """
        let problems = try Self.problems(text, options: ["--port": ["x"]], environment: ["ASSAY_LOG_LEVEL": "loud"])
        #expect(problems.compactMap(\.line) == [2, 3, 4, 6, 7, 9, 10, 10], "\(problems)")
        #expect(
            problems.map(\.code) == [
                .wrong, .variable, .file, .missing, .unknown, .variable, .wrong, .unknown, .wrong, .wrong,
            ], "\(problems)")
        #expect(
            problems[1].fault == "server.database has ${PASSWORD}, and variables are not replaced in the settings file")
        #expect(problems[4].remedy.hasPrefix("Did you mean 'bundle_ids'? Known are accept_signed_transactions,"))
        #expect(problems[5].fault.contains("the variable UNSET is not set"))
        #expect(problems[7].remedy.hasPrefix("Did you mean 'transfer'? "))
        #expect(Set(problems.suffix(2).map { $0.fault }) == ["--port is 'x'", "ASSAY_LOG_LEVEL is 'loud'"])
    }

    @Test("All faults of one entry are reported, and all wrong texts of one list")
    func inOneEntry() throws {
        let text = """
            server: { trusted_proxies: [10.0.0.0/99, 11.0.0.0/98], trust: [no1.pem, no2.pem] }
            apps:
              game:
                bundle_ids: [a b, c d]
                webhooks:
                  - { url: x, secrets: [env:UNSET1, env:UNSET2], tls_trust: no3.pem, credentials_file: no4 }
                  - { url: https://example.com, secrets: [env:UNSET3, whsec_], tls_trust: no5.pem }
                forward: { production: [{ url: x, tls_trust: no6.pem }] }
            """
        let problems = try Self.problems(text)
        let faults = problems.map(\.fault).joined(separator: "\n")
        for part in [
            "'10.0.0.0/99', and has '11.0.0.0/98'", "no1.pem", "no2.pem", "has 'a b'", "has 'c d'", "UNSET1", "UNSET2",
            "no3.pem", "credentials_file: cannot be read", "UNSET3", "is not a secret of Standard Webhooks", "no5.pem",
            "no6.pem", "a webhook of game has no url", "a forward of game has no url",
        ] {
            #expect(faults.contains(part), "\(part): \(faults)")
        }
        #expect(problems.count == 14, "\(faults)")
    }

    @Test("A host is an address or a name, without a port")
    func hosts() throws {
        for host in ["127.0.0.1", "::1", "0.0.0.0", "localhost", "db_1.internal", "xn--bcher-kva.example"] {
            #expect(try WrittenSettings.read("server: { host: '\(host)' }").host == host)
        }
        for host in ["localhost:80", "[::1]", "300.0.0.1", "a b", "http://a", "a/b", "::g"] {
            #expect(try Self.problems("server: { host: '\(host)' }").map(\.code) == [.wrong], "\(host)")
        }
    }

    @Test("A variable that looks like a setting and that nothing names is a warning, with the one that may be meant")
    func variables() throws {
        let text = """
            apps:
              game:
                bundle_ids: com.example.game
                webhooks: [{ url: https://example.com, secrets: ["env:ASSAY_SECRET"] }]
            """
        let named = try ServerSettings(file: Array(text.utf8), environment: ["ASSAY_SECRET": ""], files: nil)
        #expect(named.warnings.isEmpty)
        let environment = ["ASSAY_PROT": "1", "ASSAY_CONFIG": "x", "HOME": "", "ASSAY_SHOE": "", "ASSAY_PORT": "1"]
        let settings = try ServerSettings(environment: environment, files: nil)
        #expect(settings.configuration.port == 1)
        #expect(settings.warnings.map(\.code) == [.unknownVariable, .unknownVariable])
        #expect(settings.warnings[0].fault == "the variable ASSAY_PROT is not a setting")
        #expect(settings.warnings[0].remedy == "Did you mean ASSAY_PORT? docs/settings.md lists all variables")
        #expect(settings.warnings[1].remedy == "docs/settings.md lists all variables")
    }

    @Test("The settings that differ from a running server's and need a restart are those that the table says")
    func restart() throws {
        let running = try WrittenSettings.read("")
        for setting in ServerSetting.all {
            var other = running
            (other.host, other.port, other.admin, other.database) = ("a", 1, .off, "sqlite:other")
            (other.logLevel, other.logFormat, other.limits.connections) = (.debug, .json, 1)
            (other.record.entryKey, other.record.signingKey, other.record.origin) = ("a", "b", "c")
            (other.record.checkpoints, other.limits.bodyBytes, other.isAdminStandard) = ([.standardOutput], 1, false)
            #expect(setting.differs?(running, running) != true)
            let isNamed = other.settingsThatNeedRestart(comparedWith: running).contains { $0.name == setting.name }
            #expect(isNamed == (setting.restarts && !setting.name.hasPrefix("app_store")), "\(setting.name)")
        }
    }

    /// A table of the documentation, without the last line's end.
    private static func table(_ rows: [SettingRow], _ header: String, _ cells: (SettingRow) -> [String]) -> String {
        let columns = header.split(separator: "|").count
        let lines = rows.map { "| \(cells($0).joined(separator: " | ")) |" }
        return "\(header)\n|\(String(repeating: "---|", count: columns))\n\(lines.joined(separator: "\n"))"
    }

    /// With `WRITE_SETTINGS=1` in the environment, the document is written anew.
    @Test("The tables of docs/settings.md are those of the program")
    func documented() throws {
        func code(_ text: String?) -> String { text.map { "`\($0)`" } ?? "" }
        let server = Self.table(
            ServerSetting.rows, "| settings file | environment | option | default | what it is | at SIGHUP |"
        ) {
            [
                code($0.name), code($0.variable), code($0.option), $0.defaultText, $0.summary,
                $0.restarts ? "restart" : "applied",
            ]
        }
        let apps = Self.table(ServerSetting.appRows, "| below `apps.NAME` | default | what it is |") {
            [code(String($0.name.dropFirst("apps.NAME.".count))), $0.defaultText, $0.summary]
        }
        let url = Corpus.projectFolder.appending(path: "docs/settings.md")
        let text = try String(contentsOf: url, encoding: .utf8)
        var written = text
        for (start, table) in [("\n| settings file |", server), ("\n| below `apps.NAME` |", apps)] {
            let from = try #require(written.range(of: start)).lowerBound
            let end = try #require(written.range(of: "\n\n", range: from..<written.endIndex)).lowerBound
            written.replaceSubrange(from..<end, with: "\n\(table)")
        }
        if ProcessInfo.processInfo.environment["WRITE_SETTINGS"] == "1" {
            try written.write(to: url, atomically: true, encoding: .utf8)
        } else {
            #expect(written == text, "run this test with WRITE_SETTINGS=1")
        }
    }
}
