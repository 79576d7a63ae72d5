import PurchaseLedger

extension ServerConfiguration {
    /// How `verifyReceipt` answers for the receipts of each app, by bundle id.
    var dropInOfApps: [String: DropInSettings] {
        var settings = dropIn
        for app in apps.values {
            for bundleID in app.bundleIDs where settings[bundleID] == nil {
                settings[bundleID] = DropInSettings(app: app.id)
            }
        }
        return settings
    }

    /// The settings that differ from those of a running server and that only a restart changes.
    package func settingsThatNeedRestart(comparedWith running: ServerConfiguration) -> [ServerSetting] {
        var settings: [ServerSetting] = []
        if host != running.host { settings.append(.host) }
        if port != running.port { settings.append(.port) }
        if admin != running.admin, !(isAdminStandard && running.isAdminStandard) { settings.append(.admin) }
        if (tls == nil) != (running.tls == nil) { settings.append(.tlsCertificate) }
        if database != running.database { settings.append(.database) }
        if logLevel != running.logLevel { settings.append(.logLevel) }
        if logFormat != running.logFormat { settings.append(.logFormat) }
        if record.entryKey != running.record.entryKey { settings.append(.entryKey) }
        if record.signingKey != running.record.signingKey { settings.append(.signingKey) }
        if record.checkpoints != running.record.checkpoints { settings.append(.checkpoints) }
        if limits.connections != running.limits.connections { settings.append(.connections) }
        if appStore.verifyReceiptProduction != running.appStore.verifyReceiptProduction {
            settings.append(.appStoreProduction)
        }
        if appStore.verifyReceiptSandbox != running.appStore.verifyReceiptSandbox { settings.append(.appStoreSandbox) }
        if appStore.serverAPIProduction != running.appStore.serverAPIProduction {
            settings.append(.serverAPIProduction)
        }
        if appStore.serverAPISandbox != running.appStore.serverAPISandbox { settings.append(.serverAPISandbox) }
        if appStore.serverAPILimitPercent != running.appStore.serverAPILimitPercent {
            settings.append(.serverAPILimit)
        }
        if appStore.tlsTrust != running.appStore.tlsTrust { settings.append(.appStoreTrust) }
        if appStore.waitHours != running.appStore.waitHours { settings.append(.appStoreWait) }
        return settings
    }
}
