/** Downloads a text as a file. */
export const download = (name: string, media: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: media }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
