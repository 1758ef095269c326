import { engines } from '../rig/engines.ts'

/** A way to get the app into a page. */
export interface Row {
  name: string
  /** The npm package whose version is shown. */
  package?: string
  /** Folder with what the bundler needs beside the app: configuration and page. */
  folder?: string
  /** Builds the app. */
  build?: string
  /** The files of the build, of which the bytes are counted. */
  output?: string
  /** Serves the app at `PORT`; default: the files of `site`. */
  serve?: string
  site?: string
  /** The browser beside Chromium that shows the app, a name of `engines`. */
  engine?: string
}

const production = 'webpack --mode production'

export const rows: Row[] = [
  { name: 'Vite, dev', package: 'vite', folder: 'vite', serve: 'exec vite --host 127.0.0.1 --strictPort --port' },
  { name: 'Vite, build', package: 'vite', folder: 'vite', build: 'vite build', output: 'dist', site: 'dist' },
  { name: 'webpack, classic script', package: 'webpack', folder: 'webpack-classic', build: production, output: 'dist' },
  { name: 'webpack, ESM', package: 'webpack', folder: 'webpack-esm', build: production, output: 'dist' },
  { name: 'Rsbuild', package: '@rsbuild/core', build: 'rsbuild build', output: 'dist', site: 'dist' },
  { name: 'Rollup', package: 'rollup', folder: 'rollup', build: 'rollup --config', output: 'dist' },
  { name: 'esbuild', package: 'esbuild', folder: 'esbuild', build: 'sh -e build.sh', output: 'dist' },
  {
    name: 'Next, Turbopack',
    package: 'next',
    folder: 'next',
    build: 'next build',
    output: '.next/static',
    serve: 'exec next start --hostname 127.0.0.1 --port',
  },
  { name: 'import map, Chromium', folder: 'import-map' },
  ...Object.keys(engines).map((engine) => ({ name: `import map, ${engine}`, folder: 'import-map', engine })),
]
