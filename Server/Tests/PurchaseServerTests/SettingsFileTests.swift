import Foundation
import LegacyLedger
import PurchaseServer
import PurchaseVerification
import Testing

@Suite("The settings file")
struct SettingsFileTests {
    @Test("Everything that can be set is read")
    func whole() throws {
        let settings = try SettingsFile(
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
                order_lifetime: 2h
                products:
                  coins: { type: consumable }
                  pass: { type: non_renewing, duration: 30d }
              tool:
                bundle_ids: com.example.tool
                shared_secret: hush
            """)
        let configuration = try ServerSettings(options: [:], environment: [:], file: settings).configuration(.unread)
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
        game.products = [
            "coins": RegisteredProduct(kind: .consumable),
            "pass": RegisteredProduct(kind: .nonRenewing, duration: 30 * 86_400_000),
        ]
        #expect(settings.apps["game"]?.app == game)
        #expect(settings.apps["game"]?.sharedSecretFile == "secret")
        let tool = try #require(settings.apps["tool"])
        #expect(tool.app == RegisteredApp(id: "tool", bundleIDs: ["com.example.tool"]) && tool.sharedSecret == "hush")
        #expect(tool.app.environments == [.production, .sandbox], "App Review sends sandbox receipts to production")
    }

    @Test("A file with nothing in it sets nothing", arguments: ["", "\n\n", "# nothing\n", "apps:\n"])
    func empty(text: String) throws {
        let settings = try SettingsFile(text)
        #expect(settings.apps.isEmpty)
        let configuration = try ServerSettings(options: [:], environment: [:], file: settings).configuration(.unread)
        #expect(configuration.port == ServerConfiguration().port)
    }

    @Test("Every problem is listed at once, with its line and what to do")
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
                  coins: { type: coin }
                  pass: { type: non_renewing }
                  pro: { type: non_consumable, duration: 3d }
                  nothing: {}
                  wrong: consumable
            """
        let error = #expect(throws: SettingsFile.Problems.self) { try SettingsFile(text) }
        let problems = try #require(error?.problems)
        #expect(problems.compactMap(\.line) == [2, 3, 6, 8, 9, 10, 11, 13, 14, 15, 16, 17, 17], "\(problems)")
        for problem in problems {
            #expect(!problem.fault.isEmpty && !problem.remedy.isEmpty)
        }
        #expect(
            problems[1].description
                == "line 3: server has no setting 'hots'. Known are database, environments, host, log_level, port, "
                + "shared_secret_file, trust, trusted_proxies.")
        #expect(problems[5].description == "line 10: transfer is 'perhaps'. Choose one of deny, move.")
    }

    @Test("Two apps with one bundle id or one Apple id are told, because a purchase would be granted in both")
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
        let error = #expect(throws: SettingsFile.Problems.self) { try SettingsFile(text) }
        let problems = try #require(error?.problems)
        #expect(
            problems.map(\.fault) == [
                "the bundle id com.example.game stands in game and in tool",
                "the apple_id 1 stands in game and in tool",
            ])
        #expect(problems.map(\.line) == [6, 7])
    }

    @Test("Environments are taken in any case, and unknown ones only where somebody besides Apple is trusted")
    func environments() throws {
        func text(_ name: String, _ server: String = "") -> String {
            "\(server)apps:\n  game:\n    bundle_ids: [a]\n    environments: [\(name), sandbox]\n"
        }
        let settings = try SettingsFile(text("PRODUCTION"))
        #expect(settings.apps["game"]?.app.environments == [.production, .sandbox])
        let error = #expect(throws: SettingsFile.Problems.self) { try SettingsFile(text("Prodution")) }
        #expect(error?.problems.map(\.line) == [4])
        let simulator = Set([AppStoreEnvironment.other("Simulator"), .sandbox])
        let trusting = try SettingsFile(text("Simulator", "server:\n  trust: [root.pem]\n"))
        #expect(trusting.apps["game"]?.app.environments == simulator)
        var surroundings = SettingsFile.Surroundings()
        surroundings.isTrustExtended = true
        #expect(try SettingsFile(text("Simulator"), beside: surroundings).apps["game"]?.app.environments == simulator)
    }

    /// Files of which only one is as it should be.
    private static let files = NamedFiles { path throws(SettingFault) in
        guard path == "good" else { throw SettingFault("'\(path)': is no certificate", "Name one") }
        return []
    } secret: { path throws(SettingFault) in
        guard path == "good" else { throw SettingFault("holds no secret", "Name one that does") }
        return "secret"
    }

    @Test("Files that are named and cannot be used are told with the other problems, and so is a database of no kind")
    func files() throws {
        var surroundings = SettingsFile.Surroundings()
        surroundings.files = Self.files
        let text = """
            server:
              database: postgres://localhost
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
        let error = #expect(throws: SettingsFile.Problems.self) { try SettingsFile(text, beside: surroundings) }
        let problems = try #require(error?.problems)
        #expect(problems.map(\.line) == [2, 3, 10, 11])
        #expect(problems[1].fault == "trust 'bad.pem': is no certificate")
        #expect(problems[2].fault == "shared_secret_file holds no secret")
    }

    @Test(
        "What is no YAML, or has a key twice, is told with its line",
        arguments: [("apps: [", 1), ("server:\n  host: a\n  host: b\n", 2), ("a: b: c", 1)])
    func malformed(text: String, line: Int) {
        let error = #expect(throws: SettingsFile.Problems.self) { try SettingsFile(text) }
        #expect(error?.problems.count == 1)
        #expect((error?.problems.first?.line ?? 0) >= line, "\(String(describing: error))")
    }
}
