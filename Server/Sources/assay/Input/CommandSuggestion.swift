import ArgumentParser

/// The answer to a command that does not exist.
enum CommandSuggestion {
    /// The longest word that is compared: longer than any command.
    private static let largestWord = 32
    /// The maximum number of letters by which a command may differ from the typed one.
    private static let largestDistance = 2

    /// The error in the words before the first option; `nil` if they name a command.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - command: the command that they belong to.
    static func complaint(
        _ arguments: some Collection<String>, of command: any ParsableCommand.Type = Assay.self, path: String = "assay"
    ) -> String? {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty, let word = arguments.first, !word.hasPrefix("-"), word != "help" else { return nil }
        if let next = subcommands.first(where: { $0._commandName == word }) {
            return complaint(arguments.dropFirst(), of: next, path: "\(path) \(word)")
        }
        let commands = subcommands.compactMap { $0._commandName }
        let meant = word.count <= largestWord ? commands.min { distance(word, $0) < distance(word, $1) } : nil
        let hint = meant.flatMap { distance(word, $0) <= largestDistance ? "did you mean '\($0)'? " : nil } ?? ""
        let shown = "\(path) \(word.prefix(largestWord))".dropFirst("assay ".count)
        return "there is no command '\(shown)'; \(hint)'\(path) --help' lists all commands"
    }

    /// The number of letters to insert, delete or replace (Levenshtein).
    private static func distance(_ word: String, _ other: String) -> Int {
        let (word, other) = (Array(word.utf8), Array(other.utf8))
        var previous = Array(0...other.count)
        for (row, letter) in word.enumerated() {
            var current = [row + 1]
            for (column, candidate) in other.enumerated() {
                let replaced = previous[column] + (letter == candidate ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[other.count]
    }
}
