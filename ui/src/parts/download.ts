/** Text that the page has made, as a file of the person's own. */
export const download = (name: string, media: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: media }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
