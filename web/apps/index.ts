import { PortolanApp } from './element.ts'

export { PortolanApp }

// Another copy of the package may have defined it.
if (!customElements.get('portolan-app')) customElements.define('portolan-app', PortolanApp)
