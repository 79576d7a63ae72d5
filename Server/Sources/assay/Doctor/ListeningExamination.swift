import Foundation
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// Whether the server runs or could run on its port, and whether clients are told apart there.
struct ListeningExamination {
    let configuration: ServerConfiguration

    /// - Returns: the findings, and whether the server runs.
    func findings() async -> ([DoctorFinding], isRunning: Bool) {
        let (listening, isRunning) = await listening()
        return (listening + admin(isRunning) + proxies(), isRunning)
    }

    private func listening() async -> ([DoctorFinding], isRunning: Bool) {
        let place = "\(configuration.host):\(configuration.port)"
        do {
            try ListeningPort.requireFree(configuration.host, configuration.port)
            return ([.fine(.listening, "\(place) is free; the server does not run there")], false)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            let answer = await ReadinessQuestion(configuration).answer()
            if answer.status == "ready" {
                return (
                    [.fine(.listening, "the server is ready on \(place)"), LimitExamination.finding(answer)], true
                )
            }
            if answer.status.hasPrefix("database_") {
                return (
                    [
                        .failed(
                            .listening, "the server on \(place) is not ready: \(answer.status)",
                            do: "See the findings about the database, and the server's log.")
                    ], true
                )
            }
            return (
                [
                    .failed(
                        .listening, "another program has \(place): \(answer.status)",
                        do: "End it, or choose another port in server.port.")
                ], false
            )
        } catch {
            return (
                [
                    .failed(
                        .listening, "\(place) cannot be listened on: \(error)",
                        do: "Correct server.host and server.port; ports below 1024 need a permission.")
                ], false
            )
        }
    }

    /// The listener for operators.
    private func admin(_ isRunning: Bool) -> [DoctorFinding] {
        let address = configuration.admin
        guard address != .off else {
            return [.warning(.listening, "server.admin is off", do: "Turn it on for metrics, and watch them.")]
        }
        if !address.isLocal {
            return [
                .warning(
                    .listening, "metrics and health on \(address) can be reached from other machines without a key",
                    do: "Let a firewall admit only the monitor, or set server.admin to 127.0.0.1:8081.")
            ]
        }
        guard !isRunning else { return [] }
        do {
            try ListeningPort.requireFree(address)
            return []
        } catch let error as IOError where error.errnoCode == EADDRINUSE && configuration.isAdminStandard {
            return [
                .warning(
                    .listening, "another program has \(address), so metrics and health will be on a free port",
                    do: "Name an address in server.admin, so that the monitor finds it.")
            ]
        } catch {
            return [
                .failed(
                    .listening, AdminListenerError.words(error, address),
                    do: "End the program that has it, or choose another address in server.admin.")
            ]
        }
    }

    private func proxies() -> [DoctorFinding] {
        guard !["127.0.0.1", "::1", "localhost"].contains(configuration.host) else {
            return [
                .fine(
                    .proxies,
                    "by these settings the server listens on \(configuration.host), which only this machine reaches")
            ]
        }
        if configuration.tls != nil {
            return [.fine(.proxies, "\(configuration.host) is reached with TLS")]
        }
        guard configuration.trustedProxies.isEmpty else {
            return [
                .fine(
                    .proxies,
                    "client addresses count as \(counted(configuration.trustedProxies.count, "proxy states", "proxies state"))"
                )
            ]
        }
        return [
            .warning(
                .proxies, "\(configuration.host) is reached without TLS, and no proxy is trusted",
                do: "Set server.tls; or put a proxy with TLS before it and name its address in server.trusted_proxies, "
                    + "else all its clients share the limits of one address.")
        ]
    }
}

/// Whether limits refused anything since midnight (UTC).
struct LimitExamination {
    let now: Timestamp

    private static let millisecondsOfDay: Int64 = 86_400_000

    /// The requests that a running server refused with 429.
    static func finding(_ readiness: ReadinessQuestion.Answer) -> DoctorFinding {
        guard readiness.limitedToday.contains(where: { $0.value > 0 }) else {
            return .fine(.limits, "no request was beyond a limit today")
        }
        let counts = readiness.limitedToday.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return .warning(
            .limits, "answered with 429 today: \(counts.joined(separator: ", "))",
            do:
                "Look for 'status=429' in the server's log, which names app and key; raise the limit in 'limits' if the "
                + "requests are honest.")
    }

    /// The claims of an app that are looked at for networks.
    private static let latestClaims = 500
    /// The largest number of networks (/24, or /48 of IPv6) from which a backend claims without a warning. The devices
    /// of customers are in many more.
    private static let networksOfBackend = 16

    /// The refused claims beyond the daily budget, and keys of backends that seem to be in an app.
    func claims(_ database: any LedgerDatabase, apps: [String]) async -> [DoctorFinding] {
        let midnight = now.millisecondsSince1970 / Self.millisecondsOfDay * Self.millisecondsOfDay
        do {
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: TrustAnchor.apple)
            ) { [now] in now }
            let counts = try await ledger.answer(
                CountedRefusalsOfDay(since: Timestamp(millisecondsSince1970: midnight)))
            let refusals = counts.sorted { $0.key < $1.key }.map { key, count in
                let (claims, name) = (counted(count, "refused claim"), key.isEmpty ? "none" : key)
                return DoctorFinding.warning(
                    .limits, "today \(claims) of the key \(name) \(count == 1 ? "is" : "are") only counted",
                    do: "Find out who sends them; the app's unverified_evidence is the daily budget.")
            }
            var spread: [DoctorFinding] = []
            for app in apps { spread += try await spreadKeys(of: app, ledger) }
            return refusals + spread
        } catch {
            return [.failed(.limits, "the claims of today cannot be read: \(error)", do: "Run 'assay audit verify'.")]
        }
    }

    private func spreadKeys(of app: String, _ ledger: PurchaseLedger) async throws -> [DoctorFinding] {
        let keys = try await ledger.answer(APIKeyList()).filter {
            $0.app == app && !$0.isOfDevices && $0.revokedAt == nil
        }
        guard !keys.isEmpty else { return [] }
        var networks: [String: Set<[UInt8]>] = [:]
        for claim in try await ledger.answer(SubmissionList(app: app, limit: Self.latestClaims)).entries {
            guard let key = claim.keyID, let network = claim.sourceAddress.flatMap(AddressRange.widerNetwork) else {
                continue
            }
            networks[key, default: []].insert(network)
        }
        return keys.compactMap { key in
            let count = networks[key.id]?.count ?? 0
            guard count > Self.networksOfBackend else { return nil }
            return .warning(
                .limits, "the key \(key.id) of a backend of \(app.printable) claims from \(count) networks",
                do:
                    "If it is in an app, revoke it: everybody can read it there. Apps have keys of the scope client alone."
            )
        }
    }
}
