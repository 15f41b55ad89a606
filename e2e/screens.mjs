// Takes pictures of pages as a user sees them.
//
// Usage: node screens.mjs IMAGE HEIGHT PAGE ACTION...: PAGE is an address, the path of a page of ntconv to html, or the path of a
// profile for speedscope. The actions dark and narrow are the colors and the width of a page of ntconv to html.
// Actions in order: open:SELECTOR clicks an element, go:PATH visits a page of the same origin, hover:SELECTOR moves the
// pointer. It prints the title, the address and the texts of the links to kinds as JSON.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { launch } from './browser.mjs'

const [image, height, target, ...actions] = process.argv.slice(2)
const browser = await launch('--force-device-scale-factor=1', '--hide-scrollbars')
try {
  const page = await browser.newPage()
  const errors = []
  page.on('pageerror', (e) => errors.push(e.message))
  await page.setViewport({ width: 1200, height: Number(height) })
  if (/^https?:/.test(target)) {
    await page.goto(target)
  } else if (target.endsWith('.html')) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: actions.includes('dark') ? 'dark' : 'light' }])
    if (actions.includes('narrow')) await page.setViewport({ width: 390, height: Number(height) })
    await page.goto(pathToFileURL(target).href)
    await page.waitForSelector('html[data-ready=true]')
    await new Promise((resolve) => setTimeout(resolve, 500)) // charts and threads are drawn when they are visible
  } else {
    const index = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist', 'release', 'index.html')
    await page.goto(pathToFileURL(index).href)
    const input = await page.waitForSelector('input[type=file]')
    await input.uploadFile(target)
    await page.waitForFunction(() => document.title !== 'speedscope', { timeout: 10000 })
    await new Promise((resolve) => setTimeout(resolve, 500)) // the flame graph appears with an animation
  }
  for (const action of actions) {
    const [name, ...rest] = action.split(':')
    const value = rest.join(':')
    if (name === 'open') await page.click(value)
    else if (name === 'hover') await page.hover(value)
    else if (name === 'go') await page.goto(new URL(value, page.url()).href)
    else if (!['dark', 'narrow'].includes(name)) throw new Error(`unknown action ${name}`)
  }
  await page.screenshot({ path: image })
  const kinds = await page.$$eval('#kinds a', (l) => l.map((e) => e.textContent))
  console.log(JSON.stringify({ title: await page.title(), address: page.url(), kinds, errors }))
} finally {
  await browser.close()
}
