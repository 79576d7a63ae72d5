/// The style sheet of the console.
enum ConsoleStyle {
    static let text = """
        :root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --soft: #565d66; --line: #c9ced6; \
        --field: #f4f6f8; --accent: #0b57a4; --on: #fff; --bad: #b42318; --good: #17693a; --warn: #b7791f; }
        @media (prefers-color-scheme: dark) { :root { --back: #14171b; --text: #e7eaee; --soft: #a9b1bb; \
        --line: #3d444d; --field: #1e2329; --accent: #8ec2ff; --on: #0d1722; --bad: #ff9d92; --good: #7fd8a0; --warn: #e3b341; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
        header, main, footer { max-width: 68rem; margin: 0 auto; padding: .75rem 1rem; }
        header { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center; \
        border-bottom: 1px solid var(--line); }
        header form { margin-left: auto; }
        header strong { font-size: 1.05rem; } nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
        h1 { font-size: 1.5rem; margin: .5rem 0; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; \
        margin: 1.75rem 0 .5rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
        a { color: var(--accent); } a, td, dd, li, p, h3, code { overflow-wrap: anywhere; } \
        pre { white-space: pre-wrap; overflow-wrap: anywhere; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .skip { position: absolute; left: -100rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--back); \
        padding: .5rem; }
        .soft { color: var(--soft); } .bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); }
        .note { border-left: 4px solid var(--accent); background: var(--field); padding: .5rem .75rem; margin: .75rem 0; }
        .note.error { border-color: var(--bad); }
        .table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; \
        border-bottom: 1px solid var(--line); } th { white-space: nowrap; } td { min-width: 6rem; }
        dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .25rem 1rem; } \
        dt { color: var(--soft); } dd { margin: 0; min-width: 0; }
        form.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; } form.row > div { flex: 1 1 12rem; }
        label { display: block; font-weight: 600; } input, select, textarea, button { font: inherit; color: inherit; \
        border: 1px solid var(--soft); border-radius: .3rem; padding: .45rem .6rem; background: var(--field); }
        input, select, textarea { width: 100%; } textarea { min-height: 9rem; font-family: monospace; }
        button { background: var(--accent); color: var(--on); border-color: var(--accent); cursor: pointer; \
        font-weight: 600; } .act { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; \
        margin: .5rem 0; } .act > div { margin: .4rem 0; } summary { cursor: pointer; font-weight: 600; }
        ul.answers { padding-left: 1.1rem; } ul.answers li { margin: .4rem 0; }
        svg { width: 100%; height: auto; max-width: 60rem; } svg text { fill: var(--text); font-size: 12px; } \
        .bar { fill: var(--good); } .bar.withdrawn, .bar.bad { fill: var(--bad); } .bar.grace { fill: var(--warn); } \
        polygon { fill: var(--text); stroke: var(--back); } polygon.refund { fill: var(--bad); } \
        polygon.claim { fill: var(--accent); } polygon.claim.refused { fill: var(--back); stroke: var(--bad); } \
        .legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; } .legend svg { width: .9rem; height: .9rem; } \
        form.line { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; margin: .3rem 0; } \
        .now { stroke: var(--accent); stroke-width: 2; }
        .hours { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .75rem 1.5rem; } \
        figure { margin: 0; } .base { stroke: var(--line); }
        .table svg { min-width: 34rem; }
        @media (max-width: 40rem) { .table td { min-width: 9.5rem; } header form { margin-left: 0; } }
        @media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
        @media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
        """
}
