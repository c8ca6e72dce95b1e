/**
 * The route for the settings of this server.
 *
 * Owns who may see them: administrators of the server's own tenant. The settings are given by the program that serves, without secrets.
 */
import { requireCaller } from '#http/access/identity.ts'
import type { ConfiguredSetting } from '#http/openapi/api.ts'
import { page, ref } from '#http/openapi/schema.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { type Handle, json, type Operation } from './route.ts'

export interface ConfigurationOptions {
  /** Absent: the embedding program has its own settings. */
  readonly configuration?: readonly ConfiguredSetting[]
}

export const configurationRoutes = ({ configuration = [] }: ConfigurationOptions): readonly Operation[] => {
  const list: Handle = async (_, context) => {
    const { id, tenant } = requireCaller(context)
    if (tenant !== LOCAL_TENANT)
      throw new TrihandError(
        'TENANT_MISMATCH',
        `${id} belongs to the tenant ${tenant}; only the server's own tenant can read its configuration`,
      )
    return context.json({ items: configuration, next_cursor: null })
  }
  return [
    {
      id: 'getConfiguration',
      method: 'get',
      path: '/api/configuration',
      access: 'admin',
      summary: 'What the server is set to, and by whom; secrets are not shown',
      answers: { 200: json(page(ref('ConfiguredSetting'))) },
      problems: ['TENANT_MISMATCH'],
      handle: list,
    },
  ]
}
