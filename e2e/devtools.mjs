// Reads trace files with the trace engine of Chrome's DevTools, and prints the result of its handlers as a line
// of JSON per file.
//
// Usage: node devtools.mjs FILE...
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

globalThis.DOMRect = class { // the engine expects a browser
  constructor (x, y, width, height) { Object.assign(this, { x, y, width, height }) }
}
const engine = await import('@paulirish/trace_engine')

for (const file of process.argv.slice(2)) {
  const result = { error: '', handlers: 0, events: 0, samples: 0, functions: 0, threads: [], shown: [] }
  const warnings = []
  console.warn = console.error = (...words) => warnings.push(words.join(' '))
  try {
    let bytes = readFileSync(file)
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = gunzipSync(bytes)
    const json = JSON.parse(bytes)
    const events = json.traceEvents ?? json
    const processor = engine.Processor.TraceProcessor.createWithAllHandlers()
    await processor.parse(events, {})
    const data = processor.data ?? processor.parsedTrace
    result.events = events.length
    result.handlers = Object.keys(data).length
    // The flame chart has one track per thread of the renderer; calls are what it shows of the samples.
    for (const [pid, process] of data.Renderer.processes) {
      for (const [tid, thread] of process.threads) result.shown.push({ pid: Number(pid), tid: Number(tid), calls: thread.profileCalls.length })
    }
    for (const [pid, threads] of data.Samples.profilesInProcess) {
      for (const [tid, profile] of threads) {
        const parsed = profile.parsedProfile
        // The model repeats no sample and drops none: its nodes are those of the file, and its samples point to them.
        const samples = profile.rawProfile.samples.length
        result.samples += samples
        result.functions += profile.rawProfile.nodes.length
        result.threads.push({ pid: Number(pid), tid: Number(tid), samples, read: parsed.samples.length, total: parsed.profileEndTime - parsed.profileStartTime })
      }
    }
  } catch (e) {
    result.error = String(e?.stack ?? e)
  }
  console.log(JSON.stringify({ ...result, warnings }))
}
