import PurchaseLedger
import PurchaseVerification

/// All values that were given, from all places, before they are combined.
package struct ServerSettings {
    private let file: SettingsFile
    private let environment: [String: String]
    private let options: [String: [String]]

    /// - Parameters:
    ///   - options: the values of options by their names, including the dashes; an empty list counts as absent.
    ///   - environment: the variables of the process.
    ///   - file: the settings file.
    package init(options: [String: [String]], environment: [String: String], file: SettingsFile) {
        self.options = options
        self.environment = environment
        self.file = file
    }

    /// A wrong value, with the place where it was given.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        package let description: String
        /// Whether the settings file has it; the description does not name the file.
        package var isOfFile = false
    }

    /// The configuration of the server.
    ///
    /// - Parameter files: the reader of the files that settings name.
    /// - Throws: `Fault`, which names the place of the wrong value.
    package func configuration(_ files: NamedFiles) throws(Fault) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        for setting in ServerSetting.all { try put(setting, files, into: &configuration) }
        // A second server on any free port must not fail for the port of the first one's listener for operators.
        if value(of: .admin) == nil {
            configuration.isAdminStandard = true
            configuration.admin = configuration.port == 0 ? .port(host: "127.0.0.1", 0) : .standard
        }
        configuration.tls = try certificate(of: configuration, files)
        try checkEnvironments(configuration)
        guard !configuration.appStore.isMixed else {
            throw Fault(
                description: "app_store has only one of its two addresses. "
                    + "Write both verify_receipt_production and verify_receipt_sandbox, or none.", isOfFile: true)
        }
        guard !configuration.appStore.isServerAPIMixed else {
            throw Fault(
                description: "app_store has only one of its two addresses of the Server API. "
                    + "Write both server_api_production and server_api_sandbox, or none.", isOfFile: true)
        }
        configuration.apps = file.apps.mapValues(\.app)
        configuration.retention = file.apps.mapValues(\.retention)
        for app in file.apps.values {
            var secret = app.sharedSecret
            if let path = app.sharedSecretFile {
                do throws(SettingFault) {
                    secret = try files.secret(path)
                } catch {
                    // The path is not repeated: it may be the secret itself, in the wrong place.
                    throw Fault(
                        description: "apps.\(app.app.id).shared_secret_file \(error.fault). \(error.remedy).",
                        isOfFile: true)
                }
            }
            for key in app.appStoreKeys {
                do throws(SettingFault) {
                    configuration.appStoreKeys[app.app.id, default: []].append(try key.key(files))
                } catch {
                    throw Fault(
                        description: "apps.\(app.app.id).app_store_keys \(error.fault). \(error.remedy).",
                        isOfFile: true)
                }
            }
            for webhook in app.webhooks {
                do throws(SettingFault) {
                    configuration.webhooks.append(try webhook.webhook(app: app.app.id, files))
                } catch {
                    let setting = webhook.stream == .events ? "webhooks" : "forward"
                    throw Fault(
                        description: "apps.\(app.app.id).\(setting) \(error.fault). \(error.remedy).", isOfFile: true)
                }
            }
            for bundleID in app.app.bundleIDs { configuration.dropIn[bundleID] = app.dropIn }
            guard let secret else { continue }
            for bundleID in app.app.bundleIDs { configuration.sharedSecrets[bundleID] = secret }
        }
        return configuration
    }

    /// The certificate and key that the settings name.
    private func certificate(
        of configuration: ServerConfiguration, _ files: NamedFiles
    ) throws(Fault) -> ServerCertificate? {
        switch configuration.tlsFiles {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            do throws(SettingFault) {
                return try ServerCertificate(certificateFile: certificate, keyFile: key, files)
            } catch {
                throw Fault(description: "server.tls: \(error.fault). \(error.remedy).")
            }
        default:
            throw Fault(
                description: "server.tls has only one of its two files. Write both certificate and key, or none.")
        }
    }

    /// The database alone, for commands that read nothing else.
    package func database() throws(Fault) -> String {
        var configuration = ServerConfiguration()
        try put(.database, .unread, into: &configuration)
        return configuration.database
    }

    /// The keys of the record and where its checkpoints go, for commands that read nothing else.
    package func record() throws(Fault) -> ServerConfiguration.Record {
        var configuration = ServerConfiguration()
        for setting in [ServerSetting.entryKey, .signingKey, .origin, .checkpoints] {
            try put(setting, .unread, into: &configuration)
        }
        return configuration.record
    }

    /// The file of the key of answers; `nil` if none is named.
    package func answerKeyFile() -> String? { value(of: .answerKey)?.text }

    /// Refuses an environment that is not Apple's if only Apple is trusted. It is most likely misspelled, and then
    /// `verifyReceipt` would refuse every receipt.
    private func checkEnvironments(_ configuration: ServerConfiguration) throws(Fault) {
        guard let value = value(of: .environments), self.value(of: .trust) == nil else { return }
        let apples: Set<AppStoreEnvironment> = [.production, .sandbox, .xcode]
        let others = configuration.environments.subtracting(apples).map(\.name).sorted()
        guard let other = others.first else { return }
        throw Fault(
            description: "\(place(of: .environments, value)) has '\(other)', which is not an environment of Apple. "
                + "Write Production, Sandbox or Xcode, or name the certificate of its signer with --trust.",
            isOfFile: value.isFromFile)
    }

    private func put(
        _ setting: ServerSetting, _ files: NamedFiles, into configuration: inout ServerConfiguration
    ) throws(Fault) {
        guard let value = value(of: setting) else { return }
        do throws(SettingFault) {
            guard value.texts.contains(where: { !$0.isEmpty }) else {
                throw SettingFault("is set, but empty", "Give it a value, or remove it")
            }
            try setting.put(value, files, into: &configuration)
        } catch {
            throw Fault(
                description: "\(place(of: setting, value)) \(error.fault). \(error.remedy).", isOfFile: value.isFromFile
            )
        }
    }

    /// The value from the place with the highest precedence; `nil` if there is none.
    private func value(of setting: ServerSetting) -> ServerSettingValue? {
        if let texts = setting.option.flatMap({ options[$0] }), !texts.isEmpty {
            return ServerSettingValue(.option, texts)
        }
        if let text = setting.variable.flatMap({ environment[$0] }) {
            let texts = setting.isList ? text.split(separator: ",").map { String($0).trimmed } : [text]
            return ServerSettingValue(.environment, texts)
        }
        return file.values[setting.name]
    }

    private func place(of setting: ServerSetting, _ value: ServerSettingValue) -> String {
        switch value.source {
        case .option: setting.option ?? setting.name
        case .environment: setting.variable ?? setting.name
        case .file(let line): line.map { "line \($0): \(setting.name)" } ?? setting.name
        }
    }
}

extension String {
    /// Without the spaces around it.
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
