/**
 * How the fakes of fal and Replicate call back: with a valid signature, with each kind of forged signature, and
 * repeatedly until the service accepts the call.
 */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { CallbackRequest } from '../../../service/vendors/provider.ts';
import type { FakeVendor, Fields, Reply } from './fake-vendor.ts';

/** How a callback differs from an honest one. Without options it is honest, and the job has ended. */
export interface CallbackOptions {
  /** Unix milliseconds that the signature covers. Absent: the time of the machine. */
  readonly at?: number;
  /** The signature is made with a key that the vendor never had. */
  readonly hasWrongKey?: boolean;
  /** fal only: another account of the vendor. Its signature is valid. */
  readonly account?: string;
  /** The callback is about this job, but goes to the address of the first one. Its signature is valid. */
  readonly aboutJob?: string;
  /** Further fields of the signed body. */
  readonly more?: Fields;
  /** The body gets one more space after it was signed. */
  readonly isAltered?: boolean;
  /** Headers after the signing, by their names in lower case. Undefined leaves the header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Another address than that of the submission. */
  readonly to?: string;
}

/** What verifies the callbacks of a fake. */
interface KeySource {
  /** The vendor signs with a new key from now on, and no longer names the old one. */
  changeKey(): void;
  /** How the vendor answers when it is asked for what verifies its callbacks. */
  keySource(state: 'here' | 'away' | 'empty'): void;
}

/** A fake whose jobs were submitted with an address to call. A job's id is that of the vendor. */
export interface CallingVendor extends FakeVendor, KeySource {
  /** How many jobs were accepted. */
  jobs(): number;
  /** The ids of all accepted jobs, in the order of their submission. */
  jobIds(): readonly string[];
  /** Undefined: the job was submitted without an address. */
  callbackUrlOf(jobId: string): string | undefined;
  /** The job has ended: every later poll finds it so. */
  finish(jobId: string): void;
  /** The request that `callBack` would send. */
  callbackOf(jobId: string, options?: CallbackOptions): CallbackRequest;
  /** Ends the job and calls back once. Gives the HTTP status that came back, or 0 when none came. */
  callBack(jobId: string, options?: CallbackOptions): Promise<number>;
}

interface Caller {
  readonly vendor: FakeVendor;
  readonly jobs: ReadonlyMap<string, { readonly callbackUrl: string | undefined; isFinished: boolean }>;
  readonly sign: (jobId: string, options: CallbackOptions) => CallbackRequest;
}

/** The part of a calling vendor that does not depend on how it signs. */
export function callingBack({ vendor, jobs, sign }: Caller): Omit<CallingVendor, keyof KeySource> {
  const jobOf = (id: string): { readonly callbackUrl: string | undefined; isFinished: boolean } => {
    const job = jobs.get(id);
    if (!job) throw new Error(`the fake has no job ${id}`);
    return job;
  };
  const finish = (id: string): void => void (jobOf(id).isFinished = true);
  const callbackOf: CallingVendor['callbackOf'] = (id, options = {}) => {
    const signed = sign(options.aboutJob ?? id, options);
    return {
      headers: { ...signed.headers, ...options.headers },
      body: options.isAltered === true ? Buffer.concat([signed.body, Buffer.from(' ')]) : signed.body,
    };
  };
  const callBack: CallingVendor['callBack'] = async (id, options = {}) => {
    const to = options.to ?? jobOf(id).callbackUrl;
    if (to === undefined) throw new Error(`the job ${id} was submitted without an address to call`);
    finish(id);
    return post(to, callbackOf(id, options));
  };
  return {
    ...vendor,
    jobs: () => jobs.size,
    jobIds: () => [...jobs.keys()],
    callbackUrlOf: (id) => jobOf(id).callbackUrl,
    finish,
    callbackOf,
    callBack,
  };
}

async function post(to: string, { headers, body }: CallbackRequest): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  try {
    const response = await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...Object.fromEntries(sent) },
      body: Buffer.from(body),
      redirect: 'manual',
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

// How the fake of fal signs its callbacks.

/** The account that the key of the fake belongs to. */
export const fakeFalAccount = 'github|1234567';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface FalSigner {
  sign(id: string, body: Fields, options: CallbackOptions): CallbackRequest;
  /** The answer to a request for the public keys. */
  keys(): Reply;
  readonly source: KeySource;
}

export function createFalSigner(): FalSigner {
  // A second key that never signs, because fal names several keys at once.
  const idle = generateKeyPairSync('ed25519');
  let pair: Pair = generateKeyPairSync('ed25519');
  let source: 'here' | 'away' | 'empty' = 'here';
  return {
    sign: (id, body, { at = Date.now(), hasWrongKey = false, account = fakeFalAccount }) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const time = String(Math.floor(at / 1_000));
      const text = [id, account, time, createHash('sha256').update(bytes).digest('hex')].join('\n');
      const { privateKey } = hasWrongKey ? generateKeyPairSync('ed25519') : pair;
      return {
        headers: {
          'x-fal-webhook-request-id': id,
          'x-fal-webhook-user-id': account,
          'x-fal-webhook-timestamp': time,
          'x-fal-webhook-signature': sign(null, Buffer.from(text), privateKey).toString('hex'),
        },
        body: bytes,
      };
    },
    keys: () => {
      if (source === 'away') return { status: 503, body: { detail: 'Service unavailable' } };
      const keys = [idle, pair].map(({ publicKey }) => publicKey.export({ format: 'jwk' }));
      return { status: 200, body: { keys: source === 'empty' ? [] : keys } };
    },
    source: {
      changeKey: () => void (pair = generateKeyPairSync('ed25519')),
      keySource: (state) => void (source = state),
    },
  };
}

// How the fake of Replicate signs its callbacks.

export interface ReplicateSigner {
  /** The id of a callback stays the same when the callback is repeated. */
  sign(jobId: string, body: Fields, options: CallbackOptions): CallbackRequest;
  /** The answer to a request for the secret. */
  secret(): Reply;
  readonly source: KeySource;
}

export function createReplicateSigner(): ReplicateSigner {
  let key = randomBytes(24);
  let source: 'here' | 'away' | 'empty' = 'here';
  return {
    sign: (jobId, body, { at = Date.now(), hasWrongKey = false }) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const id = `msg_${jobId}`;
      const time = String(Math.floor(at / 1_000));
      const signature = createHmac('sha256', hasWrongKey ? randomBytes(24) : key)
        .update(`${id}.${time}.`)
        .update(bytes)
        .digest('base64');
      return {
        headers: {
          'webhook-id': id,
          'webhook-timestamp': time,
          'webhook-signature': `v1,${signature}`,
        },
        body: bytes,
      };
    },
    secret: () => {
      if (source === 'away') return { status: 503, body: { detail: 'Service unavailable', status: 503 } };
      return { status: 200, body: source === 'empty' ? {} : { key: `whsec_${key.toString('base64')}` } };
    },
    source: { changeKey: () => void (key = randomBytes(24)), keySource: (state) => void (source = state) },
  };
}
