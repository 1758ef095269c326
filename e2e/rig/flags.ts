const { CHROMIUM = '/usr/bin/chromium', CHROMIUM_SHELL = CHROMIUM, PORTOLAN_SOAK } = process.env

export const wholeChromium = CHROMIUM

/**
 * The browsers of tests: in `test`, Chromium's headless shell. It has the same engine and no windows, so a page
 * takes half of the processor time. It has no clipboard, hangs in dialogs, and crashes with a module that traps.
 */
export const quickChromium = PORTOLAN_SOAK ? CHROMIUM : CHROMIUM_SHELL

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
