import Mustache

/// The templates of the pages. `{{ }}` escapes what comes from outside; `{{{ }}}` is not used.
enum ConsoleTemplates {
    static func library() throws -> MustacheLibrary {
        MustacheContentTypes.register(ReadableTimes(), named: "READABLE_TIMES")
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
            <header><strong>Assay</strong> <span class="soft">{{shop}}</span>
            {{#operator}}<nav aria-label="Pages"><a href="/console">Search</a> <a href="/console/inspect">Inspect</a>
            <a href="/console/state">State</a> <a href="/console/operators">Operators</a>
            {{#store}}<a href="{{store}}">The simulated store</a>{{/store}}</nav>
            <form method="post" action="/console/sign-out">{{> form}}
            <span class="soft">{{operator}} ({{role}})</span> <button>Sign out</button></form>{{/operator}}
            </header><main id="main" tabindex="-1"><h1>{{title}}</h1>
            {{#error}}<p class="note error" role="alert">{{> text}}</p>{{/error}}
            {{#notice}}<p class="note" role="status">{{> text}}</p>{{/notice}}
            """
        ),
        ("foot", "</main></body></html>"),
        // A text with its times made readable: in a section of the text, {{#name}}{{> text}}{{/name}}.
        ("text", "{{% CONTENT_TYPE: READABLE_TIMES}}{{.}}"),
        (
            "packs",
            """
            <section><h2>For a dispute</h2><ul>{{#packs}}<li><a href="{{href}}">{{text}}</a></li>{{/packs}}</ul></section>
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
            "table",
            """
            <div class="table" tabindex="0" role="region" aria-label="{{label}}"><table>
            <thead><tr>{{#columns}}<th scope="col">{{.}}</th>{{/columns}}</tr></thead><tbody>
            {{#rows}}<tr>{{#cells}}<td data-label="{{column}}">{{#isLink}}<a class="{{style}}" href="{{href}}">{{text}}</a>\
            {{/isLink}}{{#isText}}<span class="{{style}}">{{#text}}{{> text}}{{/text}}</span>{{/isText}}</td>{{/cells}}</tr>
            {{/rows}}</tbody></table></div>
            """
        ),
        (
            "fact",
            """
            <dt>{{name}}</dt><dd><span class="{{style}}">{{#value}}{{> text}}{{/value}}</span></dd>
            """
        ),
        (
            "answers",
            """
            {{#complaints}}<h3>{{question}}</h3><ul class="answers">
            {{#lines}}<li>{{#text}}{{> text}}{{/text}} <strong>{{action}}</strong>{{#href}} \
            <a href="{{href}}">{{link}}</a>{{/href}}</li>{{/lines}}</ul>{{/complaints}}
            """
        ),
        (
            "act",
            """
            <details class="act{{#isDanger}} danger{{/isDanger}}"{{#isOpen}} open{{/isOpen}}><summary>{{label}}</summary>
            <form method="post" action="/console/customer">{{> hidden}}<input type="hidden" name="act" value="{{act}}">
            {{#target}}<div><label for="{{act}}-target">{{target}}</label>\
            {{#isChoice}}<select id="{{act}}-target" name="target" required><option value="">Choose</option>\
            {{#options}}<option value="{{value}}"{{#isChosen}} selected{{/isChosen}}>{{text}}</option>{{/options}}</select>\
            {{/isChoice}}{{^isChoice}}<input id="{{act}}-target" name="target" value="{{targetValue}}" required>{{/isChoice}}\
            </div>{{/target}}
            {{#second}}<div><label for="{{act}}-second">{{second}}</label><input id="{{act}}-second" name="second" \
            value="{{secondValue}}"></div>{{/second}}
            <div><label for="{{act}}-reason">Reason</label><input id="{{act}}-reason" name="reason" value="{{reason}}" \
            required></div><button class="{{#isDanger}}danger{{/isDanger}}{{^isDanger}}main{{/isDanger}}">{{label}}</button>\
            </form></details>
            """
        ),
        (
            "inspection",
            """
            <p><span class="{{verdictStyle}}">{{verdict}}</span> <span class="soft">{{kind}}</span></p>
            {{#contents}}<h3>What it states</h3><dl>{{#contentFacts}}{{> fact}}{{/contentFacts}}</dl>
            {{#transactions}}{{> table}}{{/transactions}}{{#more}}<p class="soft">{{.}}</p>{{/more}}{{/contents}}
            <h3>Checks</h3>{{#checks}}{{> table}}{{/checks}}
            {{#hasPath}}<p>Certificate path:</p><ol>{{#path}}<li>{{name}}</li>{{/path}}</ol>{{/hasPath}}
            {{#redacted}}<details><summary>A copy without identifiers, for a ticket</summary>
            <p><a href="{{redactedHref}}" download="inspection.txt">Save it</a></p><pre tabindex="0">{{redacted}}</pre>\
            </details>{{/redacted}}
            """
        ),
    ]
}
