import selfsigned from 'selfsigned'
import { hosts } from './hosts.ts'

/** An untrusted certificate for the sites' hosts. */
export async function certificate(): Promise<{ key: string; cert: string }> {
  const made = await selfsigned.generate([{ name: 'commonName', value: 'e2e/sites' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{
      name: 'subjectAltName',
      altNames: Object.values(hosts).map((value) => ({ type: 2 as const, value })),
    }],
  })
  return { key: made.private, cert: made.cert }
}
