import { words } from '../boot.ts'
import { fill, h, on } from '../dom.ts'

const models = [
  ['gemini-2.5-flash', 'Gemini 2.5 Flash'],
  ['gemini-2.5-pro', 'Gemini 2.5 Pro'],
  ['gemini-1.5-pro', 'Gemini 1.5 Pro'],
  ['gemini-1.5-flash', 'Gemini 1.5 Flash'],
  ['gemini-1.0-pro', 'Gemini 1.0 Pro'],
] as const

/** The panel at the right: the model behind a dialog, the temperature as a slider with a field beside it. */
export function runSettings(): { element: HTMLElement; settings(): { model: string; temperature: number } } {
  let model: string = models[1][0]
  let temperature = 1
  const title = h('span', { class: 'title' })
  const selector = on(
    h(
      'button',
      { type: 'button', class: 'model-selector-card', 'aria-haspopup': 'dialog' },
      title,
      h('span', { class: 'subtitle' }),
    ),
    'click',
    open,
  )
  const slider = h('input', { type: 'range', min: '0', max: '2', step: '0.05', 'aria-label': words.temperature })
  const number = h('input', {
    type: 'number',
    class: 'slider-number-input',
    min: '0',
    max: '2',
    step: '0.05',
    'aria-label': words.temperature,
  })
  on(slider, 'input', () => {
    warm(slider.valueAsNumber)
  })
  on(number, 'change', () => {
    warm(number.valueAsNumber)
  })

  function choose(id: string): void {
    model = id
    title.textContent = models.find(([each]) => each === id)![1]
    selector.lastElementChild!.textContent = id
  }

  // Out of range or not a number: the fields return to the current value.
  function warm(to: number): void {
    if (to >= 0 && to <= 2) temperature = Math.round(to * 100) / 100
    slider.value = String(temperature)
    number.value = String(temperature)
  }

  function open(): void {
    const rows = models.map(([id, name]) =>
      h(
        'ms-model-carousel-row',
        {},
        on(
          h(
            'button',
            { type: 'button', id: `model-carousel-row-models/${id}`, class: 'content-button' },
            h('span', { class: 'model-title-text' }, name),
            h('span', { class: 'model-subtitle' }, id),
          ),
          'click',
          () => {
            choose(id)
            overlay.remove()
          },
        ),
      )
    )
    const overlay = h(
      'div',
      { class: 'cdk-overlay-container' },
      h('mat-dialog-container', { role: 'dialog', 'aria-modal': 'true' }, h('ms-model-carousel', {}, ...rows)),
    )
    on(overlay, 'keydown', (event: KeyboardEvent) => {
      if (event.key === 'Escape') overlay.remove()
    })
    document.body.append(overlay)
    rows[0]!.querySelector('button')!.focus()
  }

  choose(model)
  warm(temperature)
  const element = h('ms-run-settings', {})
  fill(
    element,
    h('h2', {}, words.settings),
    h('ms-model-selector', {}, selector),
    h(
      'div',
      { class: 'settings-item', 'data-test-id': 'temperatureSliderContainer' },
      h('h3', {}, words.temperature),
      h('ms-slider', {}, slider, number),
    ),
  )
  return { element, settings: () => ({ model, temperature }) }
}
