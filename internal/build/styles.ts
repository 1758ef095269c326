import { readFile } from 'node:fs/promises'
import { transform, type Plugin } from 'esbuild'

/** An esbuild plugin: minifies the styles in style.ts, which are a template. */
export const shortStyles: Plugin = {
  name: 'short styles',
  setup(build) {
    build.onLoad({ filter: /\/style\.ts$/ }, async ({ path }) => {
      const [before, css, after] = (await readFile(path, 'utf8')).split('`')
      const { code } = await transform(css!, { loader: 'css', minify: true, charset: 'utf8' })
      return { contents: `${before}\`${code.trim()}\`${after}`, loader: 'ts' }
    })
  },
}
