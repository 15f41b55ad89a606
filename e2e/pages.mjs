// Visits the pages of ntconv view with a browser, uses them like a user, and attacks them from pages of other origins. It
// prints its observations as JSON.
//
// Usage: node pages.mjs ADDRESS PATH...: the address that ntconv view printed, and pages to visit.
import { createServer } from 'node:http'
import { launch } from './browser.mjs'

const [address, ...paths] = process.argv.slice(2)
const own = new URL(address).origin
const result = { refused: 0, entered: '', linked: '', cookies: [], dialogs: [], violations: [], errors: [], foreign: [], pages: {}, attacks: [], answers: [] }
const browser = await launch()

// watch records forbidden actions of a page.
async function watch (page) {
  page.on('dialog', (d) => { result.dialogs.push(`${page.url()}: ${d.message()}`); d.dismiss().catch(() => {}) })
  page.on('pageerror', (e) => result.errors.push(`${page.url()}: ${e.message}`))
  page.on('request', (r) => {
    const url = r.url()
    if (!url.startsWith(`${own}/`) && !url.startsWith('data:') && !url.startsWith('about:')) result.foreign.push(url)
  })
  page.on('console', (m) => { if (/Content.Security.Policy/i.test(m.text())) result.violations.push(`${page.url()}: ${m.text()}`) })
  await page.evaluateOnNewDocument(() => {
    document.addEventListener('securitypolicyviolation', (e) => console.log(`Content-Security-Policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`))
  })
}

// use performs the actions of a user on a page and returns the results.
const use = {
  '/flamegraph': async (page) => {
    const seen = { boxes: await page.$$eval('.boxbg', (l) => l.length), names: await page.$$eval('.boxtext', (l) => l.map((e) => e.textContent)) }
    await page.type('#search', 'alert')
    await page.waitForSelector('.boxbg.hilite', { timeout: 5000 })
    seen.found = await page.$$eval('.boxbg.hilite', (l) => l.length)
    await page.$eval('#search', (e) => { e.value = '' })
    await (await page.$$('.boxtext'))[2].click()
    seen.zoomed = await page.evaluate(() => new URL(document.URL).searchParams.get('p'))
    seen.title = await page.title()
    await page.goto(`${own}/flamegraph`)
    await (await page.$$('.boxbg'))[1].click({ button: 'right' })
    seen.menu = await page.$eval('#action-menu', (e) => getComputedStyle(e).display)
    seen.action = await page.$eval('#action-source', (e) => new URL(e.href).searchParams.get('f'))
    return seen
  },
  '/top': async (page) => {
    const names = () => page.$$eval('#rows tr td:nth-child(6)', (l) => l.map((e) => e.textContent))
    const seen = { names: await names() }
    await page.click('#namehdr')
    seen.sorted = await names()
    return seen
  },
  '/peek': async (page) => ({ text: (await page.$eval('#content pre', (e) => e.textContent)).slice(0, 5000) }),
  '/source': async (page) => ({ text: (await page.$eval('body', (e) => e.innerText)).slice(0, 5000) }),
  '/graph': async (page) => ({
    text: (await page.$eval('body', (e) => e.innerText)).slice(0, 5000), width: await page.$eval('img', (e) => e.complete ? e.naturalWidth : 0).catch(() => 0),
  }),
}

// sampleTypes chooses each sample type in the menu and returns the contents of the pages.
async function sampleTypes (page) {
  const seen = []
  const count = await page.goto(`${own}/top`).then(() => page.$$eval('#sample .submenu a', (l) => l.length))
  for (let i = 0; i < count; i++) {
    await page.goto(`${own}/top`)
    await page.click('#sample .menu-name')
    const link = (await page.$$('#sample .submenu a'))[i]
    const name = await link.evaluate((e) => e.textContent)
    const [response] = await Promise.all([page.waitForNavigation(), link.click()])
    seen.push({ name, status: response.status(), si: new URL(page.url()).searchParams.get('si') })
  }
  return seen
}

// attack runs in a page of another origin. It returns the resources that the page received; answers contains the rejections of the server.
async function attack (own, paths) {
  const got = []
  const load = (element, url) => new Promise((resolve) => {
    const e = document.createElement(element)
    e.onload = () => { if (element !== 'iframe') got.push(`${element} ${url}`); resolve() } // frames also load error pages
    e.onerror = resolve
    e.src = url
    document.body.append(e)
    setTimeout(resolve, 1000)
  })
  const read = async (url, mode) => {
    try {
      const r = await fetch(url, { mode, credentials: 'include' })
      got.push(`fetch ${mode} ${url}: ${r.type} ${(await r.text()).length}`)
    } catch {}
  }
  await Promise.all(paths.flatMap((path) => {
    const url = own + path
    return [load('img', url), load('script', url), load('iframe', url), read(url, 'cors'), read(url, 'no-cors')]
  }))
  return got
}

// follow makes a page follow a link.
const follow = (page, to) => Promise.all([page.waitForNavigation({ timeout: 5000 }).catch(() => {}), page.evaluate((to) => { location = to }, to)])

const neighbor = createServer((_, w) => w.writeHead(200, { 'Content-Type': 'text/html' }).end('<html><body></body></html>'))
await new Promise((resolve) => neighbor.listen(0, '127.0.0.1', resolve))
try {
  const page = await browser.newPage()
  await watch(page)
  result.refused = (await page.goto(`${own}/`)).status()
  await page.goto(address)
  result.entered = page.url()
  result.cookies = (await browser.cookies()).map(({ name, httpOnly, sameSite, path, session }) => ({ name, httpOnly, sameSite, path, session }))
  for (const path of paths) {
    const response = await page.goto(own + path)
    const seen = { status: response.status(), policy: response.headers()['content-security-policy'] ?? '' }
    const more = use[path.split('?')[0]]
    if (seen.status === 200 && more) Object.assign(seen, await more(page))
    result.pages[path] = seen
  }
  result.types = await sampleTypes(page)

  // A site on the internet, and a server of another user on another port, which is the same site for cookies.
  const session = await browser.target().createCDPSession()
  for (const origin of ['https://example.com', `http://127.0.0.1:${neighbor.address().port}`]) {
    for (const name of ['loopback-network', 'local-network-access']) {
      await session.send('Browser.setPermission', { origin, permission: { name }, setting: 'granted' }).catch(() => {})
    }
    const other = await browser.newPage()
    other.on('response', (r) => { if (r.url().startsWith(`${own}/`)) result.answers.push(r.status()) })
    if (origin.startsWith('https:')) {
      await other.setRequestInterception(true)
      other.on('request', (r) => r.url().startsWith(`${origin}/`) ? r.respond({ status: 200, contentType: 'text/html', body: '<html><body></body></html>' }) : r.continue())
    }
    await other.goto(`${origin}/`)
    result.attacks.push(...(await other.evaluate(attack, own, ['/', '/top', '/flamegraph', '/download'])).map((a) => `${origin}: ${a}`))
    await follow(other, `${own}/top`) // a link without the token
    result.attacks.push(...(await other.$('#toptable') ? [`${origin}: link`] : []))
    if (origin.startsWith('https:')) { // a link with it, such as in a web mail
      await other.goto(`${origin}/`)
      await follow(other, address)
      await other.waitForSelector('#stack-chart', { timeout: 5000 }).catch(() => {})
      result.linked = other.url()
      result.answers = result.answers.filter((code) => code !== 200) // of this link
    }
    await other.close()
  }
  console.log(JSON.stringify(result))
} finally {
  neighbor.close()
  await browser.close()
}
