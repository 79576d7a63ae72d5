import PurchaseLedger

// The settings of `verifyReceipt`.

extension SettingsReader {
    mutating func dropIn(_ section: inout SettingsSection, _ app: RegisteredApp) -> DropInSettings {
        var settings = DropInSettings(app: app.id)
        if let index = section.entries.firstIndex(where: { $0.key == "answers_as_of" }) {
            note(
                section.entries.remove(at: index).line,
                "answers_as_of was replaced by Apple's newest form, which every answer of verifyReceipt has",
                "Remove it; docs/drop-in.md lists the members of the newest form")
        }
        if let record = choice(&section, "record_verify_receipt", DropInSettings.Recording.self) {
            settings.recording = record
        }
        if let answer = choice(&section, "answer_erased", DropInSettings.ErasedAnswer.self) {
            settings.erased = answer
        }
        if let budget = number(&section, "ask_for_missing_news_ms", in: 0...10_000), budget > 0 {
            settings.askSeconds = Double(budget) / 1000
            if !app.hasAppStoreKey {
                note(
                    section.lines["ask_for_missing_news_ms"],
                    "the app \(app.id) asks the App Store for missing news and has no key for it",
                    "Add app_store_keys, or remove ask_for_missing_news_ms")
            }
        }
        return settings
    }
}
