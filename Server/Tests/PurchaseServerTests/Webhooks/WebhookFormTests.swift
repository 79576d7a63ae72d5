import Foundation
import PurchaseLedger
import PurchaseServer
import Testing

@Suite("The form of webhooks")
struct WebhookFormTests {
    @Test("A secret is whsec_ followed by base64 of 24 to 64 bytes; it is never printed")
    func secrets() throws {
        for size in 0...80 {
            let text = "whsec_" + Data(repeating: 65, count: size).base64EncodedString()
            #expect((WebhookSecret(text) != nil) == (24...64).contains(size), "\(size)")
        }
        for text in ["", "whsec_", "whsec", "WHSEC_" + String(repeating: "A", count: 32), "whsec_&&&&", "secret"] {
            #expect(WebhookSecret(text) == nil, "\(text)")
        }
        let secret = try #require(WebhookSecret(WebhookWorld.secret))
        #expect("\(secret)" == "whsec_…" && !String(reflecting: secret).contains("MfKQ"))
    }

    @Test("A URL is https or http, with a host, and has neither user nor fragment")
    func urls() {
        for text in [
            "https://example.com", "https://example.com:8443/a/b?c=d", "http://[::1]:80/", "HTTPS://Example.com/",
        ] {
            #expect(WebhookURL(text) != nil, "\(text)")
        }
        for text in [
            "", "example.com", "ftp://example.com/", "https://", "https:///x", "https://user@example.com/",
            "https://user:password@example.com/", "https://example.com/#x", "https://example.com:0/",
            "https://example.com:70000/", "https://exam ple.com/", "https://ex%61mple.com/", "https://bücher.example/",
            "https://example.com/\r\nX: y", "https://example.com/" + String(repeating: "a", count: 3000),
        ] {
            #expect(WebhookURL(text) == nil, "\(text)")
        }
        #expect(WebhookURL("https://Example.COM/x")?.host == "example.com")
    }

    @Test("An event is attempted fourteen times over three days, with growing pauses")
    func schedule() {
        #expect(RetrySchedule.pauses.reduce(0, +) == 258_155 && RetrySchedule.pauses == RetrySchedule.pauses.sorted())
        #expect(RetrySchedule.next(after: 14, now: TestClock().now) == nil)
    }

    static func read(_ webhooks: String, variables: [String: String] = [:]) -> String {
        let files = NamedFiles { _ throws(SettingFault) in
            []
        } secret: { path throws(SettingFault) in
            let texts = ["/etc/assay/secret": WebhookWorld.secret, "/etc/assay/user.creds": NATSTests.credentials]
            guard let text = texts[path] else { throw SettingFault("cannot be read: no such file", "Name a file") }
            return text
        } bytes: { path throws(SettingFault) in
            guard path == "/etc/assay/ca.pem" else { throw SettingFault("'\(path)': no such file", "Name a file") }
            return Array(ReceiverCertificate.authority.utf8)
        } variable: {
            variables[$0]
        }
        do {
            let text = "apps:\n  game:\n    bundle_ids: com.example.app\n    webhooks:\n\(webhooks)"
            return try ServerSettings(file: Array(text.utf8), folder: "/etc/assay", files: files).configuration.webhooks
                .map { "\($0.url.text) \($0.secrets.count) \($0.allowedHosts.sorted()) \($0.trust != nil)" }
                .joined(separator: "\n")
        } catch {
            return "\(error)"
        }
    }

    @Test("Settings name webhooks; secrets are in the file, in files of their own or in variables")
    func settings() {
        let read = Self.read(
            """
                  - url: https://example.com/a
                    secrets: \(WebhookWorld.secret)
                  - url: http://Receiver.internal:8080/b
                    secrets: [file:secret, env:SECRET]
                    allow_hosts: [receiver.internal]
                    tls_trust: ca.pem

            """, variables: ["SECRET": WebhookWorld.secret])
        #expect(
            read == """
                https://example.com/a 1 [] false
                http://Receiver.internal:8080/b 2 ["receiver.internal"] true
                """)
    }

    @Test("Errors name the line and the correction, and never the secret")
    func errors() {
        let (good, url) = ("secrets: \(WebhookWorld.secret)", "url: 'https://example.com/'")
        let rows: KeyValuePairs = [
            "url: 'http://example.com/' , \(good)":
                "line 5: the url of a webhook of game begins with http. Write https, or allow_hosts: [example.com]",
            good: "line 5: a webhook of game has no url",
            "url: 'https://u:hunter2@example.com/', \(good)": "has no url that events can be sent to",
            "\(url), secrets: whsec_c2hvcnQ=": "an entry is not a secret of Standard Webhooks",
            "\(url), secrets: env:MISSING": "the variable MISSING is not set",
            "\(url), secrets: file:none": "a file cannot be read: no such file", url: "has 0 secrets",
            "\(url), secrets: [a, b, c]": "has 3 secrets",
            "\(url), \(good), retries: 3": "apps.game.webhooks has no setting 'retries'",
            "\(url), \(good) }\n      - { \(url), \(good)": "the same url",
            "\(url), \(good), tls_trust: none.pem":
                "line 5: a webhook of game has a wrong setting: tls_trust: '/etc/assay/none.pem': no such file",
        ]
        for (webhook, fault) in rows {
            let read = Self.read("      - { \(webhook) }\n")
            #expect(
                read.contains(fault) && !read.contains("hunter2") && !read.contains("c2hvcnQ"), "\(webhook): \(read)")
        }
    }

    @Test(
        "Two URLs of the same receiver are refused, however host and port are written",
        arguments: [
            ("https://example.com/a", "https://EXAMPLE.com/a", true),
            ("https://example.com", "https://example.com/", true),
            ("https://example.com/a", "https://example.com:443/a", true),
            ("https://example.com/a", "https://example.com:444/a", false),
            ("https://example.com/a", "https://example.com/A", false),
            ("https://example.com/a?b", "https://example.com/a", false),
        ])
    func sameReceiver(first: String, second: String, isSame: Bool) {
        let secret = "secrets: \(WebhookWorld.secret)"
        let webhooks = "      - { url: '\(first)', \(secret) }\n      - { url: '\(second)', \(secret) }\n"
        #expect(Self.read(webhooks).contains("line 6: two webhooks of game have the same url") == isSame)
        let forwards = Self.readForward("      production: ['\(first)', '\(second)']\n")
        #expect(forwards.contains("two forwards of game for Production have the same url") == isSame, "\(forwards)")
    }

    private static func readForward(_ forward: String) -> String {
        // After `webhooks: []` the text goes on with the next setting of the app.
        read("      []\n    forward:\n\(forward)")
    }

    @Test("28.3 Settings name the URLs that notifications are forwarded to, by environment")
    func forwards() {
        let read = Self.readForward(
            """
                  production:
                    - https://example.com/apple
                    - { url: 'http://Old.internal:8080/apple', allow_hosts: [old.internal], tls_trust: ca.pem }
                  Sandbox: https://example.com/apple

            """)
        #expect(
            read == """
                https://example.com/apple 0 [] false
                http://Old.internal:8080/apple 0 ["old.internal"] true
                https://example.com/apple 0 [] false
                """)
    }

    @Test(
        "28.3 Each setting of a forward that is wrong is refused with the line and the correction",
        arguments: [
            "live: https://example.com/":
                "line 7: apps.game.forward names 'live', which is not among its environments. Write one of Production, Sandbox",
            "xcode: https://example.com/": "names 'xcode', which is not among its environments",
            "production:": "line 7: apps.game.forward.production is neither a URL nor a list",
            "production: { url: 'https://example.com/' }":
                "is neither a URL nor a list. Write production: [https://HOST/PATH]",
            "production: [example.com]":
                "line 7: a forward of game has no url that notifications can be sent to",
            "production: ['ftp://example.com/']": "has no url that notifications can be sent to",
            "production: ['tls://example.com/a']": "has no url that notifications can be sent to",
            "production: ['https://u:hunter2@example.com/']": "has no url that notifications can be sent to",
            "production: [{ allow_hosts: [a] }]": "has no url that notifications can be sent to",
            "production: ['http://example.com/']":
                "the url of a forward of game begins with http. Write https, or { url: …, allow_hosts: [example.com] }",
            "production: [{ url: 'http://example.com/', allow_hosts: [example.org] }]": "begins with http",
            "production: [{ url: 'https://example.com/', allow_hosts: {} }]": "allow_hosts is empty or not a list",
            "production: [{ url: 'https://example.com/', tls_trust: none.pem }]":
                "a forward of game has a wrong setting: tls_trust: '/etc/assay/none.pem': no such file",
            "production: [{ url: 'https://example.com/', secrets: [a] }]":
                "apps.game.forward.production has no setting 'secrets'. Known are allow_hosts, tls_trust, url",
            "production: ['https://example.com/', 'https://example.com/']":
                "two forwards of game for Production have the same url. Keep one",
            "- https://example.com/": "apps.game.forward is not a mapping",
        ])
    func forwardErrors(_ lines: String, _ expected: String) {
        let read = Self.readForward("      \(lines)\n")
        #expect(read.contains(expected), "\(read)")
        #expect(!read.contains("hunter2"))
    }
}
