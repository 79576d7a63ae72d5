import ArgumentParser
import BuildInformation
import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// The program. It chooses a command and computes nothing.
@main
struct Assay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assay",
        abstract: "Verifies App Store purchases, offline and on your own machines.",
        version: "assay \(version) (\(source))",
        groupedSubcommands: [
            CommandGroup(name: "Try", subcommands: [Dev.self, Simulate.self, Mint.self]),
            CommandGroup(name: "Run", subcommands: [Serve.self, DoctorCommand.self, Import.self]),
            CommandGroup(
                name: "Look",
                subcommands: [Verify.self, Inspect.self, ListEntries.self, Show.self, Report.self, Export.self]),
            CommandGroup(
                name: "Operate", subcommands: [Customers.self, Keys.self, Operators.self, Webhooks.self]),
            CommandGroup(name: "Record", subcommands: [AuditCommand.self, Database.self]),
        ])

    static let version = "0.2.0"

    /// The commit and its date; only `unknown` where the sources were not in a git repository.
    private static var source: String {
        [BuildInformation.commit, BuildInformation.date].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Exit status 2 for wrong usage and for I/O, so that 1 means a negative result: evidence or an operator's action
    /// was refused, or an audit has findings.
    static func main() async {
        if let complaint = CommandSuggestion.complaint(CommandLine.arguments.dropFirst()) {
            Terminal.complain(complaint)
            Foundation.exit(ExitCode.unusable.rawValue)
        }
        do {
            try await run(parseAsRoot())
        } catch {
            let status = status(of: error)
            let message = prefixed(fullMessage(for: error))
            if status != .success, !message.isEmpty, Terminal.isLog {
                Terminal.complain(String(message.trimmingPrefix("assay: ")))
            } else if !message.isEmpty {
                Terminal.write(message + "\n", toErrors: status != .success)
            }
            LogOutput.standardError.flush()
            Foundation.exit(status.rawValue)
        }
        LogOutput.standardError.flush()
    }

    /// The parser's message with the prefix that all messages of the program have.
    private static func prefixed(_ message: String) -> String {
        let prefix = "Error: "
        return message.hasPrefix(prefix) ? "assay: " + message.dropFirst(prefix.count) : message
    }

    /// Runs a command. If the command itself refuses a value, the message names the command's help; the parser would
    /// print the usage of the program, because it knows only the command that it parsed last.
    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            let words = CommandSuggestion.words(of: type(of: command))
            if Terminal.isLog {
                Terminal.complain(error.message)
                throw ExitCode.unusable
            }
            Terminal.write("assay: \(error.message)\n  See '\(words) --help' for more information.\n", toErrors: true)
            throw ExitCode.unusable
        } catch {
            guard let (lines, status) = failure(error) else { throw error }
            for line in lines { Terminal.complain(line) }
            throw status
        }
    }

    /// The lines about an error that ended a command, and the exit status. `nil` for all other errors, of which the
    /// description is printed and whose status is 2.
    private static func failure(_ error: any Error) -> (lines: [String], status: ExitCode)? {
        switch error {
        case let error as LogError: (["\(error)"], error.status)
        case let error as CopyError: (["\(error)"], .rejected)
        case let refusal as LedgerRefusal: ([refusal.line], .rejected)
        case let failure as SQLiteBackup.Failure: (["\(failure.code): \(failure.description)"], .unusable)
        case let error as SettingProblems: (error.problems.map { "\($0)" }, .unusable)
        default: nil
        }
    }

    /// The status that a command requested; success for help; any other error is wrong usage or I/O.
    private static func status(of error: any Error) -> ExitCode {
        if let status = error as? ExitCode { return status }
        return exitCode(for: error) == .success ? .success : .unusable
    }
}

extension ExitCode {
    /// Evidence or an operator's action was refused, or an audit has findings.
    static let rejected = ExitCode(1)
    /// Wrong usage, or something could not be read or written.
    static let unusable = ExitCode(2)
    /// Nothing was refused, but something could not be checked now.
    static let undetermined = ExitCode(3)
}

/// The answer to a command that does not exist.
enum CommandSuggestion {
    /// The error in the words before the first option; `nil` if they name a command.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - command: the command that they belong to.
    static func complaint(
        _ arguments: some Collection<String>, of command: any ParsableCommand.Type = Assay.self, path: String = "assay"
    ) -> String? {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty, let word = arguments.first, !word.hasPrefix("-") else { return nil }
        if let present = formerCommands["\(path) \(word)".dropFirst("assay ".count)] {
            return "'\(path) \(word)' is '\(present)' now"
        }
        // The words after it name the command whose help is wanted.
        if word == "help" { return complaint(arguments.dropFirst(), of: command, path: path) }
        if let next = subcommands.first(where: { $0._commandName == word }) {
            return complaint(arguments.dropFirst(), of: next, path: "\(path) \(word)")
        }
        let meant = WordSuggestion.nearest(to: word, among: subcommands.compactMap { $0._commandName })
        // Any other word, such as the name of a file, is an argument of the default command.
        let isArgument = meant == nil || FileManager.default.fileExists(atPath: word)
        if isArgument, command.configuration.defaultSubcommand != nil { return nil }
        let hint = meant.map { "did you mean '\($0)'? " } ?? ""
        let shown = "\(path) \(word.prefix(WordSuggestion.largestWord))".dropFirst("assay ".count)
        return "there is no command '\(shown)'; \(hint)'\(path) --help' lists all commands"
    }

    /// What replaced commands of versions before the first release.
    private static let formerCommands: [Substring: String] = [
        "events": "assay list events' or 'assay show EVENT", "orders": "assay list orders' or 'assay show ORDER",
        "purchases": "assay list purchases' or 'assay show TRANSACTION",
        "submissions": "assay list submissions' or 'assay show SUBMISSION",
        "customers show": "assay show CUSTOMER", "customers timeline": "assay list timeline --customer CUSTOMER",
        "customers search": "assay list customers TEXT", "testers": "assay customers tester' or 'assay list testers",
        "refunds": "assay report refunds' or 'assay list refunds", "demo-data": "assay simulate demo-data",
        "webhooks list": "assay list webhooks",
        "operators list": "assay list operators", "keys list": "assay list keys",
        "backfill": "assay import backfill", "compare": "assay import compare", "rebuild": "assay database rebuild",
        "migrate": "assay database migrate", "backup": "assay database backup", "copy": "assay database copy",
    ]

    /// The words that call a command, such as "assay keys create".
    static func words(of command: any ParsableCommand.Type) -> String {
        func search(_ group: any ParsableCommand.Type, _ path: String) -> String? {
            if group == command { return path }
            for next in group.configuration.subcommands {
                if let found = search(next, "\(path) \(next._commandName)") { return found }
            }
            return nil
        }
        return search(Assay.self, "assay") ?? "assay"
    }
}
