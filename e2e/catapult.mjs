// Reads trace files with the importer of chrome://tracing (catapult), which comes with Go, and prints a line of
// JSON per file: its contents and the importer's warnings.
//
// Usage: node catapult.mjs DIR FILE..., where DIR is GOROOT/src/internal/trace/traceviewer/static.
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { launch } from './browser.mjs'

const [dir, ...files] = process.argv.slice(2)
const pages = {
  '/': ['text/html', () => '<html><head><script src="/webcomponents.min.js"></script><link rel="import" href="/trace_viewer_full.html"></head></html>'],
  '/webcomponents.min.js': ['text/javascript', () => readFileSync(join(dir, 'webcomponents.min.js'))],
  '/trace_viewer_full.html': ['text/html', () => readFileSync(join(dir, 'trace_viewer_full.html'))],
}
files.forEach((f, i) => {
  pages[`/file/${i}`] = ['text/plain', () => {
    const bytes = readFileSync(f)
    return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
  }]
})
const server = createServer((request, response) => {
  const page = pages[request.url]
  response.writeHead(page ? 200 : 404, { 'Content-Type': page?.[0] ?? 'text/plain' })
  response.end(page?.[1]())
})
await new Promise((ready) => server.listen(0, '127.0.0.1', ready))

// load runs in the page.
const load = async (address) => {
  const model = new tr.Model()
  const importer = new tr.importer.Import(model, new tr.importer.ImportOptions())
  let error = ''
  try {
    await importer.importTraces([await (await fetch(address)).text()])
  } catch (e) {
    error = String(e?.message ?? e)
  }
  const deep = (slices) => slices.reduce((n, s) => n + 1 + deep(s.subSlices ?? []), 0)
  const counts = { slices: 0, async: 0, instants: model.instantEvents.length, counterValues: 0 }
  const processes = Object.values(model.processes).map((p) => {
    counts.instants += p.instantEvents.length
    const counters = Object.values(p.counters).map((c) => {
      const values = c.series.reduce((n, s) => n + s.samples.length, 0)
      counts.counterValues += values
      return { name: c.name, values }
    })
    const threads = Object.values(p.threads).map((t) => {
      const slices = t.sliceGroup.slices
      counts.slices += slices.length
      counts.async += deep(t.asyncSliceGroup.slices)
      return { tid: Number(t.tid), name: t.name ?? '', slices: slices.length, async: deep(t.asyncSliceGroup.slices), samples: t.samples?.length ?? 0 }
    })
    return { pid: Number(p.pid), name: p.name ?? '', threads, counters }
  })
  return {
    error, warnings: model.importWarnings.map((w) => `${w.type}: ${w.message}`), ...counts, flows: model.flowEvents.length,
    samples: model.samples.length, begin: model.bounds.min, end: model.bounds.max, processes,
  }
}

const browser = await launch()
try {
  const page = await browser.newPage()
  const failures = []
  page.on('pageerror', (e) => failures.push(String(e)))
  await page.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: 'load', timeout: 60000 })
  await page.waitForFunction(() => window.tr?.Model && tr.importer?.Import, { timeout: 60000 })
  for (let i = 0; i < files.length; i++) {
    const result = await page.evaluate(load, `/file/${i}`)
    result.warnings.push(...failures.splice(0))
    console.log(JSON.stringify(result))
  }
} finally {
  await browser.close()
  server.close()
}
