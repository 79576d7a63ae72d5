import Mustache

/// The templates of the pages. `{{ }}` escapes what comes from outside; `{{{ }}}` is not used.
enum ConsoleTemplates {
    static func library() throws -> MustacheLibrary {
        var library = MustacheLibrary()
        for (name, text) in shared + AccountTemplates.pages + CustomerTemplates.pages + StateTemplates.pages {
            try library.register(text, named: name)
        }
        return library
    }

    private static let shared = [
        (
            "head",
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>{{title}} – Assay</title><link rel="stylesheet" href="/console/style.css"></head>
            <body><a class="skip" href="#main">Skip to the content</a>
            <header><strong>Assay</strong>
            {{#operator}}<nav aria-label="Pages"><a href="/console">Search</a> <a href="/console/inspect">Inspect</a>
            <a href="/console/state">State</a> <a href="/console/operators">Operators</a>
            {{#store}}<a href="{{store}}">The simulated store</a>{{/store}}</nav>
            <form method="post" action="/console/sign-out">{{> form}}
            <span class="soft">{{operator}} ({{role}})</span> <button>Sign out</button></form>{{/operator}}
            </header><main id="main" tabindex="-1"><h1>{{title}}</h1>
            {{#error}}<p class="note error" role="alert">{{error}}</p>{{/error}}
            {{#notice}}<p class="note" role="status">{{notice}}</p>{{/notice}}
            """
        ),
        ("foot", "</main></body></html>"),
        (
            "packs",
            """
            <h2>For a dispute</h2><ul>{{#packs}}<li><a href="{{href}}">{{text}}</a></li>{{/packs}}</ul>
            """
        ),
        (
            "form",
            """
            <input type="hidden" name="token" value="{{token}}"><input type="hidden" name="form" value="{{form}}">
            """
        ),
        (
            "hidden",
            """
            {{> form}}<input type="hidden" name="app" value="{{app}}">\
            {{#customer}}<input type="hidden" name="id" value="{{customer}}">{{/customer}}
            """
        ),
        (
            "purchases",
            """
            <div class="table" tabindex="0" role="region" aria-label="Purchases"><table>
            <thead><tr><th scope="col">Transaction</th><th scope="col">Product</th><th scope="col">Bought</th>\
            <th scope="col">Ends</th><th scope="col">State</th><th scope="col">Owner</th></tr></thead><tbody>
            {{#purchases}}<tr><td><a href="{{href}}">{{id}}</a></td><td>{{product}}</td><td>{{bought}}</td>\
            <td>{{ends}}</td><td>{{state}}</td><td>{{owner}}</td></tr>{{/purchases}}
            </tbody></table></div>
            """
        ),
        (
            "submissions",
            """
            <div class="table" tabindex="0" role="region" aria-label="Claims"><table>
            <thead><tr><th scope="col">Received</th><th scope="col">Claim</th><th scope="col">Code</th>\
            <th scope="col">Transaction</th><th scope="col">Customer</th></tr></thead><tbody>
            {{#submissions}}<tr><td>{{at}}</td><td><a href="{{href}}">{{id}}</a></td>\
            <td>{{code}}: {{sentence}}</td><td>{{#purchaseHref}}<a href="{{purchaseHref}}">{{transaction}}</a>\
            {{/purchaseHref}}</td><td>{{#customerHref}}<a href="{{customerHref}}">{{customer}}</a>{{/customerHref}}</td>\
            </tr>{{/submissions}}
            </tbody></table></div>
            """
        ),
        (
            "answers",
            """
            {{#complaints}}<h3>{{question}}</h3><ul class="answers">
            {{#lines}}<li>{{text}} <strong>{{action}}</strong>{{#href}} <a href="{{href}}">{{link}}</a>{{/href}}</li>{{/lines}}</ul>{{/complaints}}
            """
        ),
        (
            "inspection",
            """
            <p>{{kind}} <strong>{{verdict}}</strong></p>
            <div class="table" tabindex="0" role="region" aria-label="Checks"><table>
            <thead><tr><th scope="col">Check</th><th scope="col">Result</th><th scope="col">Why</th></tr></thead><tbody>
            {{#checks}}<tr><td>{{name}}</td><td>{{result}}</td><td>{{why}}</td></tr>{{/checks}}</tbody></table></div>
            {{#hasPath}}<p>Certificate path:</p><ol>{{#path}}<li>{{name}}</li>{{/path}}</ol>{{/hasPath}}
            {{#redacted}}<details><summary>A copy without identifiers, for a ticket</summary>
            <p><a href="{{redactedHref}}" download="inspection.txt">Save it</a></p><pre tabindex="0">{{redacted}}</pre>\
            </details>{{/redacted}}
            """
        ),
    ]
}
