// The browser that test files share: prints the address to connect to, and ends with its standard input.
import { chromium } from 'playwright-core'
import { chromiumFlags, quickChromium } from './flags.ts'

const server = await chromium.launchServer({ executablePath: quickChromium, args: chromiumFlags })
console.log(server.wsEndpoint())
server.on('close', () => process.exit())
process.stdin.resume().on('end', () => server.close())
