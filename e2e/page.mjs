// Opens pages of ntconv to html from files with a browser, and prints what it sees of each as a line of JSON: errors, requests,
// parts, and for each kind and value of samples the rows of the table of methods.
//
// Usage: node page.mjs chromium|firefox SCREENSHOT-DIR|- PATH...
import path from 'node:path'
import puppeteer from 'puppeteer-core'
import { launch } from './browser.mjs'

const [name, screenshots, ...files] = process.argv.slice(2)
const browser = name === 'firefox'
  ? await puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', headless: true })
  : await launch()

// rows returns the cells of the rows of the table of methods.
const rows = (page) => page.$$eval('#tables-panel tbody tr', (list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)))

// select chooses an option of the filters, if they have it.
async function select (page, label, value) {
  await page.evaluate((label, value) => {
    const list = document.querySelector(`#filters select[aria-label="${label}"]`)
    if (!list) return
    list.value = value
    list.dispatchEvent(new Event('change', { bubbles: true }))
  }, label, value)
  await settled(page)
}

const options = (page, label) => page.$$eval(`#filters select[aria-label="${label}"] option`, (list) => list.map((o) => ({ value: o.value, text: o.textContent })))

// settled waits until the page has been drawn twice, because views draw in the next frame.
const settled = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))))

async function kinds (page) {
  const seen = []
  const tab = await page.$('#tables-tab-methods')
  if (!tab) return seen
  for (const kind of await options(page, 'Kind')) {
    await select(page, 'Kind', kind.value)
    const values = await options(page, 'Value')
    for (const value of values.length > 0 ? values : [{ value: '0', text: '' }]) {
      await select(page, 'Value', value.value)
      await page.evaluate(() => document.querySelector('#tables-tab-methods').click())
      await settled(page)
      seen.push({
        kind: kind.text, value: value.text, summary: await page.$eval('#filters .summary', (e) => e.textContent), rows: await rows(page),
      })
    }
  }
  return seen
}

for (const file of files) {
  const result = { errors: [], requests: [], violations: [], dialogs: [] }
  const page = await browser.newPage()
  await page.setViewport({ width: 1280, height: 900 })
  const address = 'file://' + path.resolve(file)
  page.on('dialog', (d) => { result.dialogs.push(d.message()); d.dismiss().catch(() => {}) })
  page.on('pageerror', (e) => result.errors.push(e.message))
  page.on('console', (m) => { if (['error', 'warn'].includes(m.type())) result.errors.push(m.text()) })
  page.on('request', (r) => { if (r.url() !== address && !r.url().startsWith('data:')) result.requests.push(r.url()) })
  await page.evaluateOnNewDocument(() => {
    document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`))
  })
  await page.goto(address)
  await page.waitForSelector('html[data-ready]', { timeout: 60_000 })
  result.ready = await page.$eval('html', (e) => e.dataset.ready)
  result.title = await page.title()
  result.head = await page.$eval('#head', (e) => e.innerText)
  result.failures = await page.$$eval('.failure', (list) => list.map((e) => e.textContent))
  result.parts = await page.$$eval('main > section', (list) => list.filter((e) => !e.hidden).map((e) => e.id))
  if (screenshots !== '-') await page.screenshot({ path: path.join(screenshots, path.basename(file) + '.png'), fullPage: true })
  result.kinds = await kinds(page)
  console.log(JSON.stringify(result))
  await page.close()
}
await browser.close()
