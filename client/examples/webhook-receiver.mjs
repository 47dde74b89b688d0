/**
 * Receives webhooks, verifies their signatures and prints a line for each event. Needs Node 20 or newer.
 *
 *   DARKROOM_WEBHOOK_SECRET=whsec_… PORT=8080 node client/examples/webhook-receiver.mjs
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.DARKROOM_WEBHOOK_SECRET ?? '';
const port = Number(process.env.PORT ?? 8080);
const mostBytes = 1024 * 1024;

/** headers: Node's object or a fetch Headers. rawBody: the bytes as received (Buffer or Uint8Array), before parsing. */
function isFromDarkroom(headers, rawBody, secret) {
  const pairs = typeof headers[Symbol.iterator] === 'function' ? [...headers] : Object.entries(headers);
  const received = new Map(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
  const timestamp = received.get('x-timestamp') ?? '';
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex');
  const expected = Buffer.from(`sha256=${hmac}`);
  // While a secret is being rotated, the second header is signed with the secret that was replaced.
  return ['x-webhook-signature-256', 'x-webhook-signature-256-previous'].some((name) => {
    const value = Buffer.from(received.get(name) ?? '');
    return value.length === expected.length && timingSafeEqual(value, expected);
  });
}

/** The body as it was received: the signature covers exactly these bytes. */
async function rawBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An event can arrive more than once. A real receiver keeps these ids in its database. */
const seen = new Set();

function handle({ event, id, error, result_urls: urls = [] }) {
  console.log([event, id, error ?? urls.join(' ')].join('  '));
}

const server = createServer(async (request, response) => {
  const body = await rawBody(request);
  if (body === undefined) return response.writeHead(413, { connection: 'close' }).end();
  if (!isFromDarkroom(request.headers, body, secret)) return response.writeHead(401).end();
  // Answer within ten seconds: any 2xx ends the attempts.
  response.writeHead(200).end();
  const webhookId = request.headers['webhook-id'];
  if (seen.has(webhookId)) return undefined;
  seen.add(webhookId);
  return handle(JSON.parse(body.toString('utf8')));
});

if (secret === '') {
  console.error('Set DARKROOM_WEBHOOK_SECRET: `npm run admin -- webhooks secret ACCOUNT` shows it.');
  process.exitCode = 1;
} else {
  server.listen(port, () => console.log(`listening on http://127.0.0.1:${server.address().port}/`));
}
