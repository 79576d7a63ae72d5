// The function in C that PurchaseVerification calls, declared as Swift imports it.
public func base64_blocks_works() -> Bool { false }

public func base64_blocks(
    _ text: UnsafePointer<UInt8>!, _ count: Int, _ bytes: UnsafeMutablePointer<UInt8>!, _ capacity: Int
) -> Int { 0 }
