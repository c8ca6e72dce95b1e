/** Real chance and hashes. Ids rise with time, also within one millisecond. */
import { hash } from 'node:crypto'
import { v7 } from 'uuid'
import type { Ids } from '../../ports/ids.ts'

export class SystemIds implements Ids {
  uuid(): string {
    return v7().replaceAll('-', '')
  }

  roll(): number {
    return Math.random()
  }

  digest(text: string): string {
    return hash('sha256', text, 'base64url')
  }
}
