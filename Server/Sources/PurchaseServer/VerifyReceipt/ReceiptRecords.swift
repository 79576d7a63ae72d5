import PurchaseLedger
import PurchaseVerification

/// Decides which receipts of `verifyReceipt` are recorded, and for which app.
struct ReceiptRecords: Sendable {
    /// The settings of each app, by bundle id.
    private let settings: [String: DropInSettings]
    /// The only app that records what is refused. A forged or malformed receipt names an app that may be any other, so
    /// with several, it is recorded for none.
    private let appOfRefused: String?
    private let recording: ReceiptRecording
    private let ledger: PurchaseLedger

    init(settings: [String: DropInSettings], recording: ReceiptRecording, ledger: PurchaseLedger) {
        (self.settings, self.recording, self.ledger) = (settings, recording, ledger)
        let apps = Set(settings.values.filter { $0.recording != .off }.map { ExactText($0.app) })
        appOfRefused = apps.count == 1 ? apps.first?.string : nil
    }

    /// Notes a receipt that was answered.
    func note(_ prepared: PreparedAnswer) {
        guard let evidence = prepared.evidence else { return }
        guard let app = prepared.app else {
            if let appOfRefused { recording.add(evidence, app: appOfRefused, to: ledger) }
            return
        }
        guard settings.values.contains(where: { ExactText($0.app) == ExactText(app) && $0.recording == .all }) else {
            return
        }
        recording.add(evidence, app: app, to: ledger)
    }
}
