/** The flags under which Debian's Chromium runs headless here, as root too. */
export const chromiumFlags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Turns features of Chromium off. Only the last such flag counts. The list of the address bar is a page in each window,
 * and costs 1.4 s of processor time at each start.
 */
export const withoutFeatures = (...features: string[]) =>
  `--disable-features=${['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', ...features].join()}`
