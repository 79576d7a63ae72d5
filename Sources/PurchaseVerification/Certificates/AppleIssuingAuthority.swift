#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Apple's authorities below its root that issue the certificates of transaction receipts, as published figures: name,
/// public key and validity. Receipts do not contain their certificates.
///
/// Apple's authorities with elliptic-curve keys issue no such leaves and are omitted. A test checks each key against
/// its identifier.
package enum AppleIssuingAuthority: String, CaseIterable, Sendable {
    case developerRelations2008
    case developerRelationsG1
    case developerRelationsG3
    case developerRelationsG4
    case developerRelationsG5
    case developerRelationsG7
    case developerRelationsG8
    case iTunesStore

    /// The role that its marker extension gives it.
    var role: IssuingAuthority.Role { self == .iTunesStore ? .iTunesStore : .developerRelations }

    /// The SHA-1 of its public key, as its own certificate states it (RFC 5280, 4.2.1.2), in lower-case hexadecimal.
    package var subjectKeyIdentifier: String {
        switch self {
        case .developerRelations2008: "88271709a9b618608becebbaf64759c55254a3b7"
        case .developerRelationsG1: "88271709a9b618608becebbaf64759c55254a3b7"
        case .developerRelationsG3: "09fec01590f9af640a9212b92628630c97eca7b2"
        case .developerRelationsG4: "5bd9fa1de79a1a0ba399762250863e91c85b77a8"
        case .developerRelationsG5: "198b978d4a5b617857f4a55c35128a3908e3b075"
        case .developerRelationsG7: "5d42106c1bbbc752974e44bd1327b93a1277832b"
        case .developerRelationsG8: "b5bdbc80c40ce338a4f4b7ad23b3ef44ceb95a85"
        case .iTunesStore: "361de8e29d82d20118b5326b0ed7430b9158433a"
        }
    }

    /// When it may be used, as RFC 3339.
    private var period: (notBefore: String, notAfter: String) {
        switch self {
        case .developerRelations2008: ("2008-02-14T18:56:35Z", "2016-02-14T18:56:35Z")
        case .developerRelationsG1: ("2013-02-07T21:48:47Z", "2023-02-07T21:48:47Z")
        case .developerRelationsG3: ("2020-02-19T18:13:47Z", "2030-02-20T00:00:00Z")
        case .developerRelationsG4: ("2020-12-16T19:36:04Z", "2030-12-10T00:00:00Z")
        case .developerRelationsG5: ("2020-12-16T19:38:56Z", "2030-12-10T00:00:00Z")
        case .developerRelationsG7: ("2022-11-17T20:40:53Z", "2023-11-17T20:40:52Z")
        case .developerRelationsG8: ("2023-06-20T23:37:15Z", "2025-01-24T00:00:00Z")
        case .iTunesStore: ("2009-05-19T18:31:30Z", "2016-05-18T18:31:30Z")
        }
    }

    /// The period; empty, so that nothing verifies, if the text above were damaged.
    var validity: CertificateValidity {
        CertificateValidity(
            notBefore: AppStoreTime(period.notBefore) ?? AppStoreTime(millisecondsSince1970: .max),
            notAfter: AppStoreTime(period.notAfter) ?? AppStoreTime(millisecondsSince1970: 0))
    }

    /// Its whole Name in DER.
    var subject: [UInt8] { [UInt8](Data(base64Encoded: subjectBase64) ?? Data()) }

    /// Its SubjectPublicKeyInfo in DER.
    package var publicKeyInfo: [UInt8] { [UInt8](Data(base64Encoded: publicKeyBase64) ?? Data()) }

    private var subjectBase64: String {
        switch self {
        case .developerRelations2008, .developerRelationsG1:
            """
            MIGWMQswCQYDVQQGEwJVUzETMBEGA1UECgwKQXBwbGUgSW5jLjEsMCoGA1UECwwjQXBwbGUgV29ybGR3aWRlIERldmVsb3BlciBS\
            ZWxhdGlvbnMxRDBCBgNVBAMMO0FwcGxlIFdvcmxkd2lkZSBEZXZlbG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9y\
            aXR5
            """
        case .developerRelationsG3:
            """
            MHUxRDBCBgNVBAMMO0FwcGxlIFdvcmxkd2lkZSBEZXZlbG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MQsw\
            CQYDVQQLDAJHMzETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVM=
            """
        case .developerRelationsG4:
            """
            MHUxRDBCBgNVBAMMO0FwcGxlIFdvcmxkd2lkZSBEZXZlbG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MQsw\
            CQYDVQQLDAJHNDETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVM=
            """
        case .developerRelationsG5:
            """
            MHUxRDBCBgNVBAMMO0FwcGxlIFdvcmxkd2lkZSBEZXZlbG9wZXIgUmVsYXRpb25zIENlcnRpZmljYXRpb24gQXV0aG9yaXR5MQsw\
            CQYDVQQLDAJHNTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVM=
            """
        case .developerRelationsG7:
            """
            MHUxCzAJBgNVBAYTAlVTMRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQLDAJHNzFEMEIGA1UEAww7QXBwbGUgV29ybGR3aWRl\
            IERldmVsb3BlciBSZWxhdGlvbnMgQ2VydGlmaWNhdGlvbiBBdXRob3JpdHk=
            """
        case .developerRelationsG8:
            """
            MHUxCzAJBgNVBAYTAlVTMRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQLDAJHODFEMEIGA1UEAww7QXBwbGUgV29ybGR3aWRl\
            IERldmVsb3BlciBSZWxhdGlvbnMgQ2VydGlmaWNhdGlvbiBBdXRob3JpdHk=
            """
        case .iTunesStore:
            """
            MH8xCzAJBgNVBAYTAlVTMRMwEQYDVQQKDApBcHBsZSBJbmMuMSYwJAYDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0\
            eTEzMDEGA1UEAwwqQXBwbGUgaVR1bmVzIFN0b3JlIENlcnRpZmljYXRpb24gQXV0aG9yaXR5
            """
        }
    }

    private var publicKeyBase64: String {
        switch self {
        case .developerRelations2008, .developerRelationsG1:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyjhUpstWqsgkOUjpjO7sX7h/JpG8NFN6znxjgGF3ZF6lByO2Of5QLRVW\
            WHAtfsRuwUqFPi/w3oQaoVfJr3sY/2r6FRJJFQgZrKrbKjLtlmNoUhU9jIrsv2sYleADrAF9lwVnzg6FlTdq7Qm2rmfNUWSfxlzR\
            vFduZzWAdjakh4FuOI/YKxVOeyXYWr9Og8GN0pPVGnG1YJydM05V+RJYDIa4Fg3B5XdFjVBIuist5JSF4ejEncZopbCj/Gd+cLoC\
            WUt3QpE5ufXN4UzvwDtIjKblIV39amq7pxY1YNLmrfNGKcnow4vpecBqYWcVsvD95Wi8Yl9uz5nd7xtj/pJlqwIDAQAB
            """
        case .developerRelationsG3:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA2PWJ/KhZC4fHTJEuLVaQ03gdpDDppUjvC0O/LYT7JF1FG+XrWTYSXFRk\
            nmxiLbTGl8rMPPbWBpH85QKmHGq0edVny6zpPwcR4YS8Rx1mjjmi6LRJ7TrS4RBgeo6TjMrA2gzAg9Dj+ZHWp4zIwXPirkbRYp2S\
            qJBgN31ols2N4Pyb+ni743uvLRfdW/6AWSN1F7gSwe0b5TTO/iK1nkmw5VW/j4SiPKi6xYaVFuQAyZ8D0MyzOhZ71gVcnetHrg21\
            LYwOaU1A0EtMOwSejSGxrC5DVDDOwYqGlJhL32oNP/77HK6XF8J4CjDgXx9UO0m3JQAaN4LSVpelUkl8YDib7wIDAQAB
            """
        case .developerRelationsG4:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0B94qnonMrBGX+cXdtignQ4pjq09MqXEazfJ5EGRard5cV0MNARgdfeu\
            Q49HxIYeCOi/1jlSLx5n/HHxgm08fgZSdp0svNVD6bG0vEA6eFFdUaEl4b5skZ1rIVkYQdUPjW1BKjlKIeCQn04TT9CMmjK412qS\
            HiVqpDLOIhmFBWDcAkryWut3eQJ9wJdUbJKOdgHmRo/l5ir7orCtGK1tM4U4I4vqipbtn65mT6MMQCdtldBiiNlDKSf97aS/Uy6Q\
            FWU82S5iZDMdbGrdjiGqpF8VxjDtX+aMNpKUt9w5AgD7ZIzUDIHyP9U0l4d1JsJvrgNjIQx71BuxYsUCnL39rwIDAQAB
            """
        case .developerRelationsG5:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAn13aH/v6vNBLIjzH1ib6F/f0nx4+ZBFmmu9evqs0vaosIW7WHpQhhSx0\
            wQ4QYao8Y0p+SuPIddbPwpwISHtquSmxyWb9yIoW0bIEPIK6gGzi/wpy66z+O29Ivp6LEU2VfbJ7kC8CHE78Sb7Xb7VPvnjG2t6y\
            zcnZZhE7WukJRXOJUNRO4mgFftp1nEsBrtrjz210Td5T0NUaOII60J3jXSl7sYHqKScL+2B8hhL78GJPBudM0R/ZbZ7tc9p4IQ2d\
            cNlGV5BfZ4TBc3cKqGJitq5whrt1I4mtefbmpNT9gyYyCjskklsgoZzRL4AYm908C+e1/eyAVw8Xnj8rhye79wIDAQAB
            """
        case .developerRelationsG7:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEArK7R07aKsRsola3eUVFMPzPhTlyvs/wC0mVPKtR0aIx1F2XPKORICZhx\
            UjIsFk54jpJWZKndi83i1Mc7ohJFNwIZYmQvf2HG01kiv6v5FKPttp6Zui/xsdwwQk+2trLGdKpiVrvtRDYP0eUgdJNXOl2e3AH8\
            eG9pFjXDbgHCnnLUcTaxdgl6vg0ql/GwXgsbEq0rqwffYy31iOkyEqJVWEN2PD0XgB8p27Gpn6uWBZ0V3N3bTg/nE3xaKy4CQfbu\
            emq2c2D3lxkUi5UzOJPaACU2rlVafJ/59GIEB3TpHaeVVyOsKyTaZE8ocumWsAg8iBsUY0PXia6YwfItjuNRJQIDAQAB
            """
        case .developerRelationsG8:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0EAQ1Aj5UiFjTzxo99ScggKMg2i8t41/iOdCTSzvIqXCid69DNdNYVAt\
            OeQwc6XS1WiaM/Lv2SqtLh8Duvil8UILVy5GxtBY03Bf97I372ofPr+JOcKt/vUF+1iWMciHLNUjunWwLPWroLryIAxM6yRjaeki\
            QPCOWFveZHuJG1ESBOAXslnN3/Hnzq8sMuhpwdAIfh2iR3PRSzv9uYXcR6cognkpSIkCKOLB7CwfW4b82LbLccBzAUv8BRERbAED\
            NFr2gcJeH3wUDt4/ayHLT/XXYeaEA5K85yUpns1bDMHb48Q62XZXrC84FBnIt7GiVU9fTo4ZWana/XLasAQhBQIDAQAB
            """
        case .iTunesStore:
            """
            MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEApLyvMpRDPgu8N4fNY4nyzNm+IE1atP6HZ9Ka3hpUnaLz34fkTMuTEXig\
            MI80QcHTvmZtR2yYuOx61cndpeTqxnD0NdCR97PYChGZqzpiOr179FZP258kk1FQfCDVZk1m8xikE5YiFv0xp/Q5Zpv7YmlcS5+U\
            qEvo7FtkWhh5ihZ1Y0KkSdmMM96te9Y5BPTinQppjOtLEihLNEgHmw5Z+R9isAOfNrhOo9N1WdTzOgXKxTM7+MAGCQiT2+dNvxHz\
            UiylFjUV80ECzQLR/PX4xYS9Y2qG1raZ9oauX/0D1CiKWl2vvGV00fcaw5II9BytaegCTA6VFQe8vmpvwbOtoQIDAQAB
            """
        }
    }
}
