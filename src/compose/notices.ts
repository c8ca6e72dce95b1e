/**
 * The wiring of outgoing notifications: takes endpoints and the environment, and returns functions of the system.
 *
 * Owns which notifier is used for each setting. Contains no rules; without a setting nothing is loaded and nothing is added.
 */

import type { HealthBook, NoticeRoute } from '#executors/workflow/notices.ts'
import { CALLBACK } from '#manifest/define/callback.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { defineEndpoints } from '#manifest/define/endpoints.ts'
import { type Environment, resolveReferences } from '#manifest/expressions/reference.ts'
import { endpointHandler } from '#model/flow/policies/endpoint-health.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'

/** The notifications that go out: `{ addresses: { ana: 'ana@shop.example' } }`. */
export interface NoticesOptions {
  /**
   * Signed webhooks (Standard Webhooks), in addition to the `endpoints` of the system. `secret` may be a reference like `${NAME}`; several secrets,
   * separated by spaces, all sign. Default: none.
   */
  readonly webhooks?: readonly { readonly url: string; readonly events: readonly string[]; readonly secret?: string }[]
  /** Signs what is posted to the `callbackUrl` of `start`, as `secret` does for webhooks. Default: `TRIHAND_CALLBACK_SECRET`. */
  readonly callbackSecret?: string
  /** Mail addresses of people, by the name under which tasks are assigned. Mail is sent if `SMTP_URL` is set. Default: none. */
  readonly addresses?: Readonly<Record<string, string>>
}

interface World {
  readonly environment: Environment
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'digest' | 'roll'>
  /** The health of endpoints is kept in documents. */
  readonly document: HealthBook['read']
}

const NAME_DIGITS = 10
const TIMEOUT_MS = 15_000

const variable = ({ environment }: World, name: string): string | null => environment[name] || null

/** Sends to this address and no other. */
const wayTo = async (url: string) => {
  if (!URL.canParse(url)) throw new TrihandError('CONFIG_INVALID', `notices: ${url} is not a URL`)
  const { guardedFetch } = await import('#adapters/tools/guarded-fetch.ts')
  const { hostname, port, protocol } = new URL(url)
  return guardedFetch({
    allowsHost: (host) => host === hostname,
    ports: [port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)],
    timeoutMs: TIMEOUT_MS,
    maxRedirects: 0,
  })
}

/** Named by the address: a run that waits for its next try finds the function again, whatever the order of declaration. */
const nameFor = (url: string, { ids }: World): string =>
  ids
    .digest(url)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, NAME_DIGITS)

interface Endpoint {
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
  readonly secrets: readonly string[]
}

const endpointsOf = ({ endpoints = [] }: SystemSource, { webhooks = [] }: NoticesOptions, world: World) => [
  ...defineEndpoints(endpoints).values(),
  ...webhooks.map(({ url, events, secret = '' }) => ({ name: nameFor(url, world), url, events, secrets: [secret] })),
]

const webhookRoute = async ({ name, url, events, secrets }: Endpoint, world: World): Promise<NoticeRoute> => {
  const { webhookNotifier } = await import('#adapters/notify/webhook.ts')
  const { environment, clock, ids, document } = world
  const address = resolveReferences(url, environment)
  const resolved = secrets.flatMap((secret) => resolveReferences(secret, environment).split(' ').filter(Boolean))
  const endpoint = { url: address, secrets: resolved, publicUrl: variable(world, 'TRIHAND_PUBLIC_URL') }
  const now = (): number => clock.now()
  return {
    name: endpointHandler(name),
    events,
    notifier: webhookNotifier(endpoint, await wayTo(address), now),
    health: { address: ids.digest(address), read: document, now },
  }
}

const mailRoutes = async ({ addresses = {} }: NoticesOptions, world: World): Promise<readonly NoticeRoute[]> => {
  const smtpUrl = variable(world, 'SMTP_URL')
  if (smtpUrl === null) return []
  const from = variable(world, 'TRIHAND_MAIL_FROM')
  if (from === null)
    throw new TrihandError(
      'CONFIG_INVALID',
      'SMTP_URL is set but TRIHAND_MAIL_FROM is not; set it to the sender of the mails',
    )
  const { mailNotifier } = await import('#adapters/notify/mail.ts')
  const { TASK_EVENTS } = await import('#adapters/notify/task-text.ts')
  const notifier = mailNotifier({ smtpUrl, from, addresses, publicUrl: variable(world, 'TRIHAND_PUBLIC_URL') })
  return [{ name: 'notify-mail', events: TASK_EVENTS, notifier }]
}

const chatRoutes = async (world: World): Promise<readonly NoticeRoute[]> => {
  const url = variable(world, 'TRIHAND_SLACK_WEBHOOK')
  if (url === null) return []
  const { chatNotifier } = await import('#adapters/notify/chat.ts')
  const { TASK_EVENTS } = await import('#adapters/notify/task-text.ts')
  const notifier = chatNotifier({ url, publicUrl: variable(world, 'TRIHAND_PUBLIC_URL') }, await wayTo(url))
  return [{ name: 'notify-chat', events: TASK_EVENTS, notifier }]
}

/** Notifies the callers that gave a callback address of the end of their run, once there is a secret to sign with. */
const callbacks = async ({ callbackSecret }: NoticesOptions, world: World): Promise<readonly FunctionSource[]> => {
  const { environment, clock, ids } = world
  const given = callbackSecret ?? variable(world, 'TRIHAND_CALLBACK_SECRET') ?? ''
  const secrets = resolveReferences(given, environment).split(' ').filter(Boolean)
  if (secrets.length === 0) return []
  const { webhookNotifiers } = await import('#adapters/notify/webhook.ts')
  const publicUrl = variable(world, 'TRIHAND_PUBLIC_URL')
  const notifiers = webhookNotifiers({ secrets, publicUrl, dataPath: ({ id }) => `/api/runs/${id}` }, () => clock.now())
  const notifierTo = async (url: string) => notifiers(url, await wayTo(url))
  const { callbackNotices } = await import('#executors/workflow/notices.ts')
  return [callbackNotices(CALLBACK, notifierTo, () => ids.roll())]
}

const told = async (routes: readonly NoticeRoute[], { ids }: World): Promise<readonly FunctionSource[]> => {
  if (routes.length === 0) return []
  const { noticeFunctions } = await import('#executors/workflow/notices.ts')
  return noticeFunctions(routes, () => ids.roll())
}

/** The system with the notification functions added. */
export const withNotices = async (
  source: SystemSource,
  options: NoticesOptions,
  world: World,
): Promise<SystemSource> => {
  const webhooks = endpointsOf(source, options, world).map((endpoint) => webhookRoute(endpoint, world))
  const routes = await Promise.all([Promise.all(webhooks), mailRoutes(options, world), chatRoutes(world)])
  const functions = [...(await told(routes.flat(), world)), ...(await callbacks(options, world))]
  return functions.length === 0 ? source : { ...source, functions: [...(source.functions ?? []), ...functions] }
}
