import ArgumentParser

/// The answer to a command that does not exist.
enum CommandSuggestion {
    /// The longest word that is compared: longer than any command.
    private static let largestWord = 32
    /// The maximum number of letters by which a command may differ from the typed one.
    private static let largestDistance = 2

    /// The error in the first argument; `nil` if it is a command or an option.
    ///
    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - commands: the names of the commands.
    static func complaint(_ arguments: some Collection<String>, among commands: [String]) -> String? {
        guard let word = arguments.first, !word.hasPrefix("-"), word != "help", !commands.contains(word) else {
            return nil
        }
        let meant = word.count <= largestWord ? commands.min { distance(word, $0) < distance(word, $1) } : nil
        let hint = meant.flatMap { distance(word, $0) <= largestDistance ? "did you mean '\($0)'? " : nil } ?? ""
        return "there is no command '\(word.prefix(largestWord))'; \(hint)'assay --help' lists all commands"
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
