import ArgumentParser
import PurchaseAPI

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
        // The words after it name the command whose help is wanted.
        if word == "help" { return complaint(arguments.dropFirst(), of: command, path: path) }
        if let next = subcommands.first(where: { $0._commandName == word }) {
            return complaint(arguments.dropFirst(), of: next, path: "\(path) \(word)")
        }
        let meant = WordSuggestion.nearest(to: word, among: subcommands.compactMap { $0._commandName })
        let hint = meant.map { "did you mean '\($0)'? " } ?? ""
        let shown = "\(path) \(word.prefix(WordSuggestion.largestWord))".dropFirst("assay ".count)
        return "there is no command '\(shown)'; \(hint)'\(path) --help' lists all commands"
    }

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
