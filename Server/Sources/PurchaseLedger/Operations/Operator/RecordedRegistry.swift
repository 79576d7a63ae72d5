extension Registry {
    /// Reads the apps with their last recorded settings, except removed apps.
    init(recordedIn connection: any LedgerConnection) throws(LedgerStorageError) {
        var apps: [RegistryApp] = []
        for (key, _) in try AppsTable(connection: connection).all() {
            let latest = try SettingsHistoryTable(connection: connection).all(appKey: key).last
            guard let body = latest?.body, !body.isEmpty else { continue }
            apps.append(RegistryApp(key: key, settings: try RegisteredApp(recorded: body)))
        }
        self.init(apps: apps)
    }
}
