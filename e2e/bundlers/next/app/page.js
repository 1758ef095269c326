import { Chart } from './chart.js'

export default function Page() {
  return <><h1>Rendered on the server</h1><Chart /></>
}
