import Foundation
import Logging
import ServiceLifecycle

/// Reads the certificate again when its files change. A program that renews certificates writes two files, so a change
/// counts once both have stayed the same from one look to the next.
struct CertificateWatch: Service {
    /// The time between two looks.
    static let interval = Duration.seconds(5)

    let served: ServedCertificate
    let logger: Logger
    var interval = Self.interval

    /// What says that a file is another one.
    private struct Stamp: Equatable {
        var values: [String] = []

        init(_ paths: [String]) {
            for path in paths {
                // Follows links: a renewal may only change where a link leads.
                let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
                let found = try? FileManager.default.attributesOfItem(atPath: target)
                let date = (found?[.modificationDate] as? Date)?.timeIntervalSince1970
                values.append(
                    "\(target) \(date ?? 0) \(found?[.size] ?? 0) \(found?[.systemFileNumber] ?? 0) \(found?[.posixPermissions] ?? 0)"
                )
            }
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await watch() }
    }

    private func watch() async {
        var (used, seen) = (stamp, stamp)
        var warned = Date()
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
            } catch {
                // The server ends.
                return
            }
            let now = stamp
            if now != used, now == seen {
                used = now
                read()
            }
            seen = now
            if Date().timeIntervalSince(warned) >= 86_400 {
                warned = Date()
                served.current.certificate.warn(logger)
            }
        }
    }

    /// The files may be others after a reload of the settings.
    private var stamp: Stamp {
        let certificate = served.current.certificate
        return Stamp([certificate.certificateFile, certificate.keyFile])
    }

    private func read() {
        do throws(SettingFault) {
            served.replace(by: try served.current.certificate.reread(), logger)
        } catch {
            served.refuse("\(error.fault). \(error.remedy).", logger)
        }
    }
}
