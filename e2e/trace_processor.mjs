// Asks Perfetto's trace_processor questions in SQL about trace files, and prints a line of JSON per file: the rows of
// each question as strings. The program is the one of Perfetto's UI, compiled to WebAssembly for a web worker; it needs
// no browser, only the few functions of a worker that it calls.
//
// Usage: node trace_processor.mjs DIR QUERIES FILE..., where DIR is the package with engine_bundle.js and
// trace_processor.wasm, and QUERIES is a JSON object of questions by name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import vm from 'node:vm'

const [dir, queries, ...files] = process.argv.slice(2)
const wasm = readFileSync(join(dir, 'trace_processor.wasm'))
const compiled = new WebAssembly.Module(wasm)
const bundle = new vm.Script(readFileSync(join(dir, 'engine_bundle.js'), 'utf8'), { filename: 'engine_bundle.js' })

// Protobuf, as far as the messages of trace_processor.proto need it.
const varint = (n) => {
  const bytes = []
  for (n = BigInt.asUintN(64, BigInt(n)); n > 127n; n >>= 7n) bytes.push(Number(n & 127n) | 128)
  return Buffer.from([...bytes, Number(n)])
}
const number = (field, n) => Buffer.concat([varint(field << 3), varint(n)])
const bytes = (field, b) => Buffer.concat([varint(field << 3 | 2), varint(b.length), b])

function readVarint (b, at) {
  let n = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = b[at++]
    n |= BigInt(byte & 127) << shift
    if (byte < 128) return [n, at]
  }
}

// fields returns the fields of a message by number: BigInts, and Buffers of what has a length.
function fields (b) {
  const m = {}
  for (let at = 0; at < b.length;) {
    let key, value
    ;[key, at] = readVarint(b, at)
    if ((key & 7n) === 0n) [value, at] = readVarint(b, at)
    else if ((key & 7n) === 2n) {
      let size
      ;[size, at] = readVarint(b, at)
      value = b.subarray(at, at += Number(size))
    } else throw new Error(`wire type ${key & 7n}`)
    ;(m[key >> 3n] ??= []).push(value)
  }
  return m
}

function packed (b = Buffer.alloc(0)) {
  const list = []
  for (let at = 0; at < b.length;) {
    const [n, next] = readVarint(b, at)
    list.push(n)
    at = next
  }
  return list
}

// start returns a function that sends a request to a new instance of trace_processor and returns its replies.
async function start () {
  const replies = []
  const port = { postMessage: (data) => replies.push(Buffer.from(data)) }
  const scope = vm.createContext({
    WebAssembly: { ...Object.fromEntries(['Instance', 'Memory', 'Table', 'Global', 'RuntimeError'].map((k) => [k, WebAssembly[k]])), Module: function Module (b) { return b.length === wasm.length ? compiled : new WebAssembly.Module(b) } },
    console: { log () {}, warn () {}, error: console.error },
    TypeError, TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout,
    location: { href: 'file:///engine_bundle.js' },
    importScripts () {},
    XMLHttpRequest: class { open () {} send () { this.response = wasm } },
  })
  scope.self = scope
  bundle.runInContext(scope)
  scope.onmessage({ data: { enginePort: port } })
  const Bytes = vm.runInContext('Uint8Array', scope)
  await new Promise((resolve) => setTimeout(resolve)) // the module is compiled; its start is a promise
  let sequence = 0
  return (...parts) => {
    port.onmessage({ data: new Bytes(bytes(1, Buffer.concat([number(1, sequence++), ...parts]))) })
    return replies.splice(0).flatMap((r) => fields(r)[1].map(fields))
  }
}

// rows returns the rows of QueryResult messages as strings.
function rows (replies) {
  const list = []
  let columns = 0
  for (const reply of replies) {
    const result = fields(reply[203][0])
    if (result[2]?.[0]?.length) throw new Error(String(result[2][0]))
    columns ||= result[1]?.length ?? 0
    for (const batch of (result[3] ?? []).map(fields)) {
      const strings = String(batch[5]?.[0] ?? '').split('\0')
      const integers = packed(batch[2]?.[0]).map((n) => String(BigInt.asIntN(64, n)))
      const floats = batch[3]?.[0] ?? Buffer.alloc(0)
      let float = 0
      const cells = packed(batch[1]?.[0]).map((type) => {
        switch (type) {
          case 2n: return integers.shift()
          case 3n: return String(floats.readDoubleLE(8 * float++))
          case 4n: return strings.shift()
        }
        return ''
      })
      for (let i = 0; i < cells.length; i += columns) list.push(cells.slice(i, i + columns))
    }
  }
  return list
}

for (const file of files) {
  const result = { error: '' }
  try {
    const send = await start()
    const data = readFileSync(file)
    for (let at = 0; at < data.length; at += 16 << 20) send(number(2, 1), bytes(101, data.subarray(at, at + (16 << 20))))
    send(number(2, 2))
    for (const [name, sql] of Object.entries(JSON.parse(queries))) result[name] = rows(send(number(2, 3), bytes(103, bytes(1, Buffer.from(sql)))))
  } catch (e) {
    result.error = String(e?.message ?? e)
  }
  console.log(JSON.stringify(result))
}
