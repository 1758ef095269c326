import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { root } from '../rig/harness.ts'

const run = promisify(execFile)

test('the same files are packed to the same bytes', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-pack-'))
  try {
    const zips = await Promise.all(['a', 'b'].map(async (name, i) => {
      const folder = join(dir, name)
      await cp(`${root}dist/extension`, folder, { recursive: true })
      await utimes(join(folder, 'background.js'), 1e9 + i * 1e6, 1e9 + i * 1e6)
      await run(process.execPath, [`${root}extension/pack.ts`, folder, `${folder}.zip`], {
        env: { ...process.env, TZ: i ? 'Asia/Tokyo' : 'America/Lima' },
      })
      return readFile(`${folder}.zip`)
    }))
    assert.ok(zips[0]!.equals(zips[1]!))
    assert.ok(zips[0]!.equals(await readFile(`${root}dist/extension.zip`)))
    const { permissions, externally_connectable: open } = JSON.parse(
      new TextDecoder().decode(unzipSync(zips[0]!)['manifest.json']),
    ) as { permissions: string[]; externally_connectable?: unknown }
    assert.deepEqual([permissions, open], [['storage', 'sidePanel', 'alarms'], undefined])
  } finally {
    await rm(dir, { recursive: true })
  }
})
