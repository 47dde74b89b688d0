/** Who may ask: keys, conditions of an account, rates, blocked addresses. */
import { issueKey } from '../../admin/commands/keys.ts';
import type { AccountCondition } from '../../service/accounts/account.ts';
import type { ApiGroup, ApiStep, Scene } from './api-step.ts';
import { absentId } from './normalise.ts';

const unknownKey = 'dk_live_AAAAAAAAAAKKKKKKRRRRRRRRRRRRRRRRRRCCCCCC';
const sketch = { model: 'sandbox-sketch', prompt: 'a pier [sandbox:fail]' };

const everyOperation: readonly Pick<ApiStep, 'what' | 'send' | 'body'>[] = [
  { what: 'models', send: 'GET /models' },
  { what: 'balance', send: 'GET /balance' },
  { what: 'list', send: 'GET /creations' },
  { what: 'one creation', send: `GET /creations/${absentId}` },
  { what: 'quote', send: 'POST /images/quote', body: sketch },
  { what: 'generate', send: 'POST /images/generate', body: sketch },
  { what: 'an unknown path', send: 'GET /nothing' },
  { what: 'the root of the API', send: 'GET ' },
  { what: 'a wrong method', send: 'DELETE /models' },
  { what: 'HEAD', send: 'HEAD /models' },
];

/** Each has an address of its own: rejections of one address add up to a block. */
function eachFrom(network: number, steps: readonly ApiStep[]): ApiStep[] {
  return steps.map((step, index) => ({ ...step, from: `127.0.${network}.${index + 1}` }));
}

const preflight = { origin: 'https://client.test', 'access-control-request-method': 'POST' };
const balance = { send: 'GET /balance', key: 'none' } as const;

const credentials: readonly ApiStep[] = [
  { ...balance, what: 'Authorization: Bearer', headers: { authorization: 'Bearer {key}' } },
  {
    ...balance,
    what: 'bearer in another case and with spaces',
    headers: { authorization: 'bEARER   {key} ' },
  },
  { ...balance, what: 'X-API-Key', headers: { 'x-api-key': '{key}' } },
  {
    ...balance,
    what: 'a good Authorization beside a wrong X-API-Key',
    headers: { authorization: 'Bearer {key}', 'x-api-key': unknownKey },
  },
  {
    ...balance,
    what: 'a wrong Authorization beside a good X-API-Key',
    headers: { authorization: `Bearer ${unknownKey}`, 'x-api-key': '{key}' },
  },
  {
    ...balance,
    what: 'an empty Authorization beside a good X-API-Key',
    headers: { authorization: 'Bearer ', 'x-api-key': '{key}' },
  },
  { ...balance, what: 'no header at all' },
  { ...balance, what: 'Authorization without a key', headers: { authorization: 'Bearer' } },
  { ...balance, what: 'an empty X-API-Key', headers: { 'x-api-key': ' ' } },
  { ...balance, what: 'an unknown key', headers: { 'x-api-key': unknownKey } },
  { ...balance, what: 'a mistyped key', headers: { 'x-api-key': '{mistyped}' } },
  { ...balance, what: 'a revoked key', headers: { 'x-api-key': '{revoked}' } },
  { ...balance, what: 'a second key of the account', headers: { 'x-api-key': '{second}' } },
  { ...balance, what: 'no key of ours', headers: { authorization: 'Bearer sk-1234' } },
  { ...balance, what: 'another scheme', headers: { authorization: 'Basic dXNlcjpwYXNz' } },
  { ...balance, what: 'a key without its scheme', headers: { authorization: '{key}' } },
  {
    what: 'a preflight, which carries no key',
    send: 'OPTIONS /images/generate',
    key: 'none',
    headers: preflight,
  },
  { what: 'a preflight with a key', send: 'OPTIONS /images/generate', headers: preflight },
  { what: 'an origin', send: 'GET /balance', headers: { origin: 'https://client.test' } },
  {
    what: 'a request id of the client',
    send: 'GET /balance',
    headers: { 'x-request-id': 'mine', 'x-forwarded-for': '8.8.8.8' },
  },
  { what: 'another content type accepted', send: 'GET /balance', headers: { accept: 'text/html' } },
];

async function moreKeys({ stage: { service }, client, values }: Scene): Promise<void> {
  const { accounts, clock } = service.operator;
  const [second, revoked] = [
    await issueKey(service.operator, client.account, { name: 'second' }),
    await issueKey(service.operator, client.account, { name: 'revoked' }),
  ];
  await accounts.revokeKey(client.account.id, revoked.record.id, new Date(clock.now()).toISOString());
  const at = client.key.length - 10;
  const typed = client.key[at] === 'a' ? 'b' : 'a';
  const mistyped = `${client.key.slice(0, at)}${typed}${client.key.slice(at + 1)}`;
  for (const [name, value] of Object.entries({ second: second.key, revoked: revoked.key, mistyped }))
    values.set(name, value);
}

const condition =
  (wanted: AccountCondition) =>
  async ({ stage, client }: Scene): Promise<void> => {
    await stage.service.operator.accounts.change(client.account.id, { condition: wanted });
  };

const quote = { send: 'POST /images/quote', body: sketch };
const generate = { send: 'POST /images/generate', body: sketch };

export const accessGroups: readonly ApiGroup[] = [
  { name: 'a credential', prepare: moreKeys, steps: eachFrom(10, credentials) },
  {
    name: 'without a key',
    steps: eachFrom(
      11,
      everyOperation.map((step) => ({ ...step, key: 'none' })),
    ),
  },
  { name: 'of a suspended account', prepare: condition('suspended'), steps: eachFrom(12, everyOperation) },
  { name: 'of a disabled account', prepare: condition('disabled'), steps: eachFrom(13, everyOperation) },
  {
    name: 'a rate of POST requests',
    client: { postRate: '3' },
    steps: [
      { ...quote, what: 'first' },
      { what: 'a refused one counts', send: 'POST /images/generate', body: {} },
      { what: 'an unknown path counts', send: 'POST /nothing', body: {} },
      { ...quote, what: 'over the rate' },
      { ...generate, what: 'a submission over the rate' },
      { what: 'HEAD over the rate', send: 'HEAD /models' },
      { what: 'OPTIONS over the rate', send: 'OPTIONS /models' },
      { what: 'GET is apart', send: 'GET /balance' },
    ],
  },
  {
    name: 'a rate of GET requests',
    client: { getRate: '2', postRate: '1' },
    steps: [
      { what: 'first', send: 'GET /models' },
      { what: 'second', send: 'GET /creations' },
      { what: 'over the rate', send: 'GET /balance' },
      { what: 'an unknown path over the rate', send: 'GET /nothing' },
      { what: 'one creation over the rate', send: `GET /creations/${absentId}` },
      { ...quote, what: 'POST is apart' },
    ],
  },
  {
    name: 'the usual rates',
    client: { postRate: '60', getRate: '600' },
    steps: [
      { ...quote, what: 'POST' },
      { what: 'GET', send: 'GET /balance' },
    ],
  },
  {
    name: 'no rate at all',
    client: { postRate: '0', getRate: '0' },
    steps: [
      { ...generate, what: 'POST' },
      { what: 'GET', send: 'GET /balance' },
    ],
  },
  {
    name: 'a burst of rejections',
    steps: [
      { ...balance, what: 'the twentieth without a key', times: 20, from: '127.0.20.1' },
      { ...balance, what: 'then without a key', from: '127.0.20.1' },
      { what: 'then with a good key', send: 'GET /balance', from: '127.0.20.1' },
      { ...generate, what: 'then a submission', from: '127.0.20.1' },
      { what: 'then from another address', send: 'GET /balance', from: '127.0.20.2' },
    ],
  },
  {
    name: 'a burst of a suspended account',
    prepare: condition('suspended'),
    steps: [
      { what: 'the twentieth', send: 'GET /balance', times: 20, from: '127.0.21.1' },
      { what: 'then it is blocked', send: 'GET /balance', from: '127.0.21.1' },
    ],
  },
];

/** A deployment that tells a failed authentication in the plain form. */
export const plainGroups: readonly ApiGroup[] = [
  { name: 'plain: a credential', prepare: moreKeys, steps: eachFrom(30, credentials.slice(4, 16)) },
  {
    name: 'plain: of a suspended account',
    prepare: condition('suspended'),
    steps: eachFrom(31, everyOperation.slice(0, 5)),
  },
  {
    name: 'plain: of a disabled account',
    prepare: condition('disabled'),
    steps: eachFrom(32, everyOperation.slice(0, 2)),
  },
  { name: 'plain: of an active account', steps: everyOperation.slice(0, 8) },
];

const lake = { model: 'sandbox-pro', prompt: 'a lake' };
const hook = (what: string, url: string): ApiStep => ({
  what,
  send: 'POST /images/generate',
  body: { ...lake, webhook_url: url },
});
const quoteHook = (what: string, url: string): ApiStep => ({
  what,
  send: 'POST /images/quote',
  body: { ...lake, webhook_url: url },
});

/** Addresses as a deployed service judges them. Nothing here leads out of this machine. */
export const strictGroups: readonly ApiGroup[] = [
  {
    name: 'strict: a webhook',
    steps: [
      hook('http', 'http://93.184.215.14/hook'),
      hook('port 80', 'https://93.184.215.14:80/hook'),
      hook('port 1023', 'https://93.184.215.14:1023/hook'),
      hook('userinfo', 'https://user:secret@93.184.215.14/hook'),
      hook('this machine', 'https://127.0.0.1/hook'),
      hook('the metadata service', 'https://169.254.169.254/'),
      hook('a private network', 'https://192.168.1.1/'),
      hook('private IPv6', 'https://[fd00::1]/'),
      hook('a number for an address', 'https://2130706433/'),
      hook('no address', 'hooks'),
      quoteHook('a name, which a quote does not look up', 'https://nowhere.invalid/'),
      quoteHook('a quote at port 444', 'https://example.com:444/'),
      {
        what: 'an image at port 22',
        send: 'POST /images/quote',
        body: { ...lake, image_urls: ['http://example.com:22/a.png'] },
      },
      {
        what: 'an image of this machine',
        send: 'POST /images/quote',
        body: { ...lake, image_urls: ['http://127.0.0.1/a.png'] },
      },
    ],
  },
];
