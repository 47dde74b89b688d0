import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { signature256, standardSignature } from '../../service/webhooks/webhook.ts';
import { newFolder } from './machine-fixture.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = newFolder(afterAll);

/** The only code block of the page in the language that defines the function. */
function sampleOf(page: string, language: string, name: string): string {
  const blocks = [...readFileSync(path.join(root, page), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const found = blocks.filter(([, tag, text = '']) => tag === language && text.includes(name));
  expect(found).toHaveLength(1);
  return found[0]?.[2] ?? '';
}

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const body = '{"event":"creation.completed","metadata":{"name":"Zoë"}}';

const secondsFromNow = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);
const now = secondsFromNow(0);

interface Case {
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly genuine: boolean;
}

const genuine = (what: string, headers: Case['headers']): Case => ({ what, headers, genuine: true });
const forged = (what: string, headers: Case['headers'], of?: string): Case => ({
  ...{ what, headers, genuine: false },
  ...(of !== undefined && { body: of }),
});

/** The headers of a delivery with Darkroom's own signature. */
const signed = (timestamp: string, by = secret): Record<string, string> => ({
  'x-timestamp': timestamp,
  'x-webhook-signature-256': signature256(by, timestamp, body),
});
/** The same headers during a rotation. The receiver still has the secret that was replaced. */
const rotating = (by: string, previous: string): Record<string, string> => ({
  ...signed(now, by),
  'x-webhook-signature-256-previous': signature256(previous, now, body),
});
/** The headers of a delivery with the signature of Standard Webhooks. */
const standard = (timestamp: string, by = secret): Record<string, string> => ({
  'webhook-id': 'id',
  'webhook-timestamp': timestamp,
  'webhook-signature': standardSignature(by, 'id', timestamp, body),
});

const capitals = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));

/** Timestamps that no delivery has. Each case has a valid signature over such a timestamp. */
const oddTimestamps = [
  '',
  '²',
  '٣',
  '１',
  `${now}²`,
  `${now}.0`,
  ` ${now}`,
  `${now}\n`,
  `+${now}`,
  '1e9',
  '0x5',
  'NaN',
  'Infinity',
  '-1',
  '9'.repeat(400),
  '\ud800',
  '\0',
];
/** Signatures that no delivery has. */
const oddSignatures = [
  '',
  'sha256=',
  'v1,',
  'é'.repeat(71),
  'é'.repeat(36),
  '²',
  '\ud800',
  '\0',
  '====',
  'sha256=\u00e9',
  ' ',
  ','.repeat(5_000),
  'v1,!!!!',
];

function cases(
  sign: (timestamp: string, by?: string) => Record<string, string>,
  signatureName: string,
): Case[] {
  const honest = sign(now);
  const value = honest[signatureName] ?? '';
  return [
    genuine('a genuine delivery', honest),
    genuine('header names in capitals', capitals(honest)),
    genuine('a delivery of two minutes ago', sign(secondsFromNow(-120))),
    forged('a delivery of ten minutes ago', sign(secondsFromNow(-600))),
    forged('a delivery of the future', sign(secondsFromNow(600))),
    forged('another body', honest, `${body} `),
    forged('another secret', sign(now, otherSecret)),
    forged('another timestamp than the signed one', { ...sign(secondsFromNow(-60)), [signatureName]: value }),
    forged('no headers', {}),
    forged('headers named like members of objects', {
      get: 'x',
      entries: 'x',
      constructor: 'x',
      length: '3',
    }),
    forged('a value in capitals', { ...honest, [signatureName]: value.toUpperCase() }),
    forged('a value cut short', { ...honest, [signatureName]: value.slice(0, -1) }),
    ...oddTimestamps.map((timestamp) =>
      forged(`the timestamp ${JSON.stringify(timestamp.slice(0, 20))}`, sign(timestamp)),
    ),
    ...oddSignatures.map((odd) =>
      forged(`the signature ${JSON.stringify(odd.slice(0, 20))}`, { ...honest, [signatureName]: odd }),
    ),
  ];
}

const ownCases: Case[] = [
  ...cases(signed, 'x-webhook-signature-256'),
  genuine('a rotation, seen by a receiver that has the new secret', rotating(secret, otherSecret)),
  genuine('a rotation, seen by a receiver that has the old secret', rotating(otherSecret, secret)),
  forged('a rotation between two other secrets', rotating(otherSecret, `${otherSecret}x`)),
  genuine('a hostile second header beside a genuine first', {
    ...signed(now),
    'x-webhook-signature-256-previous': 'é'.repeat(71),
  }),
];
const standardCases: Case[] = [
  ...cases(standard, 'webhook-signature'),
  genuine('two values, the second one ours', {
    ...standard(now),
    'webhook-signature': `v1,é ${standard(now)['webhook-signature'] ?? ''}`,
  }),
];

const genuineOf = (all: readonly Case[]): [string, boolean | string][] =>
  all.map((one) => [one.what, one.genuine]);

type Verify = (headers: unknown, rawBody: Uint8Array, secret: string) => unknown;

async function javascriptSample(): Promise<Verify> {
  const file = path.join(folder, 'sample.mjs');
  writeFileSync(file, sampleOf('docs/client-webhooks.md', 'js', 'isFromDarkroom'));
  const sample: unknown = await import(pathToFileURL(file).href);
  return z.object({ isFromDarkroom: z.custom<Verify>((value) => typeof value === 'function') }).parse(sample)
    .isFromDarkroom;
}

/** The function's answer to each case: a boolean, or the error that it threw. */
function judge(verify: Verify, all: readonly Case[], headersOf: (one: Case) => unknown): [string, unknown][] {
  return all.map((one) => {
    try {
      return [one.what, verify(headersOf(one), Buffer.from(one.body ?? body), secret)];
    } catch (error) {
      return [one.what, String(error)];
    }
  });
}

describe('the JavaScript sample of docs/client-webhooks.md', () => {
  it("The JavaScript sample returns true only for genuine deliveries and never throws, with Node's headers", async () => {
    expect(judge(await javascriptSample(), ownCases, ({ headers }) => headers)).toEqual(genuineOf(ownCases));
  });

  it('The JavaScript sample returns true only for genuine deliveries and never throws, with a Headers of fetch', async () => {
    const possible = ownCases.filter(({ headers }) => isPossible(headers));
    expect(possible.length).toBeGreaterThan(20);
    expect(judge(await javascriptSample(), possible, ({ headers }) => new Headers(headers))).toEqual(
      genuineOf(possible),
    );
  });

  it('The JavaScript sample reads a header that a framework passes as a list', async () => {
    const verify = await javascriptSample();
    const headers = Object.fromEntries(Object.entries(signed(now)).map(([name, value]) => [name, [value]]));
    expect(verify(headers, Buffer.from(body), secret)).toBe(true);
    expect(verify({ ...headers, 'x-timestamp': [now, now] }, Buffer.from(body), secret)).toBe(false);
  });
});

/** Whether a Headers keeps these values unchanged. It refuses some values and trims others. */
function isPossible(headers: Readonly<Record<string, string>>): boolean {
  try {
    const taken = new Headers(headers);
    return Object.entries(headers).every(([name, value]) => taken.get(name) === value);
  } catch {
    return false;
  }
}

const python = spawnSync('python3', ['--version']).status === 0 ? 'python3' : undefined;

/** A Python program that reads cases from its input and writes a boolean or the error for each. */
const pythonRunner = `
import json, sys
given = json.load(sys.stdin)
said = []
for one in given["cases"]:
    try:
        said.append([one["what"], verify(one["headers"], one["body"].encode(), given["secret"])])
    except Exception as error:
        said.append([one["what"], repr(error)])
json.dump(said, sys.stdout)
`;

function judgeInPython(page: string, name: string, all: readonly Case[]): unknown {
  const file = path.join(folder, `${name}.py`);
  writeFileSync(file, `${sampleOf(page, 'python', name)}\nverify = ${name}\n${pythonRunner}`);
  const input = JSON.stringify({ secret, cases: all.map((one) => ({ body, ...one })) });
  const { stdout, stderr } = spawnSync(python ?? '', [file], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe.skipIf(python === undefined)('The Python samples', () => {
  it.each([
    ['docs/client-webhooks.md', 'is_from_darkroom', ownCases],
    ['docs/api.md', 'is_standard', standardCases],
  ] as const)(
    'The Python sample of %s returns true only for genuine deliveries and never raises',
    (page, name, all) => {
      expect(judgeInPython(page, name, all)).toEqual(genuineOf(all));
    },
  );
});
