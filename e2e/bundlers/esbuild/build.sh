esbuild src/index.js --bundle --splitting --minify --format=esm --outdir=dist
cp node_modules/portolan/worker.js node_modules/portolan/portolan.wasm node_modules/portolan/callback.html dist
