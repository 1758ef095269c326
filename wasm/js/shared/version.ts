/** The version of the package. The module in it has the same one (wasm/internal/api). */
export const version = '0.1.0'
