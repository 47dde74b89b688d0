/** What lies outside the request: source images, AWS, the gateway, the room of the whole service. */
import { answering, jpeg, png, webp } from '../whole/image-origin.ts';
import type { ApiGroup, ApiStep, Scene } from './api-step.ts';

const dusk = { model: 'sandbox-pro', prompt: 'make it dusk [sandbox:fail]' };
const sketch = { model: 'sandbox-sketch', prompt: 'a ferry [sandbox:fail]' };

/** A request whose source images are served by the test: a status or a file each, with their headers. */
type Served = readonly [answer: number | Buffer, headers?: Readonly<Record<string, string>>];

function sourced(what: string, ...files: readonly Served[]): ApiStep {
  const path = what.replaceAll(/\W+/g, '-');
  return {
    what,
    send: 'POST /images/generate',
    body: { ...dusk, image_urls: files.map((_file, index) => `{image${index}}`) },
    before: ({ stage, values }) => {
      for (const [index, [answer, headers = {}]] of files.entries()) {
        const serve =
          typeof answer === 'number' ? answering(answer, '', headers) : answering(200, answer, headers);
        values.set(`image${index}`, stage.origin.at(`/${path}-${index}`, serve));
      }
    },
  };
}

const good: Served = [png(640, 480)];
const bytes = (text: string): Served => [Buffer.from(text, 'latin1')];
const address = (what: string, url: string): ApiStep => ({
  what,
  send: 'POST /images/generate',
  body: { ...dusk, image_urls: [url] },
});

const sources: readonly ApiStep[] = [
  sourced('one PNG', good),
  sourced('a JPEG and a WebP', [jpeg(640, 480)], [webp(640, 480)]),
  sourced('the least and the longest side', [png(64, 64)], [jpeg(8192, 64)]),
  sourced('exactly 25 megapixels', [png(5000, 5000)]),
  {
    ...sourced('in place of the prompt', good),
    body: { model: 'sandbox-pro', image_urls: ['{image0}'], seed: 1 },
  },
  ...[500, 502, 503, 504, 429, 400, 401, 403, 404, 410, 451, 300, 304].map((status) =>
    sourced(`its host answers ${status}`, [status]),
  ),
  sourced('the third cannot be had', good, good, [404], good),
  sourced('a GIF', good, bytes('GIF89a\x40\x01\x40\x01\x00\x00\x00;')),
  sourced('a page that says it is a PNG', [Buffer.from('<!doctype html>'), { 'content-type': 'image/png' }]),
  sourced('an SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg"/>')),
  sourced('nothing', bytes('')),
  sourced('a PNG that ends in its header', [png(640, 480).subarray(0, 24)]),
  sourced('a side of 63 pixels', [png(63, 640)]),
  sourced('a side of 8193 pixels', [jpeg(8193, 64)]),
  sourced('more than 25 megapixels', [png(5001, 5000)]),
  sourced('a decompression bomb', [webp(8192, 8192)]),
  sourced('10 MB and one byte', [png(640, 480, 10_000_001)]),
  sourced('a redirect to the metadata service', [302, { location: 'http://169.254.169.254/' }]),
  sourced('a redirect without an end', [302, { location: '/a-redirect-without-an-end-0' }]),
  address('nobody listens', 'http://127.0.0.1:1/image.png'),
  address('the metadata service', 'http://169.254.169.254/latest/meta-data/'),
];

/** A fault that strikes every call of the group's own account, and of no other. */
const ownFault =
  (fault: object) =>
  ({ stage, client }: Scene): void => {
    stage.service.machine.faults.set({ ...fault, every: 1, match: client.account.id });
  };

const generate = (what: string, more: Partial<ApiStep> = {}): ApiStep => ({
  what,
  send: 'POST /images/generate',
  body: sketch,
  ...more,
});

const shed: readonly ApiGroup[] = [
  { name: 'conflicts', call: 'dynamodb:TransactWriteItems', error: 'TransactionConflict' },
  { name: 'throttling', call: 'dynamodb:TransactWriteItems', error: 'Throttling' },
  { name: 'unprocessed keys', call: 'dynamodb:BatchGetItem', error: 'UnprocessedKeys' },
].map(({ name, ...fault }): ApiGroup => ({
  name: `shed by ${name}`,
  prepare: ownFault(fault),
  steps: [generate('generate')],
}));

const broken: readonly ApiGroup[] = [
  {
    name: 'a charge that is denied',
    prepare: ownFault({ call: 'dynamodb:TransactWriteItems', error: 'AccessDenied' }),
    steps: [generate('generate'), { what: 'the balance', send: 'GET /balance' }],
  },
  {
    name: 'a read that is denied',
    prepare: ownFault({ call: 'dynamodb:BatchGetItem', error: 'AccessDenied' }),
    steps: [
      { what: 'the balance', send: 'GET /balance' },
      { what: 'HEAD', send: 'HEAD /models' },
    ],
  },
  {
    name: 'a charge whose answer is lost',
    prepare: ownFault({ call: 'dynamodb:TransactWriteItems', error: 'Timeout', when: 'after' }),
    steps: [
      generate('generate', { headers: { 'idempotency-key': 'lost' } }),
      generate('again', { headers: { 'idempotency-key': 'lost' } }),
    ],
  },
];

export const outsideGroups: readonly ApiGroup[] = [
  { name: 'a source image', steps: sources },
  {
    name: 'a source image that nobody asks for',
    client: { balance: '0.01' },
    steps: [
      sourced('too dear', good),
      { ...sourced('of no model', good), body: { ...dusk, model: 'none', image_urls: ['{image0}'] } },
    ],
  },
  ...shed,
  ...broken,
];

/** A fault of the whole service. */
const fault =
  (call: string, error: string) =>
  ({ stage }: Scene): void => {
    stage.service.machine.faults.set({ call, error, every: 1 });
  };
const clear = ({ stage }: Scene): void => {
  stage.service.machine.faults.clear();
};
const count =
  (open: number) =>
  async ({ stage }: Scene): Promise<void> =>
    stage.countOpen(open);

/** Each changes what every request sees: they are played alone. */
export const aloneGroups: readonly ApiGroup[] = [
  {
    name: 'the room of the service',
    steps: [
      generate('full', { before: count(2_000) }),
      generate('more than full', { before: count(2_003) }),
      { what: 'a quote needs no room', send: 'POST /images/quote', body: sketch },
      generate('room for one', { before: count(1_999), after: count(0) }),
    ],
  },
  ...['AccessDenied', 'StateMachineDoesNotExist', 'ServiceUnavailable'].map((error): ApiGroup => ({
    name: `a start refused by ${error}`,
    steps: [
      generate('generate', { before: fault('states:StartExecution', error), after: clear, save: 'made' }),
      { what: 'shown', send: 'GET /creations/{made}' },
      { what: 'the balance', send: 'GET /balance' },
    ],
  })),
  {
    name: 'the gateway',
    steps: [
      {
        what: 'throttles',
        send: 'GET /balance',
        before: fault('apigateway:Invoke', 'Throttling'),
        after: clear,
      },
      {
        what: 'refuses a body over 10 MB',
        send: 'POST /images/quote',
        body: Buffer.alloc(10 * 1024 * 1024 + 1, 32),
      },
      { what: 'knows no path outside the API', send: 'GET /../../../elsewhere' },
      { what: 'knows no other version', send: 'GET /../v2/models' },
    ],
  },
];
