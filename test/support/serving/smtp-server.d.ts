/** Types for the part of smtp-server that tests use; the package has none. */
declare module 'smtp-server' {
  import type { Server } from 'node:net'

  export interface Address {
    readonly address: string
  }
  export interface Session {
    readonly envelope: { readonly rcptTo: readonly Address[] }
  }
  type Done = (error?: Error) => void
  export class SMTPServer {
    constructor(options: {
      readonly disabledCommands: readonly string[]
      readonly onRcptTo: (address: Address, session: Session, done: Done) => void
      readonly onData: (stream: AsyncIterable<Buffer>, session: Session, done: Done) => void
    })
    listen(port: number, host: string, done: () => void): Server
    close(done: () => void): void
  }
}
