import { html, type TemplateResult } from 'lit'
import { define, freshId, Piece } from './piece.ts'
import { giveBack, permit } from './permission.ts'
import { setting } from './setting.ts'

const bookmarks = { permissions: ['bookmarks'] }

/** Switches the bookmark tools; the permission is asked in the click. */
class Bookmarks extends Piece {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { options, permissions } = this.state
    return html`<section class="card plain" aria-labelledby=${this.id_}>
      <header><h2 id=${this.id_}>${this.t('bookmarks')}</h2></header>
      ${
      setting({
        id: `${this.id_}-on`,
        label: this.t('bookmarks_on'),
        means: this.t('bookmarks_means'),
        on: options.bookmarks && permissions.bookmarks,
        change: (on) => this.change(on),
      })
    }
    </section>`
  }

  private async change(on: boolean): Promise<boolean> {
    if (!on) {
      const off = await this.desk.send('setOptions', { bookmarks: false })
      if (off) await giveBack(bookmarks)
      return off
    }
    const granted = await this.desk.run(() => permit(bookmarks))
    if (granted === false) this.desk.warn(this.t('bookmarks_refused'))
    return !!granted && this.desk.send('setOptions', { bookmarks: true })
  }
}

define('portolan-bookmarks', Bookmarks)
