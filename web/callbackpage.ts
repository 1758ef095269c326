import { readFileSync } from 'node:fs'

// Prints the page that people come back to after signing in, with its script in it:
//
//   node web/callbackpage.ts PAGE SCRIPT
//
// Its policy allows the script by a nonce, for bundlers change a script and with it its
// digest. That the nonce is known harms nobody: nothing foreign gets into the page.
const [page, script] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8').trim()) as [string, string]
if (/<\/script/i.test(script)) throw new Error('the script would end its element')
const made = page
  .replace("script-src 'self'", "$& 'nonce-portolan'")
  .replace('<script', () => `<script type="module" nonce="portolan">${script}</script>\n<script`)
if (!made.includes("'nonce-portolan'") || !made.includes(script)) throw new Error('the page has not got its script')
console.log(made)
