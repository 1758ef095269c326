import { fold, inline } from './inline.ts'
import { children, tagOf, type Reader } from './tree.ts'

const maxColumns = 100

/** A table in GitHub's form. Its first row is the head, for there must be one. */
export function table(el: Element, reader: Reader, depth: number): string {
  const rows = [...el.querySelectorAll('tr')].filter((row) => row.closest('table') === el)
  const cells = rows.map((row) => {
    const out: string[] = []
    for (const cell of row.children) {
      if (!/^t[dh]$/.test(tagOf(cell)) || out.length >= maxColumns || !reader.enter(cell, depth)) continue
      out.push(fold(inline(children(cell), reader, depth + 1, { cell: true }), '<br>').replace(/(?<!\\)\|/g, '\\|'))
      for (let span = (cell as HTMLTableCellElement).colSpan; span > 1 && out.length < maxColumns; span--) out.push('')
    }
    return out
  }).filter((row) => row.length)
  const [head, ...body] = cells
  if (!head) return ''
  const width = Math.max(...cells.map((row) => row.length))
  const line = (row: string[]) => `| ${Array.from({ length: width }, (_, i) => row[i] ?? '').join(' | ')} |`
  const first = rows[0]!.children
  const marks = Array.from({ length: width }, (_, i) => aligned(first[i]))
  return [line(head), `| ${marks.join(' | ')} |`, ...body.map(line)].join('\n')
}

function aligned(cell: Element | undefined): string {
  const align = cell?.getAttribute('align') ?? (cell instanceof HTMLElement ? cell.style.textAlign : '')
  return align === 'center'
    ? ':---:'
    : align === 'right' || align === 'end'
    ? '---:'
    : align === 'left' || align === 'start'
    ? ':---'
    : '---'
}
