import Mustache

/// The templates of the pages. `{{ }}` escapes what comes from outside; `{{{ }}}` is not used.
enum ConsoleTemplates {
    static func library() throws -> MustacheLibrary {
        MustacheContentTypes.register(ReadableTimes(), named: "READABLE_TIMES")
        var library = MustacheLibrary()
        for (name, text) in shared + AccountTemplates.pages + CustomerTemplates.pages + StateTemplates.pages
            + [FigureTemplates.page]
        {
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
            <a href="/console/figures{{external}}">Figures</a>
            <a href="/console/external{{external}}">External purchases</a>
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
            "bars",
            """
            <figure><figcaption><strong>{{title}}: {{sum}}</strong>{{#hasBars}}, \
            {{most}}{{/hasBars}}</figcaption><svg viewBox="0 0 600 42" role="img" \
            aria-label="{{title}} by {{step}}"><line class="base" x1="0" x2="600" y1="41" y2="41"/>
            {{#bars}}<rect class="{{#isBad}}bad{{/isBad}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}"><title>{{words}}</title>\
            </rect>{{/bars}}</svg></figure>
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

/// The templates of sign-in and of the operators.
enum AccountTemplates {
    static let pages = [
        (
            "sign-in",
            """
            {{> head}}<section><p>The purchases of <strong>{{shop}}</strong></p>
            <form class="small" method="post" action="/console/sign-in">
            <div><label for="name">Name</label><input id="name" name="name" autocomplete="username" required></div>
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="current-password" required></div>
            <p><button class="main">Sign in</button></p></form></section>{{> foot}}
            """
        ),
        (
            "link",
            """
            {{> head}}<section><p>The password of {{name}} for the purchases of <strong>{{shop}}</strong>: at least \
            {{shortest}} characters.</p><form class="small" method="post" action="/console/link"><input type="hidden" name="secret" value="{{secret}}">
            <input type="hidden" name="username" value="{{name}}" autocomplete="username">
            <div><label for="password">Password</label><input id="password" name="password" type="password" \
            autocomplete="new-password" minlength="{{shortest}}" required></div>
            <div><label for="again">Password again</label><input id="again" name="again" type="password" \
            autocomplete="new-password" required></div>
            <p><button class="main">Set the password</button></p></form></section>{{> foot}}
            """
        ),
        (
            "operators",
            """
            {{> head}}{{#link}}<p class="note">Send this link to the operator; it works once, for a day:<br>\
            <code>{{link}}</code></p>{{/link}}
            <section><h2>Operators</h2><div class="table" tabindex="0" role="region" aria-label="Operators"><table>
            <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th>\
            {{#isAdmin}}<th scope="col">Change</th>{{/isAdmin}}</tr></thead><tbody>
            {{#operators}}<tr><td data-label="Name">{{name}}</td><td data-label="Role">{{accountRole}}</td>\
            <td data-label="State">{{state}}</td>{{#isAdmin}}<td data-label="Change">\
            <form method="post" action="/console/operators">{{> form}}\
            <input type="hidden" name="name" value="{{name}}"><button name="act" value="link" \
            aria-label="New link for {{name}}">New link</button> <button name="act" value="remove" \
            aria-label="Remove {{name}}">Remove</button></form></td>{{/isAdmin}}</tr>{{/operators}}</tbody></table></div></section>
            {{#isAdmin}}<section><h2>Add an operator</h2><form class="row" method="post" action="/console/operators">
            {{> form}}
            <div><label for="new-name">Name</label><input id="new-name" name="name" required></div>
            <div><label for="new-role">Role</label><select id="new-role" name="role"><option>view</option>\
            <option>support</option><option>admin</option></select></div>
            <button class="main" name="act" value="add">Add</button></form></section>{{/isAdmin}}
            <section><h2>Your sessions</h2>{{#sessions}}<form class="line" method="post" \
            action="/console/operators">{{> form}}<input type="hidden" name="session" value="{{session}}"><span>{{#text}}{{> text}}{{/text}}</span> {{#canEnd}}<button name="act" value="end-one" aria-label="End the session {{text}}">End</button>\
            {{/canEnd}}</form>{{/sessions}}
            <form method="post" action="/console/operators">{{> form}}
            <button name="act" value="end">End the other sessions</button></form></section>
            {{#log}}<section><h2>Sign-ins and changes</h2>{{> table}}</section>{{/log}}{{> foot}}
            """
        ),
        ("message", "{{> head}}<p><a href=\"/console\">To the first page</a></p>{{> foot}}"),
    ]
}

/// The template of the state of the installation.
enum StateTemplates {
    static let pages = [
        (
            "webhook",
            """
            {{> form}}<input type="hidden" name="app" value="{{app}}"><input type="hidden" name="url" value="{{url}}">\
            <input type="hidden" name="stream" value="{{stream}}">
            """
        ),
        (
            "state",
            """
            {{> head}}<section><dl>{{#facts}}{{> fact}}{{/facts}}</dl>
            {{#canExamine}}<form method="post" action="/console/state">{{> hidden}}<p><button name="act" \
            value="examine">Examine the installation</button> <span class="soft">As assay doctor does, without a delivery \
            to webhooks.</span></p></form>{{/canExamine}}</section>
            {{#findings}}<section><h2>What the examination found</h2>{{> table}}</section>{{/findings}}
            {{#today}}<section><h2>The last {{hours}} hours of {{app}}</h2><p class="soft">From {{#from}}{{> text}}{{/from}}, a bar for each hour. \
            What is recorded is counted when it is sealed, usually within a second.</p>
            {{#hasOtherApps}}<p>Other apps: {{#otherApps}}<a href="{{href}}">{{name}}</a> {{/otherApps}}</p>\
            {{/hasOtherApps}}<div class="hours">
            {{#drawings}}{{> bars}}{{/drawings}}</div>
            {{#refusals}}<h3>Refused claims by code</h3>{{> table}}{{/refusals}}</section>{{/today}}
            <section><h2>Webhooks</h2>
            {{^hasWebhooks}}<p>No server delivered to a webhook yet.</p>{{/hasWebhooks}}
            {{#webhooks}}<div class="act"><h3>{{url}}</h3><p>{{text}}</p>
            {{#isAdmin}}<form method="post" action="/console/state">{{> webhook}}
            <button name="act" value="resend">Resend what was given up</button> \
            {{#isDisabled}}<button name="act" value="enable">Enable</button>{{/isDisabled}}</form>
            <details><summary>Deliver everything again since a time</summary>
            <p class="soft">For a receiver that lost its data. Events keep their numbers, so one that it knows is \
            recognised.</p><form class="row" method="post" action="/console/state">{{> webhook}}
            <div><label>Since (UTC) <input name="since" type="datetime-local" required></label></div>
            <button name="act" value="since">Deliver again</button></form></details>{{/isAdmin}}</div>\
            {{/webhooks}}</section>{{> foot}}
            """
        ),
    ]
}
