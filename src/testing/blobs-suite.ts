/** The conformance suite for every implementation of Blobs. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Blobs } from '#ports/blobs.ts'

export interface BlobsUnderTest {
  readonly blobs: Blobs
  /** Opens the same store again. */
  reopen(): Promise<Blobs>
  close(): Promise<void>
}

const MEGABYTE = 1024 * 1024

/** Defines the tests that every implementation of the port `Blobs` passes. */
export const blobsSuite = (name: string, open: () => Promise<BlobsUnderTest>): void => {
  describe(`blobs: ${name}`, () => {
    let current: BlobsUnderTest
    beforeEach(async () => {
      current = await open()
    })
    afterEach(() => current.close())

    test('an unknown blob is null', async () => {
      expect(await current.blobs.get('nothing')).toBeNull()
    })

    test.each([
      ['an empty text', ''],
      ['letters of many scripts', 'Grüße, 東京, 🜁'],
      ['escaped NUL and lone surrogates', JSON.stringify('\u0000 \ud83d')],
      ['quotes', `'"\\ $1; drop table blob; --`],
    ])('%s is read back as it was stored', async (_, text) => {
      await current.blobs.put('hash', text)
      expect(await current.blobs.get('hash')).toBe(text)
      expect(await current.blobs.get('HASH')).toBeNull()
    })

    test('16 MB are read back completely', async () => {
      const text = '0123456789abcdef'.repeat(MEGABYTE)
      await current.blobs.put('large', text)
      // Not toBe on the texts, because a failure would print both.
      expect((await current.blobs.get('large')) === text).toBe(true)
    })

    test('blobs-1: a blob is kept when the store is opened again', async () => {
      await current.blobs.put('kept', 'text')
      expect(await (await current.reopen()).get('kept')).toBe('text')
    })

    test('blobs-2: equal content stored again, also concurrently, is stored once and changes nothing', async () => {
      await Promise.all(Array.from({ length: 8 }, () => current.blobs.put('same', 'text')))
      await current.blobs.put('same', 'text')
      expect(await current.blobs.get('same')).toBe('text')
    })
  })
}
