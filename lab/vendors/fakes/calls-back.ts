/**
 * How the fakes of fal and Replicate call back: genuinely signed, forged in every way, and again until
 * somebody takes the call.
 */
import type { CallbackRequest } from '../../../service/vendors/provider.ts';
import type { FakeVendor, Fields } from './fake-vendor.ts';

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
  /** The job continues, so that a poll finds it pending. */
  readonly isEarly?: boolean;
  /** Another address than that of the submission. */
  readonly to?: string;
}

/** What verifies the callbacks of a fake. */
export interface KeySource {
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
  /**
   * Calls back, and again as the vendor does, until a status of 2xx comes or the vendor gives up. `wait` lets
   * the time between two calls pass: it can move the clock of a service forward. Gives all statuses.
   */
  callBackUntilTaken(
    jobId: string,
    wait: (millis: number) => Promise<void>,
    optionsOf?: () => CallbackOptions,
  ): Promise<readonly number[]>;
}

interface Caller {
  readonly vendor: FakeVendor;
  readonly jobs: ReadonlyMap<string, { readonly callbackUrl: string | undefined; isFinished: boolean }>;
  readonly sign: (jobId: string, options: CallbackOptions) => CallbackRequest;
  /** Milliseconds before each further call. */
  readonly repeatsAfter: readonly number[];
}

/** The part of a calling vendor that does not depend on how it signs. */
export function callingBack({
  vendor,
  jobs,
  sign,
  repeatsAfter,
}: Caller): Omit<CallingVendor, keyof KeySource> {
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
    if (options.isEarly !== true) finish(id);
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
    callBackUntilTaken: async (id, wait, optionsOf = () => ({})) => {
      const statuses = [await callBack(id, optionsOf())];
      for (const millis of repeatsAfter) {
        const last = statuses.at(-1) ?? 0;
        if (last >= 200 && last < 300) break;
        await wait(millis);
        statuses.push(await callBack(id, optionsOf()));
      }
      return statuses;
    },
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
