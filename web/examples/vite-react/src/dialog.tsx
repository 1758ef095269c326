import { useEffect, useId, useRef, type ReactNode } from 'react'

/** A modal dialog that is open as long as it is there. */
export function Dialog(
  { title, look, onClose, children }: { title: string; look: 'drawer' | 'sheet'; onClose(): void; children: ReactNode },
) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    if (!dialog.current!.open) dialog.current!.showModal()
  }, [])
  return (
    <dialog ref={dialog} className={look} onClose={onClose} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type='button' className='quiet' onClick={() => dialog.current!.close()}>Close</button>
      </header>
      {children}
    </dialog>
  )
}
