/// Finds the word that a mistyped one may mean.
public enum WordSuggestion {
    /// The longest word that is compared, in characters: longer than any command, column, parameter or member.
    public static let largestWord = 32
    /// The maximum number of letters by which a word may differ from the typed one.
    private static let largestDistance = 2

    /// The word that is nearest to a typed one; `nil` if none is near.
    public static func nearest(to word: String, among words: [String]) -> String? {
        guard word.utf8.count <= largestWord else { return nil }
        let nearest = words.min { distance(word, $0) < distance(word, $1) }
        return nearest.flatMap { distance(word, $0) <= largestDistance ? $0 : nil }
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
