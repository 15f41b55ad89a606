// Simulates the web applications that ntconv view --in opens: a page of their origin fetches a file in the same way. It prints the
// response as JSON.
//
// Usage: node play.mjs ADDRESS [ORIGIN]: the address that ntconv view printed, and the origin of the page if it is another one.
import { createHash } from 'node:crypto'
import { launch } from './browser.mjs'

const address = new URL(process.argv[2])
const origin = process.argv[3] ?? address.origin

// How each application uses its address, and the relevant part of its content security policy.
const applications = {
  'https://ui.perfetto.dev': { // ui/src/core/router.ts, ui/src/frontend/index.ts
    file: () => new URL(`https://example.com${address.hash.slice(2)}`).searchParams.get('url'),
    policy: "default-src 'self'; script-src 'self' 'unsafe-eval'; connect-src 'self' ws://127.0.0.1:8037 blob: data: http://127.0.0.1:9001 ws://127.0.0.1:9001",
  },
  'https://profiler.firefox.com': { // src/utils/profile-fetch.ts
    file: () => decodeURIComponent(address.pathname.split('/')[2] ?? ''),
    policy: "default-src 'self'; connect-src *",
  },
  'https://www.speedscope.app': { // src/lib/hash-params.ts
    file: () => decodeURIComponent(address.hash.slice(1).split('&').find((p) => p.startsWith('profileURL='))?.split('=')[1] ?? ''),
    policy: '',
  },
}
const { file: find, policy } = applications[address.origin]
const file = find()

const browser = await launch()
try {
  const page = await browser.newPage()
  const session = await browser.target().createCDPSession()
  // The permission that Chromium requests when a public site connects to this machine; names differ by version.
  for (const name of ['loopback-network', 'local-network-access']) {
    await session.send('Browser.setPermission', { origin, permission: { name }, setting: 'granted' }).catch(() => {})
  }
  const failures = []
  page.on('requestfailed', (r) => failures.push(r.failure()?.errorText ?? ''))
  page.on('console', (m) => failures.push(m.text()))
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) return request.continue()
    const headers = policy && origin === address.origin ? { 'Content-Security-Policy': policy } : {}
    return request.respond({ status: 200, contentType: 'text/html', headers, body: '<html></html>' })
  })
  await page.goto(`${origin}/`)
  const got = await page.evaluate(async (file) => {
    try {
      if (location.origin === 'https://ui.perfetto.dev') { // looks for trace_processor_shell first
        await fetch('http://127.0.0.1:9001/status', { method: 'post', cache: 'no-cache' }).catch(() => {})
      }
      const response = await fetch(file)
      const bytes = new Uint8Array(await (await response.blob()).arrayBuffer())
      let text = ''
      for (const b of bytes) text += String.fromCharCode(b)
      return { status: response.status, type: response.headers.get('Content-Type'), base64: btoa(text) }
    } catch (e) {
      return { error: String(e) }
    }
  }, file)
  const bytes = Buffer.from(got.base64 ?? '', 'base64')
  delete got.base64
  console.log(JSON.stringify({ ...got, failures, origin, file, name: file.split('/').pop(), bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }))
} finally {
  await browser.close()
}
