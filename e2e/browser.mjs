// Starts the browser for the other scripts: the program in the environment variable CHROMIUM, or a common command.
import puppeteer from 'puppeteer-core'

export const launch = (...more) => puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: 'new',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', ...more],
})
