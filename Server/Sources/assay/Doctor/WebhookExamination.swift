import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

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
                        do: "Answer 2xx to a message of the type 'test'; see docs/webhooks.md for the reasons."))
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
