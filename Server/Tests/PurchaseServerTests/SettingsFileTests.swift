import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import Testing

@Suite("The settings file")
struct SettingsFileTests {
    @Test("Everything that can be set is read")
    func whole() throws {
        let configuration = try WrittenSettings.read(
            """
            server:
              host: 0.0.0.0
              port: 9000
              database: sqlite:/var/lib/assay/assay.sqlite
              trust: [root.pem]
              trusted_proxies: [127.0.0.1, 10.0.0.0/8]
            limits:
              per_key: { per_second: 10, burst: 20 }
              per_address: { per_second: 30 }
              body_bytes: 1000000
            apps:
              game:
                bundle_ids: [com.example.game, com.example.game.lite]
                apple_id: 1234567890
                shared_secret_file: secret
                environments: [Production]
                versions: ["1.0", "1.1"]
                transfer: move
                sandbox_access: everyone
                refund_shortfall: debt
                require_signed_transaction: true
                require_account_token: true
                order_lifetime: 2h
                lapse_tolerance: 90s
                unverified_evidence: { bytes_per_day: 9000, bytes_per_key_and_day: 100 }
                products:
                  coins: { kind: consumable }
                  pass: { kind: non-renewing, duration: 30d, entitlements: [pro, premium] }
                  month: { kind: non_renewing, duration: 1mo, entitlements: pro }
                  year: { kind: non_renewing, duration: 1y }
                  monthly: { type: auto-renewable }
              tool:
                bundle_ids: com.example.tool
                shared_secret: hush
            """)
        #expect(configuration.host == "0.0.0.0" && configuration.port == 9000)
        #expect(configuration.database == "sqlite:/var/lib/assay/assay.sqlite")
        #expect(configuration.trustedProxies == ["127.0.0.1", "10.0.0.0/8"].compactMap(AddressRange.init))
        #expect(configuration.limits.perKey == RateLimit(perSecond: 10, burst: 20))
        #expect(configuration.limits.perAddress == RateLimit(perSecond: 30, burst: 60))
        #expect(configuration.limits.bodyBytes == 1_000_000)
        #expect(configuration.sharedSecrets["com.example.tool"] == "hush")
        #expect(configuration.apps.keys.sorted() == ["game", "tool"])
        var game = RegisteredApp(id: "game", bundleIDs: ["com.example.game", "com.example.game.lite"])
        game.appleID = 1_234_567_890
        game.environments = [.production]
        game.versions = ["1.0", "1.1"]
        game.transfer = .move
        game.orderLifetime = 7_200_000
        game.lapseTolerance = 90_000
        game.sandboxAccess = .everyone
        game.refundShortfall = .debt
        game.requiresSignedTransaction = true
        game.requiresAccountToken = true
        game.unverifiedEvidence = EvidenceBudget(bytesPerAppAndDay: 9000, bytesPerKeyAndDay: 100)
        game.products = [
            "coins": RegisteredProduct(kind: .consumable),
            "pass": RegisteredProduct(
                kind: .nonRenewing, duration: .fixed(milliseconds: 30 * 86_400_000),
                entitlements: ["pro", "premium"]),
            "month": RegisteredProduct(kind: .nonRenewing, duration: .months(1), entitlements: ["pro"]),
            "year": RegisteredProduct(kind: .nonRenewing, duration: .months(12)),
            "monthly": RegisteredProduct(kind: .autoRenewable),
        ]
        #expect(configuration.apps["game"] == game && configuration.sharedSecrets["com.example.game.lite"] == "secret")
        let tool = try #require(configuration.apps["tool"])
        #expect(tool == RegisteredApp(id: "tool", bundleIDs: ["com.example.tool"]))
        #expect(tool.environments == [.production, .sandbox], "App Review sends sandbox receipts to production")
    }

    @Test("An empty file sets nothing", arguments: ["", "\n\n", "# nothing\n", "apps:\n"])
    func empty(text: String) throws {
        let configuration = try WrittenSettings.read(text)
        #expect(configuration.apps.isEmpty && configuration.port == ServerConfiguration().port)
    }

    @Test("Every problem is listed at once, with its line and its correction")
    func problems() throws {
        let text = """
            server:
              port: many
              hots: localhost
            limits:
              per_key: { burst: 20 }
              per_address: 5
            apps:
              game:
                versions: []
                transfer: perhaps
                order_lifetime: soon
                products:
                  coins: { kind: coin }
                  pass: { kind: non_renewing }
                  pro: { kind: non_consumable, duration: 3d }
                  nothing: {}
                  wrong: consumable
            """
        let problems = try WrittenSettings.problems(text)
        #expect(problems.compactMap(\.line) == [2, 3, 6, 8, 9, 10, 11, 13, 14, 15, 16, 17, 17], "\(problems)")
        for problem in problems {
            #expect(!problem.fault.isEmpty && !problem.remedy.isEmpty)
        }
        #expect(
            problems[1].description
                == "line 3: server has no setting 'hots'. Did you mean 'host'? Known are admin, answer_key_file, database, environments, host, "
                + "log_format, log_level, port, shared_secret_file, tls, trust, trusted_proxies. (setting_unknown)")
        #expect(
            problems[5].description
                == "line 10: apps.game.transfer is 'perhaps'. Choose one of deny, move. (setting_wrong)")
    }

    @Test(
        "A wrong value of an app is reported with the setting, the value found, and the right form",
        arguments: [
            ("transfer: maybe", "transfer is 'maybe'", "deny, move"),
            ("sandbox_access: me", "sandbox_access is 'me'", "testers, everyone, nobody"),
            ("refund_shortfall: keep", "refund_shortfall is 'keep'", "forgive, debt"),
            ("require_account_token: yes please", "require_account_token is 'yes please'", "true or false"),
            ("require_signed_transaction: 1", "require_signed_transaction is '1'", "true or false"),
            ("require_account_token:", "require_account_token is ''", "true or false"),
            ("lapse_tolerance: 2d", "lapse_tolerance is '2d'", "at most a day"),
            ("lapse_tolerance: 1mo", "lapse_tolerance is '1mo'", "at most a day"),
            ("order_lifetime: 1mo", "order_lifetime is '1mo'", "24h"),
            ("unverified_evidence: { bytes_per_day: -1 }", "bytes_per_day is '-1'", "a whole number from 0"),
            ("unverified_evidence: { bytes: 1 }", "unverified_evidence has no setting 'bytes'", "bytes_per_day"),
            ("products: { a: { kind: coin } }", "kind is 'coin'", "non_consumable"),
            ("products: { a: { kind: consumable, type: consumable } }", "a has a kind and a type", "Keep kind"),
            ("products: { a: { kind: non_renewing, duration: 1 month } }", "duration is '1 month'", "1mo"),
            ("products: { a: { kind: non_renewing, duration: 0d } }", "duration is '0d'", "30d"),
            ("products: { a: { kind: consumable, entitlements: [] } }", "entitlements is empty", "[one, another]"),
            (
                "products: { a: { kind: consumable, entitlements: [\"\\u0007\"] } }",
                "entitlements has a name that is too long or has control characters", "[pro]"
            ),
        ])
    func wrongValue(setting: String, fault: String, remedy: String) throws {
        let text = "apps:\n  game:\n    bundle_ids: [a]\n    \(setting)\n"
        let problems = try WrittenSettings.problems(text)
        let problem = try #require(problems.first)
        #expect(problems.count == 1, "\(problems)")
        #expect(problem.line == 4 && problem.fault.contains(fault) && problem.remedy.contains(remedy), "\(problem)")
    }

    @Test(
        "The name of an app has at most 128 letters, digits, hyphens, underscores and periods, as it is in URLs and files"
    )
    func names() throws {
        for name in [String(repeating: "g", count: 128), "game", "7", "Game-2.lite_b"] {
            let apps = try WrittenSettings.read("apps:\n  \(name):\n    bundle_ids: [a]\n").apps
            #expect(apps.keys.sorted() == [name])
        }
        for name in [
            String(repeating: "g", count: 129), "my game", "a/b", "..", "-game", ".game", "gämé", "a?b", "a%20b", "''",
            "a:b", "\"a\\n\"", "a'b",
        ] {
            let problems = try WrittenSettings.problems("more: 1\napps:\n  \(name):\n    bundle_ids: [a]\n")
            #expect(problems.map(\.line) == [1, 3] && problems.last?.code == .wrong, "\(name): \(problems)")
            #expect(problems.last?.fault.hasPrefix("the name of an app is '") == true, "\(problems)")
        }
    }

    @Test("Two apps with one bundle id or one Apple id are an error, because a purchase would be granted in both")
    func twoApps() throws {
        let text = """
            apps:
              game:
                bundle_ids: [com.example.game, com.example.lite]
                apple_id: 1
              tool:
                bundle_ids: [com.example.tool, com.example.game]
                apple_id: 1
            """
        let problems = try WrittenSettings.problems(text)
        #expect(
            problems.map(\.fault) == [
                "the bundle id com.example.game is in the apps game and tool",
                "the apple_id 1 is in the apps game and tool",
            ])
        #expect(problems.map(\.line) == [6, 7])
    }

    @Test("Environments are accepted in any letter case, and unknown ones only with a trusted authority besides Apple")
    func environments() throws {
        func text(_ name: String, _ server: String = "") -> String {
            "\(server)apps:\n  game:\n    bundle_ids: [a]\n    environments: [\(name), sandbox]\n"
        }
        #expect(try WrittenSettings.read(text("PRODUCTION")).apps["game"]?.environments == [.production, .sandbox])
        #expect(try WrittenSettings.problems(text("Prodution")).map(\.line) == [4])
        let simulator = Set([AppStoreEnvironment.other("Simulator"), .sandbox])
        let trusting = try WrittenSettings.read(text("Simulator", "server:\n  trust: [root.pem]\n"))
        #expect(trusting.apps["game"]?.environments == simulator)
        let option = try WrittenSettings.read(text("Simulator"), options: ["--trust": ["root.pem"]])
        #expect(option.apps["game"]?.environments == simulator)
    }

    @Test("Unusable files are reported with the other problems, and so is an unknown kind of database")
    func files() throws {
        let text = """
            server:
              database: mysql://localhost
              trust: [good, bad.pem]
            apps:
              game:
                bundle_ids: [a]
                shared_secret_file: good
              tool:
                bundle_ids: [b]
                shared_secret_file: secret
                transfer: perhaps
            """
        let problems = try WrittenSettings.problems(text, files: WrittenSettings.onlyGood)
        #expect(problems.map(\.line) == [2, 3, 10, 11])
        #expect(problems[1].fault == "server.trust 'bad.pem': is no certificate")
        #expect(problems[2].fault == "apps.tool.shared_secret_file holds no secret")
    }

    @Test(
        "Text that is not YAML, or has a key twice, is reported with its line",
        arguments: [("apps: [", 1), ("server:\n  host: a\n  host: b\n", 2), ("a: b: c", 1)])
    func malformed(text: String, line: Int) throws {
        let problems = try WrittenSettings.problems(text)
        #expect(problems.count == 1 && problems.first?.code == .malformed)
        #expect((problems.first?.line ?? 0) >= line, "\(problems)")
    }
}

/// Settings as tests write them.
enum WrittenSettings {
    /// Each file holds a secret that is its path.
    static let files = NamedFiles { _ throws(SettingFault) in
        []
    } secret: { path throws(SettingFault) in
        path
    }

    /// Files of which only the one called good can be read.
    static let onlyGood = NamedFiles { path throws(SettingFault) in
        guard path == "good" else { throw SettingFault("'\(path)': is no certificate", "Name one", .file) }
        return []
    } secret: { path throws(SettingFault) in
        guard path == "good" else { throw SettingFault("holds no secret", "Name one that does", .file) }
        return "secret"
    }

    static func read(
        _ text: String, options: [String: [String]] = [:], environment: [String: String] = [:],
        files: NamedFiles? = files
    ) throws -> ServerConfiguration {
        try ServerSettings(file: Array(text.utf8), environment: environment, options: options, files: files)
            .configuration
    }

    /// The problems of settings that are refused.
    static func problems(
        _ text: String, options: [String: [String]] = [:], environment: [String: String] = [:],
        files: NamedFiles? = files
    ) throws -> [SettingProblem] {
        let error = #expect(throws: SettingProblems.self) {
            try read(text, options: options, environment: environment, files: files)
        }
        return try #require(error?.problems)
    }
}
