// Measures pages in Chromium and prints milliseconds and frames per second: the first picture and all parts, in a browser that has
// just started and four times in one that runs; pan and zoom of the flame graph and of the timeline of threads.
//
// Usage: node page_bench.mjs [PAGE...]: without a page it generates one with 100,000 frames, 300,000 samples per kind and 1,000,000
// slices, from a page of an empty trace that the command writes.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { launch } from './browser.mjs'
import { syntheticPieces } from '../exporters/html/page/test/synthetic.js'

const dir = mkdtempSync(path.join(tmpdir(), 'ntconv-page-'))
const pages = process.argv.slice(2)
if (pages.length === 0) {
  pages.push(path.join(dir, 'large.html'))
  const empty = execFileSync('go', ['run', './cmd/ntconv', 'to', 'html', '-q', 'testdata/empty.nettrace.zst', '-o', '-'],
    { cwd: path.join(import.meta.dirname, '..'), encoding: 'utf8' })
  const blocks = syntheticPieces({ samples: 300_000, nodes: 100_000, functions: 50_000, slices: 1_000_000, depth: 60, threads: 64 })
  writeFileSync(pages[0], empty.replace(/(<script type="text\/plain" id="(data|rest)">)[^<]*/g,
    (_, begin, id) => begin + gzipSync(blocks[id]).toString('base64')))
}

// frames repeats an action once per frame and returns the frames per second and the longest frame.
const frames = (page, part, kind) => page.evaluate(async (part, kind) => {
  const canvas = document.querySelector(`${part} canvas`)
  canvas.scrollIntoView({ block: 'center' })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  canvas.focus()
  const box = canvas.getBoundingClientRect()
  const wheel = (deltaY) => canvas.dispatchEvent(new WheelEvent('wheel', {
    deltaY, ctrlKey: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 3, bubbles: true, cancelable: true,
  }))
  const key = (k) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key: k, shiftKey: k.startsWith('Arrow'), bubbles: true, cancelable: true }))
  const actions = {
    'zoom in': () => wheel(-40),
    pan: (i) => key(part === '#threads' ? (i % 20 < 10 ? 'd' : 'a') : i % 20 < 10 ? 'ArrowRight' : 'ArrowLeft'),
    'zoom out': () => wheel(40),
  }
  const begin = performance.now()
  let last = begin
  let longest = 0
  for (let i = 0; i < 90; i++) {
    actions[kind](i)
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  return { perSecond: Math.round(90_000 / (last - begin)), longest: Math.round(longest) }
}, part, kind)

// open shows a page until all parts are there, and returns it with the times.
const open = async (browser, file) => {
  const page = await browser.newPage()
  await page.setViewport({ width: 1280, height: 900 })
  await page.goto('file://' + path.resolve(file))
  await page.waitForSelector('html[data-ready=true]', { timeout: 120_000 })
  const times = await page.evaluate(() => ({
    picture: Math.round(performance.getEntriesByName('first picture')[0]?.startTime ?? NaN), all: Math.round(performance.now()),
  }))
  return { page, text: `first picture after ${times.picture} ms, all parts after ${times.all} ms` }
}

for (const file of pages) {
  const browser = await launch()
  let { page, text } = await open(browser, file)
  console.log(`${path.basename(file)}, browser just started: ${text}`)
  for (let i = 0; i < 4; i++) {
    await page.close();
    ({ page, text } = await open(browser, file))
    console.log(`${path.basename(file)}, browser running: ${text}`)
  }
  for (const part of ['#flame', '#threads']) {
    for (const kind of ['zoom in', 'pan', 'zoom out']) {
      const f = await frames(page, part, kind)
      console.log(`${path.basename(file)}: ${part} ${kind}: ${f.perSecond} frames per second, the longest took ${f.longest} ms`)
    }
  }
  await browser.close()
}
rmSync(dir, { recursive: true })
