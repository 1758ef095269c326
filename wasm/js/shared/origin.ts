export const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url)
