import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expand, variablesOf } from './template.ts'

test('variables of templates, without operators and modifiers', () => {
  assert.deepEqual(variablesOf('a://{x}/{+y}{?q,page*}{&z:3}{x}'), ['x', 'y', 'q', 'page', 'z'])
  assert.deepEqual(variablesOf('a://plain'), [])
})

test('templates of all four levels', () => {
  // RFC 6570, section 1.2
  for (
    const [template, values, uri] of [
      ['a://{var}', { var: 'b c' }, 'a://b%20c'],
      ['a://{+path}/here', { path: '/foo/bar' }, 'a:///foo/bar/here'],
      ['a://x{#var}', { var: 'v' }, 'a://x#v'],
      ['a://{x,y}', { x: '1', y: '2' }, 'a://1,2'],
      ['a://m{/var,x}', { var: 'v', x: '1' }, 'a://m/v/1'],
      ['a://m{?x,y,empty}', { x: '1', y: '2', empty: '' }, 'a://m?x=1&y=2'],
      ['a://m?f=1{&x}', { x: '9' }, 'a://m?f=1&x=9'],
      ['a://{var:3}', { var: 'value' }, 'a://val'],
      ['a://m{/list*}', { list: 'r,g,b' }, 'a://m/r/g/b'],
      ['a://m{?list*}', { list: 'r,g' }, 'a://m?list=r&list=g'],
      ['a://m{;x}', { x: '1' }, 'a://m;x=1'],
    ] as const
  ) assert.equal(expand(template, values as Record<string, string>), uri, template)
})

test('a hostile template does no harm', () => {
  for (const template of ['a://{', 'a://}', 'a://{}', 'a://{,}', 'a://{__proto__}', '{'.repeat(8000), 'a://{x:99999}'])
    assert.equal(typeof expand(template, { __proto__: 'x' } as never), 'string')
})
