/** The style sheet of server-rendered pages: light or dark by the reader's own setting. It loads nothing. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --dim: #5b6470; --paper: #fbfbfa; --card: #ffffff; --line: #e3e4e6; --mark: #2f5fd0;
  --good: #1a7f4b; --bad: #b3261e; --wait: #8a5a00; --work: #2f5fd0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ec; --dim: #a0a8b3; --paper: #14171a; --card: #1c2024; --line: #2e343b; --mark: #8fb0ff;
  --good: #6fd39b; --bad: #ff9b92; --wait: #f0c066; --work: #8fb0ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem; }
h1 { font-size: 1.5rem; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1rem; margin: 2.25rem 0 .5rem; }
header p { margin: 0; color: var(--dim); }
header nav { margin-left: auto; }
a { color: var(--mark); }
ul.counts { list-style: none; display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: 1.25rem 0 0; }
ul.counts li { background: var(--card); border: 1px solid var(--line); border-radius: 999px; padding: .1rem .8rem; }
.table { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .5rem .9rem; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { font-weight: 600; color: var(--dim); font-size: .85rem; }
td.id, td.time, code, pre { font-family: ui-monospace, monospace; font-size: .85rem; }
td.id, td.time { white-space: nowrap; }
td.data { color: var(--dim); overflow-wrap: anywhere; }
.status { font-weight: 600; white-space: nowrap; }
.success { color: var(--good); } .failed, .quarantined, .expired { color: var(--bad); }
.waiting, .paused, .partial, .cancelling { color: var(--wait); } .running, .queued { color: var(--work); } .cancelled { color: var(--dim); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; margin: 0; overflow-x: auto; }
p.empty { color: var(--dim); margin: 0; padding: .8rem 1rem; }
`
