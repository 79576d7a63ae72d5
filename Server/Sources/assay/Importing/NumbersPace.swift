import TextFormats

/// How long fetching numbers really takes. Apple's limits give the time that is printed before the first call; a slow
/// network, database or machine needs longer, and only a measured pace can tell.
///
/// The time is measured after a fiftieth of the numbers, and again whenever twice as many are done. It is said again if
/// what was said before is wrong by more than 5 %, so at most seven times.
struct NumbersPace {
    /// The rows with only a number.
    let count: Int
    /// The time that was said first, in seconds.
    let expected: Double

    /// The numbers that were asked about, and those that an earlier import has.
    private var asked = 0
    private var known = 0
    /// When measuring began, and how many numbers had been asked about by then: the first answers come late, because
    /// the calls before them fill up what runs at the same time.
    private var begin: (seconds: Double, asked: Int)?
    private var nextLook: Int
    /// The whole time that was said last.
    private var said: Double

    /// The answers that come in before the pace is measured: twice as many as are asked at the same time.
    private static let leadIn = 2 * ServerAPIAccess.atOnce

    init(count: Int, expected: Double) {
        (self.count, self.expected) = (count, expected)
        nextLook = max(2 * Self.leadIn, count / 50)
        said = expected
    }

    /// Notes rows that were recorded.
    ///
    /// - Parameter seconds: the time since the import began.
    /// - Returns: what to say, if it is time for it.
    mutating func note(asked new: Int, known more: Int, after seconds: Double) -> String? {
        asked += new
        known += more
        guard let begin else {
            if asked >= Self.leadIn { begin = (seconds, asked) }
            return nil
        }
        guard asked >= nextLook, seconds > begin.seconds else { return nil }
        nextLook = max(nextLook, asked) * 2
        let rest = Double(max(0, count - asked - known)) * (seconds - begin.seconds) / Double(asked - begin.asked)
        // Numbers of an earlier import were counted in the time that was said first.
        let whole = seconds + rest
        guard abs(whole - said) > 0.05 * whole else { return nil }
        said = whole
        return "\(counted(asked, "number")) took \(ImportReport.duration(seconds)); at this pace the rest takes "
            + ImportReport.duration(rest)
    }
}
