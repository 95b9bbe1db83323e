// The page of "tracetta view" in a real browser.  usage: node view.js PLAYWRIGHT CHROMIUM URL TRACETTA TRACE HOSTILE_URL PAIR_URL NEW_TRACE LOG_URL LOG_TRACE
// Prints TAP.  PLAYWRIGHT is the folder of the npm package playwright-core.
const { execFileSync } = require('node:child_process');

const [playwright, chromium, url, tracetta, trace, hostileUrl, pairUrl, newTrace, logUrl, logTrace] = process.argv.slice(2);
let n = 0;

function verdict(name, isFine, text = '') {
  n++;
  console.log(`${isFine ? 'ok' : 'not ok'} ${n} - ${name}${isFine ? '' : `\n# ${JSON.stringify(text)}`}`);
}

function query(sql, of = trace) {
  return JSON.parse(execFileSync(tracetta, ['query', '-q', '--format=json', of, sql], { maxBuffer: 1 << 28 }).toString());
}

/** Opens a page that records its errors and the hosts it asks. */
async function open(browser, address) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  const seen = { errors: [], foreign: [], dialogs: 0 };
  const origin = new URL(address).origin;
  page.on('console', (message) => seen.errors.push(message.text()));
  page.on('pageerror', (error) => seen.errors.push(error.message));
  page.on('request', (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) seen.foreign.push(request.url()); });
  page.on('dialog', (dialog) => { seen.dialogs++; void dialog.dismiss(); });
  await page.addInitScript(() => {
    globalThis.violations = 0;
    document.addEventListener('securitypolicyviolation', () => { globalThis.violations++; });
  });
  await page.goto(address);
  await page.waitForFunction(() => globalThis.tracettaPage?.frames.length > 1);
  await page.waitForTimeout(500);
  return { page, seen };
}

const range = (page) => page.evaluate(() => [tracettaPage.state.a, tracettaPage.state.z]);

async function checkKeys(page) {
  await page.mouse.move(900, 400);
  const [a, z] = await range(page);
  await page.keyboard.press('w');
  const [a1, z1] = await range(page);
  verdict('key_w_zooms_in', z1 - a1 < (z - a) * 0.8, [a1, z1]);
  await page.keyboard.press('d');
  const [a2, z2] = await range(page);
  verdict('key_d_pans_right', a2 > a1 && Math.abs(z2 - a2 - (z1 - a1)) < 2, [a2, z2]);
  await page.keyboard.press('a');
  await page.keyboard.press('s');
  const [a3, z3] = await range(page);
  verdict('keys_a_and_s_go_back', Math.abs(a3 - a) < (z - a) / 100 && Math.abs(z3 - z) < (z - a) / 100, [a3, z3]);
  await page.mouse.wheel(0, 200);
  await page.waitForTimeout(100);
  verdict('wheel_scrolls', (await page.evaluate(() => tracettaPage.state.scroll)) > 0);
  await page.evaluate(() => { tracettaPage.state.scroll = 0; });
  await page.keyboard.press('/');
  verdict('slash_focuses_the_search', (await page.evaluate(() => document.activeElement.id)) === 'search');
}

async function checkSearch(page) {
  const [{ name, count }] = query("SELECT name, count(*) AS count FROM slice WHERE name IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1");
  const matches = query(`SELECT count(*) AS n FROM slice WHERE instr(lower(name), lower('${name}'))`)[0].n;
  await page.fill('#search', name);
  await page.waitForTimeout(500);
  const text = await page.textContent('#hits');
  verdict('search_counts_as_query', Number(text.replaceAll(',', '')) >= matches && count > 0, [text, matches]);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(400);
  const first = await page.evaluate(() => tracettaPage.state.selected?.start);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(400);
  const second = await page.evaluate(() => tracettaPage.state.selected?.start);
  verdict('search_goes_to_the_next_match', second > first, [first, second]);
  await page.fill('#search', '');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  verdict('escape_clears_the_selection', await page.evaluate(() => tracettaPage.state.selected === null));
  await page.keyboard.press('0');
}

/** Points at the middle of wide slices, their place is computed from the rows of a query. */
async function checkBoxes(page) {
  const tracks = await page.evaluate(() => tracettaPage.state.tracks.filter((track) => track.kind === 0));
  await page.evaluate(() => { tracettaPage.state.scroll = 0; });
  const places = await page.evaluate(() => ({ lines: tracettaPage.lines().map((line) => ({ y: line.y, row: line.row })), scroll: tracettaPage.state.scroll }));
  const start = await page.evaluate(() => String(tracettaPage.state.info.start));
  const [a, z] = await range(page);
  const rows = query(`SELECT ts - ${start} AS ts, max(dur, 0) AS dur, slice.utid AS utid, depth, ifnull(slice.name, '') AS name FROM slice JOIN track ON track.id = track_id WHERE type = 'thread_track' AND dur > ${Math.round((z - a) / 60)} AND depth < 20 ORDER BY slice.dur DESC LIMIT 2000`);
  await page.mouse.move(700, 300);
  let right = 0;
  let asked = 0;
  for (const row of rows) {
    const track = tracks.find((known) => known.utid === row.utid);
    const line = track && places.lines.find((known) => known.row === track.row + row.depth);
    const middle = row.ts + row.dur / 2;
    const x = 230 + ((middle - a) / (z - a)) * (1600 - 230);
    const box = await page.locator('#view').boundingBox();
    const y = line ? box.y + 56 + line.y - places.scroll + 9 : 0;
    if (!line || y > 880 || y < box.y + 60 || x < 240 || x > 1590) continue;
    await page.mouse.move(x, y);
    if (asked++ >= 60) break;
    const text = await page.locator('#tip').isVisible() ? await page.textContent('#tip b') : '';
    if (text === (row.name || '(no name)')) right++;
    else console.log(`# ${JSON.stringify([row, line, text])}`);
  }
  verdict('names_under_the_pointer_are_those_of_query', asked > 5 && right === Math.min(asked, 60), { asked, right });
}

async function checkRange(page) {
  const box = await page.locator('#view').boundingBox();
  await page.mouse.move(600, box.y + 45); /* the ruler: all tracks */
  await page.mouse.down();
  await page.mouse.move(1000, box.y + 46, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector('#body table');
  const shown = await page.evaluate(() => [...document.querySelectorAll('#body tbody tr')].map((row) => [...row.children].map((cell) => cell.title)));
  const sql = await page.evaluate(() => document.querySelector('#body textarea').value);
  const expected = query(sql).map((row) => Object.values(row).map((value) => String(value ?? '')));
  verdict('table_of_a_range_is_that_of_query', shown.length > 0 && shown.length === expected.length && shown.every((row, i) => row[0] === expected[i][0] && row[1] === expected[i][1] && row[2] === expected[i][2]), [shown[0], expected[0]]);
  await page.click('#tabs >> text=Flame');
  await page.waitForSelector('#body canvas');
  verdict('flame_graph_of_a_range_is_shown', (await page.textContent('#body .note')).startsWith('all:'), await page.textContent('#body .note'));
  await page.keyboard.press('Escape');
}

async function checkDetails(page) {
  const [longest] = query("SELECT ts, dur, slice.name AS name FROM slice JOIN track ON track.id = track_id WHERE type = 'thread_track' AND slice.name IS NOT NULL AND dur > 0 ORDER BY slice.dur DESC LIMIT 1");
  await page.fill('#search', longest.name);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  await page.fill('#search', '');
  await page.locator('#view').focus();
  await page.keyboard.press('f');
  await page.waitForTimeout(500);
  const at = await page.evaluate(() => { const { x, y } = tracettaPage.placeOfSelection(); return [x, y]; });
  await page.mouse.click(at[0], at[1]);
  await page.waitForSelector('#panel dl');
  await page.waitForTimeout(500);
  const facts = await page.textContent('#body dl');
  verdict('click_shows_exact_values', /duration.*\(\d+ ns\)/.test(facts) && facts.includes('thread'), facts);
  await page.keyboard.press('Escape');
  await page.keyboard.press('0');
}

/** Frames must come although answers are late. */
async function checkDelay(page) {
  await page.route('**/lod?*', async (route) => { await new Promise((done) => setTimeout(done, 200)); await route.continue().catch(() => {}); });
  const frames = await page.evaluate(async () => {
    tracettaPage.frames.length = 0;
    const begin = performance.now();
    for (let i = 0; i < 60; i++) {
      const { a, z } = tracettaPage.state;
      tracettaPage.setRange(a + (z - a) * 0.01, z - (z - a) * 0.01);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return { n: tracettaPage.frames.length, ms: performance.now() - begin };
  });
  await page.unroute('**/lod?*');
  verdict('frames_do_not_wait_for_the_server', frames.n >= 58, frames);
}

/** The list of messages follows the visible range, and leads to a message. */
async function checkLog(browser) {
  const { page, seen } = await open(browser, logUrl);
  const listed = () => page.evaluate(() => document.querySelectorAll('#body tbody tr').length);
  const expected = async () => {
    const [a, z] = await page.evaluate(() => [tracettaPage.state.a, tracettaPage.state.z].map((time) => String(tracettaPage.state.info.start + BigInt(Math.round(time)))));
    return query(`SELECT count(*) AS n FROM log WHERE ts >= ${a} AND ts < ${z}`, logTrace)[0].n;
  };
  await page.keyboard.press('l');
  await page.waitForSelector('#body tbody tr');
  const all = [await listed(), await expected()];
  await page.evaluate(() => tracettaPage.setRange(0, 400000));
  await page.waitForTimeout(1500);
  const part = [await listed(), await expected()];
  verdict('list_of_messages_follows_the_range', all[0] === all[1] && part[0] === part[1] && part[0] < all[0] && part[0] > 0, [all, part]);
  const ts = await page.evaluate(() => document.querySelector('#body tbody tr td').title);
  await page.click('#body tbody tr');
  await page.waitForTimeout(300);
  const inside = await page.evaluate((time) => { const { a, z, info } = tracettaPage.state; const at = Number(BigInt(time) - info.start); return at > a + (z - a) / 4 && at < z - (z - a) / 4; }, ts);
  verdict('click_on_a_message_goes_to_it', inside && seen.errors.length === 0, [ts, seen.errors]);
  await page.close();
}

/** Two traces one above the other show the same range, and the table compares them. */
async function checkPair(browser) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  const errors = [];
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(pairUrl);
  await page.waitForSelector('#diff td');
  await page.waitForTimeout(1000);
  const [upper, lower] = ['/a/', '/b/'].map((part) => page.frames().find((frame) => frame.url().includes(part)));
  const absolute = (frame) => frame.evaluate(() => [tracettaPage.state.a, tracettaPage.state.z].map((time) => Math.round(time + Number(tracettaPage.state.info.start))));
  verdict('overlapping_traces_are_on_one_clock', (await page.textContent('#clock')).includes('one clock'), await page.textContent('#clock'));
  await page.mouse.click(900, 40);
  await page.keyboard.press('w');
  await page.waitForTimeout(500);
  const [first, second] = [await absolute(upper), await absolute(lower)];
  verdict('both_traces_show_the_same_range', first[0] > 0 && first.every((time, i) => Math.abs(time - second[i]) <= 2), [first, second]);
  await page.click('#diff tr.go');
  const shown = await page.evaluate(() => [...document.querySelectorAll('#diff tr.go:first-of-type, #diff tr.go')].slice(0, 5).map((row) => [...row.children].map((cell) => cell.textContent)));
  const counts = (of, name) => query(`SELECT count(*) AS n FROM slice WHERE dur >= 0 AND name = '${name}'`, of)[0].n;
  verdict('differences_count_as_query', shown.length === 5 && shown.every(([name, old, now]) => Number(old) === counts(trace, name) && Number(now) === counts(newTrace, name)), shown);
  verdict('pages_of_two_traces_have_no_error', errors.length === 0, errors);
  await page.close();
}

/** Drags from near the start of the selected slice to near its end: the selection has its exact edges. */
async function checkSnap(page) {
  const [longest] = query("SELECT ts - (SELECT start_ts FROM trace_bounds) AS ts, dur, slice.name AS name FROM slice JOIN track ON track.id = track_id WHERE type = 'thread_track' AND slice.name IS NOT NULL AND dur > 0 ORDER BY slice.dur DESC LIMIT 1");
  await page.fill('#search', longest.name);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  await page.fill('#search', '');
  await page.locator('#view').focus();
  await page.keyboard.press('f');
  await page.waitForTimeout(700);
  const [item, y, a, z] = await page.evaluate(() => { const { state, placeOfSelection } = tracettaPage; return [state.selected, placeOfSelection().y, state.a, state.z]; });
  const left = (await page.locator('#view').boundingBox()).x;
  const xOf = (time) => left + 230 + ((time - a) / (z - a)) * (1600 - 230);
  await page.mouse.move(xOf(item.start) + 3, y);
  await page.mouse.down();
  await page.mouse.move((xOf(item.start) + xOf(item.start + item.length)) / 2, y, { steps: 3 });
  await page.mouse.move(xOf(item.start + item.length) - 3, y, { steps: 3 });
  await page.mouse.up();
  const area = await page.evaluate(() => ({ a: tracettaPage.state.area?.a, z: tracettaPage.state.area?.z }));
  verdict('selection_snaps_to_the_edges_of_a_slice', area.a === item.start && area.z === item.start + item.length && item.length > 0, [area, item]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('0');
}

/** A click on the name of a track pins it above all others, and one on a heading folds its tracks. */
async function checkTree(page) {
  await page.evaluate(() => { tracettaPage.state.scroll = 0; });
  const shown = () => page.evaluate(() => tracettaPage.lines().map((line) => ({ y: line.y, height: line.height, track: line.track ? line.track.index : -1 })));
  const box = await page.locator('#view').boundingBox();
  const click = (line) => page.mouse.click(box.x + 60, box.y + 56 + line.y + line.height / 2);
  const before = await shown();
  const track = before.find((line) => line.track >= 0);
  await click(track);
  const pinned = await shown();
  verdict('click_on_a_name_pins_its_track', pinned[0].track < 0 && pinned[1].track === track.track && before[0].track < 0, [pinned.slice(0, 3), track]);
  await click(pinned[1]);
  const again = await shown();
  await click(again[0]);
  const folded = await shown();
  verdict('click_on_a_heading_folds_its_tracks', again.length === before.length && folded.length < before.length && folded[1].track < 0, [before.length, again.length, folded.length]);
  await click(folded[0]);
}

async function main() {
  const browser = await require(playwright).chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
  const { page, seen } = await open(browser, url);
  verdict('secret_leaves_the_address', !page.url().includes('k='), page.url());
  await checkKeys(page);
  await checkSearch(page);
  await checkBoxes(page);
  await checkRange(page);
  await checkDetails(page);
  await checkSnap(page);
  await checkTree(page);
  await checkDelay(page);
  verdict('console_is_empty', seen.errors.length === 0, seen.errors);
  verdict('no_request_leaves_the_port', seen.foreign.length === 0, seen.foreign);
  verdict('policy_is_not_violated', (await page.evaluate(() => globalThis.violations)) === 0);
  const hostile = await open(browser, hostileUrl);
  await hostile.page.mouse.click(900, 150);
  await hostile.page.waitForTimeout(500);
  const tags = await hostile.page.evaluate(() => document.querySelectorAll('img, script:not([src])').length);
  const slowest = await hostile.page.evaluate(() => Math.max(...tracettaPage.frames.slice(2)));
  verdict('markup_in_names_stays_text', tags === 0 && hostile.seen.dialogs === 0 && hostile.seen.errors.length === 0, [tags, hostile.seen]);
  verdict('names_of_a_megabyte_do_not_slow_frames', slowest < 100, slowest);
  await checkPair(browser);
  await checkLog(browser);
  await browser.close();
  console.log(`1..${n}`);
}

main().catch((error) => {
  verdict('browser_test_runs', false, String(error.stack));
  console.log(`1..${n}`);
  process.exit(1);
});
