import { html, nothing, type TemplateResult } from 'lit'
import { fromBase64 } from '../../../wasm/js/shared/base64.ts'
import type { WordsContext } from '../context.ts'
import { define, Part, reactive } from '../../ui/part.ts'
import { download } from '../../ui/save.ts'
import { clean } from '../../ui/text.ts'

/**
 * An image, a sound or a file of a result. Images are drawn on a canvas, and sounds are played through Web Audio. That
 * needs no source in the page's policy, and runs no script of a picture.
 */
class Media extends Part<WordsContext> {
  static override properties = reactive('kind', 'data', 'mimeType', 'fault', 'size', 'playing')
  declare kind: 'image' | 'audio' | 'file'
  /** Base64. */
  declare data: string
  declare mimeType: string
  declare private fault: boolean
  declare private size: string | undefined
  declare private playing: AudioContext | undefined
  private blob: Blob | undefined

  protected override render(): TemplateResult {
    const label = this.t(`media_${this.kind}`, { type: clean(this.mimeType, 60) })
    return html`
      ${this.kind === 'image' && !this.fault ? html`<canvas role="img" aria-label=${label}></canvas>` : nothing}
      <p class="row"><span class="dim">${label}${this.size ? ` · ${this.size}` : nothing}${
      this.fault ? ` · ${this.t('media_unreadable')}` : nothing
    }</span>
        ${
      this.kind === 'audio' && !this.fault
        ? html`<button type="button" class="small" aria-pressed=${!!this.playing} @click=${this.play}>${
          this.t(this.playing ? 'stop' : 'play')
        }</button>`
        : nothing
    }
        ${
      this.blob
        ? html`<button type="button" class="small" @click=${() => download('result', this.blob!)}>${
          this.t('save_file')
        }</button>`
        : nothing
    }</p>`
  }

  protected override async firstUpdated(): Promise<void> {
    try {
      const bytes = fromBase64(this.data)
      this.blob = new Blob([bytes], { type: 'application/octet-stream' })
      this.size = this.panel.words('kilobytes', { n: bytes.length / 1000 })
      if (this.kind === 'image') await this.draw(new Blob([bytes], { type: this.mimeType }))
    } catch {
      this.fault = true
    }
  }

  private async draw(blob: Blob): Promise<void> {
    if (!/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(blob.type)) throw new TypeError()
    const bitmap = await createImageBitmap(blob)
    const canvas = this.querySelector('canvas')!
    canvas.width = bitmap.width
    canvas.height = bitmap.height
    canvas.getContext('2d')!.drawImage(bitmap, 0, 0)
    this.size += ` · ${bitmap.width} × ${bitmap.height}`
  }

  /** Plays the sound, or ends it, also while it is decoded. */
  private readonly play = async (): Promise<void> => {
    if (this.playing) return this.stop()
    try {
      const context = this.playing = new AudioContext()
      const source = context.createBufferSource()
      source.onended = this.stop
      source.buffer = await context.decodeAudioData(await this.blob!.arrayBuffer())
      source.connect(context.destination)
      source.start()
    } catch {
      this.fault = true
      this.stop()
    }
  }

  private readonly stop = (): void => {
    void this.playing?.close()
    this.playing = undefined
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop()
  }
}

define('portolan-media', Media)
