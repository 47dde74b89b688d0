import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../local/http.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { createRegisterUser } from '../../service/portal/user-pool.ts';

const userPoolId = 'eu-central-1_AbCdEf123';
const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

interface User {
  readonly username: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly mediums: unknown;
  hasPassword: boolean;
}

/** Cognito as AdminCreateUser knows it: it refuses what Cognito refuses. */
const server = createServer();
const users: User[] = [];
/** The addresses to which Cognito wrote. */
const mails: string[] = [];
let busy = 0;
let isOutOfMails = false;
let endpoint = '';

beforeAll(async () => {
  server.on('request', (incoming, outgoing) => {
    void text(incoming).then((body) => {
      const { status, answer } = answerTo(incoming, body);
      outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      outgoing.end(JSON.stringify(answer));
    });
  });
  endpoint = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
});
beforeEach(() => {
  users.length = 0;
  mails.length = 0;
  busy = 0;
  isOutOfMails = false;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function answerTo(incoming: IncomingMessage, body: string): { status: number; answer: object } {
  const refuse = (name: string, status = 400): { status: number; answer: object } => ({
    status,
    answer: { __type: name, message: name },
  });
  if (busy > 0) {
    busy -= 1;
    return refuse('InternalErrorException', 500);
  }
  const { headers } = incoming;
  if (headers['x-amz-target'] !== 'AWSCognitoIdentityProviderService.AdminCreateUser')
    return refuse('UnknownOperationException');
  if (headers['content-type'] !== 'application/x-amz-json-1.1') return refuse('SerializationException');
  if (!isSigned(incoming, body)) return refuse('InvalidSignatureException');
  const given = JSON.parse(body) as Record<string, unknown>;
  const known = ['UserPoolId', 'Username', 'UserAttributes', 'DesiredDeliveryMediums', 'MessageAction'];
  if (Object.keys(given).some((name) => !known.includes(name))) return refuse('SerializationException');
  if (given['UserPoolId'] !== userPoolId) return refuse('ResourceNotFoundException');
  const username = String(given['Username']);
  if (!/^[^\s@]+@[^\s@]+$/.test(username)) return refuse('InvalidParameterException');
  const found = users.find((user) => user.username === username);
  if (given['MessageAction'] === 'RESEND') {
    if (!found) return refuse('UserNotFoundException');
    if (found.hasPassword) return refuse('UnsupportedUserStateException');
    mails.push(username);
    return { status: 200, answer: {} };
  }
  const stated = given['UserAttributes'] as { Name: string; Value: unknown }[];
  if (stated.some(({ Value }) => typeof Value !== 'string')) return refuse('SerializationException');
  if (found) return refuse('UsernameExistsException');
  if (isOutOfMails) return refuse('CodeDeliveryFailureException');
  const attributes = Object.fromEntries(stated.map(({ Name, Value }) => [Name, String(Value)]));
  users.push({ username, attributes, mediums: given['DesiredDeliveryMediums'], hasPassword: false });
  mails.push(username);
  return { status: 200, answer: { User: { Username: username, UserStatus: 'FORCE_CHANGE_PASSWORD' } } };
}

/** Signature Version 4, computed anew from the request as it arrived. */
function isSigned({ method = '', url = '', headers }: IncomingMessage, body: string): boolean {
  const match =
    /Credential=AKID\/(\d+)\/eu-central-1\/cognito-idp\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)/.exec(
      headers.authorization ?? '',
    );
  if (!match) return false;
  const [, day = '', names = '', signature] = match;
  const hash = (value: string): string => createHash('sha256').update(value).digest('hex');
  const listed = names.split(';').map((name) => `${name}:${String(headers[name])}\n`);
  const canonical = [method, url, '', listed.join(''), names, hash(body)].join('\n');
  const scope = `${day}/eu-central-1/cognito-idp/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n');
  let key: Buffer = Buffer.from(`AWS4${keys.secretAccessKey}`);
  for (const part of [day, 'eu-central-1', 'cognito-idp', 'aws4_request'])
    key = createHmac('sha256', key).update(part).digest();
  return createHmac('sha256', key).update(toSign).digest('hex') === signature;
}

function register(
  change: { userPoolId?: string; secretAccessKey?: string } = {},
): (email: string) => Promise<'sent' | 'none'> {
  const { secretAccessKey = keys.secretAccessKey } = change;
  return createRegisterUser({
    userPoolId: change.userPoolId ?? userPoolId,
    credentials: () => Promise.resolve({ urlSuffix: 'amazonaws.com', ...keys, secretAccessKey }),
    endpoint,
    clock: systemClock,
  });
}

describe('the user of an invited address', () => {
  it('is made with a verified address, once', async () => {
    await register()('a@acme.test');
    await register()('a@acme.test');
    expect(users).toEqual([
      {
        username: 'a@acme.test',
        attributes: { email: 'a@acme.test', email_verified: 'true' },
        mediums: ['EMAIL'],
        hasPassword: false,
      },
    ]);
  });

  it('gets the e-mail again until the person has a password', async () => {
    const outcomes = [await register()('a@acme.test'), await register()('a@acme.test')];
    const [user] = users;
    if (user) user.hasPassword = true;
    outcomes.push(await register()('a@acme.test'));
    expect(outcomes).toEqual(['sent', 'sent', 'none']);
    expect(mails).toEqual(['a@acme.test', 'a@acme.test']);
  });

  it('is not made when Cognito has no e-mail left, which the error names', async () => {
    isOutOfMails = true;
    await expect(register()('a@acme.test')).rejects.toThrow(
      'the user pool answered 400 CodeDeliveryFailureException',
    );
  });

  it('is made in spite of three errors that pass, and a fourth is thrown', async () => {
    busy = 3;
    await register()('a@acme.test');
    expect(users).toHaveLength(1);
    busy = 4;
    await expect(register()('b@acme.test')).rejects.toThrow('InternalErrorException');
  });

  it.each([
    ['another pool', { userPoolId: 'eu-central-1_Other' }, 'ResourceNotFoundException'],
    ['a wrong signature', { secretAccessKey: 'other' }, 'InvalidSignatureException'],
  ])('is not made with %s, which the error names', async (_what, change, name) => {
    await expect(register(change)('a@acme.test')).rejects.toThrow(`the user pool answered 400 ${name}`);
    expect(users).toEqual([]);
  });
});
