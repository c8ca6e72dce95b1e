/* Sets the colour scheme before the first paint. An external file, because the content security policy forbids inline scripts. */
;(() => {
  const chosen = window.localStorage.getItem('mantine-color-scheme-value')
  const dark = chosen === 'dark' || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
