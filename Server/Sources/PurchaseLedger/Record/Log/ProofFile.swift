import Foundation
import PurchaseVerification

/// The JSON file of a proof from the Merkle log.
protocol ProofFile: Codable {
    /// Which proof it is, with a version.
    var format: String { get }
    /// The hashes in base64.
    var path: [String] { get }
}

extension ProofFile {
    /// Reads a file.
    ///
    /// - Throws: `malformed` if it is larger than a proof of the format can be, or is another file.
    static func read(_ json: [UInt8], format: String, largest: Int) throws(LogError) -> Self {
        guard json.count <= largest else {
            throw LogError(.malformed, "a proof has at most \(largest) bytes, found \(json.count)")
        }
        do throws(StrictJSON.Flaw) {
            try StrictJSON.check(json)
        } catch {
            throw LogError(.malformed, "the proof is not JSON within its bounds; expected \(error.expected)")
        }
        let file: Self
        do {
            file = try JSONDecoder().decode(Self.self, from: Data(json))
        } catch {
            throw LogError(.malformed, "the file is not a proof of \(format): \(error)")
        }
        guard file.format.utf8.elementsEqual(format.utf8), file.path.count <= MerkleProof.largestPath else {
            throw LogError(.malformed, "the file is not a proof of \(format)")
        }
        return file
    }

    /// The JSON of the file.
    var json: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return [UInt8](try encoder.encode(self)) + [0x0A]
        }
    }

    /// The hashes of the path.
    func hashes() throws(LogError) -> [MerkleHash] {
        var hashes: [MerkleHash] = []
        for text in path {
            guard let hash = MerkleHash(try Self.bytes(text, "path")) else {
                throw LogError(.malformed, "a hash of the proof's path does not have 32 bytes")
            }
            hashes.append(hash)
        }
        return hashes
    }

    /// The bytes of a member in base64.
    static func bytes(_ text: String, _ name: String) throws(LogError) -> [UInt8] {
        guard let bytes = Base64Form.canonicalBytes(Array(text.utf8)) else {
            throw LogError(.malformed, "\(name) of the proof is not base64")
        }
        return bytes
    }
}
