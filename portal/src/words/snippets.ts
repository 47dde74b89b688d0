/** Requests and receivers to copy. They run as they stand. */
import type { GenerateBody } from '../../../service/contract/portal-calls.ts';
import type { MeView, RequestRow } from '../../../service/contract/portal-views.ts';

export interface Snippet {
  readonly name: string;
  readonly text: string;
  /** What the library of the snippet cannot say by itself. */
  readonly note?: string;
}

type Addresses = Pick<MeView['service'], 'api_url' | 'openai_url'>;

/** The package of the client on the host of the portal. */
const packageAt = (origin: string): string => `${origin}/client/darkroom-client.tgz`;

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

/** The file into which a snippet saves the image. */
const fileOf = ({ output_format: format }: Readonly<Record<string, unknown>>): string =>
  `image.${typeof format === 'string' ? format : 'png'}`;

/** JSON inside of code that is indented. */
const json = (value: unknown, indent: string): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);

/** The service writes JSON without white space, so two patterns are enough to read it. */
export const curlOf = (apiUrl: string, key: string, body: Readonly<Record<string, unknown>>): string =>
  `# Orders an image, waits for it, and saves it.
api='${apiUrl}'
key='Authorization: Bearer ${key}'
answer=$(curl -s "$api/images/generate" -H "$key" -H 'Content-Type: application/json' \\
  -d '${shell(JSON.stringify(body))}')
id=$(printf '%s' "$answer" | sed -n 's/.*"id":"\\([^"]*\\)".*/\\1/p')
while [ -n "$id" ] && ! printf '%s' "$answer" | grep -qE '"status":"(completed|failed)"'; do
  sleep 2
  answer=$(curl -s "$api/creations/$id" -H "$key")
done
image=$(printf '%s' "$answer" | sed -n 's/.*"result_urls":\\["\\([^"]*\\)".*/\\1/p')
if [ -n "$image" ]; then curl -s -o ${fileOf(body)} "$image"; fi
printf '%s\\n' "$answer"`;

/** Where a request of this way in goes with a key. One of the playground goes to the API. */
function addressOf(
  { door, path }: RequestRow,
  { api_url: api, openai_url, mcp_url }: MeView['service'],
): string {
  if (door === 'api') return new URL(path ?? '', api).href;
  if (door === 'openai') return new URL(path ?? '', openai_url).href;
  if (door === 'mcp') return mcp_url;
  return `${api}/images/${path?.includes('/quote') === true ? 'quote' : 'generate'}`;
}

/** One request again, with the key in a variable of the shell. */
export function requestCurl(row: RequestRow, service: MeView['service']): string {
  const lines = [
    `curl -s -X ${row.method ?? 'POST'} '${shell(addressOf(row, service))}'`,
    '-H "Authorization: Bearer $DARKROOM_API_KEY"',
    ...(row.body === null ? [] : ["-H 'Content-Type: application/json'", `-d '${shell(row.body)}'`]),
  ];
  return lines.join(' \\\n  ');
}

const nodeOf = (apiUrl: string, key: string, body: GenerateBody): string =>
  `// Node 20 or newer: save as generate.mjs, then run "node generate.mjs".
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

async function ask(path, options = {}, more = {}) {
  const headers = { authorization: 'Bearer ${key}', ...more };
  const answer = await fetch('${apiUrl}' + path, { ...options, headers });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

let creation = await ask(
  '/images/generate',
  {
    method: 'POST',
    body: JSON.stringify(${json(body, '    ')}),
  },
  { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), prefer: 'wait=20' },
);
while (creation.status === 'queued' || creation.status === 'processing') {
  await sleep(2000);
  creation = await ask('/creations/' + creation.id);
}
if (creation.status === 'failed') throw new Error(creation.error);
const image = await fetch(creation.result_urls[0]);
await writeFile('${fileOf(body)}', Buffer.from(await image.arrayBuffer()));
console.log(creation);`;

const pythonOf = (apiUrl: string, key: string, body: GenerateBody): string =>
  `# Python 3.9 or newer, without a package.
import json, time, urllib.request, uuid

def ask(path, body=None):
    request = urllib.request.Request(
        "${apiUrl}" + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer ${key}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

creation = ask("/images/generate", ${python(body)})
while creation["status"] in ("queued", "processing"):
    time.sleep(2)
    creation = ask("/creations/" + creation["id"])
if creation["status"] == "failed":
    raise SystemExit(creation["error"])
urllib.request.urlretrieve(creation["result_urls"][0], "${fileOf(body)}")
print(creation)`;

const clientOf = (apiUrl: string, key: string, body: GenerateBody, origin: string): string =>
  `// npm install ${packageAt(origin)}
import { writeFile } from 'node:fs/promises';
import { Darkroom } from 'darkroom-client';

const darkroom = new Darkroom({ apiKey: '${key}', baseUrl: '${apiUrl}' });
const done = await darkroom.images.generateAndWait(${json(body, '')});
const image = await darkroom.results.download(done);
await writeFile('${fileOf(body)}', Buffer.from(await image.arrayBuffer()));
console.log(done);`;

/**
 * The fields that OpenAI does not know go to the endpoint as they are. The library sends source images as files
 * only, so addresses of them are sent without its method.
 */
function openaiOf(openaiUrl: string, key: string, { image_urls: sources, ...body }: GenerateBody): string {
  const images = sources?.map((address) => ({ image_url: address }));
  const call = images
    ? `openai.post('/images/edits', {\n  body: ${json({ ...body, images }, '  ')},\n})`
    : `openai.images.generate(${json(body, '')})`;
  return `// npm install openai
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const openai = new OpenAI({ apiKey: '${key}', baseURL: '${openaiUrl}' });
const { data } = await ${call};
await writeFile('${fileOf(body)}', data[0].b64_json, 'base64');`;
}

/** The fields of images.generate that the types of OpenAI's library know. */
const ofOpenai = ['model', 'prompt', 'output_format', 'user', 'n', 'size', 'quality', 'background'];

function noteFor(body: GenerateBody): Pick<Snippet, 'note'> {
  const others = Object.keys(body).filter((name) => !ofOpenai.includes(name));
  if (others.length === 0) return {};
  return {
    note: `The types of this library do not know ${others.join(', ')}. It sends them all the same; TypeScript needs a cast.`,
  };
}

/** The same request in each language. */
export const requestSnippets = (
  { api_url: apiUrl, openai_url: openaiUrl }: Addresses,
  key: string,
  body: GenerateBody,
  origin: string,
): readonly Snippet[] => [
  { name: 'curl', text: curlOf(apiUrl, key, body) },
  { name: 'Node', text: nodeOf(apiUrl, key, body) },
  { name: 'Python', text: pythonOf(apiUrl, key, body) },
  { name: 'darkroom-client', text: clientOf(apiUrl, key, body, origin) },
  { name: 'OpenAI SDK', text: openaiOf(openaiUrl, key, body), ...noteFor(body) },
];

/** Receivers that verify. The secret is in the environment, so that it is never committed. */
export const receiverSnippets = (origin: string): readonly Snippet[] => [
  {
    name: 'Node',
    text: `// npm install ${packageAt(origin)}
import { verifyWebhook } from 'darkroom-client/webhooks';

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
