import type { Metadata } from 'next'
import type { ReactNode } from 'react'
import './style.css'

export const metadata: Metadata = {
  title: 'Portolan with Next',
  description: 'MCP servers in a page that a server has rendered',
}

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang='en'>
      <body>{children}</body>
    </html>
  )
}
