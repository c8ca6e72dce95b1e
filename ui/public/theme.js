/* The colour scheme before the first paint: an external file, because the policy of the page allows no inline script. */
;(() => {
  const chosen = window.localStorage.getItem('mantine-color-scheme-value')
  const dark = chosen === 'dark' || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
