import AppStoreConnection
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// Whether the keys of the record are there, and who may read them. The keys of answers and of the App Store are read
/// with the settings.
struct KeyExamination {
    let keys: RecordKeys

    func findings() -> [DoctorFinding] {
        [
            finding("the key of entries", keys.entryKeyFile) { () throws(LogError) in try keys.entryKeyIfAny() != nil },
            finding("the signing key of the record", keys.signingKeyFile) { () throws(LogError) in
                if let lost = try CheckpointSigner.lostKey(at: keys.signingKeyFile) { throw lost }
                return try keys.lastSigned() != nil
            },
        ]
    }

    private func finding(
        _ name: String, _ path: String, _ isThere: () throws(LogError) -> Bool
    ) -> DoctorFinding {
        do throws(LogError) {
            guard try isThere() else {
                return .warning(
                    .keys, "\(name), \(path), does not exist",
                    do: "If this ledger was used before, bring the file back; the first start of a new one makes it.")
            }
            return .fine(.keys, "only its owner can read \(name), \(path)")
        } catch {
            let action =
                switch error.code {
                case .fileMode: "Run: chmod 600 \(path)"
                case .headsMissing, .signingKeyMissing: "See 'Restore' in docs/operations.md: no server starts so."
                default: "Give the server's user the right to read it, or bring the file back."
                }
            return .failed(.keys, "\(name), \(path): \(error)", do: action)
        }
    }
}

/// Whether the trusted certificates are valid, and for how long.
struct CertificateExamination {
    let anchors: [TrustAnchor]
    /// The certificate of the server's TLS; `nil` if it has none.
    let server: ServerCertificate?
    let now: AppStoreTime

    /// Before the end, this time in milliseconds is left to find the successor: a quarter of a year.
    private static let notice: Int64 = 90 * 86_400_000

    func findings() -> [DoctorFinding] { anchorFindings() + serverFindings() }

    /// The certificate of the server itself, of which its key's mode was checked with the settings.
    private func serverFindings() -> [DoctorFinding] {
        guard let server else { return [] }
        let left = server.notAfter.millisecondsSince1970 - now.millisecondsSince1970
        let name = "the certificate of server.tls, \(server.certificateFile),"
        let key = "only its owner can read the key of server.tls, \(server.keyFile)"
        let action = "Replace the file; a running server reads it by itself."
        let finding: DoctorFinding =
            if left < 0 {
                .failed(.certificates, "\(name) expired on \(server.notAfter)", do: action)
            } else if server.notBefore > now {
                .failed(
                    .certificates, "\(name) is not valid before \(server.notBefore)",
                    do: "Compare the clock, or replace the file.")
            } else if left < Self.serverNotice {
                .warning(.certificates, "\(name) expires on \(server.notAfter)", do: action)
            } else {
                .fine(.certificates, "\(name) is valid until \(server.notAfter)")
            }
        return [finding, .fine(.keys, key)]
    }

    /// Two weeks: programs that renew certificates do so a month before their end.
    private static let serverNotice: Int64 = 14 * 86_400_000

    private func anchorFindings() -> [DoctorFinding] {
        anchors.map { anchor in
            let left = anchor.notAfter.millisecondsSince1970 - now.millisecondsSince1970
            if left < 0 {
                return .failed(
                    .certificates, "\(anchor.subject) expired on \(anchor.notAfter)",
                    do: "Name its successor in server.trust: what was signed after that time is refused.")
            }
            if left < Self.notice {
                return .warning(
                    .certificates, "\(anchor.subject) expires on \(anchor.notAfter)",
                    do: "Add its successor to server.trust before that day.")
            }
            return .fine(.certificates, "\(anchor.subject) is valid until \(anchor.notAfter)")
        }
    }
}

/// Whether the App Store accepts the keys of the apps, and this machine's clock is as Apple's.
struct AppStoreExamination {
    let configuration: ServerConfiguration
    /// The seconds by which the clock is ahead of Apple's, as the running server knows.
    let knownSkew: Double?

    /// - Parameter isAsking: whether the App Store is asked to send a test notification for each bundle id.
    func findings(isAsking: Bool) async -> [DoctorFinding] {
        let apps = AppStoreServerApp.all(configuration, PurchaseVerifier(anchors: configuration.anchors)).values
            .sorted { $0.bundleID < $1.bundleID }
        guard isAsking, !apps.isEmpty else {
            return clock(knownSkew)
                + apps.map { app in
                    .warning(
                        .appStore, "\(app.bundleID) has \(counted(app.keys.count, "key")), not tried yet",
                        do: "Run it with --ask-apple before going live: it has a test notification sent.")
                }
        }
        let client: AppStoreServerClient
        do {
            client = try AppStoreServerClient(try configuration.appStore.serverAPI())
        } catch {
            return [.failed(.appStore, "\(error)", do: "Correct app_store in the settings.")]
        }
        var findings: [DoctorFinding] = []
        for app in apps {
            findings.append(await ask(client, app))
        }
        do {
            try await client.shutdown()
        } catch {
            findings.append(.warning(.appStore, "closing the connections failed: \(error)", do: "Run it again."))
        }
        return clock(client.skew.seconds ?? knownSkew) + findings
    }

    private func clock(_ skew: Double?) -> [DoctorFinding] {
        guard let skew else { return [] }
        let found = ClockSkew.sentence(skew)
        guard abs(skew) > ClockSkew.tolerance else { return [.fine(.clock, found)] }
        let action = "Synchronize this machine's clock (NTP): Apple refuses tokens from the future with 401."
        return [
            abs(skew) < Double(AppStoreServerKey.backdating)
                ? .warning(.clock, found, do: action) : .failed(.clock, found, do: action)
        ]
    }

    private func ask(_ client: AppStoreServerClient, _ app: AppStoreServerApp) async -> DoctorFinding {
        do throws(AppStoreServerError) {
            let answer = try await client.call(RequestTestNotification(), for: app)
            return .fine(
                .appStore,
                "\(app.bundleID): \(answer.environment.rawValue) sends the test notification "
                    + answer.value)
        } catch {
            return .failed(
                .appStore, "\(app.bundleID): \(error)",
                do: "Correct issuer_id, key_id, private_key_file and bundle_ids, or enter the URL of notifications in "
                    + "App Store Connect.")
        }
    }
}
