/** Reads server-sent events, one at a time, from an open response. */
export interface SseMessage {
  readonly id: string | null
  readonly event: string | null
  readonly data: string | null
}

const field = (block: string, name: string): string | null =>
  block.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1] ?? null

/** Comments and settings of the connection are not messages. */
export async function* readSse(response: Response): AsyncGenerator<SseMessage> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const data = field(block, 'data')
      if (data !== null) yield { id: field(block, 'id'), event: field(block, 'event'), data }
    }
  }
}
