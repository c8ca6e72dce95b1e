/** Every name that the package exports, and every member of it, says what it is. */
import { expect, test } from 'vitest'
import { filesUnder } from '#test/support/project/architecture.ts'
import { unexplained } from '#test/support/project/public-docs.ts'

const sources = filesUnder('src')

test.each(['src/index.ts', 'src/http/client/client.ts', 'src/testing/index.ts', 'src/testing/suites.ts'])(
  'each name that %s exports has a doc comment, and each of its members',
  (entry) => {
    expect(unexplained(sources, entry)).toEqual([])
  },
)

test('a name, a member and an inherited member without a doc comment are found', () => {
  const files = [
    {
      path: 'src/index.ts',
      text: `export { type Options, run } from '#engine/run.ts'\n/** The version. */\nexport const version = 1`,
    },
    {
      path: 'src/engine/run.ts',
      text: [
        `import type { Base } from './base.ts'`,
        '/** How it runs. */',
        'export interface Options extends Pick<Base, never> {',
        '  /** Its name. */',
        '  readonly name: string',
        '  readonly size?: number',
        '}',
        '',
        'export const run = (options: Options): void => {}',
      ].join('\n'),
    },
    { path: 'src/engine/base.ts', text: '/** The base. */\nexport interface Base {\n  close(): void\n}' },
  ]
  expect(unexplained(files, 'src/index.ts')).toEqual(['Options.size', 'Base.close', 'run'])
})
