// The browser that test files share: prints the address to connect to, and ends with its standard input. `test` takes
// the headless shell, `soak` the whole Chromium.
import { chromium } from 'playwright-core'
import { chromiumFlags } from './flags.ts'

const { CHROMIUM = '/usr/bin/chromium', CHROMIUM_SHELL = CHROMIUM, PORTOLAN_SOAK } = process.env
const server = await chromium.launchServer({
  executablePath: PORTOLAN_SOAK ? CHROMIUM : CHROMIUM_SHELL,
  args: chromiumFlags,
})
console.log(server.wsEndpoint())
server.on('close', () => process.exit())
process.stdin.resume().on('end', () => server.close())
