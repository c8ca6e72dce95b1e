/**
 * The status page: running and waiting runs, received events, and commands to type next. Plain HTML, no script.
 *
 * Owns the markup. Every value is escaped by the template; nothing here decides or queries.
 */
import { html, raw } from 'hono/html'
import { STYLE } from '#http/access/page-style.ts'

export interface PageRun {
  readonly id: string
  readonly shortId: string
  readonly handler: string
  readonly status: string
  readonly waitsFor: readonly string[]
  readonly createdAt: string
}

export interface PageEvent {
  readonly sequence: number
  readonly type: string
  readonly source: string
  readonly time: string
  readonly data: string
}

export interface PageModel {
  readonly nonce: string
  readonly system: string
  readonly ledger: string
  readonly counts: readonly { readonly status: string; readonly count: string }[]
  readonly runs: readonly PageRun[]
  readonly events: readonly PageEvent[]
  readonly commands: readonly string[]
}

type Markup = ReturnType<typeof html>

const runRow = (run: PageRun): Markup => html`<tr>
<td class="id"><a href="/api/runs/${run.id}">${run.shortId}</a></td>
<td>${run.handler}</td>
<td><span class="status ${run.status}">${run.status}</span></td>
<td>${run.waitsFor.map((text) => html`<div>${text}</div>`)}</td>
<td class="time">${run.createdAt}</td>
</tr>`

const eventRow = (event: PageEvent): Markup => html`<tr>
<td class="id">${event.sequence}</td>
<td>${event.type}</td>
<td class="data"><code>${event.data}</code></td>
<td>${event.source}</td>
<td class="time">${event.time}</td>
</tr>`

const table = (
  title: string,
  columns: readonly string[],
  rows: readonly Markup[],
  empty: string,
): Markup => html`<section>
<h2>${title}</h2>
<div class="table">${
  rows.length === 0
    ? html`<p class="empty">${empty}</p>`
    : html`<table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table>`
}</div>
</section>`

export const renderPage = (page: PageModel): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.system} · Trihand</title>
<style nonce="${page.nonce}">${raw(STYLE)}</style>
</head>
<body>
<main>
<header>
<h1>${page.system}</h1>
<p>Trihand on ${page.ledger}</p>
<nav><a href="/">Look again</a></nav>
</header>
<ul class="counts" aria-label="Runs by status">${page.counts.map(
  ({ status, count }) => html`<li><span class="status ${status}">${status}</span> ${count}</li>`,
)}</ul>
${table('Runs', ['Run', 'Function', 'Status', 'Waits for', 'Started'], page.runs.map(runRow), 'No run yet. Send an event: one of the commands below does.')}
${table('Events', ['No.', 'Type', 'Data', 'Source', 'Time'], page.events.map(eventRow), 'No event yet.')}
<section>
<h2>Try</h2>
<pre tabindex="0">${page.commands.join('\n')}</pre>
</section>
</main>
</body>
</html>`
