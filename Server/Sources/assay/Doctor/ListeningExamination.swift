import Foundation
import NIOCore
import PurchaseServer
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
