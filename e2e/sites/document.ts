import type { Boot } from './state.ts'

const titles: Record<Boot['site'], string> = {
  chatgpt: 'ChatGPT',
  gemini: 'Google Gemini',
  aistudio: 'New chat | Google AI Studio',
  claude: 'Claude',
  perplexity: 'Perplexity',
  grok: 'Grok',
  deepseek: 'DeepSeek',
  mistral: 'Le Chat',
  copilot: 'Microsoft Copilot',
}

/** The document of a page. Its script makes the rest. */
export function document(boot: Boot): string {
  const data = JSON.stringify(boot).replaceAll('<', '\\u003c')
  return `<!doctype html><html lang="${
    boot.state.locale === 'zh' ? 'zh-CN' : boot.state.locale
  }"><head><meta charset="utf-8"><title>${titles[boot.site]}</title>
<meta name="viewport" content="width=device-width"></head><body>
<script type="application/json" id="boot">${data}</script><script src="/assets/app.js${
    boot.site ? `?site=${boot.site}` : ''
  }"></script></body></html>`
}
