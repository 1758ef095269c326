/** Drawings in a box of 24 by 24. */
export const paths: Record<string, string> = {
  send: 'M12 20V5M5 12l7-7 7 7',
  stop: 'M7 7h10v10H7z',
  mic: 'M9 4h6v9H9zM5 11c0 9 14 9 14 0M12 18v4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  share: 'M12 15V3M7 8l5-5 5 5M4 15v5h16v-5',
  up: 'M7 11v9H3v-9zM7 11l4-8c3 0 3 2 2 6h7l-2 11H7',
  down: 'M17 13V4h4v9zM17 13l-4 8c-3 0-3-2-2-6H4L6 4h11',
  new: 'M4 20l1-5L16 4l4 4L9 19zM13 7l4 4',
  open: 'M6 9l6 6 6-6',
  link: 'M10 14l4-4M8 11l-3 3c-3 4 2 8 5 5l3-3M16 13l3-3c3-4-2-8-5-5l-3 3',
  alert: 'M12 3l10 18H2zM12 10v5M12 18v0',
  wait: 'M12 3a9 9 0 1 1-9 9',
}

const svg = 'http://www.w3.org/2000/svg'

/** A small drawing without a label. */
export function glyph(name: string): SVGElement {
  const drawing = document.createElementNS(svg, 'svg')
  for (
    const [attribute, value] of Object.entries({
      viewBox: '0 0 24 24',
      width: '18',
      height: '18',
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': '2',
      'aria-hidden': 'true',
    })
  ) drawing.setAttribute(attribute, value)
  const path = document.createElementNS(svg, 'path')
  path.setAttribute('d', paths[name]!)
  drawing.append(path)
  return drawing
}
