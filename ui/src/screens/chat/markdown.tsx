/** Words of agents and people: Markdown without raw HTML and without images; a link shows where it leads. */
import { default as ReactMarkdown } from 'react-markdown'

const hostOf = (href: string): string => {
  try {
    return new URL(href).host
  } catch {
    return ''
  }
}

export const Markdown = ({ text }: { readonly text: string }) => (
  <ReactMarkdown
    skipHtml
    disallowedElements={['img']}
    components={{
      a: ({ href = '', children }) => (
        <a href={href} rel="noreferrer noopener" target="_blank">
          {children} {hostOf(href) === '' ? '' : `(${hostOf(href)})`}
        </a>
      ),
    }}
  >
    {text}
  </ReactMarkdown>
)
