/**
 * Renders one image and saves it. Needs Node 20 or newer and no package.
 *
 *   DARKROOM_API=http://127.0.0.1:8787/api/public/v1 DARKROOM_KEY=dk_live_… \
 *     node client/examples/generate.mjs "a quiet lake at dawn" lake.png
 */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const api = process.env.DARKROOM_API ?? 'http://127.0.0.1:8787/api/public/v1';
const key = process.env.DARKROOM_KEY ?? '';
const [prompt = 'a quiet lake at dawn', file = 'image.png'] = process.argv.slice(2);

const tries = 5;
const longestWaitMillis = 10 * 60 * 1000;

/** These answers say that the same request may succeed later. */
const isTemporary = (status) => status === 429 || status === 500 || status === 503;

/** Sends a request. Repeats it after a broken connection or a temporary refusal, as often as `tries` says. */
async function call(path, { method = 'GET', headers = {}, body } = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === tries;
    let response;
    try {
      response = await fetch(`${api}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(35_000),
      });
      const answer = await response.json();
      if (response.ok) return { answer, headers: response.headers };
      if (isLast || !isTemporary(response.status)) {
        throw new Refused(`${response.status} ${answer.error?.code ?? ''}: ${answer.error?.message ?? ''}`);
      }
    } catch (error) {
      if (error instanceof Refused || isLast) throw error;
    }
    // Every 429 and 503 of the service says how long to wait.
    const seconds = Number(response?.headers.get('retry-after')) || 2 ** attempt;
    await sleep(seconds * 1000);
  }
}

/** The API refused the request, and the same request would be refused again. */
class Refused extends Error {}

/** Submits the prompt. The key makes every repetition of this request return the same creation. */
async function submit() {
  const { answer } = await call('/images/generate', {
    method: 'POST',
    headers: { 'idempotency-key': randomUUID() },
    body: { model: 'sandbox-standard', prompt },
  });
  return answer;
}

/** Polls until the creation has ended, at the pace that the service asks for. */
async function wait(id) {
  for (const until = Date.now() + longestWaitMillis; Date.now() < until;) {
    const { answer, headers } = await call(`/creations/${id}`);
    if (answer.status === 'completed') return answer;
    if (answer.status === 'failed')
      throw new Refused(`${answer.error_code}: ${answer.error} The charge was refunded.`);
    await sleep(Number(headers.get('retry-after') ?? 2) * 1000);
  }
  throw new Error(`The creation ${id} did not end in time.`);
}

async function download(url) {
  // The address of an image needs no key.
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The image could not be fetched: ${response.status}.`);
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
}

try {
  const { id, cost } = await submit();
  console.log(`accepted   ${id}, ${cost} USD`);
  const { result_urls: urls } = await wait(id);
  await download(urls[0]);
  console.log(`completed  ${file}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
