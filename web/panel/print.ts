import { css } from 'lit'

/** The panel on paper: dark on light, with nothing cut off by a box that scrolls. */
export const printStyles = css`
@media print {
  .panel, dialog { color-scheme: light; }
  dialog { position: absolute; max-block-size: none; overflow: visible; box-shadow: none; }
  dialog header, dialog footer, .notices { position: static !important; }
  .timeline, .description, .diff, pre { block-size: auto; max-block-size: none; }
  .space { display: none; }
  .switch { print-color-adjust: exact; }
  .card, .tool { break-inside: avoid; }
}
`
