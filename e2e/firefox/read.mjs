// Reads profiles with the Firefox Profiler (profiler-cli), and prints for each file on a line, as JSON: its processes and threads with
// the numbers of samples and markers, the functions of the thread with most samples, and warnings.
//
// Usage: node read.mjs FILE...
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const cli = join(import.meta.dirname, 'node_modules', '@firefox-devtools', 'profiler-cli', 'dist', 'profiler-cli.js')
const dir = mkdtempSync(join(tmpdir(), 'ntconv-fx-')) // a short name: it holds Unix domain sockets
const env = { ...process.env, PROFILER_CLI_SESSION_DIR: dir }
const patience = 60000 // milliseconds

// A session is a server that has read a file. profiler-cli load starts one, too, but gives it half a second, which is too short on a
// machine that is busy, and leaves it running.
const start = async (file, session) => {
  const server = spawn(process.execPath, [cli, '--daemon', resolve(file), '--session', session], { env, stdio: 'ignore' })
  const log = () => { try { return readFileSync(join(dir, `${session}.log`), 'utf8') } catch { return '' } }
  for (const end = Date.now() + patience; ; await sleep(20)) {
    if (/Profile loaded successfully|Failed to load profile/.test(log())) return { server, log }
    if (server.exitCode !== null || Date.now() > end) {
      server.kill('SIGKILL')
      throw new Error(`the server has not read the file: ${log()}`)
    }
  }
}
const ask = (session, ...args) => JSON.parse(execFileSync(process.execPath, [cli, ...args, '--session', session, '--json'],
  { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28, timeout: patience }))

const read = (session, result) => {
  for (const t of ask(session, 'thread', 'list').threads) {
    const { sampleCount, markerCount } = ask(session, 'thread', 'info', '--thread', t.threadHandle)
    result.threads.push({ pid: t.pid, tid: String(t.tid), process: t.processName, name: t.name, samples: sampleCount, markers: markerCount, handle: t.threadHandle })
  }
  const most = result.threads.reduce((a, b) => a && a.samples >= b.samples ? a : b, undefined)
  if (!most?.samples) return
  const list = ask(session, 'thread', 'functions', '--thread', most.handle, '--include-idle')
  result.weightType = list.weightType
  for (const f of list.functions) result.functions[f.name] = [f.selfSamples, f.totalSamples]
}

try {
  for (const [i, file] of process.argv.slice(2).entries()) {
    const result = { error: '', threads: [], functions: {}, warnings: [] }
    let session
    try {
      session = await start(file, `s${i}`)
      read(`s${i}`, result)
    } catch (e) {
      result.error = String(e.stderr || e.stack)
    }
    session?.server.kill('SIGKILL') // it may hang
    if (session) result.warnings = session.log().split('\n').filter((line) => /^\[(WARN|ERROR)/.test(line))
    console.log(JSON.stringify(result))
  }
} finally {
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
}
