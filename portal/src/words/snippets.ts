/** Requests and receivers to copy. They run as they stand. */
import type { MeView } from '../../../core/portal/views.ts';

export interface Snippet {
  readonly name: string;
  readonly text: string;
}

type Addresses = Pick<MeView['service'], 'api_url' | 'openai_url'>;

/** The body of POST /images/generate. */
export interface RequestBody {
  readonly model: string;
  readonly prompt?: string;
}

/** A text inside single quotes of a shell. */
const shell = (text: string): string => text.replaceAll("'", String.raw`'\''`);
/** A JSON value as a literal of Python. Its texts are those of JSON. */
function python(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') {
    const lines = Object.entries(value).map(([name, one]) => `    ${JSON.stringify(name)}: ${python(one)},`);
    return `{\n${lines.join('\n')}\n}`;
  }
  return JSON.stringify(value);
}

export const curlOf = (apiUrl: string, key: string, body: unknown): string =>
  `curl -s ${apiUrl}/images/generate \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${shell(JSON.stringify(body))}'`;

const nodeOf = (apiUrl: string, key: string, body: unknown): string =>
  `// Node 20 or newer: save as generate.mjs, then run "node generate.mjs".
const answer = await fetch('${apiUrl}/images/generate', {
  method: 'POST',
  headers: {
    authorization: 'Bearer ${key}',
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
    // Waits up to 20 s for the image.
    prefer: 'wait=20',
  },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),
});
console.log(answer.status, await answer.json());`;

const pythonOf = (apiUrl: string, key: string, body: unknown): string =>
  `# Python 3.9 or newer, without a package.
import json, urllib.request, uuid

request = urllib.request.Request(
    "${apiUrl}/images/generate",
    data=json.dumps(${python(body).replaceAll('\n', '\n    ')}).encode(),
    headers={
        "Authorization": "Bearer ${key}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))`;

const clientOf = (apiUrl: string, key: string, body: unknown): string =>
  `// npm install darkroom-client
import { Darkroom } from 'darkroom-client';

const darkroom = new Darkroom({ apiKey: '${key}', baseUrl: '${apiUrl}' });
const done = await darkroom.images.generateAndWait(${JSON.stringify(body, null, 2)});
console.log(done.result_urls);`;

/** The library sends only what the OpenAI API knows. */
const openaiOf = (openaiUrl: string, key: string, { model, prompt }: RequestBody): string =>
  `// npm install openai
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const openai = new OpenAI({ apiKey: '${key}', baseURL: '${openaiUrl}' });
const { data } = await openai.images.generate(${JSON.stringify({ model, prompt }, null, 2)});
await writeFile('image.png', data[0].b64_json, 'base64');`;

/** The same request in each language. */
export const requestSnippets = (
  { api_url: apiUrl, openai_url: openaiUrl }: Addresses,
  key: string,
  body: RequestBody,
): readonly Snippet[] => [
  { name: 'curl', text: curlOf(apiUrl, key, body) },
  { name: 'Node', text: nodeOf(apiUrl, key, body) },
  { name: 'Python', text: pythonOf(apiUrl, key, body) },
  { name: 'darkroom-client', text: clientOf(apiUrl, key, body) },
  { name: 'OpenAI SDK', text: openaiOf(openaiUrl, key, body) },
];

/** Receivers that verify. The secret is in the environment, so that nobody commits it. */
export const receiverSnippets: readonly Snippet[] = [
  {
    name: 'Node',
    text: `import { verifyWebhook } from 'darkroom-client/webhooks';

// request: a fetch Request, or the request of Express or Fastify with its raw body.
const event = await verifyWebhook(request, process.env.DARKROOM_WEBHOOK_SECRET);
console.log(event.event ?? event.notice, event.id);`,
  },
  {
    name: 'Python',
    text: `import base64, hashlib, hmac, os, time

def is_ours(headers, raw_body: bytes) -> bool:
    secret = os.environ["DARKROOM_WEBHOOK_SECRET"]
    message_id, signed_at = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(signed_at)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{message_id}.{signed_at}.".encode() + raw_body
    expected = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    given = [one.removeprefix("v1,") for one in headers["webhook-signature"].split(" ")]
    return any(hmac.compare_digest(expected, one) for one in given)`,
  },
];
