/**
 * Routes that describe the API and the system to programs: `/openapi.json`, `/asyncapi.json`, `/llms.txt`.
 *
 * Owns the responses only. The OpenAPI document is built at the first request, because most servers never get one.
 */
import { asyncApi } from '#http/openapi/asyncapi.ts'
import { llmsText } from '#http/openapi/llms.ts'
import { type OpenApi, openApi } from '#http/openapi/openapi.ts'
import { anything, mapOf, text } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation } from './route.ts'

export interface DocumentOptions {
  readonly version: string
  /** The whole table of routes, these included. */
  readonly table: () => readonly Operation[]
}

export const documentRoutes = ({ version, table }: DocumentOptions): readonly Operation[] => {
  let made: OpenApi | null = null
  const showOpenApi: Handle = async (_, context) => {
    made ??= openApi(table(), version)
    return context.json(made)
  }
  const showAsyncApi: Handle = async ({ system }, context) => context.json(asyncApi(system, version))
  const showText: Handle = async ({ system }, context) => context.text(llmsText(system.name, table()))
  return [
    {
      id: 'getOpenApi',
      method: 'get',
      path: '/openapi.json',
      access: 'public',
      summary: 'This document',
      answers: { 200: json(mapOf(anything)) },
      handle: showOpenApi,
    },
    {
      id: 'getAsyncApi',
      method: 'get',
      path: '/asyncapi.json',
      access: 'viewer',
      summary: 'The events of the system as AsyncAPI 3.0',
      answers: { 200: json(mapOf(anything)) },
      handle: showAsyncApi,
    },
    {
      id: 'getLlmsText',
      method: 'get',
      path: '/llms.txt',
      access: 'viewer',
      summary: 'The interface for a language model, in one page',
      answers: { 200: { media: 'text/plain', schema: text } },
      handle: showText,
    },
  ]
}
