package import AppStoreConnection
import Yams

/// A key of the App Store Server API in the settings file.
package struct AppStoreKeySettings: Sendable, Equatable {
    var issuerID: String
    var keyID: String
    var privateKeyFile: String

    /// The key.
    ///
    /// - Parameter files: the reader of the file.
    /// - Throws: a description of the error; it does not repeat the content of the file.
    package func key(_ files: NamedFiles) throws(SettingFault) -> AppStoreServerKey {
        let text = try files.privateKey(privateKeyFile)
        do throws(AppStoreServerKeyError) {
            return try AppStoreServerKey(issuerID: issuerID, keyID: keyID, privateKey: text)
        } catch {
            throw SettingFault("has a wrong key \(keyID): \(error)", "Name the .p8 file of App Store Connect")
        }
    }
}

extension SettingsReader {
    /// The keys of an app, the preferred one first. A second one is there while the first is replaced.
    mutating func appStoreKeys(_ section: inout SettingsSection, app: String) -> [AppStoreKeySettings] {
        guard let entry = section.take("app_store_keys") else { return [] }
        guard let nodes = entry.value.sequence, !nodes.isEmpty else {
            note(
                entry.line, "app_store_keys is empty or not a list",
                "Write app_store_keys: followed by entries that begin with - issuer_id:")
            return []
        }
        var keys: [AppStoreKeySettings] = []
        for node in nodes {
            guard let key = appStoreKey(node, app: app) else { continue }
            if keys.contains(where: { $0.keyID == key.keyID }) {
                note(node.mark?.line, "the app \(app) has the key \(key.keyID) twice", "Keep one of them")
            }
            keys.append(key)
        }
        return keys
    }

    private mutating func appStoreKey(_ node: Node, app: String) -> AppStoreKeySettings? {
        var section = section(node, "app_store_keys of \(app)")
        let texts = ["issuer_id", "key_id", "private_key_file"].map { name in
            (name, section.lines[name] == nil ? nil : text(&section, name))
        }
        section.known += texts.map(\.0)
        let missing = texts.filter { section.lines[$0.0] == nil }.map(\.0)
        finish(section)
        if let name = missing.first {
            note(node.mark?.line, "a key of \(app) has no \(name)", "Copy it from App Store Connect")
        }
        guard let issuerID = texts[0].1, let keyID = texts[1].1, let file = texts[2].1 else { return nil }
        let key = AppStoreKeySettings(
            issuerID: issuerID, keyID: keyID, privateKeyFile: resolved(file, .whole))
        guard let files = surroundings.files else { return key }
        do throws(SettingFault) {
            _ = try key.key(files)
        } catch {
            note(section.lines["private_key_file"], "private_key_file \(error.fault)", error.remedy)
        }
        return key
    }
}
