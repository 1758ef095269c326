type Attributes = Record<string, string | boolean | undefined>
export type Child = Node | string | undefined | false

/** Returns an element. A `true` attribute has no value. A `false` or `undefined` attribute is left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes?: Attributes,
  ...children: Child[]
): HTMLElementTagNameMap[K]
export function h(tag: string, attributes?: Attributes, ...children: Child[]): HTMLElement
export function h(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) set(element, name, value)
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

export function set(element: Element, name: string, value: string | boolean | undefined): void {
  if (value === undefined || value === false) element.removeAttribute(name)
  else if (element.getAttribute(name) !== String(value === true ? '' : value))
    element.setAttribute(name, value === true ? '' : value)
}

export function on<E extends Element>(element: E, event: string, act: (event: never) => void): E {
  element.addEventListener(event, act as EventListener)
  return element
}

/** Sets an element's children, and leaves existing ones alone. */
export function fill(parent: ParentNode & Node, ...children: Child[]): void {
  const wanted = children.filter((child): child is Node => child instanceof Node)
  for (const child of [...parent.childNodes]) if (!wanted.includes(child)) child.remove()
  wanted.forEach((child, n) => {
    if (parent.childNodes[n] !== child) parent.insertBefore(child, parent.childNodes[n] ?? null)
  })
}

/** Returns an open shadow root with the page's styles. */
export function shadow(host: HTMLElement, css: string, ...children: Child[]): ShadowRoot {
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  root.adoptedStyleSheets = [sheet]
  root.append(...children.filter((child) => child !== undefined && child !== false))
  return root
}
