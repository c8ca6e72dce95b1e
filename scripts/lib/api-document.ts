/** Returns the document that the server serves, from a server that was never opened: no socket, no file. */
import { createTrihand } from '#compose/assemble.ts'
import { createApp } from '#http/server/app.ts'

export const apiDocument = async (): Promise<unknown> => {
  const trihand = await createTrihand({ system: { name: 'nothing' }, database: 'memory:', work: false })
  try {
    const app = createApp(trihand, { version: '0.0.0', pid: 0, report: () => {} })
    return await (await app.request('/openapi.json')).json()
  } finally {
    await trihand.close()
  }
}
