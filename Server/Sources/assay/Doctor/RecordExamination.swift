import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// Whether the record is sealed, signed and published, and its clock goes forward.
struct RecordExamination {
    let keys: RecordKeys
    let places: [CheckpointPlace]
    let isRunning: Bool
    let now: Timestamp

    /// A running server seals twice a second; after this time, in milliseconds, it does not.
    private static let sealing: Int64 = 60_000
    /// The age of a published checkpoint, in milliseconds, from which new entries can be altered unnoticed for too
    /// long.
    private static let publishing: Int64 = 86_400_000

    func findings(_ database: any LedgerDatabase) async -> [DoctorFinding] {
        let state: RecordState
        do {
            state = try await RecordState(of: database)
        } catch {
            return [
                .failed(.record, "the record cannot be read: \(error)", do: "Run 'assay audit verify'.")
            ]
        }
        return clock(state) + [sealed(state)] + signed(state)
    }

    private func clock(_ state: RecordState) -> [DoctorFinding] {
        guard let newest = state.newestEntry else { return [] }
        let ahead = newest.millisecondsSince1970 - now.millisecondsSince1970
        guard ahead > Self.sealing else { return [] }
        return [
            .failed(
                .clock, "this machine's clock shows \(now), and the newest entry of the record is of \(newest)",
                do: "Synchronize the clock (NTP) before the server is started: new entries would get wrong times.")
        ]
    }

    private func sealed(_ state: RecordState) -> DoctorFinding {
        guard state.pending.refused == 0 else {
            return .failed(
                .record, "\(state.pending.refused) entries are not in the log: no server with the key wrote them",
                do: "Run 'assay audit verify': it names them.")
        }
        guard let oldest = state.pending.oldest else {
            return .fine(.record, "all entries are sealed, in \(counted(state.size, "leaf", "leaves"))")
        }
        let found = "\(counted(state.pending.count, "entry is", "entries are")) not sealed, the oldest of \(oldest)"
        guard now.millisecondsSince1970 - oldest.millisecondsSince1970 > Self.sealing else {
            return .fine(.record, found)
        }
        return isRunning
            ? .failed(.record, found, do: "Look for 'the record is not sealed' in the server's log.")
            : .warning(.record, found, do: "Start the server: it seals what is pending.")
    }

    private func signed(_ state: RecordState) -> [DoctorFinding] {
        let (verifier, signed): (LogVerifierKey, Int64)
        do {
            guard let last = try keys.lastSigned() else { return [] }
            (verifier, signed) = (last.verifier, last.checkpoint?.checkpoint.size ?? 0)
        } catch {
            // The check of the keys reports it.
            return []
        }
        if signed > state.size {
            return [
                .failed(
                    .checkpoints,
                    "a checkpoint of \(counted(signed, "leaf", "leaves")) was signed, and the log has \(state.size)",
                    do: "If a backup was restored, run 'assay audit continue'; else find out who shortened the log.")
            ]
        }
        let files = places.compactMap { place -> String? in
            guard case .file(let path) = place else { return nil }
            return path
        }
        guard !places.isEmpty else {
            return [
                .warning(
                    .checkpoints, "checkpoints are published nowhere, so whoever has the keys can rewrite the record",
                    do: "Name places outside of this machine in record.checkpoints.")
            ]
        }
        return files.map { published($0, state, verifier) }
            + (files.count < places.count
                ? [
                    .warning(
                        .checkpoints,
                        "\(counted(places.count - files.count, "place")) of checkpoints cannot be read from here",
                        do: "Look there: checkpoints must change within seconds of a purchase.")
                ] : [])
    }

    private func published(_ path: String, _ state: RecordState, _ key: LogVerifierKey) -> DoctorFinding {
        let action = "Start the server, and look for 'published' in its log; its user must be able to write the file."
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let checkpoint = try CheckpointInput.read(path, keys: [key]).checkpoint
            guard let changed = attributes[.modificationDate] as? Date else {
                return .warning(.checkpoints, "the age of \(path) is not known", do: action)
            }
            let time = Timestamp(changed)
            let found =
                "\(path) has a checkpoint of \(counted(checkpoint.size, "leaf", "leaves")) from \(time), the log has \(state.size)"
            let age = now.millisecondsSince1970 - time.millisecondsSince1970
            guard checkpoint.size < state.size, age > Self.publishing else { return .fine(.checkpoints, found) }
            return .failed(.checkpoints, found, do: action)
        } catch {
            return .failed(
                .checkpoints, "\(path) cannot be read: \((error as? InputError)?.reason ?? "\(error)")", do: action)
        }
    }
}

/// Whether the receivers of events accept a signed test delivery, and what waits for them.
struct WebhookExamination {
    let webhooks: [Webhook]
    let now: Timestamp

    /// Sends one test delivery to each receiver of events.
    func trials() async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for webhook in webhooks where webhook.stream == .events {
            let name = "\(webhook.url.host) (\(webhook.app))"
            if let failure = await WebhookTrial(webhook).send(at: now) {
                findings.append(
                    .failed(
                        .webhooks, "\(name) did not accept a test delivery: \(failure)",
                        do:
                            "Answer 2xx to a message of the type 'test', or create the stream; docs/webhooks.md has the reasons."
                    ))
            } else {
                findings.append(.fine(.webhooks, "\(name) accepted a test delivery"))
            }
        }
        return findings
    }

    /// What the ledger says about deliveries.
    func deliveries(_ database: any LedgerDatabase) async -> [DoctorFinding] {
        do {
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: TrustAnchor.apple)
            ) { [now] in now }
            var findings: [DoctorFinding] = []
            for app in ledger.apps {
                findings += try await ledger.answer(WebhookList(app: app)).compactMap { Self.finding($0, app) }
            }
            return findings
        } catch {
            return [.failed(.webhooks, "the deliveries cannot be read: \(error)", do: "Run 'assay audit verify'.")]
        }
    }

    private static func finding(_ webhook: WebhookStatus, _ app: String) -> DoctorFinding? {
        if let disabled = webhook.disabledAt {
            return .failed(
                .webhooks, "\(webhook.url) (\(app)) is disabled since \(disabled): \(webhook.disabledReason ?? "")",
                do: "Mend the receiver, then run: assay webhooks enable --app \(app)")
        }
        guard !webhook.dead.isEmpty || webhook.pending > 0 else { return nil }
        return .warning(
            .webhooks,
            "\(webhook.url) (\(app)): \(counted(webhook.pending, "waits", "wait")) for a retry, "
                + "\(counted(webhook.dead.count, "was", "were")) given up",
            do: "See 'assay list webhooks --app \(app)'; 'assay webhooks resend' sends what was given up.")
    }
}
