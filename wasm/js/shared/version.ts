/** Of the package and of the module in it, which must agree (wasm/internal/api). */
export const version = '0.1.0'
