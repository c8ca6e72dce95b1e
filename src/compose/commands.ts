/**
 * Lets commands reach a SQLite ledger that this process has open, e.g. `trihand inbox` beside an application that embeds Trihand.
 *
 * Owns a port on this machine, and the file beside the ledger that names the port and holds a secret: whoever may read that file may read the
 * ledger.
 * Loads the HTTP application with the first command. If no port can be opened, the application still runs, and commands fail with LEDGER_IN_USE.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ledgerServer, removeServerFile, writeServerFile } from '#http/server/server-file.ts'
import type { Service } from '#http/server/service.ts'
import { ownPid, reportToStderr } from '#triggers/host.ts'

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

const SECRET_BYTES = 32

const serve = async (service: Service, secret: string, ending: AbortSignal): Promise<Listener> => {
  const [{ createApp }, { LOOPBACK }, { askedLocally }, { isSameSecret }, { VERSION }, { getRequestListener }] =
    await Promise.all([
      import('#http/server/app.ts'),
      import('#http/access/auth-settings.ts'),
      import('#http/access/identity.ts'),
      import('#http/access/secret.ts'),
      import('#cli/version.ts'),
      import('@hono/node-server'),
    ])
  const app = createApp(service, {
    ...{ version: VERSION, pid: ownPid(), ending, report: reportToStderr((text) => service.redact(text)) },
    auth: {
      ...LOOPBACK,
      identify: (context) =>
        isSameSecret(context.req.header('authorization') ?? '', `Bearer ${secret}`) ? askedLocally(context) : null,
    },
  })
  return getRequestListener((request) => app.fetch(request), { overrideGlobalObjects: false })
}

const listening = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve())
  })

const open = async (service: () => Service, ledger: string, ending: AbortSignal): Promise<Server> => {
  const { createServer } = await import('node:http')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  let served: Promise<Listener> | null = null
  const server = createServer((incoming, outgoing) => {
    served ??= serve(service(), secret, ending)
    served.then((listener) => listener(incoming, outgoing)).catch(() => outgoing.destroy())
  })
  await listening(server)
  // The server does not keep the process alive.
  server.unref()
  const { port } = server.address() as AddressInfo
  writeServerFile(ledgerServer(ledger), { url: `http://127.0.0.1:${port}`, pid: ownPid(), ledger, token: secret })
  return server
}

/** Returns the function that closes it again. */
export const openForCommands = (service: () => Service, ledger: string, ending: AbortSignal): (() => Promise<void>) => {
  const opened = open(service, ledger, ending).catch(() => null)
  return async () => {
    const server = await opened
    if (server === null) return
    removeServerFile(ledgerServer(ledger), ownPid())
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
