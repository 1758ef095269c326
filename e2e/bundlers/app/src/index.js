import 'portolan/panel'
import { start } from './app.js'

start(document.body.appendChild(document.createElement('main')))
