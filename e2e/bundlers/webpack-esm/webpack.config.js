export default {
  experiments: { outputModule: true },
  output: { module: true },
}
