const gap = 4
const margin = 8
const widest = 480
const highest = 340

/** Puts a menu below a field, or above it where there is more room. It stays inside the window. */
export function place(menu: HTMLElement, field: HTMLElement): void {
  const at = field.getBoundingClientRect()
  const below = innerHeight - at.bottom - gap - margin
  const above = at.top - gap - margin
  const up = below < highest && above > below
  const width = Math.min(widest, Math.max(at.width, 280), innerWidth - 2 * margin)
  const wanted = getComputedStyle(field).direction === 'rtl' ? at.right - width : at.left
  Object.assign(menu.style, {
    inlineSize: `${width}px`,
    maxBlockSize: `${Math.max(96, Math.min(highest, up ? above : below))}px`,
    left: `${Math.max(margin, Math.min(wanted, innerWidth - width - margin))}px`,
    top: up ? 'auto' : `${Math.min(at.bottom + gap, innerHeight - 96)}px`,
    bottom: up ? `${innerHeight - at.top + gap}px` : 'auto',
  })
}
