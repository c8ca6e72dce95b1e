/**
 * The interface told to programs: `GET /openapi.json`.
 *
 * Owns the answers only; made at the first question, since most servers are never asked.
 */
import { type OpenApi, openApi } from '../openapi.ts'
import { anything, mapOf } from '../schema.ts'
import { type Handle, json, type Operation } from './route.ts'

export interface DocumentOptions {
  readonly version: string
  /** The whole table, these routes included. */
  readonly table: () => readonly Operation[]
}

export const documentRoutes = ({ version, table }: DocumentOptions): readonly Operation[] => {
  let made: OpenApi | null = null
  const show: Handle = async (_, context) => {
    made ??= openApi(table(), version)
    return context.json(made)
  }
  return [
    {
      id: 'getOpenApi',
      method: 'get',
      path: '/openapi.json',
      access: 'public',
      summary: 'This document',
      answers: { 200: json(mapOf(anything)) },
      handle: show,
    },
  ]
}
