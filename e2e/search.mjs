// Searches in the pages of ntconv view with a browser, like a user, and prints its observations as JSON.
//
// Usage: node search.mjs ADDRESS EXPRESSION...: the address that ntconv view printed.
import { launch } from './browser.mjs'

const [address, ...expressions] = process.argv.slice(2)
const own = new URL(address).origin
const result = { errors: [], total: '', searches: {}, empty: {}, units: [] }
const browser = await launch()
try {
  const page = await browser.newPage()
  page.on('pageerror', (e) => result.errors.push(`${page.url()}: ${e.message}`))
  await page.goto(address)
  const details = () => page.$eval('#current-details-right', (e) => e.innerText)
  result.total = await details()
  for (const expression of expressions) {
    await page.goto(`${own}/flamegraph`)
    await page.type('#search', expression)
    await new Promise((resolve) => setTimeout(resolve, 1000)) // the page waits for more keys
    const seen = { found: await page.$$eval('.boxbg.hilite', (l) => l.length), share: await details() }
    await page.keyboard.press('Enter')
    seen.pivots = await page.$$eval('.separator', (l) => l.length)
    await page.goto(`${own}/top`)
    await page.type('#search', expression)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    seen.rows = await page.$$eval('#rows tr.hilite td:nth-child(6)', (l) => l.map((e) => e.textContent))
    result.searches[expression] = seen
  }
  for (const path of ['/top', '/flamegraph']) {
    await page.goto(`${own}${path}?f=nothing_has_this_name`)
    result.empty[path] = await page.$eval('#errors', (e) => e.innerText)
  }
  await page.goto(`${own}/flamegraph`)
  result.units = await page.evaluate(() => [
    [149.91596, 's'], [26.81, 's'], [0.896123, 's'], [0.000885321, 's'], [59.96, 's'], [3723, 's'], [0, 's'], [-0.0012, 's'],
    [8000000, 'B'], [1048576, 'B'], [1000, 'B'], [0, 'B'], [1234567, ''],
  ].map((v) => pprofUnitText(...v)))
} finally {
  await browser.close()
}
console.log(JSON.stringify(result))
