/** A test's own ledger, in a file of its folder or in a temporary Postgres schema, for `verify` and for opening it. */
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Target } from '#cli/verify/verify.ts'
import { freshSchema } from './postgres-schema.ts'

/** Undefined: no Postgres server runs beside the tests. */
export const postgresUrl = process.env['TRIHAND_TEST_PG_URL']

export const targetOn = async (store: 'sqlite' | 'postgres', folder: string): Promise<Target> => {
  if (store === 'sqlite') return { file: join(folder, 'ledger.db') }
  const { schema, drop } = await freshSchema(postgresUrl ?? '')
  onTestFinished(drop)
  return { url: postgresUrl ?? '', schema }
}

/** The name for the options of `createTrihand`. */
export const placeOf = (target: Target): { readonly database: string; readonly schema?: string } =>
  'file' in target ? { database: target.file } : { database: target.url, schema: target.schema ?? 'public' }
