/** Schemas of the server's health, notices and errors. */
import { described, list, mapOf, orNull, record, ref, text, whole, words, yesNo } from '#http/openapi/schema.ts'
import { TOPIC_NAMES } from '#http/stream/live.ts'

export const serverComponents = {
  Problem: record(
    { type: text, title: text, status: whole, code: text, detail: text, hint: text },
    {
      place: record({}, { file: text, line: whole, column: whole, path: text }),
      error_id: described("under this name the error stands in the server's log", text),
      task: described('of STALE_VIEW and DRAFTS_NEWER: what is in force now', ref('TaskDetail')),
    },
  ),
  Live: record({ status: words(['ok']), version: text, pid: whole }),
  Health: record({
    status: words(['ok', 'unavailable']),
    version: text,
    checks: described('ok, or the code of what is wrong', mapOf(text)),
    reasons: described('a sentence for each check that is not ok', list(text)),
    durable: yesNo,
    simulated: described('agents have no live model', yesNo),
    simulated_because: described('which models those are, and why; null: none is simulated', orNull(text)),
  }),
  Notice: record({
    topic: words(TOPIC_NAMES),
    id: described('what to ask for again; null: any of the topic', orNull(text)),
  }),
}
