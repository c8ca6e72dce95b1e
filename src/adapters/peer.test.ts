/** Optional packages: the error for an absent one names the command that installs it. */
import { expect, test } from 'vitest'
import { loadPeer } from './peer.ts'

test('an absent peer is PEER_MISSING with the install command', async () => {
  const absent = '@trihand/nowhere'
  const loading = loadPeer(absent, () => import(/* @vite-ignore */ absent))
  await expect(loading).rejects.toMatchObject({
    code: 'PEER_MISSING',
    detail: '@trihand/nowhere is not installed; run: npm install @trihand/nowhere',
  })
})

test('a peer that fails while it loads fails with its own error', async () => {
  const broken = async (): Promise<never> => {
    throw new TypeError('broken inside')
  }
  await expect(loadPeer('broken', broken)).rejects.toThrow(new TypeError('broken inside'))
})
