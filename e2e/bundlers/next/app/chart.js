'use client'
import 'portolan/panel'
import { useEffect, useRef } from 'react'
import { start } from '../src/app.js'

export function Chart() {
  const main = useRef(null)
  useEffect(() => {
    start(main.current)
  }, [])
  return <main ref={main}>Not started</main>
}
