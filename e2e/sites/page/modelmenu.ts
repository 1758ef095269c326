import { fill, h, on } from './dom.ts'

interface Model {
  name: string
  /** Beside its name, a page may give a model an id. */
  attributes?: Record<string, string | undefined>
}

/** A button with the chosen model, and a menu that opens when the pointer goes down, like those of Radix. */
export class ModelMenu {
  readonly element = h('div', { class: 'models', style: 'position: relative' })
  readonly button: HTMLElement
  chosen: string

  /** `item`: the attributes of each model in the menu. `opens`: the event that opens it. */
  constructor(
    models: Model[],
    button: Record<string, string | undefined>,
    item: Record<string, string> = { role: 'menuitem' },
    opens: 'pointerdown' | 'click' = 'pointerdown',
  ) {
    this.chosen = models[0]!.name
    const label = h('span', {}, this.chosen)
    this.button = h('button', { type: 'button', 'aria-haspopup': 'menu', ...button }, label)
    const menu = h('div', {
      role: 'menu',
      style: 'position: absolute; bottom: 100%; inset-inline-end: 0; background: #fff',
    })
    const close = (): void => fill(this.element, this.button)
    for (const model of models) {
      const title = h('div', { class: 'mode-title' }, model.name)
      menu.append(
        on(
          h('button', { type: 'button', ...item, ...model.attributes }, title, h('div', {}, 'What it is for')),
          'click',
          () => {
            this.chosen = label.textContent = model.name
            close()
          },
        ),
      )
    }
    on(this.button, opens, () => {
      if (menu.isConnected) close()
      else fill(this.element, this.button, menu)
    })
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') close()
    })
    close()
  }
}
