import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { endpointOf, originOf } from './origin.ts'

const rows: { url: string; origin: string; key: string }[] = JSON.parse(
  readFileSync(new URL('../../../testdata/endpoints/endpoints.json', import.meta.url), 'utf8'),
)

test('origins and endpoints are those that the module has', () => {
  for (const { url, origin, key } of rows) {
    assert.equal(originOf(url), origin)
    assert.equal(endpointOf(url), key)
  }
})
